/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast scalar arithmetic for work on whole matrices: by logarithms for w = 8 and 16, bit by bit for
 * w = 32 and for views without logarithms. The host and kernels use the same functions. */
#ifndef GFK_HOST_ARITHMETIC_H
#define GFK_HOST_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/field.h>

#include "poly.h"

/* A view of tables, passed by value. The tables must be addressable where the view is used. */
typedef struct gfk_arithmetic {
    const uint16_t *log; /* 2^w entries, log[0] is unused; NULL: bit by bit, as always for w = 32 */
    /* 2 * (2^w - 1) entries, so that a sum of two logarithms needs no reduction */
    const uint16_t *antilog;
    uint32_t polynomial; /* without its leading term */
    unsigned w;
} gfk_arithmetic;

/* Inverses without large tables. The conjugate of a in GF(2^w) over the subfield GF(2^(w/2)) is
 * a^(2^(w/2)), a linear map, and the norm a * conjugate lies in the subfield, so 1/a is
 * conjugate/norm. The inverses of GF(2^8) are a table. */
typedef struct gfk_inverter {
    gfk_nibbles conjugate_16; /* a^(2^16); w = 32 */
    gfk_nibbles conjugate_8;  /* a^(2^8); w = 16 and 32 */
    gfk_nibbles number;       /* the number of an element of GF(2^8): 0 to 255; linear */
    uint32_t inverses[256];   /* the inverses of the elements of GF(2^8), by number */
} gfk_inverter;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of 16-bit entries of both tables: log, then antilog. Returns 0 for w = 32. */
size_t gfk_arithmetic_entries(const gfk_field *field);
/* Allocates and fills the tables, in host memory. SUCCESS or OUT_OF_MEMORY. */
gfk_status gfk_arithmetic_create(gfk_arithmetic *arithmetic, const gfk_field *field);
void gfk_arithmetic_destroy(gfk_arithmetic *arithmetic); /* a struct of zeros is allowed */
void gfk_inverter_init(gfk_inverter *inverter, const gfk_field *field);

#ifdef __cplusplus
}
#endif

GFK_HOST_DEVICE uint32_t gfk_times(const gfk_arithmetic *f, uint32_t a, uint32_t b) {
    if (f->log != NULL)
        return a == 0 || b == 0 ? 0 : f->antilog[(uint32_t)f->log[a] + f->log[b]];
    const unsigned below = 32 - f->w; /* the top bit of a is bit 31 */
    const uint32_t polynomial = f->polynomial << below;
    uint32_t product = 0;
    for (a <<= below; b != 0; b >>= 8) /* a small b takes less time */
        for (unsigned bit = 0; bit < 8; bit++) {
            product ^= a & -(b << (31 - bit) >> 31);
            a = a << 1 ^ (polynomial & -(a >> 31));
        }
    return product >> below;
}

/* Returns 1 / a, and 0 for a = 0. */
GFK_HOST_DEVICE uint32_t gfk_invert(const gfk_inverter *t, unsigned w, uint64_t polynomial,
                                    uint32_t a) {
    if (w == 8)
        return t->inverses[a];
    uint32_t factor = 1;
    if (w == 32) {
        factor = gfk_nibbles_times(&t->conjugate_16, w, a);
        a = gfk_poly_product(a, factor, w, polynomial);
    }
    const uint32_t conjugate = gfk_nibbles_times(&t->conjugate_8, w, a);
    const uint32_t norm = gfk_poly_product(a, conjugate, w, polynomial);
    const uint32_t inverse = t->inverses[gfk_nibbles_times(&t->number, w, norm)];
    const uint32_t quotient = gfk_poly_product(conjugate, inverse, w, polynomial);
    return w == 32 ? gfk_poly_product(quotient, factor, w, polynomial) : quotient;
}

/* Returns 1 / a for a != 0, by Euclid's algorithm from the lowest bit up. The polynomial is without
 * its leading term. Invariants: g * a = u and h * a = v (mod polynomial), and v is odd. Each round
 * divides u and g by x. At first v is the whole polynomial, whose leading term does not fit in the
 * word. The first odd u is less than the whole polynomial. */
GFK_HOST_DEVICE uint32_t gfk_euclid_inverse(unsigned w, uint32_t polynomial, uint32_t a) {
    const uint32_t half = polynomial >> 1 | UINT32_C(1) << (w - 1); /* 1 / x */
    uint32_t u = a, v = 0, g = 1, h = 0;
    while (u != 1) {
        const uint32_t odd = -(u & 1), sum = g ^ (h & odd);
        const bool first = v == 0, less = odd && (first || u < v);
        const uint32_t next = first ? u >> 1 ^ (half & odd) : (u ^ (v & odd)) >> 1;
        v = less ? u : v; /* the smaller of the two stays */
        h = less ? g : h;
        u = next;
        g = sum >> 1 ^ (half & -(sum & 1));
    }
    return g;
}

GFK_HOST_DEVICE uint32_t gfk_inverse(const gfk_arithmetic *f, uint32_t a) {
    return f->log != NULL ? f->antilog[(UINT32_C(1) << f->w) - 1 - f->log[a]]
                          : gfk_euclid_inverse(f->w, f->polynomial, a);
}

GFK_HOST_DEVICE uint32_t gfk_quotient(const gfk_arithmetic *f, uint32_t a,
                                      uint32_t b) { /* b != 0 */
    return gfk_times(f, a, gfk_inverse(f, b));
}

#endif
