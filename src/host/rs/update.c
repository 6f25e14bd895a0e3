/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of one data region: parity += column * (before + after). This is one product with two
 * inputs, which have the same column. */
#include <stdlib.h>

#include "code.h"

struct gfk_rs_updater {
    gfk_product_t both; /* m x 2: inputs before and after */
    gfk_product_t one;  /* m x 1: input is their sum */
};

void gfk_rs_updater_destroy(gfk_rs_updater_t updater) {
    if (updater == NULL)
        return;
    gfk_product_destroy(updater->both);
    gfk_product_destroy(updater->one);
    free(updater);
}

/* Makes the product of `cols` inputs, each with the same column. On a device AUTO means clmad or
 * the first engine that adds inputs with equal columns, because the preferences of these shapes do
 * not consider equal columns. */
static gfk_status create_product(gfk_product_t *product, gfk_rs_t code, size_t index, size_t cols,
                                 const gfk_product_desc *desc) {
    const size_t k = code->info.k, m = code->info.m;
    const gfk_field *field = &code->info.field;
    uint32_t *matrix = malloc(m * cols * sizeof *matrix);
    if (matrix == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    for (size_t i = 0; i < m * cols; i++)
        matrix[i] = code->matrix[i / cols * k + index];
    gfk_status status = GFK_STATUS_NOT_SUPPORTED;
    gfk_product_info info;
    const bool chooses =
        desc->device >= 0 && desc->engine == NULL && desc->family == GFK_ENGINE_AUTO &&
        desc->method == GFK_METHOD_AUTO &&
        gfk_product_query_proven(field, m, cols, desc, &info) == GFK_STATUS_SUCCESS &&
        info.engine->family != GFK_ENGINE_CLMAD;
    for (size_t i = 0; chooses && status != GFK_STATUS_SUCCESS && i < gfk_engine_count(); i++) {
        const gfk_engine_info *engine = gfk_engine_at(i);
        gfk_product_desc named = *desc;
        named.engine = engine->id;
        if (engine->w == field->w && engine->labels & GFK_ENGINE_ADDS_EQUAL_COLUMNS)
            status = gfk_product_create_proven(product, field, m, cols, matrix, &named);
    }
    if (status != GFK_STATUS_SUCCESS)
        status = gfk_product_create_proven(product, field, m, cols, matrix, desc);
    free(matrix);
    return status;
}

gfk_status gfk_rs_updater_create(gfk_rs_updater_t *updater, gfk_rs_t code, size_t index,
                                 const gfk_product_desc *desc) {
    if (updater == NULL || code == NULL || index >= code->info.k)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_product_desc chosen;
    RETURN_IF_ERROR(gfk_rs_product_desc(code, desc, &chosen));
    gfk_rs_updater_t made = calloc(1, sizeof *made);
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    gfk_status status = create_product(&made->both, code, index, 2, &chosen);
    if (status == GFK_STATUS_SUCCESS)
        status = create_product(&made->one, code, index, 1, &chosen);
    if (status == GFK_STATUS_SUCCESS)
        *updater = made;
    else
        gfk_rs_updater_destroy(made);
    return status;
}

gfk_status gfk_rs_updater_run(gfk_rs_updater_t updater, const void *before, const void *after,
                              const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    if (updater == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const void *const pointers[] = {before, after};
    const gfk_regions in = gfk_inputs(pointers);
    return gfk_product_run(updater->both, &in, parity, bytes, GFK_XOR, stream);
}

gfk_status gfk_rs_updater_apply(gfk_rs_updater_t updater, const void *delta,
                                const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    if (updater == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_regions in = gfk_inputs(&delta);
    return gfk_product_run(updater->one, &in, parity, bytes, GFK_XOR, stream);
}

/* ---- deltas --------------------------------------------------------------------------------- */

/* Sums are the same in every field, so they use w = 8, where the CPU has a fast engine. */
gfk_status gfk_rs_delta_create(gfk_rs_t code) {
    static const uint32_t ones[] = {1, 1};
    gfk_field bytes;
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.device = code->info.device;
    desc.check_pointers = code->product.check_pointers;
    RETURN_IF_ERROR(gfk_field_init(&bytes, 8, 0));
    RETURN_IF_ERROR(gfk_product_create_proven(&code->sum_of_two, &bytes, 1, 2, ones, &desc));
    return gfk_product_create_proven(&code->sum_into, &bytes, 1, 1, ones, &desc);
}

gfk_status gfk_rs_delta(gfk_rs_t code, const void *before, const void *after, void *delta,
                        size_t bytes, gfk_stream_t stream) {
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes % (code->info.field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    void *const out_pointer[] = {delta};
    const void *in_pointers[] = {before, after};
    const gfk_regions in = gfk_inputs(in_pointers), out = {out_pointer, NULL, 0};
    if (bytes != 0 && (before == NULL || after == NULL))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (delta != before && delta != after)
        return gfk_product_run(code->sum_of_two, &in, &out, bytes, GFK_SET, stream);
    if (delta == before)
        in_pointers[0] = in_pointers[1];
    return gfk_product_run(code->sum_into, &in, &out, bytes, GFK_XOR, stream);
}
