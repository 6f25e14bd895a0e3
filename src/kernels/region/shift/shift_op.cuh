/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT for one symbol, by the textbook's loops: for the naive kernel, and for the optimized one
 * where a region is so short that only latency counts. */
#pragma once

#include "kernels/region/walk_symbols.cuh"

namespace gfk {

template <int W>
struct ShiftSymbol : SymbolOp {
    static constexpr int w = W;
    using Product = std::conditional_t<W == 32, uint64_t, uint32_t>;
    uint32_t c;
    uint64_t polynomial;

    explicit ShiftSymbol(const gfk_call *call)
        : c(call->c), polynomial(call->multiplier->info.field.polynomial) {}

    __device__ uint32_t reduced(Product product) const {
#pragma unroll
        for (int i = 2 * W - 2; i >= W; i--)
            if (product >> i & 1)
                product ^= (Product)polynomial << (i - W);
        return (uint32_t)product;
    }
    __device__ uint32_t operator()(uint32_t x) const {
        Product product = 0;
#pragma unroll
        for (int i = 0; i < W; i++)
            if (c >> i & 1)
                product ^= (Product)x << i;
        return reduced(product);
    }
};

} // namespace gfk
