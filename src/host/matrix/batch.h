/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of the kernels for a batch of inversions. */
#ifndef GFK_HOST_MATRIX_BATCH_H
#define GFK_HOST_MATRIX_BATCH_H

#include <gfk/matrix.h>

#include "host/base/arithmetic.h"
#include "kernels/list.h"

typedef struct gfk_matrix_batch {
    const uint8_t *a;
    uint8_t *inverses;
    size_t a_step, inverse_step; /* bytes from one matrix to the next */
    gfk_matrix_record *records;
    uint32_t *pivots; /* may be NULL */
    uint32_t n, count;
    uint32_t polynomial; /* without its leading term */
    unsigned w;
    const gfk_kernel_row *kernel;
    gfk_inverter inverter;
    gfk_stream_t stream;
} gfk_matrix_batch;

#ifdef __cplusplus
extern "C" {
#endif
/* Runs the batch, asynchronously. */
gfk_status gfk_matrix_batch_run(const gfk_matrix_batch *batch);
#ifdef __cplusplus
}
#endif
#endif
