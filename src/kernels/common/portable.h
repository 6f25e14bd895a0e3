/* SPDX-License-Identifier: BSD-3-Clause */
/* Device functions that the host tests compile too. */
#ifndef GFK_KERNELS_PORTABLE_H
#define GFK_KERNELS_PORTABLE_H

#include <stdint.h>

#ifdef __CUDACC__
#define GFK_BOTH __host__ __device__ inline
#else
#define GFK_BOTH inline
#endif
#ifdef __CUDA_ARCH__
#define GFK_UNROLL _Pragma("unroll")
#else
#define GFK_UNROLL
#endif

namespace gfk {

/* n / Unit, rounded up, and n, rounded up to a multiple of Unit, for constants and for device code.
 * Host code calls gfk_divide_up and gfk_round_up. */
template <auto Unit, class N>
GFK_BOTH constexpr auto divide_up(N n) {
    return (n + Unit - 1) / Unit;
}
template <auto Unit, class N>
GFK_BOTH constexpr auto round_up(N n) {
    return (n + Unit - 1) / Unit * Unit;
}

/* A symbol of w bits with all bits set. */
template <int W>
constexpr uint32_t symbol_mask = 0xffffffffu >> (32 - W);

/* x times a symbol of w bits, with a choice where gfk_poly_double has a mask. The polynomial has
 * its lower 32 bits. If the leading term is missing, bit w of the result may be set. */
template <int W>
GFK_BOTH uint32_t double_symbol(uint32_t symbol, uint32_t polynomial) {
    return symbol << 1 ^ (symbol >> (W - 1) & 1 ? polynomial : 0);
}

/* The bytes [first, last) of a vector at any address; the others become zero. */
GFK_BOTH void load_partial(const uint8_t *p, unsigned first, unsigned last, uint32_t (&x)[4]) {
    x[0] = x[1] = x[2] = x[3] = 0;
    GFK_UNROLL
    for (unsigned i = 0; i < 16; i++)
        if (i >= first && i < last)
            x[i / 4] |= (uint32_t)p[i] << (8 * (i % 4));
}

/* The bytes [first, last) of a vector at any address. x holds the vector from byte `offset` on. */
template <int N>
GFK_BOTH void store_partial(uint8_t *p, unsigned first, unsigned last, unsigned offset,
                            const uint32_t (&x)[N]) {
    if ((uintptr_t)p % 4 == 0 && first <= offset && last >= offset + 4 * N) {
        GFK_UNROLL
        for (unsigned i = 0; i < N; i++)
            ((uint32_t *)(void *)(p + offset))[i] = x[i];
        return;
    }
    GFK_UNROLL
    for (unsigned n = 0; n < N; n++) {
        uint32_t word = x[n];
        for (unsigned i = offset + 4 * n; i < offset + 4 * n + 4; i++, word >>= 8)
            if (i >= first && i < last)
                p[i] = (uint8_t)word;
    }
}

} // namespace gfk
#endif
