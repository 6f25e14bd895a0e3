/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on words: 32 bits that hold four, two or one symbols. */
#pragma once

#include <stdint.h>

namespace gfk {

/* PRMT: byte i of the result is byte (selector nibble i) of b:a; with the nibble's top bit set it
 * is that byte's sign, eight times. */
__device__ inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

/* A w-bit value in every symbol of a word. */
template <int W>
__host__ __device__ constexpr uint32_t replicate(uint32_t x) {
    return W == 8 ? x * 0x01010101u : W == 16 ? x * 0x00010001u : x;
}

/* Every symbol of N words becomes f(symbol). */
template <int W, int N, class F>
__device__ inline void map_symbols(uint32_t (&x)[N], const F &f) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        if constexpr (W == 8) {
            const uint32_t low = prmt(f(x[i] & 255), f(x[i] >> 8 & 255), 0x0040);
            const uint32_t high = prmt(f(x[i] >> 16 & 255), f(x[i] >> 24), 0x0040);
            x[i] = prmt(low, high, 0x5410);
        } else if constexpr (W == 16) {
            x[i] = prmt(f(x[i] & 0xffff), f(x[i] >> 16), 0x5410);
        } else {
            x[i] = f(x[i]);
        }
    }
}

/* All ones in the symbols whose top bit is set. */
template <int W>
__device__ inline uint32_t top_bit_mask(uint32_t x) {
    return prmt(x, 0, W == 8 ? 0xba98 : W == 16 ? 0xbb99 : 0xbbbb);
}

/* Every symbol times x, then XOR s. `polynomial` is replicated and lacks its leading term. One
 * PRMT, one shift on the FMA pipe, two LOP3; s is free. */
template <int W>
__device__ inline uint32_t double_xor(uint32_t x, uint32_t polynomial, uint32_t s) {
    const uint32_t shifted = (x + x) & replicate<W>(0xfffffffeu & (0xffffffffu >> (32 - W)));
    return shifted ^ ((top_bit_mask<W>(x) & polynomial) ^ s);
}

/* The 64 bits hi:lo, shifted right by 0 to 31 bits: its lower word. */
__device__ inline uint32_t funnel(uint32_t lo, uint32_t hi, unsigned bits) {
    return __funnelshift_r(lo, hi, bits);
}

} // namespace gfk
