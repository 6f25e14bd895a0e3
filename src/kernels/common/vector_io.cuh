/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and stores of regions. A vector is 16 bytes, four words in registers; "aligned" means an
 * address that is a multiple of the loaded size.
 *
 *   load_vector, store_vector    whole vectors, or one or two words of an aligned one
 *   load_partial, store_partial  some bytes of a vector at any address (portable.h)
 *   load_bytes, store_bytes      up to four bytes at any address
 *   load_word                    four bytes, of which the end of the memory may cut off some */
#pragma once

#include "portable.h"
#include "word.cuh"

namespace gfk {

using Vector = uint32_t[4];

enum class Load {
    cached, /* an ordinary load */
    once,   /* not kept in L1 */
    early,  /* volatile: otherwise the compiler delays the load to save registers */
    pairs   /* two volatile loads of 8 bytes, into register pairs that MMAs of 256 bits take */
};

/* An aligned vector. */
__device__ inline uint4 load_vector(const uint8_t *p) {
    return *(const uint4 *)p;
}
__device__ inline void unpack(uint4 v, uint32_t *x) {
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
    x[3] = v.w;
}

/* Unaligned, a load reaches up to three bytes beyond either end of the vector. */
template <bool Aligned, Load How = Load::cached, int N>
__device__ inline void load_vector(const uint8_t *p, uint32_t (&x)[N]) {
    static_assert(N == 4 || (Aligned && How == Load::early && (N == 1 || N == 2)), "");
    if constexpr (!Aligned) {
        const unsigned shift = (unsigned)((uintptr_t)p % 4);
        const uint32_t *words = (const uint32_t *)(p - shift);
        const uint32_t y[5] = {words[0], words[1], words[2], words[3], shift ? words[4] : 0};
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = funnel(y[i], y[i + 1], 8 * shift);
    } else if constexpr (N == 1) {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(x[0]) : "l"(p));
    } else if constexpr (N == 2) {
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(p));
    } else if constexpr (How == Load::pairs) {
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(p));
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2 + 8];" : "=r"(x[2]), "=r"(x[3]) : "l"(p));
    } else if constexpr (How == Load::once) {
        asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(p));
    } else if constexpr (How == Load::early) {
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(p));
    } else {
        unpack(load_vector(p), x);
    }
}

__device__ inline uint4 operator^(uint4 a, uint4 b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

/* Writes x, or XORs it into what is there. */
template <bool Aligned, int N>
__device__ inline void store_vector(uint8_t *p, const uint32_t (&x)[N], bool accumulate = false) {
    if constexpr (Aligned && N == 4) {
        uint4 v = make_uint4(x[0], x[1], x[2], x[3]);
        if (accumulate)
            v = v ^ *(const uint4 *)p;
        *(uint4 *)p = v;
    } else if constexpr (Aligned && N == 2) {
        uint2 v = make_uint2(x[0], x[1]);
        if (accumulate) {
            const uint2 old = *(const uint2 *)p;
            v = make_uint2(v.x ^ old.x, v.y ^ old.y);
        }
        *(uint2 *)p = v;
    } else if (Aligned || (uintptr_t)p % 4 == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
            ((uint32_t *)p)[i] = accumulate ? ((uint32_t *)p)[i] ^ x[i] : x[i];
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            for (int b = 0; b < 4; b++) {
                const uint8_t y = (uint8_t)(x[i] >> (8 * b));
                p[4 * i + b] = (uint8_t)(accumulate ? p[4 * i + b] ^ y : y);
            }
    }
}

/* Does the memory at p differ from x? */
template <bool Aligned, int N>
__device__ inline bool differs(const uint8_t *p, const uint32_t (&x)[N]) {
    uint32_t difference = 0;
    if constexpr (Aligned && N == 4) {
        const uint4 d = make_uint4(x[0], x[1], x[2], x[3]) ^ *(const uint4 *)p;
        difference = d.x | d.y | d.z | d.w;
    } else if (Aligned || (uintptr_t)p % 4 == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
            difference |= ((const uint32_t *)p)[i] ^ x[i];
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            for (int b = 0; b < 4; b++)
                difference |= p[4 * i + b] ^ (x[i] >> (8 * b) & 0xff);
    }
    return difference != 0;
}

/* A word from up to four bytes; the missing ones are zero. */
__device__ inline uint32_t load_bytes(const uint8_t *p, unsigned bytes) {
    uint32_t x = 0;
    for (unsigned i = 0; i < bytes; i++)
        x |= (uint32_t)p[i] << (8 * i);
    return x;
}

/* The four bytes from byte `at` on of memory that has `bytes` bytes; those after its end are
 * zero. */
__device__ inline uint32_t load_word(const uint8_t *p, uint64_t at, uint64_t bytes) {
    if (at + 4 <= bytes && (uintptr_t)(p + at) % 4 == 0)
        return *(const uint32_t *)(p + at);
    return at < bytes ? load_bytes(p + at, bytes - at < 4 ? (unsigned)(bytes - at) : 4) : 0;
}

/* Writes the lowest bytes of x, or XORs them into what is there. */
__device__ inline void store_bytes(uint8_t *p, unsigned bytes, uint32_t x,
                                   bool accumulate = false) {
    for (unsigned i = 0; i < bytes; i++) {
        const uint8_t y = (uint8_t)(x >> (8 * i));
        p[i] = (uint8_t)(accumulate ? p[i] ^ y : y);
    }
}

} // namespace gfk
