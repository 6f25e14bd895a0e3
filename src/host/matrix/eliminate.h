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
    GFK_PANEL_BITS = 1024,     /* rows of a panel, times w */
    GFK_PANEL_SPARE_BITS = 256 /* columns that a panel searches first beyond its rows, times w */
};

typedef struct gfk_elimination {
    const gfk_field *field;
    const gfk_matrix *a;
    const gfk_matmul_desc *desc;
    bool jordan; /* the rows above a panel are reduced too: for an inverse */
    gfk_matmul_machine machine;
    const gfk_kernel_row *kernel; /* of matmuls; NULL: the fastest ones */
    gfk_stream_t stream;
    size_t symbol;                    /* bytes */
    size_t panel, group;              /* rows */
    size_t most_columns;              /* that a panel searches first */
    size_t pitch;                     /* bytes from row to row of `matrix` */
    uint8_t *matrix;                  /* the copy of a that is worked on */
    uint8_t *factors;                 /* a->rows x group elements, or x panel */
    uint8_t *transform;               /* panel x panel elements */
    uint32_t *pivots;                 /* of all rows */
    uint8_t *used;                    /* of each column: is it a pivot? */
    uint8_t *rows;                    /* on the CPU: the panel's rows before and after */
    const gfk_arithmetic *arithmetic; /* on the CPU */
    gfk_inverter inverter;            /* on a device */
    uint32_t *rank;                   /* so far */
    uint8_t *workspace;               /* of matmuls */
    size_t workspace_bytes;
} gfk_elimination;

typedef struct gfk_elimination_steps {
    /* Copies a, and clears the rest of the state. */
    gfk_status (*load)(const gfk_elimination *e);
    /* Finds the pivots of rows [first, first + rows) and the transform: the inverse of the matrix
     * of these rows and their pivot columns. Rows and columns of rows without a pivot are zero. */
    gfk_status (*panel)(const gfk_elimination *e, size_t first, size_t rows);
    /* The exchange of the panel's rows and columns in rows [begin, end), which include the panel. */
    gfk_status (*exchange)(const gfk_elimination *e, size_t first, size_t rows, size_t begin,
                           size_t end);
    /* The same in rows outside [first, first + rows), whose exchange has been made; from row
     * `begin` on, which on the CPU is behind them. rows <= group. */
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
/* A matmul on the elimination's device, in its workspace and on its stream. in_place: c may overlap b. Where
 * *condition, in memory of the device, is not 0, c stays untouched; NULL: no condition. */
gfk_status gfk_eliminate_multiply(const gfk_elimination *e, const gfk_matrix *a,
                                  const gfk_regions *b, const gfk_regions *c, size_t bytes,
                                  gfk_accumulate mode, bool in_place, const uint32_t *condition);
#ifdef __cplusplus
}
#endif
#endif
