/* SPDX-License-Identifier: BSD-3-Clause */
/* Powers, inverses, irreducibility and generators modulo a polynomial over GF(2). */
#include "poly.h"

static int degree(uint64_t a) {
    int d = -1;
    for (; a != 0; a >>= 1)
        d++;
    return d;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b != 0) {
        while (degree(a) >= degree(b))
            a ^= b << (degree(a) - degree(b));
        uint64_t t = a;
        a = b;
        b = t;
    }
    return a;
}

uint32_t gfk_poly_pow(uint32_t a, uint64_t exponent, unsigned w, uint64_t polynomial) {
    uint32_t power = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1)
            power = gfk_poly_multiply(power, a, w, polynomial);
        a = gfk_poly_multiply(a, a, w, polynomial);
    }
    return power;
}

uint32_t gfk_poly_inverse(uint32_t a, uint64_t polynomial) {
    /* Extended Euclid. Invariants: g * a = u and h * a = v (mod polynomial), and the degrees of
     * g and h stay below w. */
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
    return u == 1 ? (uint32_t)g : 0; /* 0: a and the polynomial have a factor in common */
}

/* Rabin's test: x^(2^w) = x, and x^(2^(w/q)) - x has no factor in common with the polynomial for
 * each prime q that divides w. The only such prime of a power of two is 2. */
bool gfk_poly_irreducible(unsigned w, uint64_t polynomial) {
    const uint32_t x = 2;
    uint32_t power = x;
    for (unsigned i = 1; i <= w; i++) {
        power = gfk_poly_multiply(power, power, w, polynomial);
        if (i == w / 2 && gcd(polynomial, power ^ x) != 1)
            return false;
    }
    return power == x;
}

/* An element generates the group iff its order is not a proper divisor of 2^w - 1. The primes of
 * 2^8 - 1, 2^16 - 1 and 2^32 - 1 are the Fermat primes below 2^(w/2) + 1. */
uint32_t gfk_poly_generator(unsigned w, uint64_t polynomial) {
    static const uint32_t primes[] = {3, 5, 17, 257, 65537};
    const uint64_t order = (UINT64_C(1) << w) - 1;
    for (uint32_t g = 2;; g++) {
        bool generates = true;
        for (unsigned i = 0; i < sizeof primes / sizeof primes[0]; i++)
            if (order % primes[i] == 0 && gfk_poly_pow(g, order / primes[i], w, polynomial) == 1)
                generates = false;
        if (generates)
            return g;
    }
}
