/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of an elimination on the CPU: panels by host arithmetic, the rest by gfk_matmul. */
#include <stdlib.h>
#include <string.h>

#include "eliminate.h"
#include "host/base/exchange.h"
#include "host/base/status.h"
#include "host/base/symbol.h"
#include "host/product/matmul.h"

static uint8_t *row_of(const gfk_elimination *e, size_t row) {
    return e->matrix + row * e->pitch;
}

static uint32_t get(const gfk_elimination *e, const void *row, size_t i) {
    return gfk_symbol_get(row, i, e->field->w);
}

static void set(const gfk_elimination *e, void *row, size_t i, uint32_t x) {
    gfk_symbol_set(row, i, e->field->w, x);
}

static gfk_status load_matrix(const gfk_elimination *e) {
    for (size_t r = 0; r < e->a->rows; r++)
        memcpy(row_of(e, r), (const uint8_t *)e->a->elements + r * e->a->stride * e->symbol,
               e->a->cols * e->symbol);
    memset(e->used, 0, e->a->cols);
    *e->rank = 0;
    return GFK_STATUS_SUCCESS;
}

/* Lists up to `most` unused columns. */
static size_t list_columns(const gfk_elimination *e, size_t most, uint32_t *columns) {
    size_t count = 0;
    for (size_t c = 0; c < e->a->cols && count < most; c++)
        if (!e->used[c])
            columns[count++] = (uint32_t)c;
    return count;
}

/* Takes the panel's rows, if there are columns for them; `taken` are the rows that have a pivot. */
static void take_rows(const gfk_elimination *e, gfk_exchange *s, size_t first, size_t rows,
                      const uint32_t *columns, size_t *taken) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < s->cols; i++)
            s->parts[i] = get(e, row_of(e, first + r), columns[i]);
        if (gfk_exchange_take(s))
            taken[s->taken - 1] = r;
    }
}

static void write_panel(const gfk_elimination *e, const gfk_exchange *s, size_t first, size_t rows,
                        const uint32_t *columns, const size_t *taken) {
    memset(e->transform, 0, e->panel * e->panel * e->symbol);
    for (size_t r = 0; r < rows; r++)
        e->pivots[first + r] = GFK_MATRIX_DEPENDENT;
    for (size_t i = 0; i < s->taken; i++) {
        e->pivots[first + taken[i]] = columns[s->pivots[i]];
        e->used[columns[s->pivots[i]]] = 1;
        for (size_t j = 0; j < s->taken; j++)
            set(e, e->transform, taken[i] * e->panel + taken[j],
                s->rows[i * s->cols + s->pivots[j]]);
    }
    *e->rank += (uint32_t)s->taken;
}

/* Searches `most` unused columns. *done: every row has a pivot, or no columns are left. */
static gfk_status search(const gfk_elimination *e, size_t first, size_t rows, size_t most,
                         bool *done) {
    const size_t room = most < e->a->cols ? most : e->a->cols;
    uint32_t *elements = malloc(((rows + 2) * room + 1) * sizeof *elements);
    size_t *lists = malloc(2 * rows * sizeof *lists);
    unsigned char *is_pivot = calloc(room + 1, 1);
    const bool is_allocated = elements != NULL && lists != NULL && is_pivot != NULL;
    if (is_allocated) {
        uint32_t *const columns = elements + (rows + 1) * room;
        gfk_exchange s = {.f = e->arithmetic,
                          .rows = elements,
                          .parts = elements + rows * room,
                          .is_pivot = is_pivot,
                          .pivots = lists,
                          .cols = list_columns(e, room, columns)};
        take_rows(e, &s, first, rows, columns, lists + rows);
        *done = s.taken == rows || s.cols < most;
        if (*done)
            write_panel(e, &s, first, rows, columns, lists + rows);
    }
    free(elements);
    free(lists);
    free(is_pivot);
    return is_allocated ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

static gfk_status find_pivots(const gfk_elimination *e, size_t first, size_t rows) {
    bool done = false;
    RETURN_IF_ERROR(search(e, first, rows, e->most_columns, &done));
    return done ? GFK_STATUS_SUCCESS : search(e, first, rows, e->a->cols + 1, &done);
}

static gfk_status multiply_panel(const gfk_elimination *e, const gfk_matrix *a, uint8_t *from,
                                 uint8_t *to, gfk_accumulate mode) {
    const gfk_regions b = {NULL, from, e->pitch}, c = {NULL, to, e->pitch};
    return gfk_matmul_proven(e->field, a, &b, &c, e->a->cols * e->symbol, mode, e->desc,
                             e->workspace, e->workspace_bytes, NULL);
}

/* Moves a row's elements in the columns of `count` pivots to `to`. The elements become 0 in the
 * row. */
static void take_elements(const gfk_elimination *e, size_t row, const uint32_t *pivots,
                          size_t count, uint8_t *to) {
    uint8_t *const from = row_of(e, row);
    for (size_t j = 0; j < count; j++) {
        const bool is_pivot = pivots[j] != GFK_MATRIX_DEPENDENT;
        set(e, to, j, is_pivot ? get(e, from, pivots[j]) : 0);
        if (is_pivot)
            set(e, from, pivots[j], 0);
    }
}

/* The new rows are the product of the transform and the panel's rows, which have the unit matrix in
 * the pivots' columns. Every other row adds the product of its elements in these columns and the
 * new rows. The rows are copied, because a matmul's outputs do not overlap its inputs. */
static gfk_status exchange(const gfk_elimination *e, size_t first, size_t rows, size_t begin,
                           size_t end) {
    const uint32_t *const pivots = e->pivots + first;
    uint8_t *const old = e->rows, *const new = e->rows + e->panel * e->pitch;
    memcpy(old, row_of(e, first), rows * e->pitch);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++)
            if (pivots[j] != GFK_MATRIX_DEPENDENT)
                set(e, old + i * e->pitch, pivots[j], i == j);
    const gfk_matrix transform = GFK_MATRIX_DENSE_INIT(e->transform, rows, rows, e->panel);
    const gfk_matrix factors = GFK_MATRIX_DENSE_INIT(e->factors, end - begin, rows, e->panel);
    RETURN_IF_ERROR(multiply_panel(e, &transform, old, new, GFK_SET));
    for (size_t r = begin; r < end; r++) {
        uint8_t *const to = e->factors + (r - begin) * e->panel * e->symbol;
        take_elements(e, r, pivots, rows, to);
        if (r - first < rows && e->pivots[r] != GFK_MATRIX_DEPENDENT) {
            memset(row_of(e, r), 0, e->a->cols * e->symbol);
            memset(to, 0, rows * e->symbol);
            set(e, to, r - first, 1);
        }
    }
    return multiply_panel(e, &factors, new, row_of(e, begin), GFK_XOR);
}

/* Rows [first, first + rows) come before `begin`, because a matmul's outputs do not overlap its
 * inputs. On the CPU gfk_eliminate takes the whole matrix as one group, and has nothing to
 * spread. */
static gfk_status spread(const gfk_elimination *e, size_t first, size_t rows, size_t begin) {
    const size_t end = e->a->rows;
    for (size_t r = begin; r < end; r++)
        take_elements(e, r, e->pivots + first, rows,
                      e->factors + (r - begin) * e->group * e->symbol);
    const gfk_matrix factors = GFK_MATRIX_DENSE_INIT(e->factors, end - begin, rows, e->group);
    return multiply_panel(e, &factors, row_of(e, first), row_of(e, begin), GFK_XOR);
}

static gfk_status finish(const gfk_elimination *e, uint8_t *inverse, size_t stride,
                         gfk_matrix_record *record, uint32_t *pivots) {
    const size_t n = e->a->rows;
    const bool is_regular = *e->rank == n;
    *record = (gfk_matrix_record){
        inverse == NULL || is_regular ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR, *e->rank};
    if (pivots != NULL)
        memcpy(pivots, e->pivots, n * sizeof *pivots);
    for (size_t i = 0; inverse != NULL && is_regular && i < n; i++)
        for (size_t j = 0; j < n; j++)
            set(e, inverse, e->pivots[i] * stride + j, get(e, row_of(e, i), e->pivots[j]));
    return GFK_STATUS_SUCCESS;
}

const gfk_elimination_steps gfk_eliminate_on_cpu = {load_matrix, find_pivots, exchange, spread,
                                                    finish};
