/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of one position for a code without points, by a search for the set of regions that
 * spans the syndromes; and the choice between points and search. The host and the kernels use the
 * same functions. */
#ifndef GFK_HOST_RS_LOCATE_SEARCH_H
#define GFK_HOST_RS_LOCATE_SEARCH_H

#include "position.h"

/* The search chooses up to t columns of (matrix | 1). For each chosen column the words after the
 * result hold the column, reduced by the columns before it and scaled to 1 at its pivot row; then
 * the rest of the syndromes after this column; then its shares of the columns before it. */
typedef struct gfk_search {
    const gfk_locate_code *code;
    gfk_locate_state state;
} gfk_search;

GFK_HOST_DEVICE uint32_t *gfk_search_column(const gfk_search *x, uint32_t depth, uint32_t row) {
    return gfk_word(x->state, x->code->m * (2 + depth) + row);
}
GFK_HOST_DEVICE uint32_t *gfk_search_rest(const gfk_search *x, uint32_t depth, uint32_t row) {
    const uint32_t m = x->code->m;
    return depth == 0 ? gfk_word(x->state, row)
                      : gfk_word(x->state, m * (1 + x->code->t + depth) + row);
}
GFK_HOST_DEVICE uint32_t *gfk_search_share(const gfk_search *x, uint32_t depth, uint32_t before) {
    const uint32_t t = x->code->t;
    return gfk_word(x->state, x->code->m * (2 + 2 * t) + depth * (t + 2) + before);
}
GFK_HOST_DEVICE uint32_t *gfk_search_pivot(const gfk_search *x, uint32_t depth) {
    return gfk_search_share(x, depth, x->code->t);
}
GFK_HOST_DEVICE uint32_t *gfk_search_scale(const gfk_search *x, uint32_t depth) {
    return gfk_search_share(x, depth, x->code->t + 1);
}

/* Chooses column i as number `depth`. Returns true if the chosen columns explain the syndromes. */
GFK_HOST_DEVICE bool gfk_search_push(const gfk_search *x, uint32_t depth, uint32_t i) {
    const gfk_locate_code *c = x->code;
    for (uint32_t j = 0; j < c->m; j++)
        *gfk_search_column(x, depth, j) = gfk_check_element(c, j, i);
    for (uint32_t d = 0; d < depth; d++) {
        const uint32_t share = *gfk_search_column(x, depth, *gfk_search_pivot(x, d));
        *gfk_search_share(x, depth, d) = share;
        for (uint32_t j = 0; j < c->m; j++)
            *gfk_search_column(x, depth, j) ^=
                gfk_locate_times(c, *gfk_search_column(x, d, j), share);
    }
    uint32_t pivot = 0; /* the pivot exists, because any m columns of an MDS code are independent */
    while (pivot < c->m - 1 && *gfk_search_column(x, depth, pivot) == 0)
        pivot++;
    const uint32_t scale = gfk_locate_inverse(c, *gfk_search_column(x, depth, pivot));
    *gfk_search_pivot(x, depth) = pivot;
    *gfk_search_scale(x, depth) = scale;
    *gfk_error_region(c, x->state, depth) = i;
    const uint32_t share = *gfk_search_rest(x, depth, pivot);
    uint32_t rest = 0;
    for (uint32_t j = 0; j < c->m; j++) {
        uint32_t *element = gfk_search_column(x, depth, j);
        *element = gfk_locate_times(c, *element, scale);
        rest |= *gfk_search_rest(x, depth + 1, j) =
            *gfk_search_rest(x, depth, j) ^ gfk_locate_times(c, *element, share);
    }
    return rest == 0;
}

/* Computes the values of the `count` chosen columns, from the last to the first, and removes the
 * columns whose value is zero. Returns the number of the others. */
GFK_HOST_DEVICE uint32_t gfk_search_values(const gfk_search *x, uint32_t count) {
    const gfk_locate_code *c = x->code;
    for (uint32_t d = 0; d < count; d++)
        *gfk_error_value(c, x->state, d) = *gfk_search_rest(x, d, *gfk_search_pivot(x, d));
    for (uint32_t d = count; d-- > 0;) {
        uint32_t *value = gfk_error_value(c, x->state, d);
        *value = gfk_locate_times(c, *value, *gfk_search_scale(x, d));
        for (uint32_t e = 0; e < d; e++)
            *gfk_error_value(c, x->state, e) ^=
                gfk_locate_times(c, *value, *gfk_search_share(x, d, e));
    }
    uint32_t found = 0;
    for (uint32_t d = 0; d < count; d++) {
        if (*gfk_error_value(c, x->state, d) == 0)
            continue;
        *gfk_error_region(c, x->state, found) = *gfk_error_region(c, x->state, d);
        *gfk_error_value(c, x->state, found) = *gfk_error_value(c, x->state, d);
        found++;
    }
    return found;
}

/* Tries all sets of t regions. The code is MDS, so at most one set explains the syndromes. */
GFK_HOST_DEVICE uint32_t gfk_locate_by_search(const gfk_locate_code *c, gfk_locate_state s) {
    const gfk_search x = {c, s};
    uint32_t depth = 0, i = 0;
    for (;;) {
        if (i + (c->t - depth) > c->k + c->m) {
            if (depth == 0)
                return 0;
            depth--;
            i = *gfk_error_region(c, s, depth);
        } else if (gfk_search_push(&x, depth, i)) {
            return gfk_search_values(&x, depth + 1);
        } else if (depth + 1 < c->t) {
            depth++;
        }
        i++;
    }
}

/* Returns the number of words in the state of a position. */
GFK_HOST_DEVICE uint32_t gfk_locate_words(const gfk_locate_code *c) {
    return c->points != NULL ? 2 * c->m : c->m * (2 + 2 * c->t) + c->t * (c->t + 2);
}

#endif
