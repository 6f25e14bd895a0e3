/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain encoder by GF2P8AFFINEQB, which multiplies 64 bytes by a matrix of 8 x 8 bits: what a CPU with GFNI
 * computes, where the ISA-L that was found has no GFNI. Polynomial 0x11d. */
#include "coders.h"

#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define FOR_GFNI __attribute__((target("avx512f,avx512bw,gfni")))

typedef struct made {
    size_t k, m;
    long long elements[]; /* as matrices of bits; m rows of k */
} made;

static int gfni_here(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("gfni");
}

/* Byte 7 - i of the matrix has the bits of the operand that sum up to bit i of the product. */
static uint64_t bits_of(uint32_t c) {
    uint64_t matrix = 0;
    for (unsigned bit = 0; bit < 8; bit++, c = c << 1 ^ (c >> 7) * 0x11d)
        for (unsigned i = 0; i < 8; i++)
            matrix |= (uint64_t)(c >> i & 1) << (8 * (7 - i) + bit);
    return matrix;
}

static void *gfni_create(const coder *self, int k, int m, const uint32_t *matrix) {
    (void)self;
    const size_t count = (size_t)k * (size_t)m;
    made *p = gfni_here() ? malloc(sizeof *p + count * sizeof p->elements[0]) : NULL;
    if (p == NULL)
        return NULL;
    p->k = (size_t)k;
    p->m = (size_t)m;
    for (size_t i = 0; i < count; i++)
        p->elements[i] = (long long)bits_of(matrix[i]);
    return p;
}

enum { ROWS = 4, VECTORS = 4, VECTOR = 64 };

/* `rows` outputs, of each `vectors` vectors, the last one as far as `mask` says. Inlined with constants. */
FOR_GFNI static inline __attribute__((always_inline)) void
add_up(const made *p, size_t row, size_t rows, size_t vectors, __mmask64 mask, unsigned char **in,
       unsigned char **out, size_t at) {
    __m512i sums[ROWS][VECTORS];
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sums[r][v] = _mm512_setzero_si512();
    for (size_t i = 0; i < p->k; i++) {
        __m512i x[VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            x[v] = v + 1 < vectors ? _mm512_loadu_si512(in[i] + at + v * VECTOR)
                                   : _mm512_maskz_loadu_epi8(mask, in[i] + at + v * VECTOR);
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++) {
            const __m512i c = _mm512_set1_epi64(p->elements[(row + r) * p->k + i]);
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                sums[r][v] =
                    _mm512_xor_si512(sums[r][v], _mm512_gf2p8affine_epi64_epi8(x[v], c, 0));
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            _mm512_mask_storeu_epi8(out[row + r] + at + v * VECTOR,
                                    v + 1 < vectors ? ~(__mmask64)0 : mask, sums[r][v]);
}

/* The same with any number of vectors. */
FOR_GFNI static inline __attribute__((always_inline)) void
add_rows(const made *p, size_t row, size_t rows, size_t vectors, __mmask64 mask, unsigned char **in,
         unsigned char **out, size_t at) {
    if (vectors == 4)
        add_up(p, row, rows, 4, mask, in, out, at);
    else if (vectors == 3)
        add_up(p, row, rows, 3, mask, in, out, at);
    else if (vectors == 2)
        add_up(p, row, rows, 2, mask, in, out, at);
    else
        add_up(p, row, rows, 1, mask, in, out, at);
}

FOR_GFNI static void gfni_encode(void *object, unsigned char **in, unsigned char **out,
                                 size_t bytes) {
    const made *p = object;
    for (size_t at = 0; at < bytes; at += (size_t)VECTORS * VECTOR) {
        const size_t left = bytes - at, whole = (size_t)VECTORS * VECTOR;
        const size_t vectors = left < whole ? (left + VECTOR - 1) / VECTOR : VECTORS;
        const size_t last = left < whole ? left - (vectors - 1) * VECTOR : VECTOR;
        const __mmask64 mask = ~(__mmask64)0 >> (VECTOR - last);
        size_t row = 0;
        for (; row + ROWS <= p->m; row += ROWS)
            add_rows(p, row, ROWS, vectors, mask, in, out, at);
        for (; row < p->m; row++)
            add_rows(p, row, 1, vectors, mask, in, out, at);
    }
}

static const char *gfni_version(void) {
    return gfni_here() ? "AVX-512 and GFNI" : NULL;
}

static const coder_library gfni = {"gfni",      SHARED_OBJECT, gfni_version, gfni_version,
                                   gfni_create, free,          gfni_encode};
const coder gfni_coder = {&gfni, 8, NULL, NULL, {0}};
#else
static const char *gfni_version(void) {
    return NULL;
}
static const coder_library gfni = {"gfni", SHARED_OBJECT, gfni_version, gfni_version,
                                   NULL,   NULL,          NULL};
const coder gfni_coder = {&gfni, 8, NULL, NULL, {0}};
#endif
