// SPDX-License-Identifier: BSD-3-Clause
// The text of a matrix's kernel.
#pragma once

#include "matrices.h"
extern "C" {
#include "host/product/xor/specialize.h"
}

inline std::string ptx_of(const Matrix &m, const gfk_jit_target &target) {
    gfk_text text{};
    const gfk_status status =
        gfk_jit_write_ptx(&text, &m.field, m.rows, m.cols, m.elements.data(), &target);
    std::string result = status == GFK_STATUS_SUCCESS ? text.data : "";
    gfk_text_free(&text);
    return result;
}
