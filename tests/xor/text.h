// SPDX-License-Identifier: BSD-3-Clause
// The text of a matrix's kernel.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "matrices.h"
extern "C" {
#include "host/product/xor/specialize.h"
}

inline std::string ptx_of(const Matrix &m, const gfk_jit_target &target) {
    char *text = nullptr;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const gfk_status status =
        gfk_jit_write_ptx(out, &m.field, m.rows, m.cols, m.elements.data(), &target);
    std::fclose(out);
    std::string result = status == GFK_STATUS_SUCCESS ? text : "";
    std::free(text);
    return result;
}
