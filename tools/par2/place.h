/* SPDX-License-Identifier: BSD-3-Clause */
/* The place where products run: a GPU, or the CPU. It holds one stripe of the rows, the sums that
 * are recovery slices or missing slices, and adds products of input slices to them:
 *
 *     row[j] = row[j] + sum over the columns i of c_i^(exponent_j) * column[i]
 *
 * A stripe is `width` bytes of each slice, the same bytes in all. Columns come in any order, in
 * batches that are in buffers of the place. Where all rows with whole slices do not fit, the caller
 * works in several passes, each with the next stripe.
 *
 * Order of the calls: place_open; place_shape; then for each pass place_begin, place_load (repair),
 * place_take and place_give of many threads, place_finish, place_solve (repair), place_read;
 * place_close. Functions that return int return 0, or an exit code of par2.h after a message. */
#ifndef GFK_PAR2_PLACE_H
#define GFK_PAR2_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../gfk/coder.h"

typedef struct place place;

/* place_open: opens the place that options->backend asks for. BACKEND_AUTO takes the GPU if there is
 * one that can be used and `work`, in multiply-adds of bytes, is enough to pay for its start. Memory
 * is allocated when it is needed, up to options->memory on the host: buffers and, on the CPU, rows. */
int place_open(place **made, const coder_options *options, double work);
void place_close(place *p); /* NULL is allowed */
/* "cpu", or the GPU's name. */
const char *place_name(const place *p);

typedef struct place_layout {
    uint64_t width; /* bytes of a stripe, a multiple of 4; at most the slice size */
    size_t passes;  /* the slice size divided by the width, rounded up */
    size_t columns; /* columns of one buffer */
} place_layout;

/* place_shape: chooses the width for `rows` rows and `cols` columns of slices of slice_bytes bytes
 * within the memory. `solve`: place_solve will be called, which needs memory for rows * rows
 * elements. The exponents are copied. */
int place_shape(place *p, const uint32_t *exponents, size_t rows, size_t cols, uint64_t slice_bytes,
                bool solve, place_layout *layout);

/* place_begin: begins a pass with `width` bytes of each slice, at most the layout's; the rows are 0. */
int place_begin(place *p, uint64_t width);

/* A buffer of the place for `columns` columns. Column i is at memory + i * stride. */
typedef struct place_buffer {
    uint8_t *memory;
    size_t stride;             /* a multiple of 64, at least the layout's width */
    size_t columns;            /* room, in columns */
    uint16_t *points;          /* room for the columns' constants, which the caller fills */
    struct place_buffer *next; /* for the owner's lists, the caller's until place_give */
} place_buffer;

/* place_take: waits for a free buffer; NULL after an error of the place, which place_finish reports.
 * With `wait` false NULL also means that there is no free buffer now. Any thread. */
place_buffer *place_take(place *p, bool wait);
/* place_give: gives the buffer with its first `count` columns to the place, which adds the products;
 * 0 columns gives the buffer back. Any thread. */
void place_give(place *p, place_buffer *buffer, size_t count);

/* place_load: adds the first `count` columns of a buffer to rows first, ..., as recovery slices of
 * repair, and takes the buffer back. Between place_begin and place_finish, for each row at most
 * once, and ahead of the row's columns. Any thread. */
void place_load(place *p, size_t first, size_t count, place_buffer *buffer);

/* place_finish: waits until all columns are added. */
int place_finish(place *p);

/* place_read: copies rows first, ... to a buffer, as many as it has columns, at most `count`;
 * *got is the number. After place_finish. Any thread. */
int place_read(place *p, size_t first, size_t count, place_buffer *buffer, size_t *got);

/* place_invert: makes the inverse of the n x n matrix c_i^(exponent_j) and keeps it for place_solve.
 * Row j belongs to exponents[j], column i to the constant points[i]. *rank is n, or less if the
 * matrix is singular; then dependent[j] is true for the rows that are sums of multiples of rows
 * before them. Ahead of place_shape. */
int place_invert(place *p, const uint32_t *exponents, const uint16_t *points, size_t n,
                 size_t *rank, bool *dependent);
/* place_solve: replaces the rows by inverse * rows: row i becomes the slice of points[i]. After
 * place_finish. */
int place_solve(place *p);

/* What the place has done since place_open. */
typedef struct place_times {
    double start;         /* seconds until the place was open */
    double products;      /* seconds in which products ran */
    double multiply_adds; /* of bytes: rows * bytes of the columns */
} place_times;
void place_get_times(const place *p, place_times *times);

#endif
