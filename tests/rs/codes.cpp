// SPDX-License-Identifier: BSD-3-Clause
// codes.h.
#include "codes.h"

RsCode make_rs_code(const gfk_product_desc &product, const gfk_field &field, const RsShape &shape) {
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = shape.matrix;
    desc.custom = shape.custom.empty() ? nullptr : shape.custom.data();
    desc.flags = shape.flags;
    desc.product = product;
    gfk_rs_t code = nullptr;
    require_success(gfk_rs_create(&code, &field, shape.k, shape.m, &desc), "gfk_rs_create");
    return RsCode(code);
}

RsCode make_host_code(const gfk_field &field, const RsShape &shape) {
    gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
    product.family = GFK_ENGINE_HOST;
    return make_rs_code(product, field, shape);
}

gfk_rs_info info_of(gfk_rs_t code) {
    gfk_rs_info info;
    require_success(gfk_rs_get_info(code, &info), "gfk_rs_get_info");
    return info;
}

Elements matrix_of(gfk_rs_t code) {
    Elements matrix(info_of(code).k * info_of(code).m);
    require_success(gfk_rs_get_matrix(code, matrix.data()), "gfk_rs_get_matrix");
    return matrix;
}

Elements matrix_of(const gfk_field &field, gfk_rs_matrix which, size_t k, size_t m) {
    Elements matrix(k * m, 0xdeadbeef);
    require_success(gfk_rs_fill_matrix(&field, which, k, m, matrix.data()), "gfk_rs_fill_matrix");
    return matrix;
}

Indices random_indices(size_t below, size_t count, Random &random) {
    Indices all = indices(0, below);
    for (size_t i = 0; i < count; i++)
        std::swap(all[i], all[i + random.below(below - i)]);
    all.resize(count);
    return all;
}
