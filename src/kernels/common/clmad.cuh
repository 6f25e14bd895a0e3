/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of packed symbols by the carry-less multiply-add of compute capability 8.0 and newer
 * (PTX ISA 9.3: nvcc 13.3 or newer).
 *
 * The symbols of a word are spread over 64 bits, 2 w bits apart, so that the products of the
 * symbols with one constant do not meet. One instruction multiplies them and adds them to a sum.
 * Addition is XOR, so a sum of any number of products has 2 w - 1 bits per symbol, and is reduced
 * once, by Barrett's method: two more products. Where there is no such instruction, products are
 * computed bit by bit, which is slow. */
#pragma once

#include "host/base/poly.h"
#include "word.cuh"

namespace gfk {

/* The lower 64 bits of the carry-less product of a and b, XOR c. */
__device__ inline uint64_t clmad(uint64_t a, uint64_t b, uint64_t c) {
#if !defined GFK_NO_CLMAD && __CUDA_ARCH__ >= 800
    uint64_t d;
    asm("clmad.lo.u64 %0, %1, %2, %3;" : "=l"(d) : "l"(a), "l"(b), "l"(c));
    return d;
#else
    return gfk_poly_carry_less(a, b) ^ c;
#endif
}

__device__ inline uint64_t word_pair(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

/* The symbols of a word, 2 w bits apart. */
template <int W>
__device__ inline uint64_t spread_symbols(uint32_t x) {
    if constexpr (W == 8)
        return word_pair(prmt(x, 0, 0x4140), prmt(x, 0, 0x4342));
    else if constexpr (W == 16)
        return word_pair(prmt(x, 0, 0x4410), prmt(x, 0, 0x4432));
    else
        return x;
}

/* The upper w bits of each sum of 2 w bits, as spread symbols. */
template <int W>
__device__ inline uint64_t upper_symbols(uint64_t sums) {
    const uint32_t low = (uint32_t)sums, high = (uint32_t)(sums >> 32);
    if constexpr (W == 8)
        return word_pair(prmt(low, 0, 0x4341), prmt(high, 0, 0x4341));
    else if constexpr (W == 16)
        return word_pair(prmt(low, 0, 0x4432), prmt(high, 0, 0x4432));
    else
        return high;
}

/* Sums of 2 w bits modulo the polynomial, packed into a word. */
template <int W>
__device__ inline uint32_t reduce_sums(uint64_t sums, const gfk_barrett &barrett) {
    const uint64_t quotient = upper_symbols<W>(clmad(upper_symbols<W>(sums), barrett.quotient, 0));
    const uint64_t rest = clmad(quotient, barrett.polynomial, sums);
    const uint32_t low = (uint32_t)rest, high = (uint32_t)(rest >> 32);
    if constexpr (W == 8)
        return prmt(low, high, 0x6420);
    else if constexpr (W == 16)
        return prmt(low, high, 0x5410);
    else
        return low;
}

} // namespace gfk
