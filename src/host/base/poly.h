/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomials over GF(2), as bit masks, modulo a polynomial of degree w <= 32. No checks. */
#ifndef GFK_HOST_POLY_H
#define GFK_HOST_POLY_H

#include <stdbool.h>
#include <stdint.h>

/* x * a mod polynomial. Without a branch, which random bits would decide. */
static inline uint32_t gfk_poly_double(uint32_t a, unsigned w, uint64_t polynomial) {
    const uint64_t shifted = (uint64_t)a << 1;
    return (uint32_t)(shifted ^ (polynomial & -(shifted >> w)));
}

/* a * b mod polynomial; the time grows with the degree of b. */
static inline uint32_t gfk_poly_multiply(uint32_t a, uint32_t b, unsigned w, uint64_t polynomial) {
    uint32_t product = 0;
    for (; b != 0; b >>= 1) {
        product ^= a & -(b & 1);
        a = gfk_poly_double(a, w, polynomial);
    }
    return product;
}

uint32_t gfk_poly_pow(uint32_t a, uint64_t exponent, unsigned w, uint64_t polynomial);
uint32_t gfk_poly_inverse(uint32_t a, uint64_t polynomial);   /* a != 0 */
bool gfk_poly_irreducible(unsigned w, uint64_t polynomial);   /* w a power of two */
uint32_t gfk_poly_generator(unsigned w, uint64_t polynomial); /* the smallest one */

#endif
