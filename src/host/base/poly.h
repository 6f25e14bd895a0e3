/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomials over GF(2), as bit masks, modulo a polynomial of degree w <= 32. Nothing is checked.
 * The host and kernels use the same functions. */
#ifndef GFK_HOST_POLY_H
#define GFK_HOST_POLY_H

#include <stdint.h>

#ifdef __CUDACC__
#define GFK_HOST_DEVICE static __host__ __device__ inline
#else
#define GFK_HOST_DEVICE static inline
#endif

/* x * a mod polynomial, without a branch, which could not be predicted. */
GFK_HOST_DEVICE uint32_t gfk_poly_double(uint32_t a, unsigned w, uint64_t polynomial) {
    const uint64_t shifted = (uint64_t)a << 1;
    return (uint32_t)(shifted ^ (polynomial & -(shifted >> w)));
}

/* Returns a * b mod polynomial. The time grows with the degree of b. */
GFK_HOST_DEVICE uint32_t gfk_poly_multiply(uint32_t a, uint32_t b, unsigned w,
                                           uint64_t polynomial) {
    uint32_t product = 0;
    for (; b != 0; b >>= 1) {
        product ^= a & -(b & 1);
        a = gfk_poly_double(a, w, polynomial);
    }
    return product;
}

/* Does the same in w steps, which a compiler that knows w can unroll. The product is kept at the
 * top of its word, where its highest bit is the sign. */
GFK_HOST_DEVICE uint32_t gfk_poly_product(uint32_t a, uint32_t b, unsigned w, uint64_t polynomial) {
    const unsigned shift = 32 - w;
    const uint32_t rest = (uint32_t)polynomial << shift; /* without the leading term */
    uint32_t product = 0;
    a <<= shift;
    for (unsigned i = w; i-- > 0;)
        product = product << 1 ^ (rest & -(product >> 31)) ^ (a & -(b >> i & 1));
    return product >> shift;
}

GFK_HOST_DEVICE uint32_t gfk_poly_pow(uint32_t a, uint64_t exponent, unsigned w,
                                      uint64_t polynomial) {
    uint32_t power = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1)
            power = gfk_poly_multiply(power, a, w, polynomial);
        a = gfk_poly_multiply(a, a, w, polynomial);
    }
    return power;
}

/* ---- Barrett reduction of carry-less products ------------------------------------------------ */

/* The carry-less product of a and b: 2 w - 1 bits for symbols of w bits. */
GFK_HOST_DEVICE uint64_t gfk_poly_carry_less(uint64_t a, uint64_t b) {
    uint64_t product = 0;
    for (; b != 0; b >>= 1, a <<= 1)
        product ^= a & (0 - (b & 1));
    return product;
}

/* The two constants of a reduction modulo a polynomial of degree w. */
typedef struct gfk_barrett {
    uint64_t quotient;   /* floor(x^(2 w) / polynomial), w + 1 bits */
    uint64_t polynomial; /* without its leading term */
} gfk_barrett;

GFK_HOST_DEVICE gfk_barrett gfk_barrett_of(unsigned w, uint64_t polynomial) {
    const uint64_t low = polynomial & ((UINT64_C(1) << w) - 1);
    gfk_barrett barrett = {UINT64_C(1) << w, low};
    uint64_t rest = low; /* the remainder of x^(2 w) after the first step, divided by x^w: w bits */
    for (unsigned i = w; i-- > 0;) {
        const uint64_t bit = rest >> (w - 1) & 1;
        barrett.quotient |= bit << i;
        rest = (rest << 1 ^ (low & (0 - bit))) & ((UINT64_C(1) << w) - 1);
    }
    return barrett;
}

/* Returns the inverse, or 0 if a and the polynomial have a common factor. */
uint32_t gfk_poly_inverse(uint32_t a, uint64_t polynomial);
/* Proves that the polynomial is irreducible, and returns the smallest generator, or 0 if the
 * polynomial is reducible. w is a power of two. */
uint32_t gfk_poly_generator(unsigned w, uint64_t polynomial);

/* ---- linear maps of symbols, by nibbles: products with one constant, squares ---------------- */

/* entry[n][v] is the image of v * x^(4n). The image of a symbol is the sum of one entry for each
 * nibble. */
typedef struct gfk_nibbles {
    uint32_t entry[8][16];
} gfk_nibbles;

/* image[i] is the image of x^i. */
static inline void gfk_nibbles_fill(gfk_nibbles *t, unsigned w, const uint32_t *image) {
    for (unsigned n = 0; n < w / 4; n++) {
        t->entry[n][0] = 0;
        for (unsigned bit = 0; bit < 4; bit++)
            for (unsigned v = 0; v < 1u << bit; v++)
                t->entry[n][(1u << bit) + v] = t->entry[n][v] ^ image[4 * n + bit];
    }
}

/* Fills in the products with c. For w = 32 the polynomial may lack its leading term. */
static inline void gfk_nibbles_expand(gfk_nibbles *t, unsigned w, uint64_t polynomial, uint32_t c) {
    uint32_t image[32];
    for (unsigned i = 0; i < w; i++) {
        image[i] = c;
        c = gfk_poly_double(c, w, polynomial);
    }
    gfk_nibbles_fill(t, w, image);
}

/* The image of x. */
GFK_HOST_DEVICE uint32_t gfk_nibbles_times(const gfk_nibbles *t, unsigned w, uint32_t x) {
    uint32_t image = 0;
    for (unsigned n = 0; n < w / 4; n++)
        image ^= t->entry[n][x >> (4 * n) & 15];
    return image;
}

#endif
