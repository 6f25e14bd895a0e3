/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix that rebuilds many lost regions, by matrix inversion and products at the code's place.
 * There are e lost data regions. S: the rows of the first e parity regions that are there, in the
 * columns of the lost data. B: the same rows in the columns of the other data. A wanted region is D
 * S^-1 (parity + B data) + C data, where D and C express the wanted region as a sum of lost data
 * and of data that is there. */
#include <stdlib.h>

#include <gfk/matrix.h>

#include "code.h"
#include "host/base/sizes.h"
#include "host/base/symbol.h"
#include "host/device/device.h"
#include "host/product/matmul.h"

/* The matrices, in one piece of memory. P is D S^-1. */
enum { S, D, B, C, P, MATRICES };

typedef struct wide {
    gfk_rs_t code;
    gfk_matmul_desc desc;
    size_t symbol, rows[MATRICES], cols[MATRICES], at[MATRICES]; /* at: offset in bytes */
    size_t record_at, workspace_at, workspace, bytes;
    /* a copy for the host; for a code on the CPU both are the same memory */
    uint8_t *host, *memory;
    gfk_stream_t stream;
    void *event;
} wide;

static void put(wide *x, int matrix, size_t row, size_t col, uint32_t element) {
    gfk_symbol_set(x->host + x->at[matrix], row * x->cols[matrix] + col, x->code->info.field.w,
                   element);
}

static uint32_t get(const wide *x, int matrix, size_t row, size_t col) {
    return gfk_symbol_get(x->host + x->at[matrix], row * x->cols[matrix] + col,
                          x->code->info.field.w);
}

static gfk_regions rows_of(const wide *x, int matrix) {
    const gfk_regions rows = {NULL, x->memory + x->at[matrix], x->cols[matrix] * x->symbol};
    return rows;
}

static gfk_matrix matrix_of(const wide *x, int matrix) {
    const gfk_matrix dense = GFK_MATRIX_DENSE_INIT(x->memory + x->at[matrix], x->rows[matrix],
                                                   x->cols[matrix], x->cols[matrix]);
    return dense;
}

/* Computes the offset of every matrix in the memory. */
static gfk_status lay_out_matrices(wide *x) {
    const gfk_field *field = &x->code->info.field;
    size_t at = 0, workspace[3] = {0};
    for (int i = 0; i < MATRICES; i++) {
        x->at[i] = at;
        at += gfk_round_up(x->rows[i] * x->cols[i] * x->symbol, 256);
    }
    x->record_at = at;
    x->workspace_at = at + 256;
    RETURN_IF_ERROR(gfk_matrix_invert_workspace(field, x->rows[S], &x->desc, &workspace[0]));
    RETURN_IF_ERROR(gfk_matmul_workspace_proven(
        field, x->rows[D], x->cols[D], x->cols[S] * x->symbol, false, &x->desc, &workspace[1]));
    RETURN_IF_ERROR(gfk_matmul_workspace_proven(
        field, x->rows[P], x->cols[P], x->cols[B] * x->symbol, false, &x->desc, &workspace[2]));
    for (int i = 0; i < 3; i++)
        x->workspace = workspace[i] > x->workspace ? workspace[i] : x->workspace;
    x->bytes = x->workspace_at + x->workspace;
    return GFK_STATUS_SUCCESS;
}

/* sources: the data regions that are there, then e parity regions. */
static void fill_matrices(wide *x, const size_t *lost, const size_t *wanted,
                          const size_t *sources) {
    const uint32_t *matrix = x->code->matrix;
    const size_t k = x->code->info.k, e = x->rows[S], there = k - e;
    for (size_t r = 0; r < e; r++) {
        const uint32_t *row = matrix + (sources[there + r] - k) * k;
        for (size_t i = 0; i < e; i++)
            put(x, S, r, i, row[lost[i]]);
        for (size_t i = 0; i < there; i++)
            put(x, B, r, i, row[sources[i]]);
    }
    for (size_t j = 0; j < x->rows[D]; j++) {
        const uint32_t *row = wanted[j] < k ? NULL : matrix + (wanted[j] - k) * k;
        for (size_t i = 0; i < e; i++)
            put(x, D, j, i, row ? row[lost[i]] : lost[i] == wanted[j]);
        for (size_t i = 0; i < there; i++)
            put(x, C, j, i, row ? row[sources[i]] : 0);
    }
}

static gfk_status compute_matrices(const wide *x) {
    const gfk_field *field = &x->code->info.field;
    const gfk_matrix s = matrix_of(x, S), d = matrix_of(x, D), p = matrix_of(x, P);
    const gfk_regions s_rows = rows_of(x, S), p_rows = rows_of(x, P), b_rows = rows_of(x, B),
                      c_rows = rows_of(x, C);
    gfk_matrix_record *record = (gfk_matrix_record *)(x->memory + x->record_at), copy;
    uint8_t *workspace = x->memory + x->workspace_at;
    RETURN_IF_ERROR(gfk_matrix_invert(field, &s, x->memory + x->at[S], s.stride, record, NULL,
                                      &x->desc, workspace, x->workspace, x->stream));
    RETURN_IF_ERROR(gfk_matrix_wait(record, &x->desc, x->stream, &copy));
    RETURN_IF_ERROR(gfk_matmul_proven(field, &d, &s_rows, &p_rows, s_rows.stride, GFK_SET, &x->desc,
                                      workspace, x->workspace, x->stream));
    return b_rows.stride == 0
               ? GFK_STATUS_SUCCESS
               : gfk_matmul_proven(field, &p, &b_rows, &c_rows, b_rows.stride, GFK_XOR, &x->desc,
                                   workspace, x->workspace, x->stream);
}

static gfk_status compute_on_device(wide *x) {
    const size_t results = x->record_at - x->at[C];
    int previous;
    RETURN_IF_ERROR(gfk_device_enter(x->desc.device, &previous));
    void *memory = NULL;
    gfk_status status = gfk_device_open(&x->stream, &x->event);
    if (status == GFK_STATUS_SUCCESS) {
        status = gfk_device_alloc(&memory, x->bytes);
        x->memory = memory;
        if (status == GFK_STATUS_SUCCESS)
            status = gfk_device_upload(memory, x->host, x->at[P]);
        if (status == GFK_STATUS_SUCCESS)
            status = compute_matrices(x);
        if (status == GFK_STATUS_SUCCESS)
            status = gfk_device_fetch(x->host + x->at[C], results, x->memory + x->at[C], results,
                                      results, 1, x->stream);
        const gfk_status drained = gfk_device_drain(x->stream);
        status = status == GFK_STATUS_SUCCESS ? drained : status;
        gfk_device_free(x->desc.device, memory);
        gfk_device_close(x->stream, x->event);
    }
    return gfk_device_leave(previous, status);
}

gfk_status gfk_rs_rebuild_wide(gfk_rs_t code, int place, const size_t *lost, size_t e,
                               gfk_rs_rebuild *r) {
    const size_t k = code->info.k, there = k - e;
    wide x = {.code = code,
              .desc = GFK_MATMUL_DESC_INIT,
              .symbol = code->info.field.w / 8,
              .rows = {e, r->rows, e, r->rows, r->rows},
              .cols = {e, e, there, there, e}};
    x.desc.device = place;
    RETURN_IF_ERROR(lay_out_matrices(&x));
    x.host = aligned_alloc(256, gfk_round_up(place == GFK_CPU ? x.bytes : x.record_at, 256));
    if (x.host == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    fill_matrices(&x, lost, r->outputs, r->sources);
    x.memory = x.host;
    const gfk_status status = place == GFK_CPU ? compute_matrices(&x) : compute_on_device(&x);
    for (size_t j = 0; j < r->rows && status == GFK_STATUS_SUCCESS; j++)
        for (size_t i = 0; i < k; i++)
            r->matrix[j * k + i] = i < there ? get(&x, C, j, i) : get(&x, P, j, i - there);
    free(x.host);
    return status;
}
