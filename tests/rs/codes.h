// SPDX-License-Identifier: BSD-3-Clause
// Codes and their matrices, for all tests of codes.
#pragma once

#include <gfk/rs.h>

#include "support/harness.h"

using RsCode = Owned<struct gfk_rs, gfk_rs_destroy>;
using Elements = std::vector<uint32_t>; // of a matrix, row by row

struct RsShape {
    gfk_rs_matrix matrix;
    size_t k, m;
    Elements custom = {};
    unsigned flags = 0;
};
RsCode make_rs_code(const gfk_product_desc &product, const gfk_field &field, const RsShape &shape);
RsCode make_host_code(const gfk_field &field, const RsShape &shape); // by the reference engine
gfk_rs_info info_of(gfk_rs_t code);
Elements matrix_of(gfk_rs_t code);
Elements matrix_of(const gfk_field &field, gfk_rs_matrix which, size_t k, size_t m);

Indices random_indices(size_t below, size_t count, Random &random); // different, in any order
