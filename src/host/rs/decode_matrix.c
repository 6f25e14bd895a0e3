/* SPDX-License-Identifier: BSD-3-Clause */
/* From lost regions to the matrix that rebuilds them. With e lost data regions only an e x e system
 * is solved, with e parity regions that are not lost: the other data regions are known. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "host/base/exchange.h"

enum { THERE = 0, LOST = 1, WANTED = 2, READ = 3 };

/* Writes the state of each region: THERE, LOST, or WANTED (which implies lost). fill_rebuild
 * changes some to READ. */
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

/* The system of the lost data: the unknowns are lost regions, the rows parity regions. */
typedef struct solver {
    gfk_exchange exchange;
    size_t e;       /* number of lost data regions */
    size_t *parity; /* the parity region of each row */
} solver;

/* Solves the system. lost: the e lost data regions. Returns false if the parity regions that are
 * there do not determine the lost data. */
static bool solve(solver *s, gfk_rs_t code, const unsigned char *state, const size_t *lost) {
    const size_t k = code->info.k;
    for (size_t j = 0; j < code->info.m && s->exchange.taken < s->e; j++) {
        if (state[k + j] != THERE)
            continue;
        for (size_t i = 0; i < s->e; i++)
            s->exchange.parts[i] = code->matrix[j * k + lost[i]];
        if (gfk_exchange_take(&s->exchange))
            s->parity[s->exchange.taken - 1] = j;
    }
    return s->exchange.taken == s->e;
}

/* Writes the wanted region as a sum of the sources: first the data that is there, then the parity
 * that the solver took. A wanted data region is one lost region. A wanted parity region is a sum
 * that contains lost regions. The solver's rows express both by parity. */
static void wanted_row(const solver *s, gfk_rs_t code, const size_t *sources, const size_t *lost,
                       size_t index, uint32_t *row) {
    const gfk_exchange *const solved = &s->exchange;
    const size_t k = code->info.k, e = s->e, there = k - e;
    uint32_t *of_parity = row + there;
    gfk_factor x;
    memset(row, 0, k * sizeof *row);
    for (size_t r = 0; r < e; r++) {
        const size_t region = lost[solved->pivots[r]];
        gfk_factor_set(solved->f, &x,
                       index >= k ? code->matrix[(index - k) * k + region] : index == region);
        gfk_factor_add(solved->f, &x, of_parity, solved->rows + r * e, solved->pivots, e);
    }
    if (index >= k)
        for (size_t i = 0; i < there; i++)
            row[i] = code->matrix[(index - k) * k + sources[i]];
    for (size_t r = 0; r < e; r++) { /* subtract the share of the known data in the parity */
        gfk_factor_set(solved->f, &x, of_parity[r]);
        gfk_factor_add(solved->f, &x, row, code->matrix + s->parity[r] * k, sources, there);
    }
}

/* Fills r->matrix in closed form, or by matrix inversion if the matrix is large. r->sources lists
 * the data regions that are there, then the first e parity regions that are there. Returns false if
 * row by row is faster, if neither way is possible, if these parity regions do not determine the
 * lost data, or if memory is short. */
static bool fill_fast(gfk_rs_t code, const size_t *lost, size_t e, gfk_rs_rebuild *r) {
    if (code->points.points != NULL)
        return (code->info.field.w != 32 || e * r->rows >= GFK_RS_FEW_W32) &&
               gfk_rs_rebuild_by_points(code, lost, e, r) == GFK_STATUS_SUCCESS;
    if ((double)e * (double)r->rows * (double)code->info.k < GFK_RS_WIDE)
        return false;
    return (code->info.device != GFK_CPU &&
            gfk_rs_rebuild_wide(code, code->info.device, lost, e, r) == GFK_STATUS_SUCCESS) ||
           gfk_rs_rebuild_wide(code, GFK_CPU, lost, e, r) == GFK_STATUS_SUCCESS;
}

/* Fills r->matrix row by row, and the parity regions in r->sources. */
static gfk_status fill_by_rows(gfk_rs_t code, unsigned char *state, const size_t *lost, size_t e,
                               gfk_rs_rebuild *r) {
    const size_t k = code->info.k, m = code->info.m;
    uint32_t *rows = malloc((e + 1) * (e + 1) * sizeof *rows);
    size_t *lists = malloc((2 * e + 1) * sizeof *lists);
    gfk_status status = rows && lists ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
    solver s = {.exchange = {.f = &code->arithmetic,
                             .cols = e,
                             .rows = rows,
                             .parts = rows + e * e,
                             .is_pivot = state + k + m,
                             .pivots = lists},
                .e = e,
                .parity = lists + e};
    if (status == GFK_STATUS_SUCCESS && !solve(&s, code, state, lost))
        status = GFK_STATUS_SINGULAR;
    if (status == GFK_STATUS_SUCCESS) {
        for (size_t i = 0; i < e; i++)
            r->sources[k - e + i] = k + s.parity[i];
        for (size_t i = 0; i < r->rows; i++)
            wanted_row(&s, code, r->sources, lost, r->outputs[i], r->matrix + i * k);
    }
    free(rows);
    free(lists);
    return status;
}

/* Fills the lists and the matrix of a rebuild. */
static gfk_status fill_rebuild(gfk_rs_t code, unsigned char *state, size_t lost_count,
                               gfk_rs_rebuild *r) {
    const size_t k = code->info.k, m = code->info.m;
    size_t there = 0, e = 0, unread = 0;
    size_t *lost = malloc((lost_count + 1) * sizeof *lost); /* the lost data regions */
    if (lost == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    for (size_t i = 0; i < k; i++)
        if (state[i] == THERE)
            r->sources[there++] = i;
        else
            lost[e++] = i;
    for (size_t i = there, parity = k; i < k; parity++)
        if (state[parity] == THERE)
            r->sources[i++] = parity;
    gfk_status status = GFK_STATUS_SUCCESS;
    if (!fill_fast(code, lost, e, r))
        status = fill_by_rows(code, state, lost, e, r);
    free(lost);
    for (size_t i = there; i < k; i++)
        state[r->sources[i]] = READ;
    for (size_t i = k; i < k + m; i++)
        if (state[i] == THERE)
            r->unread[unread++] = i;
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
        status = fill_rebuild(code, state, lost_count, rebuild);
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
