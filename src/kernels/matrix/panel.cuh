/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements and words of them in the kernels of the elimination. */
#pragma once

#include "kernels/common/symbol.cuh"

namespace gfk {
namespace matrix {

template <int W>
struct Panel {
    static constexpr int w = W, symbol_bytes = W / 8;
    static constexpr int rows = GFK_PANEL_BITS / W;
    static constexpr int columns = rows + GFK_PANEL_SPARE_BITS / W; /* of a window */
    static constexpr int symbols = 32 / W;                          /* of a word */
    static constexpr int row_words = 32;                            /* rows / symbols */
    static constexpr int column_words = columns / symbols;
};

/* Sums of multiples of words, which are reduced once for all: bits[k] collects the words whose
 * factor has bit k. */
template <int W>
struct Sum {
    uint32_t bits[W] = {};

    __device__ void add(uint32_t factor, uint32_t word) {
#pragma unroll
        for (int k = 0; k < W; k++)
            bits[k] ^= word & (uint32_t)((int32_t)(factor << (31 - k)) >> 31);
    }
    /* polynomial: replicated, without its leading term */
    __device__ uint32_t reduce(uint32_t polynomial) const {
        uint32_t sum = bits[W - 1];
#pragma unroll
        for (int k = W - 2; k >= 0; k--)
            sum = double_xor<W>(sum, polynomial, bits[k]);
        return sum;
    }
};

/* The number of threads of a block that say yes: before this thread, and in all. All threads of at
 * most `Warps` warps call; `counts` is in shared memory, and may be used again at once. */
struct Count {
    uint32_t before, all;
};
template <int Warps>
__device__ inline Count count_before(bool yes, uint32_t (&counts)[Warps]) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t marks = __ballot_sync(0xffffffff, yes);
    if (lane == 0)
        counts[warp] = __popc(marks);
    __syncthreads();
    Count count = {(uint32_t)__popc(marks & ((1u << lane) - 1)), 0};
    for (unsigned i = 0; i < blockDim.x / 32; i++) {
        count.before += i < warp ? counts[i] : 0;
        count.all += counts[i];
    }
    __syncthreads();
    return count;
}

} // namespace matrix
} // namespace gfk
