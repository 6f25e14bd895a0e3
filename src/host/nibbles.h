/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with one constant, by nibbles: for where a constant meets many symbols. */
#ifndef GFK_HOST_NIBBLES_H
#define GFK_HOST_NIBBLES_H

#include "poly.h"

/* entry[n][v] is c * v * x^(4n); a product with c is the sum of one entry for each nibble. */
typedef struct gfk_nibbles {
    uint32_t entry[8][16];
} gfk_nibbles;

/* For w = 32 the polynomial may lack its leading term. */
static inline void gfk_nibbles_expand(gfk_nibbles *t, unsigned w, uint64_t polynomial, uint32_t c) {
    for (unsigned n = 0; n < w / 4; n++) {
        t->entry[n][0] = 0;
        for (unsigned bit = 1; bit < 16; bit *= 2) { /* c is the constant times bit * x^(4n) */
            for (unsigned v = 0; v < bit; v++)
                t->entry[n][bit + v] = t->entry[n][v] ^ c;
            c = gfk_poly_double(c, w, polynomial);
        }
    }
}

static inline uint32_t gfk_nibbles_times(const gfk_nibbles *t, unsigned w, uint32_t x) {
    uint32_t product = 0;
    for (unsigned n = 0; n < w / 4; n++)
        product ^= t->entry[n][x >> (4 * n) & 15];
    return product;
}

#endif
