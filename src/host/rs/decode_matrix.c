/* SPDX-License-Identifier: BSD-3-Clause */
/* From lost regions to the matrix that rebuilds them. Of e lost data regions and e parity regions
 * that are left, only an e x e system is solved: the data that is there is known. */
#include <stdlib.h>
#include <string.h>

#include "../nibbles.h"
#include "code.h"

enum { THERE = 0, LOST = 1, WANTED = 2 };

/* What each region is. THERE, LOST or WANTED (which is lost too). */
static gfk_status mark_lists(size_t n, size_t m, const size_t *lost, size_t lost_count,
                             const size_t *wanted, size_t wanted_count, unsigned char *state) {
    if ((lost == NULL && lost_count != 0) || (wanted == NULL && wanted_count != 0))
        return GFK_STATUS_INVALID_ARGUMENT;
    for (size_t i = 0; i < lost_count; i++) {
        if (lost[i] >= n || state[lost[i]] != THERE)
            return GFK_STATUS_INVALID_ARGUMENT;
        state[lost[i]] = LOST;
    }
    for (size_t i = 0; i < wanted_count; i++) {
        if (wanted[i] >= n || state[wanted[i]] != LOST)
            return GFK_STATUS_INVALID_ARGUMENT;
        state[wanted[i]] = WANTED;
    }
    return lost_count > m ? GFK_STATUS_TOO_MANY_ERASURES : GFK_STATUS_SUCCESS;
}

/* to[i] += c * from[i], or where there is an index c * from[index[i]] */
static void add_row(const gfk_arithmetic *f, uint32_t *to, const uint32_t *from,
                    const size_t *index, uint32_t c, size_t count) {
    if (c == 0)
        return;
    if (f->w == 32) {
        gfk_nibbles t;
        gfk_nibbles_expand(&t, 32, f->polynomial, c);
        for (size_t i = 0; i < count; i++)
            to[i] ^= gfk_nibbles_times(&t, 32, from[index ? index[i] : i]);
        return;
    }
    const uint16_t *antilog = f->antilog + f->log[c];
    for (size_t i = 0; i < count; i++) {
        const uint32_t x = from[index ? index[i] : i];
        to[i] ^= x ? antilog[f->log[x]] : 0;
    }
}

static void scale_row(const gfk_arithmetic *f, uint32_t *row, uint32_t c, size_t count) {
    for (size_t i = 0; i < count; i++)
        row[i] = gfk_times(f, row[i], c);
}

/* The system of the lost data: row by row, parity rows that say something new are reduced to the
 * identity. left is their part for the lost data, right the same row operations on the identity;
 * at the end row r of right gives the lost region pivots[r]. */
typedef struct solver {
    const gfk_arithmetic *f;
    size_t e, taken; /* lost data regions; rows so far */
    uint32_t *left, *right;
    size_t *pivots, *parity; /* of each row */
} solver;

static bool take_row(solver *s, size_t parity) {
    const size_t e = s->e;
    uint32_t *left = s->left + s->taken * e, *right = s->right + s->taken * e;
    for (size_t r = 0; r < s->taken; r++) {
        const uint32_t c = left[s->pivots[r]];
        add_row(s->f, left, s->left + r * e, NULL, c, e);
        add_row(s->f, right, s->right + r * e, NULL, c, e);
    }
    size_t pivot = 0;
    while (pivot < e && left[pivot] == 0)
        pivot++;
    if (pivot == e)
        return false;
    const uint32_t inverse = gfk_inverse(s->f, left[pivot]);
    scale_row(s->f, left, inverse, e);
    scale_row(s->f, right, inverse, e);
    for (size_t r = 0; r < s->taken; r++) {
        const uint32_t c = s->left[r * e + pivot];
        add_row(s->f, s->left + r * e, left, NULL, c, e);
        add_row(s->f, s->right + r * e, right, NULL, c, e);
    }
    s->pivots[s->taken] = pivot;
    s->parity[s->taken] = parity;
    s->taken++;
    return true;
}

/* lost: the e data regions. False: the parity that is left does not determine them. */
static bool solve(solver *s, gfk_rs_t code, const unsigned char *state, const size_t *lost) {
    const size_t k = code->info.k, e = s->e;
    for (size_t j = 0; j < code->info.m && s->taken < e; j++) {
        if (state[k + j] != THERE)
            continue;
        uint32_t *left = s->left + s->taken * e, *right = s->right + s->taken * e;
        for (size_t i = 0; i < e; i++)
            left[i] = code->matrix[j * k + lost[i]];
        memset(right, 0, e * sizeof *right);
        right[s->taken] = 1;
        (void)take_row(s, j);
    }
    return s->taken == e;
}

/* The wanted region as a sum of the sources: the data that is there, then the parity taken. That
 * parity stands for the lost data, of which a parity region has a sum and a data region is one. */
static void wanted_row(const solver *s, gfk_rs_t code, const size_t *sources, const size_t *lost,
                       size_t index, uint32_t *row) {
    const size_t k = code->info.k, e = s->e, there = k - e;
    uint32_t *of_parity = row + there;
    memset(row, 0, k * sizeof *row);
    for (size_t r = 0; r < e; r++) {
        const size_t region = lost[s->pivots[r]];
        const uint32_t c = index >= k ? code->matrix[(index - k) * k + region] : index == region;
        add_row(s->f, of_parity, s->right + r * e, NULL, c, e);
    }
    if (index >= k)
        add_row(s->f, row, code->matrix + (index - k) * k, sources, 1, there);
    for (size_t r = 0; r < e; r++) /* parity less its part of the data that is there */
        add_row(s->f, row, code->matrix + s->parity[r] * k, sources, of_parity[r], there);
}

static gfk_status fill(gfk_rs_t code, const unsigned char *state, const size_t *wanted,
                       size_t wanted_count, solver *s, size_t *lost, size_t *sources,
                       uint32_t *matrix) {
    const size_t k = code->info.k;
    size_t there = 0;
    for (size_t i = 0; i < k; i++)
        if (state[i] == THERE)
            sources[there++] = i;
        else
            lost[s->e++] = i;
    if (!solve(s, code, state, lost))
        return GFK_STATUS_SINGULAR;
    for (size_t r = 0; r < s->e; r++)
        sources[there + r] = k + s->parity[r];
    for (size_t i = 0; i < wanted_count && matrix != NULL; i++)
        wanted_row(s, code, sources, lost, wanted[i], matrix + i * k);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_decode_matrix(gfk_rs_t code, const size_t *lost, size_t lost_count,
                                const size_t *wanted, size_t wanted_count, size_t *sources,
                                uint32_t *matrix) {
    const size_t k = code->info.k, m = code->info.m;
    if (wanted == NULL && wanted_count == 0) {
        wanted = lost;
        wanted_count = lost_count;
    }
    unsigned char *state = calloc(k + m, 1);
    if (state == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    gfk_status status = mark_lists(k + m, m, lost, lost_count, wanted, wanted_count, state);
    if (status == GFK_STATUS_SUCCESS) {
        const size_t most = lost_count < k ? lost_count : k;
        solver s = {.f = &code->arithmetic};
        uint32_t *squares = malloc((2 * most * most + 1) * sizeof *squares);
        size_t *lists = malloc((3 * most + k) * sizeof *lists);
        status = GFK_STATUS_OUT_OF_MEMORY;
        if (squares != NULL && lists != NULL) {
            size_t *mine = lists + 3 * most; /* sources, where the caller wants none */
            s.left = squares;
            s.right = squares + most * most;
            s.pivots = lists;
            s.parity = lists + most;
            status = fill(code, state, wanted, wanted_count, &s, lists + 2 * most,
                          sources ? sources : mine, matrix);
        }
        free(squares);
        free(lists);
    }
    free(state);
    return status;
}
