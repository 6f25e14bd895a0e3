/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked elimination by exchange steps, for matrices of any size: its state and its steps, which
 * exist for the CPU and for devices. docs/matrices.md explains the algorithm. */
#ifndef GFK_HOST_ELIMINATE_H
#define GFK_HOST_ELIMINATE_H

#include <stdbool.h>

#include <gfk/matrix.h>

#include "host/base/arithmetic.h"
#include "host/product/matmul.h"

enum {
    GFK_PANEL_BITS = 1024, /* w times the rows of a panel */
    /* w times the columns that a panel searches first in addition to the number of its rows */
    GFK_PANEL_SPARE_BITS = 256
};

typedef struct gfk_elimination {
    const gfk_field *field;
    const gfk_matrix *a;
    const gfk_matmul_desc *desc;
    bool jordan; /* the rows above a panel are reduced too: for an inverse */
    gfk_matmul_machine machine;
    const gfk_kernel_row *kernel; /* the kernel of matmuls; NULL: the fastest ones */
    gfk_stream_t stream;
    size_t symbol;                    /* bytes of an element */
    size_t panel, group;              /* numbers of rows */
    size_t most_columns;              /* columns that a panel searches first */
    size_t pitch;                     /* bytes from row to row of `matrix` */
    uint8_t *matrix;                  /* the copy of a that is worked on */
    uint8_t *factors;                 /* a->rows x group elements, or x panel */
    uint8_t *transform;               /* panel x panel elements */
    uint32_t *pivots;                 /* the pivots of all rows */
    uint8_t *used;                    /* for each column: is it a pivot? */
    uint8_t *rows;                    /* on the CPU: a copy of the panel's rows, before and after */
    const gfk_arithmetic *arithmetic; /* for the CPU */
    gfk_inverter inverter;            /* for a device */
    uint32_t *rank;                   /* the rank of the rows so far */
    uint8_t *workspace;               /* the workspace of matmuls */
    size_t workspace_bytes;
} gfk_elimination;

typedef struct gfk_elimination_steps {
    /* Copies a, and clears the rest of the state. */
    gfk_status (*load)(const gfk_elimination *e);
    /* Finds the pivots of rows [first, first + rows) and the transform: the inverse of the matrix
     * of these rows and their pivot columns. Rows and columns of rows without a pivot are zero. */
    gfk_status (*panel)(const gfk_elimination *e, size_t first, size_t rows);
    /* Exchanges the panel's rows and columns in rows [begin, end), which include the panel. */
    gfk_status (*exchange)(const gfk_elimination *e, size_t first, size_t rows, size_t begin,
                           size_t end);
    /* Exchanges the rows and columns of rows [first, first + rows), whose own exchange has been
     * made, in the other rows from `begin` on. On the CPU `begin` is after these rows. rows <=
     * group. */
    gfk_status (*spread)(const gfk_elimination *e, size_t first, size_t rows, size_t begin);
    /* Writes the record and the pivots and, if the matrix has an inverse, the inverse. */
    gfk_status (*finish)(const gfk_elimination *e, uint8_t *inverse, size_t stride,
                         gfk_matrix_record *record, uint32_t *pivots);
} gfk_elimination_steps;

#ifdef __cplusplus
extern "C" {
#endif
extern const gfk_elimination_steps gfk_eliminate_on_device; /* kernels/matrix */
extern const gfk_elimination_steps gfk_eliminate_on_cpu;
gfk_status gfk_eliminate(const gfk_elimination *e, const gfk_elimination_steps *steps);
/* Runs a matmul on the elimination's device, in its workspace and on its stream. in_place: c may
 * overlap b. skip_if: a word on the device, or NULL. If the word is not 0 when the kernel starts,
 * c is not changed. */
gfk_status gfk_eliminate_multiply(const gfk_elimination *e, const gfk_matrix *a,
                                  const gfk_regions *b, const gfk_regions *c, size_t bytes,
                                  gfk_accumulate mode, bool in_place, const uint32_t *skip_if);
#ifdef __cplusplus
}
#endif
#endif
