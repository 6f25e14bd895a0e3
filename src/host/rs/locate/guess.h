/* SPDX-License-Identifier: BSD-3-Clause */
/* A guess of the wrong regions for many positions. The host and the kernels use the same
 * functions. */
#ifndef GFK_HOST_RS_LOCATE_GUESS_H
#define GFK_HOST_RS_LOCATE_GUESS_H

#include "position.h"

/* Up to t regions E that may explain many positions. Any m columns of the checks are independent,
 * so the syndromes of |E| rows, the pivots, determine the errors of E, and the errors determine all
 * other syndromes. All of this is one product, `map` times the pivots' syndromes. Its row x is
 *
 *   x < m - count    what the syndrome rows[x] must be
 *   m - count <= x   the error of regions[x - (m - count)]; rows[x] is its pivot
 *
 * If the other syndromes have these values, E explains them, and no other set of at most t regions
 * does. */
typedef struct gfk_locate_guess {
    uint32_t count;
    uint32_t *regions;    /* t regions */
    uint32_t *rows;       /* m rows */
    uint32_t *map;        /* m * count elements */
    uint32_t down, right; /* the distances of rows and of columns of the map, in elements */
} gfk_locate_guess;

enum { GFK_LOCATE_MOST_GUESSED = 32 };

GFK_HOST_DEVICE uint32_t gfk_most_guessed(const gfk_locate_code *c) {
    return c->t < GFK_LOCATE_MOST_GUESSED ? c->t : (uint32_t)GFK_LOCATE_MOST_GUESSED;
}

GFK_HOST_DEVICE uint32_t *gfk_guess_element(const gfk_locate_guess *g, uint32_t x, uint32_t p) {
    return g->map + (size_t)x * g->down + (size_t)p * g->right;
}

/* Row x of the map begins with the checks' coefficients of the guessed regions. */
GFK_HOST_DEVICE void gfk_guess_fill_row(const gfk_locate_code *c, const gfk_locate_guess *g,
                                        uint32_t x) {
    g->rows[x] = x;
    for (uint32_t p = 0; p < g->count; p++)
        *gfk_guess_element(g, x, p) = gfk_check_element(c, x, g->regions[p]);
}

/* Step p exchanges error p, an argument of the map, and a syndrome, a value of the map. First, the
 * pivot's row becomes row m - count + p. One of the rows that are not pivots yet is regular. */
GFK_HOST_DEVICE void gfk_guess_pivot(const gfk_locate_code *c, const gfk_locate_guess *g,
                                     uint32_t p) {
    const uint32_t to = c->m - g->count + p;
    uint32_t from = to;
    while (*gfk_guess_element(g, from, p) == 0)
        from = from + 1 < c->m ? from + 1 : 0;
    if (from == to)
        return;
    const uint32_t row = g->rows[from];
    g->rows[from] = g->rows[to];
    g->rows[to] = row;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t *a = gfk_guess_element(g, from, i), *b = gfk_guess_element(g, to, i);
        const uint32_t element = *a;
        *a = *b;
        *b = element;
    }
}

/* Then the exchange is made in all rows x except the pivot's, in any order, and in the pivot's row
 * at the end. */
GFK_HOST_DEVICE void gfk_guess_exchange(const gfk_locate_code *c, const gfk_locate_guess *g,
                                        uint32_t p, uint32_t x) {
    const uint32_t pivot = c->m - g->count + p;
    const uint32_t inverse = gfk_locate_inverse(c, *gfk_guess_element(g, pivot, p));
    uint32_t *own = gfk_guess_element(g, x, p);
    const uint32_t factor = x == pivot ? inverse : gfk_locate_times(c, *own, inverse);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t *element = gfk_guess_element(g, x, i);
        if (i != p)
            *element = x == pivot ? gfk_locate_times(c, *element, factor)
                                  : *element ^ gfk_locate_times(c, *gfk_guess_element(g, pivot, i),
                                                                factor);
    }
    *own = factor;
}

#endif
