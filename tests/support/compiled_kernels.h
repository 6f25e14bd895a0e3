// SPDX-License-Identifier: BSD-3-Clause
// The rows of gfk_compiled_kernel_at as parameters of tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness.h"

using CompiledKernel = const gfk_compiled_kernel_info *;

// Those of an owner, "bmma_w8" or "matmul" for example; NULL: all.
inline std::vector<CompiledKernel> compiled_kernels(const char *owner) {
    std::vector<CompiledKernel> list;
    for (size_t i = 0; i < gfk_compiled_kernel_count(owner); i++)
        list.push_back(gfk_compiled_kernel_at(owner, i));
    return list;
}
inline std::vector<CompiledKernel> compiled_kernels(const std::string &call, unsigned w) {
    return compiled_kernels((call + "_w" + std::to_string(w)).c_str());
}

inline std::string compiled_kernel_name(const testing::TestParamInfo<CompiledKernel> &info) {
    std::string name = info.param->id;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
}

inline size_t smallest(const gfk_bounds &bounds) {
    return std::max<size_t>(bounds.min, 1);
}
inline size_t largest(const gfk_bounds &bounds, size_t without_bound) {
    return bounds.max != 0 ? bounds.max : without_bound;
}
