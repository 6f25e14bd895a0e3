/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two BYTWO ops share: packed symbols, and branches on the constant, the same in all
 * threads. */
#pragma once

#include "kernels/region/walk_tiles.cuh"

namespace gfk {

struct BytwoParams {
    uint32_t c;
    uint32_t polynomial; /* without its leading term, in every symbol of a word */
    uint32_t two;        /* 2, unknown to the compiler, which would shift instead of multiply */
};

template <int W>
BytwoParams bytwo_params(const gfk_call *call) {
    const uint64_t polynomial = call->multiplier->info.field.polynomial;
    return {call->c, replicate<W>((uint32_t)(polynomial ^ UINT64_C(1) << W)), 2};
}

/* All ones if the bit is set. */
__device__ inline uint32_t bit_mask(uint32_t c, int bit) {
    return 0u - (c >> bit & 1);
}

/* A branch per bit costs the same for one word or many, so a thread takes many. */
template <int W, int VECTORS, int BLOCKS>
struct BytwoShape {
    static constexpr int w = W, threads = 64, vectors = VECTORS, blocks = BLOCKS;
    static constexpr bool persistent = false;
    using Params = BytwoParams;
    using Shared = OpNoShared;

    __device__ static void fill(const Params &, Shared &) {}
};

} // namespace gfk
