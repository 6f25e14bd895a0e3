/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a warp on fragments of mma.sync. fragment.h says which lane holds what. */
#pragma once

#include <string.h>
#include <type_traits>

#include "fragment.h"
#include "kernels/common/word.cuh"

namespace gfk {
namespace bmma {

/* D = A * B + D with k = 128: popcount of the AND of bit rows and bit columns. */
__device__ inline void mma(uint32_t (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0) {
    asm volatile("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(b0));
}
/* The same with k = 256. */
__device__ inline void mma(uint32_t (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                           uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/* The counts of one bit pair for N output words of U tiles. b[fragment * steps + step]. The MMAs of
 * different chains alternate: one that adds to the one just before would wait for it. */
template <class T, int U, int N>
__device__ inline void count(const uint32_t (&a)[U][T::symbols][T::steps],
                             const uint32_t (&b)[T::pair_registers], int word,
                             uint32_t (&c)[U][N][2][4]) {
#pragma unroll
    for (int s = 0; s < T::steps; s += 2)
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int chain = 0; chain < 2; chain++) {
                    const int at = first_symbol<T>(word + n, chain);
                    const uint32_t(&p)[T::steps] = a[u][at], (&q)[T::steps] = a[u][at + 1];
                    const uint32_t *m = &b[fragment_of<T>(chain) * T::steps];
                    if (s == 0)
#pragma unroll
                        for (int i = 0; i < 4; i++)
                            c[u][n][chain][i] = 0;
                    if (s + 1 < T::steps)
                        mma(c[u][n][chain], p[s], q[s], p[s + 1], q[s + 1], m[s], m[s + 1]);
                    else
                        mma(c[u][n][chain], p[s], q[s], m[s]);
                }
}

/* The matrix operand of one bit pair, from a panel's table, which no one writes. */
template <class T>
__device__ inline void load_pair(const uint32_t *panel, int pair, unsigned lane,
                                 uint32_t (&b)[T::pair_registers]) {
    constexpr int n = T::load_registers;
    using Words = std::conditional_t<n == 4, uint4, std::conditional_t<n == 2, uint2, uint32_t>>;
#pragma unroll
    for (int r = 0; r < T::pair_registers; r += n) {
        const Words *p = (const Words *)(panel + T::index(pair, r, 0) + lane * n);
        const Words words = __ldg(p);
        memcpy(b + r, &words, sizeof words);
    }
}

/* Exchanges bytes among lanes, so that each lane has words of an output. */
template <class T>
__device__ inline void exchange(uint32_t (&words)[T::words], unsigned lane) {
    if constexpr (T::w == 32) {
#pragma unroll
        for (int round = 0; round < 2; round++) {
            const uint32_t received = __shfl_xor_sync(0xffffffff, words[0], 1 << round);
            words[0] = prmt(words[0], received, exchange_selector(round, (int)lane));
        }
    }
}

} // namespace bmma
} // namespace gfk
