/* SPDX-License-Identifier: BSD-3-Clause */
/* From lost regions to the matrix that rebuilds them. With e lost data regions only an e x e system
 * is solved, of e parity regions that are left: the other data regions are known. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "host/base/poly.h"

enum { THERE = 0, LOST = 1, WANTED = 2, READ = 3 };

/* Writes the state of each region: THERE, LOST, or WANTED (and lost). fill makes some READ. */
static gfk_status mark_lists(size_t n, size_t m, const size_t *lost, size_t lost_count,
                             const size_t *wanted, size_t wanted_count, unsigned char *state) {
    if ((lost == NULL && lost_count != 0) || (wanted == NULL && wanted_count != 0) ||
        wanted_count > lost_count)
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

/* A constant that rows are multiplied by. */
typedef struct factor {
    uint32_t c;
    gfk_nibbles nibbles; /* where w = 32 and c > 1 */
} factor;

static void set_factor(const gfk_arithmetic *f, factor *x, uint32_t c) {
    x->c = c;
    if (f->w == 32 && c > 1)
        gfk_nibbles_expand(&x->nibbles, 32, f->polynomial, c);
}

/* to[i] += x * from[i]; with an index, to[i] += x * from[index[i]]. */
static void add_row(const gfk_arithmetic *f, const factor *x, uint32_t *to, const uint32_t *from,
                    const size_t *index, size_t count) {
    if (x->c == 0)
        return;
    if (x->c == 1) {
        for (size_t i = 0; i < count; i++)
            to[i] ^= from[index ? index[i] : i];
        return;
    }
    if (f->w == 32) {
        for (size_t i = 0; i < count; i++)
            to[i] ^= gfk_nibbles_times(&x->nibbles, 32, from[index ? index[i] : i]);
        return;
    }
    const uint16_t *antilog = f->antilog + f->log[x->c];
    for (size_t i = 0; i < count; i++) {
        const uint32_t element = from[index ? index[i] : i];
        to[i] ^= element ? antilog[f->log[element]] : 0;
    }
}

/* The system of the lost data, inverted in place. Independent parity rows are added one after the
 * other, and the matrix is kept reduced. A column stands for a lost region until the column becomes
 * a pivot; from then on it stands for the parity region of the pivot's row. So row r expresses the
 * lost region pivots[r] as a sum over the columns. */
typedef struct solver {
    const gfk_arithmetic *f;
    size_t e, taken;         /* lost data regions; rows so far */
    uint32_t *rows, *parts;  /* e * e elements, and e of the parity row that is being taken */
    unsigned char *is_pivot; /* of each column */
    size_t *pivots, *parity; /* of each row */
} solver;

static void take_row(solver *s, size_t parity) {
    const size_t e = s->e;
    uint32_t *row = s->rows + s->taken * e;
    factor x;
    for (size_t i = 0; i < e; i++)
        row[i] = s->is_pivot[i] ? 0 : s->parts[i];
    for (size_t r = 0; r < s->taken; r++) {
        set_factor(s->f, &x, s->parts[s->pivots[r]]);
        add_row(s->f, &x, row, s->rows + r * e, NULL, e);
    }
    size_t pivot = 0;
    while (pivot < e && (s->is_pivot[pivot] || row[pivot] == 0))
        pivot++;
    if (pivot == e)
        return; /* the row depends on those before */
    set_factor(s->f, &x, gfk_inverse(s->f, row[pivot]));
    memcpy(s->parts, row, e * sizeof *row);
    memset(row, 0, e * sizeof *row);
    s->parts[pivot] = 1; /* of this parity region */
    add_row(s->f, &x, row, s->parts, NULL, e);
    for (size_t r = 0; r < s->taken; r++) {
        uint32_t *other = s->rows + r * e;
        set_factor(s->f, &x, other[pivot]);
        other[pivot] = 0;
        add_row(s->f, &x, other, row, NULL, e);
    }
    s->is_pivot[pivot] = 1;
    s->pivots[s->taken] = pivot;
    s->parity[s->taken] = parity;
    s->taken++;
}

/* lost: the e lost data regions. False: the parity that is left does not determine them. */
static bool solve(solver *s, gfk_rs_t code, const unsigned char *state, const size_t *lost) {
    const size_t k = code->info.k;
    for (size_t j = 0; j < code->info.m && s->taken < s->e; j++) {
        if (state[k + j] != THERE)
            continue;
        for (size_t i = 0; i < s->e; i++)
            s->parts[i] = code->matrix[j * k + lost[i]];
        take_row(s, j);
    }
    return s->taken == s->e;
}

/* Writes the wanted region as a sum of the sources: first the data that is there, then the parity
 * that the solver took. A wanted data region is one lost region, a wanted parity region is a sum
 * that contains lost regions; the solver's rows express both by parity. */
static void wanted_row(const solver *s, gfk_rs_t code, const size_t *sources, const size_t *lost,
                       size_t index, uint32_t *row) {
    const size_t k = code->info.k, e = s->e, there = k - e;
    uint32_t *of_parity = row + there;
    factor x;
    memset(row, 0, k * sizeof *row);
    for (size_t r = 0; r < e; r++) {
        const size_t region = lost[s->pivots[r]];
        set_factor(s->f, &x, index >= k ? code->matrix[(index - k) * k + region] : index == region);
        add_row(s->f, &x, of_parity, s->rows + r * e, s->pivots, e);
    }
    if (index >= k)
        for (size_t i = 0; i < there; i++)
            row[i] = code->matrix[(index - k) * k + sources[i]];
    for (size_t r = 0; r < e; r++) { /* subtract what the parity has of the data that is there */
        set_factor(s->f, &x, of_parity[r]);
        add_row(s->f, &x, row, code->matrix + s->parity[r] * k, sources, there);
    }
}

/* Fills the lists and the matrix of a rebuild. `lost` has room for the e lost data regions. */
static gfk_status fill(gfk_rs_t code, unsigned char *state, solver *s, size_t *lost,
                       gfk_rs_rebuild *r) {
    const size_t k = code->info.k, m = code->info.m;
    size_t there = 0, unread = 0;
    for (size_t i = 0; i < k; i++)
        if (state[i] == THERE)
            r->sources[there++] = i;
        else
            lost[s->e++] = i;
    if (!solve(s, code, state, lost))
        return GFK_STATUS_SINGULAR;
    for (size_t i = 0; i < s->e; i++) {
        r->sources[there + i] = k + s->parity[i];
        state[r->sources[there + i]] = READ;
    }
    for (size_t i = 0; i < r->rows; i++)
        wanted_row(s, code, r->sources, lost, r->outputs[i], r->matrix + i * k);
    for (size_t i = k; i < k + m; i++)
        if (state[i] == THERE)
            r->unread[unread++] = i;
    return GFK_STATUS_SUCCESS;
}

static gfk_status fill_with_solver(gfk_rs_t code, unsigned char *state, size_t lost_count,
                                   gfk_rs_rebuild *r) {
    const size_t k = code->info.k, m = code->info.m, most = lost_count < k ? lost_count : k;
    uint32_t *rows = malloc((most + 1) * (most + 1) * sizeof *rows);
    size_t *lists = malloc((3 * most + 1) * sizeof *lists);
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (rows != NULL && lists != NULL) {
        solver s = {.f = &code->arithmetic,
                    .rows = rows,
                    .parts = rows + most * most,
                    .is_pivot = state + k + m,
                    .pivots = lists,
                    .parity = lists + most};
        status = fill(code, state, &s, lists + 2 * most, r);
    }
    free(rows);
    free(lists);
    return status;
}

static gfk_status allocate(gfk_rs_rebuild *r, size_t k, size_t rows, size_t unread_count) {
    size_t *lists = malloc((rows + k + unread_count) * sizeof *lists);
    *r = (gfk_rs_rebuild){.rows = rows,
                          .outputs = lists,
                          .sources = lists + rows,
                          .matrix = malloc((rows * k + 1) * sizeof *r->matrix),
                          .unread_count = unread_count,
                          .unread = lists + rows + k};
    return lists && r->matrix ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

gfk_status gfk_rs_rebuild_create(gfk_rs_rebuild *rebuild, gfk_rs_t code, const size_t *lost,
                                 size_t lost_count, const size_t *wanted, size_t wanted_count) {
    const size_t k = code->info.k, m = code->info.m;
    if (wanted == NULL && wanted_count == 0) {
        wanted = lost;
        wanted_count = lost_count;
    }
    *rebuild = (gfk_rs_rebuild){.rows = 0};
    unsigned char *state = calloc(k + m + k, 1); /* the last k are the solver's marks */
    if (state == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    gfk_status status = mark_lists(k + m, m, lost, lost_count, wanted, wanted_count, state);
    if (status == GFK_STATUS_SUCCESS)
        status = allocate(rebuild, k, wanted_count, m - lost_count);
    if (status == GFK_STATUS_SUCCESS) {
        for (size_t i = 0; i < wanted_count; i++)
            rebuild->outputs[i] = wanted[i];
        status = fill_with_solver(code, state, lost_count, rebuild);
    }
    free(state);
    if (status != GFK_STATUS_SUCCESS)
        gfk_rs_rebuild_free(rebuild);
    return status;
}

void gfk_rs_rebuild_free(gfk_rs_rebuild *rebuild) {
    free(rebuild->outputs);
    free(rebuild->matrix);
    *rebuild = (gfk_rs_rebuild){.rows = 0};
}

static int compare(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

void gfk_rs_sort(size_t *regions, size_t count) {
    if (count != 0)
        qsort(regions, count, sizeof *regions, compare);
}
