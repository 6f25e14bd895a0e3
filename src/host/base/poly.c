/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses and generators modulo a polynomial over GF(2). */
#include "poly.h"

#include <stdbool.h>

static int degree(uint64_t a) {
    return a == 0 ? -1 : 63 - __builtin_clzll(a);
}

uint32_t gfk_poly_inverse(uint32_t a, uint64_t polynomial) {
    /* The extended Euclidean algorithm. Invariants: g * a = u and h * a = v (mod polynomial), and
     * the degrees of g and h stay below w. */
    uint64_t u = a, v = polynomial, g = 1, h = 0;
    while (u > 1) {
        int shift = degree(u) - degree(v);
        if (shift < 0) {
            uint64_t t = u;
            u = v;
            v = t;
            t = g;
            g = h;
            h = t;
            shift = -shift;
        }
        u ^= v << shift;
        g ^= h << shift;
    }
    return u == 1 ? (uint32_t)g : 0;
}

/* Squaring is linear. The two tests below square many times. */
static void square_by_nibbles(gfk_nibbles *square, unsigned w, uint64_t polynomial) {
    uint32_t image[32], power = 1;
    for (unsigned i = 0; i < w; i++) {
        image[i] = power; /* x^(2i) */
        power = gfk_poly_double(gfk_poly_double(power, w, polynomial), w, polynomial);
    }
    gfk_nibbles_fill(square, w, image);
}

/* Rabin's test: x^(2^w) = x, and x^(2^(w/q)) - x has no common factor with the polynomial for any
 * prime q that divides w. As w is a power of two, 2 is the only such prime. */
static bool is_irreducible(const gfk_nibbles *square, unsigned w, uint64_t polynomial) {
    const uint32_t x = 2;
    uint32_t power = x;
    for (unsigned i = 1; i <= w; i++) {
        power = gfk_nibbles_times(square, w, power);
        if (i == w / 2 && gfk_poly_inverse(power ^ x, polynomial) == 0)
            return false;
    }
    return power == x;
}

/* An element generates the group iff its order is 2^w - 1, which is the product of the primes
 * 2^h + 1 for h = w/2, w/4, ..., 1 (at most 3, 5, 17, 257, 65537). The largest prime divides the
 * order of g iff g^(2^h) is not g. A smaller prime divides it iff it divides the order of
 * g^(2^h + 1), which lies in the field of 2^h elements, where the loop asks the same again. */
static bool generates(uint32_t g, const gfk_nibbles *square, unsigned w, uint64_t polynomial) {
    for (unsigned h = w / 2; h > 0; h /= 2) {
        uint32_t conjugate = g;
        for (unsigned i = 0; i < h; i++)
            conjugate = gfk_nibbles_times(square, w, conjugate);
        if (conjugate == g)
            return false;
        g = gfk_poly_multiply(g, conjugate, w, polynomial);
    }
    return true;
}

uint32_t gfk_poly_generator(unsigned w, uint64_t polynomial) {
    gfk_nibbles square;
    square_by_nibbles(&square, w, polynomial);
    if (!is_irreducible(&square, w, polynomial))
        return 0;
    uint32_t g = 2;
    while (!generates(g, &square, w, polynomial))
        g++;
    return g;
}
