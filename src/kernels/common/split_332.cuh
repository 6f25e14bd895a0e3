/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes split into parts of 3, 3 and 2 bits, for tables of eight bytes that PRMT looks up. */
#pragma once

#include "word.cuh"

namespace gfk {

/* The indices of two words a and b. Eight indices of 3 bits fill the nibbles of a word, a's in the
 * lower nibbles. A PRMT takes four nibbles, so the looked-up bytes are interleaved: a0 b0 a1 b1
 * from the lower half of an index word, a2 b2 a3 b3 from the upper half. */
struct Indices332 {
    uint32_t low, middle, high;

    __device__ void set(uint32_t a, uint32_t b) {
        const uint32_t lower = (a & 0x0f0f0f0f) | (b << 4 & 0xf0f0f0f0);
        const uint32_t upper = (a >> 4 & 0x0f0f0f0f) | (b & 0xf0f0f0f0);
        low = lower & 0x77777777;
        middle = (lower >> 3 & 0x11111111) | (upper << 1 & 0x66666666);
        high = upper >> 2 & 0x33333333;
    }
};

/* The indices of N words, two at a time; a single word is paired with 0. */
template <int N>
struct AllIndices332 {
    static constexpr int pairs = (N + 1) / 2;
    Indices332 pair[pairs];

    __device__ explicit AllIndices332(const uint32_t (&x)[N]) {
#pragma unroll
        for (int k = 0; k < pairs; k++)
            pair[k].set(x[2 * k], N == 1 ? 0 : x[(2 * k + 1) % N]);
    }
};

/* f(a, b) for pairs of N words; a single word is paired with 0. */
template <int N, class F>
__device__ inline void for_pairs(uint32_t (&x)[N], const F &f) {
    if constexpr (N == 1) {
        uint32_t unused = 0;
        f(x[0], unused);
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 2)
            f(x[i], x[i + 1]);
    }
}

/* Puts interleaved words back in order; S is 1 when only byte 0 of one word is needed. */
template <int N, int S>
__device__ inline void sort_interleaved(const uint32_t (&sum)[S], uint32_t (&y)[N]) {
#pragma unroll
    for (int n = 0; n < N; n++)
        y[n] = S == 1 ? sum[0]
                      : prmt(sum[n / 2 * 2], sum[(n / 2 * 2 + 1) % S], n % 2 ? 0x7531 : 0x6420);
}

} // namespace gfk
