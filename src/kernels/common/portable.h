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
