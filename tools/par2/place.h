/* SPDX-License-Identifier: BSD-3-Clause */
/* The place where products run: a GPU, or the CPU. It holds one stripe of the rows, the sums that
 * are recovery slices or missing slices, and adds products of input slices to them:
 *
 *     row[j] = row[j] + sum over the columns i of c_i^(exponent_j) * column[i]
 *
 * A stripe is `width` bytes of each slice, the same bytes in all. Columns come in any order, in
 * buffers of the place. Where all rows with whole slices do not fit, the caller works in several
 * passes, each with the next stripe.
 *
 * Order of the calls: place_open; place_invert (repair, not `later`); place_shape; then for each pass
 * place_begin, place_take and place_give or place_load of many threads, place_finish, and place_read,
 * for repair after place_solve; place_close or place_leave. Functions that return int return 0, or an exit code of
 * par2.h after a message. */
#ifndef GFK_PAR2_PLACE_H
#define GFK_PAR2_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../gfk/coder.h"

typedef struct place place;

/* place_open: opens the place that options->backend asks for. BACKEND_AUTO takes the GPU if there is
 * one that can be used and `work`, in multiply-adds of bytes, is enough to pay for its start. Memory
 * is allocated when it is needed, up to options->memory on the host: buffers and, on the CPU, rows.
 * With `later`, a GPU is opened by place_prepare, while other threads read the first columns. If there is none,
 * or the shape does not fit into its memory, place_finish fails without a message and place_unopened is true:
 * then the caller opens another place, without `later`. */
int place_open(place **made, const coder_options *options, double work, bool later);
bool place_unopened(const place *p);
/* place_open_idle: a place that only has buffers, for a reader that hashes. */
int place_open_idle(place **made, const coder_options *options, uint64_t memory);
void place_close(place *p); /* NULL is allowed */
/* place_leave: as place_close at the end of the process, which frees the memory of a GPU faster, and without anybody
 * who waits for the end (end_aside). NULL is allowed. */
void place_leave(place *p);
/* "CPU", or the GPU's name, which is known after place_finish. */
const char *place_name(const place *p);

typedef struct place_layout {
    uint64_t width;       /* bytes of a stripe, a multiple of 4; at most the slice size */
    size_t passes;        /* the slice size divided by the width, rounded up */
    size_t columns;       /* columns of one buffer */
    unsigned row_threads; /* for place_read: with a GPU more than cores, as half of them wait */
} place_layout;

/* place_shape: chooses the width for `rows` rows and `cols` columns of slices of slice_bytes bytes
 * within the memory. The exponents are copied. Once in the life of a place. An idle place has no
 * rows. */
int place_shape(place *p, const uint32_t *exponents, size_t rows, size_t cols, uint64_t slice_bytes,
                place_layout *layout);

/* place_begin: begins a pass with `width` bytes of each slice, at most the layout's; the rows become 0. After the
 * last row of the pass ahead of it has been read. */
int place_begin(place *p, uint64_t width);

/* place_prepare: opens a GPU that is opened later; otherwise does nothing. One thread, while others may
 * call place_take and place_give. */
void place_prepare(place *p);
/* place_await: waits until the GPU is open, or cannot be opened. Any thread, if another one calls place_prepare. */
void place_await(place *p);

/* A buffer of the place. Column i is at memory + i * stride. */
typedef struct place_buffer {
    uint8_t *memory;
    size_t stride;    /* a multiple of 64, at least the layout's width */
    uint32_t *points; /* the columns' constants c_i, which the caller fills */
} place_buffer;

/* place_take: waits for a free buffer. NULL after an error of the place, which place_finish reports;
 * with `wait` false NULL also means that there is no free buffer now. Any thread. */
place_buffer *place_take(place *p, bool wait);
/* place_give: gives a buffer with its first `count` columns back to the place, which adds the
 * products; 0 columns add nothing. Any thread. */
void place_give(place *p, place_buffer *buffer, size_t count);
/* place_load: makes the first `count` columns of a buffer the rows first, ... and takes the buffer
 * back: the recovery slices of a repair. Ahead of the first place_give of the pass. Any thread. */
void place_load(place *p, place_buffer *buffer, size_t first, size_t count);

/* place_finish: orders the products of all columns, and waits until no buffer is needed for them. Reports the first
 * error of the pass until then; place_read and place_solve report those of the last products. */
int place_finish(place *p);

/* place_read: waits for `count` rows from `first` on, at most as many as a buffer has columns, and copies them to
 * a buffer. After place_finish, or after place_solve, whose rows it reads then. Any thread. */
int place_read(place *p, place_buffer *buffer, size_t first, size_t count);

/* place_invert: makes the inverse of the n x n matrix c_i^(exponent_j) and keeps it for place_solve.
 * Row j belongs to exponents[j], column i to the constant points[i]. *rank is n, or less if the
 * matrix is singular; then dependent[j] is true for the rows that are sums of multiples of rows
 * before them. */
int place_invert(place *p, const uint32_t *exponents, const uint16_t *points, size_t n,
                 size_t *rank, bool *dependent);
/* place_solve: computes rows of inverse * rows, from `first` on, as many as there is room for: row i
 * is the slice of points[i]. place_read then reads these rows, until the next place_solve. After
 * place_finish. *count is the number of the rows. */
int place_solve(place *p, size_t first, size_t *count);

/* place_can_retry: has a GPU failed that BACKEND_AUTO chose? Then the CPU can do the work again. */
bool place_can_retry(const place *p);

/* The constants of the first `count` input slices: constants[i] = c_i, as of GFK_MATRIX_PAR2. */
void place_constants(uint32_t *constants, size_t count);

/* What the place has done since place_open. */
typedef struct place_times {
    double start;         /* seconds that a GPU took to open */
    double multiply_adds; /* of bytes: the sum of rows * columns * width */
} place_times;
void place_get_times(place *p, place_times *times);

#endif
