/* SPDX-License-Identifier: BSD-3-Clause */
/* The multiplier's tables of LOG (src/host/region/tables.c). */
#pragma once

#include "kernels/region/row.cuh"

namespace gfk {

template <int W>
struct LogTables {
    static constexpr uint32_t order = symbol_mask<W>;
    const Symbol<W> *log, *antilog;
    uint32_t c;

    explicit LogTables(const gfk_call *call)
        : log((const Symbol<W> *)call->multiplier->tables), antilog(log + (UINT64_C(1) << W)),
          c(call->c) {}
    /* The antilogarithm of i + log c, for i below order. */
    __device__ uint32_t rotated(uint32_t log_c, uint32_t i) const {
        const uint64_t sum = (uint64_t)i + log_c;
        return antilog[sum < order ? sum : sum - order];
    }
};

} // namespace gfk
