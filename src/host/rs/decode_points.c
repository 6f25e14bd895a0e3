/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix that rebuilds lost regions, in closed form, for codes whose matrix is a Cauchy matrix
 * with scaled rows and columns. Regions a and b have the sum [a, b] = p_a + p_b of their points, or
 * 1 if one of the points is at infinity. The element of parity j and data i is s_i / ([i, j] s_j).
 *
 * If the data regions L are lost, choose a set T of as many parity regions. The regions outside of
 * T, as sums of the regions outside of L, have the same form with other scales: s_a becomes s_a *
 * (the product of [a, l] over l in L) / (the product of [a, t] over t in T) without the factor [a,
 * a].
 *
 * The reason: the code is a generalized Reed-Solomon code. The form follows from the code's check
 * equation with the polynomial whose roots are the points of the other regions that are not
 * read. */
#include <stdlib.h>

#include "code.h"

enum { COLUMNS = 16 /* w = 32: columns whose tables exist at the same time */ };

/* Sets the points that follow from the matrix's definition. Returns false if the points are not
 * known. */
static bool find_points(gfk_rs_t code) {
    const gfk_rs_info *info = &code->info;
    const size_t k = info->k, m = info->m;
    uint32_t *points = code->points.points;
    code->points.infinity = k + m;
    switch (info->matrix) {
    case GFK_RS_REED_SOL_VAN:
        code->points.infinity = k + m - 1;
        /* fall through */
    case GFK_RS_CAUCHY:
    case GFK_RS_GEN_CAUCHY1:
    case GFK_RS_VANDERMONDE:
        for (size_t i = 0; i < k + m; i++)
            points[i] = (uint32_t)i;
        return true;
    case GFK_RS_CAUCHY_GOOD:
        if (info->field.w == 8 && m == 2) { /* rows of ones and of different elements */
            for (size_t i = 0; i < k; i++)
                points[i] = code->matrix[k + i];
            points[k] = points[k + 1] = 0;
            code->points.infinity = k + 1;
            return true;
        }
        for (size_t i = 0; i < k + m; i++)
            points[i] = (uint32_t)(i < k ? m + i : i - k);
        return true;
    default:
        return false;
    }
}

/* [a, b] */
static uint32_t sum_of(const gfk_rs_points *p, size_t a, size_t b) {
    return a == p->infinity || b == p->infinity ? 1 : p->points[a] ^ p->points[b];
}

/* The scales follow from the first row and the first column, if the scale of parity 0 is 1. */
static void find_scales(gfk_rs_t code) {
    const gfk_arithmetic *f = &code->arithmetic;
    const gfk_rs_points *p = &code->points;
    const size_t k = code->info.k, m = code->info.m;
    for (size_t i = 0; i < k; i++)
        p->scales[i] = gfk_times(f, code->matrix[i], sum_of(p, i, k));
    for (size_t j = 0; j < m; j++)
        p->scales[k + j] =
            gfk_quotient(f, p->scales[0], gfk_times(f, code->matrix[j * k], sum_of(p, 0, k + j)));
}

gfk_status gfk_rs_points_create(gfk_rs_t code) {
    gfk_rs_points *p = &code->points;
    const size_t n = code->info.k + code->info.m;
    size_t inverses = 1; /* w = 32: points, and therefore sums, are below this power of two */
    while (code->info.field.w == 32 && inverses < n)
        inverses *= 2;
    p->points = malloc((2 * n + inverses) * sizeof *p->points);
    if (p->points == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->scales = p->points + n;
    p->inverses = p->scales + n;
    if (!find_points(code)) {
        gfk_rs_points_destroy(p);
        return GFK_STATUS_SUCCESS;
    }
    find_scales(code);
    for (size_t x = 1; x < inverses; x++)
        p->inverses[x] = gfk_inverse(&code->arithmetic, (uint32_t)x);
    return GFK_STATUS_SUCCESS;
}

void gfk_rs_points_destroy(gfk_rs_points *points) {
    free(points->points);
    *points = (gfk_rs_points){0};
}

/* ---- by logarithms: w = 8 and 16 ------------------------------------------------------------- */

/* Returns the logarithm of the new scale of region a. The factor [a, a] is 0 and has the logarithm
 * 0 here. */
static uint32_t log_scale(gfk_rs_t code, size_t a, const size_t *lost, const size_t *parity,
                          size_t e) {
    const gfk_arithmetic *f = &code->arithmetic;
    const gfk_rs_points *p = &code->points;
    const int64_t order = ((int64_t)1 << f->w) - 1;
    int64_t sum = f->log[p->scales[a]];
    for (size_t t = 0; t < e; t++)
        sum += f->log[sum_of(p, a, lost[t])] - f->log[sum_of(p, a, parity[t])];
    sum %= order;
    return (uint32_t)(sum < 0 ? sum + order : sum);
}

static void fill_by_logs(gfk_rs_t code, const size_t *lost, size_t e, const gfk_rs_rebuild *r,
                         uint32_t *logs) {
    const gfk_arithmetic *f = &code->arithmetic;
    const size_t k = code->info.k;
    const size_t *parity = r->sources + k - e;
    const uint32_t order = (UINT32_C(1) << f->w) - 1;
    for (size_t i = 0; i < k; i++)
        logs[i] = log_scale(code, r->sources[i], lost, parity, e);
    for (size_t j = 0; j < r->rows; j++) {
        const uint32_t of_row = order - log_scale(code, r->outputs[j], lost, parity, e);
        for (size_t i = 0; i < k; i++) {
            const uint32_t scales = logs[i] + of_row;
            const uint32_t sum = sum_of(&code->points, r->sources[i], r->outputs[j]);
            r->matrix[j * k + i] =
                f->antilog[(scales < order ? scales : scales - order) + order - f->log[sum]];
        }
    }
}

/* ---- by tables of products: w = 32 ----------------------------------------------------------- */

/* Computes the new scale of region a as a fraction. */
static void scale_of(gfk_rs_t code, size_t a, const size_t *lost, const size_t *parity, size_t e,
                     uint32_t *numerator, uint32_t *denominator) {
    const gfk_arithmetic *f = &code->arithmetic;
    const gfk_rs_points *p = &code->points;
    uint32_t above = p->scales[a], below = 1;
    for (size_t t = 0; t < e; t++) {
        const uint32_t of_lost = sum_of(p, a, lost[t]), of_parity = sum_of(p, a, parity[t]);
        above = gfk_times(f, above, of_lost ? of_lost : 1);
        below = gfk_times(f, below, of_parity ? of_parity : 1);
    }
    *numerator = above;
    *denominator = below;
}

static void fill_by_products(gfk_rs_t code, const size_t *lost, size_t e, const gfk_rs_rebuild *r) {
    const gfk_arithmetic *f = &code->arithmetic;
    const size_t k = code->info.k;
    const size_t *parity = r->sources + k - e;
    uint32_t above, below;
    for (size_t first = 0; first < k; first += COLUMNS) {
        const size_t count = k - first < COLUMNS ? k - first : COLUMNS;
        gfk_nibbles tables[COLUMNS];
        for (size_t i = 0; i < count; i++) {
            scale_of(code, r->sources[first + i], lost, parity, e, &above, &below);
            gfk_nibbles_expand(&tables[i], 32, f->polynomial, gfk_quotient(f, above, below));
        }
        for (size_t j = 0; j < r->rows; j++)
            for (size_t i = 0; i < count; i++) {
                const uint32_t sum = sum_of(&code->points, r->sources[first + i], r->outputs[j]);
                r->matrix[j * k + first + i] =
                    gfk_nibbles_times(&tables[i], 32, code->points.inverses[sum]);
            }
    }
    for (size_t j = 0; j < r->rows; j++) {
        gfk_nibbles table;
        scale_of(code, r->outputs[j], lost, parity, e, &above, &below);
        gfk_nibbles_expand(&table, 32, f->polynomial, gfk_quotient(f, below, above));
        for (size_t i = 0; i < k; i++)
            r->matrix[j * k + i] = gfk_nibbles_times(&table, 32, r->matrix[j * k + i]);
    }
}

gfk_status gfk_rs_rebuild_by_points(gfk_rs_t code, const size_t *lost, size_t e,
                                    gfk_rs_rebuild *r) {
    if (code->info.field.w == 32) {
        fill_by_products(code, lost, e, r);
        return GFK_STATUS_SUCCESS;
    }
    uint32_t *logs = malloc(code->info.k * sizeof *logs);
    if (logs == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    fill_by_logs(code, lost, e, r, logs);
    free(logs);
    return GFK_STATUS_SUCCESS;
}
