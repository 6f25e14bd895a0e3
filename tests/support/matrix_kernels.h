// SPDX-License-Identifier: BSD-3-Clause
// The rows of gfk_matrix_kernel_at as parameters of tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness.h"

using MatrixKernel = const gfk_matrix_kernel_info *;

// Those of a call: "matmul", "eliminate", "invert_batch"; "": all.
inline std::vector<MatrixKernel> matrix_kernels(const std::string &call) {
    std::vector<MatrixKernel> list;
    for (size_t i = 0; i < gfk_matrix_kernel_count(); i++)
        if (std::string(gfk_matrix_kernel_at(i)->id).rfind(call, 0) == 0)
            list.push_back(gfk_matrix_kernel_at(i));
    return list;
}

inline std::string matrix_kernel_name(const testing::TestParamInfo<MatrixKernel> &info) {
    std::string name = info.param->id;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
}
