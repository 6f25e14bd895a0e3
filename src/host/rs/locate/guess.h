/* SPDX-License-Identifier: BSD-3-Clause */
/* A guess of the wrong regions for many positions. The same functions for host and kernels. */
#ifndef GFK_HOST_RS_LOCATE_GUESS_H
#define GFK_HOST_RS_LOCATE_GUESS_H

#include "position.h"

/* Regions that may explain many positions: `data` data regions, then `parity` parity regions. The
 * syndromes of as many unguessed parity regions as there are data regions, the pivots, determine
 * the errors of the data; these determine what all other syndromes are. All of this is one product,
 * `map` times the pivots' syndromes. Its row x is
 *
 *   x < data               the error of regions[x]
 *   data <= x < m - parity   what the syndrome of parity rows[x] must be
 *   m - parity <= x        what the syndrome of parity rows[x] would be without its own error
 *
 * If the syndromes are what they must be, the guessed regions explain them. There are at most t, so
 * no other set of at most t regions does. */
typedef struct gfk_locate_guess {
    uint32_t data, parity;
    uint32_t *regions; /* t */
    uint32_t *rows;    /* m parity regions, the pivots first */
    uint32_t *map;     /* m * data */
} gfk_locate_guess;

enum { GFK_LOCATE_MOST_GUESSED = 32 };

GFK_HOST_DEVICE uint32_t gfk_most_guessed(const gfk_locate_code *c) {
    return c->t < GFK_LOCATE_MOST_GUESSED ? c->t : (uint32_t)GFK_LOCATE_MOST_GUESSED;
}

/* Guesses the regions of a result with `count` errors; the map is not made yet. False: there are
 * too many. */
GFK_HOST_DEVICE bool gfk_guess_regions(const gfk_locate_code *c, gfk_locate_state s, uint32_t count,
                                       gfk_locate_guess *g) {
    if (count > gfk_most_guessed(c))
        return false;
    uint32_t at = 0, row = 0;
    for (uint32_t e = 0; e < count; e++)
        if (*gfk_error_region(c, s, e) < c->k)
            g->regions[at++] = *gfk_error_region(c, s, e);
    g->data = at;
    g->parity = count - at;
    for (uint32_t j = 0; j < c->m; j++) {
        bool guessed = false;
        for (uint32_t e = 0; e < count; e++)
            guessed |= *gfk_error_region(c, s, e) == c->k + j;
        if (guessed)
            g->rows[c->m - count + at] = j;
        else
            g->rows[row++] = j;
        if (guessed)
            g->regions[at++] = c->k + j;
    }
    return true;
}

GFK_HOST_DEVICE void gfk_guess_fill_row(const gfk_locate_code *c, const gfk_locate_guess *g,
                                        uint32_t x) {
    for (uint32_t i = 0; i < g->data; i++)
        g->map[x * g->data + i] = c->matrix[(size_t)g->rows[x] * c->k + g->regions[i]];
}

/* The map begins as the coefficients of all rows. Step p exchanges error p and syndrome p as
 * argument and value: first in all rows but p, in any order, then in row p. As the code is MDS,
 * every pivot is regular. */
GFK_HOST_DEVICE void gfk_guess_exchange(const gfk_locate_code *c, const gfk_locate_guess *g,
                                        uint32_t p, uint32_t x) {
    const uint32_t *pivot_row = g->map + p * g->data;
    const uint32_t inverse = gfk_locate_inverse(c, pivot_row[p]);
    uint32_t *row = g->map + x * g->data;
    const uint32_t factor = x == p ? inverse : gfk_locate_times(c, row[p], inverse);
    for (uint32_t i = 0; i < g->data; i++)
        if (i == p)
            row[i] = factor;
        else if (x == p)
            row[i] = gfk_locate_times(c, row[i], factor);
        else
            row[i] ^= gfk_locate_times(c, pivot_row[i], factor);
}

#endif
