/* SPDX-License-Identifier: BSD-3-Clause */
/* The recurrences of 256 positions at a time on the CPU, for w = 8. */
#include <string.h>

#include "host/base/cpu_targets.h"
#include "locate.h"
#include "planes.h"

enum { GROUP = 8 * sizeof(gfk_plane) }; /* positions that are computed together; bytes of a row */

typedef struct group {
    gfk_plane taps[8];
    uint32_t m, t;
    unsigned char *rows; /* the rows of the S_r, first as bytes, then as planes */
    size_t pitch;
    gfk_plane c[GFK_LOCATE_MOST_SUMS / 2 + 1][8];
    gfk_plane b[GFK_LOCATE_MOST_SUMS / 2 + 1][8]; /* coefficient l is b[(l + turn) mod (t + 1)] */
    uint32_t turn;
    gfk_plane excess[GFK_EXCESS_BITS];
} group;

GFK_FOR_TARGET gfk_plane *row(const group *g, uint32_t r) {
    return (gfk_plane *)(g->rows + r * g->pitch);
}
GFK_FOR_TARGET gfk_plane *old_coefficient(group *g, uint32_t l) {
    return g->b[(l + g->turn) % (g->t + 1)];
}

GFK_FOR_TARGET bool has_any(const gfk_plane *x) {
    return ((*x)[0] | (*x)[1] | (*x)[2] | (*x)[3]) != 0;
}

/* d = C_0 S_r + C_1 S_(r-1) + ... + C_last S_(r-last) */
GFK_FOR_TARGET void convolve(const group *g, uint32_t r, uint32_t last, gfk_plane *d) {
    gfk_plane sum[GFK_DEGREES];
    gfk_planes_clear(sum);
    for (uint32_t l = 0; l <= last; l++)
        gfk_planes_add_product(sum, row(g, r - l), g->c[l]);
    gfk_planes_reduce(g->taps, sum, d);
}

GFK_FOR_TARGET void begin(group *g) {
    const gfk_plane zero = GFK_PLANE(0);
    for (uint32_t l = 0; l <= g->t; l++)
        for (int i = 0; i < 8; i++) {
            g->c[l][i] = l == 0 && i == 0 ? ~zero : zero;
            g->b[l][i] = l == 1 && i == 0 ? ~zero : zero;
        }
    for (int i = 0; i < GFK_EXCESS_BITS; i++)
        g->excess[i] = zero;
    g->turn = 0;
    for (uint32_t r = 0; r < g->m; r++)
        gfk_planes_transpose(row(g, r));
}

GFK_FOR_TARGET void find(group *g) {
    gfk_plane scale[8], d[8];
    uint32_t longest = 0; /* the largest L */
    gfk_planes_copy(scale, g->c[0]);
    for (uint32_t r = 0; r < g->m; r++) {
        convolve(g, r, longest < r ? longest : r, d);
        gfk_plane grows = GFK_PLANE(0);
        for (int i = 0; i < 8; i++)
            grows |= d[i];
        grows &= ~g->excess[GFK_EXCESS_BITS - 1];
        if (has_any(&grows)) {
            gfk_plane most =
                grows; /* the positions where r - 2 L, which becomes r + 1 - L, is largest */
            uint32_t excess = 0;
            for (int i = GFK_EXCESS_BITS - 1; i-- > 0;) {
                const gfk_plane set = most & g->excess[i];
                if (has_any(&set)) {
                    most = set;
                    excess |= 1u << i;
                }
            }
            const uint32_t length = (r + excess) / 2 + 1;
            longest = length > g->t ? g->t : length > longest ? length : longest;
        }
        gfk_planes_step(g->excess, &grows);
        for (uint32_t l = 0; l <= longest; l++) {
            gfk_plane *b = old_coefficient(g, l);
            for (int i = 0; i < 8 && l == 0; i++)
                b[i] = GFK_PLANE(0);
            gfk_planes_update(g->taps, g->c[l], b, scale, d, &grows);
        }
        gfk_planes_choose(scale, d, &grows);
        g->turn = g->turn == 0 ? g->t : g->turn - 1;
    }
}

/* Stores C / C_0, then the numerator of the errors, as bytes in the rows; and the positions'
 * bytes. */
GFK_FOR_TARGET void finish(group *g, bool valued, gfk_plane *bytes) {
    gfk_plane inverse[8];
    gfk_planes_copy(inverse, g->c[0]);
    gfk_planes_invert(g->taps, inverse);
    for (int i = 0; i < 8; i++)
        bytes[i] = GFK_PLANE(0);
    for (uint32_t l = 0; l <= g->t; l++) {
        gfk_planes_multiply(g->taps, g->c[l], inverse);
        if (l != 0)
            gfk_planes_describe(g->excess, g->m, l, g->c[l], bytes);
    }
    gfk_planes_transpose(bytes);
    for (uint32_t d = 0; d < g->t && valued; d++)
        convolve(g, d, d, g->b[d]);
    for (uint32_t l = 0; l < (valued ? 2 * g->t : g->t); l++) {
        gfk_planes_copy(row(g, l), l < g->t ? g->c[l + 1] : g->b[l - g->t]);
        gfk_planes_transpose(row(g, l));
    }
}

GFK_FOR_TARGET void find_group(group *g, bool valued, gfk_plane *bytes) {
    begin(g);
    find(g);
    finish(g, valued, bytes);
}

typedef void find_fn(group *g, bool valued, gfk_plane *bytes);
#define FIND(set, attribute)                                                                       \
    attribute static void find_##set(group *g, bool valued, gfk_plane *bytes) {                    \
        find_group(g, valued, bytes);                                                              \
    }
GFK_CPU_TARGETS(FIND)

void gfk_locate_planes(const gfk_locate_code *c, unsigned char *rows, size_t pitch,
                       const unsigned char *wrong, unsigned char *restrict found, size_t bytes,
                       bool valued) {
    find_fn *find_one = GFK_ON_THIS_CPU(find);
    group g;
    g.m = c->m;
    g.t = c->t;
    g.pitch = pitch;
    gfk_planes_taps(c->field.polynomial, g.taps);
    for (size_t first = 0; first < bytes; first += GROUP) {
        gfk_plane planes[8];
        g.rows = rows + first;
        find_one(&g, valued, planes);
        memcpy(found + first, planes, GROUP);
    }
    for (size_t i = 0; i < bytes; i++)
        found[i] = wrong[i] != 0 ? found[i] : 0;
}
