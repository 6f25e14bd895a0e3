/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches on a device: from a plan, which is what gfk_rs_batch_create makes of the stripes, to the
 * image, which is what the kernel reads.
 *
 * A warp, or a block, does one task: some neighbouring vectors of one stripe (extent.cuh says what
 * a vector is). From its number it finds the stripe, and in the stripe's record all addresses, so
 * that memory is asked for data after one dependent load if all stripes have the same number of
 * tasks, else after two. */
#ifndef GFK_HOST_RS_BATCH_H
#define GFK_HOST_RS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/gfk.h>

#include "host/base/threads.h"
#include "host/rs/code.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the plan ------------------------------------------------------------------------------- */

typedef struct gfk_batch_stripe {
    size_t bytes;     /* not 0, at most GFK_BATCH_MOST_BYTES */
    size_t pattern;   /* index */
    size_t addresses; /* index of the first of k sources and, behind them, the outputs */
} gfk_batch_stripe;

typedef struct gfk_batch_plan {
    gfk_field field;
    size_t k;
    const gfk_rs_rebuild *patterns; /* the different losses; encoding loses all parity */
    size_t pattern_count;
    gfk_batch_stripe *stripes;
    size_t stripe_count;
    void **addresses;
    gfk_pool *pool; /* NULL: one thread works on the patterns */
} gfk_batch_plan;

/* From so many elements of decode matrices on, a pool's threads are worth their start. */
#define GFK_BATCH_MANY 100000

/* Calls body(i, context) for every pattern, in any order. */
void gfk_batch_for_patterns(const gfk_batch_plan *plan, gfk_step_fn *body, void *context);

/* ---- the image ------------------------------------------------------------------------------ */

/* The head of a stripe's record. Behind it are the addresses where vector 0 of every region would
 * begin, as 64-bit words: k of inputs, then those of the outputs. */
typedef struct gfk_batch_record {
    uint32_t first_task;
    uint32_t rows;
    uint64_t matrix;                 /* index of its matrix operand's first word */
    uint32_t vectors;                /* cut ones included */
    uint32_t whole_begin, whole_end; /* [whole_begin, whole_end) can be loaded by words */
    uint8_t phase;                   /* bytes that vector 0 lacks in front */
    uint8_t tail;                    /* bytes of the last vector up to the region's end */
} gfk_batch_record;

/* The longest region, so that vectors are counted in 32 bits. */
#define GFK_BATCH_MOST_BYTES ((UINT64_C(1) << 36) - 32)

/* The kernel's parameters. */
typedef struct gfk_batch_job {
    const unsigned char *records;
    const uint32_t *matrices;
    const uint32_t *index; /* the stripe of every task; NULL: task * reciprocal >> shift */
    uint32_t reciprocal, shift;
    uint32_t tasks;
    uint32_t record_bytes;
    uint32_t cols;       /* k */
    uint32_t polynomial; /* its lower 32 bits */
    uint32_t w;
} gfk_batch_job;

/* A compiled kernel (src/kernels/rs), and what it wants to find in the image. */
typedef struct gfk_batch_kernel {
    size_t outputs;      /* in a record, a multiple of this */
    size_t task_vectors; /* vectors of a task */
    size_t (*matrix_words)(size_t rows, size_t cols);
    void (*build)(uint32_t *matrix, size_t rows, size_t cols, const uint32_t *coefficients);
    gfk_status (*launch)(const gfk_batch_job *job, gfk_stream_t stream);
} gfk_batch_kernel;

/* The kernel for k inputs and up to `rows` outputs on the current device. clmad: the device multiplies
 * fast without carries. whole: gfk_batch_is_whole. */
gfk_batch_kernel gfk_batch_choose(unsigned w, size_t k, size_t rows, bool clmad, bool whole);
/* The kernel on the carry-less multiply-add; false if none takes so many inputs. */
bool gfk_batch_choose_clmad(unsigned w, size_t k, size_t rows, bool whole,
                            gfk_batch_kernel *kernel);

typedef struct gfk_batch_image {
    unsigned char *data; /* owned */
    size_t bytes;
    gfk_batch_job job; /* for the image where it is */
} gfk_batch_image;

/* Are all stripes aligned, and whole vectors? */
bool gfk_batch_is_whole(const gfk_batch_plan *plan);
/* Builds the image of a plan with a stripe at least. INVALID_SIZE, if there are 2^31 tasks or more,
 * or OUT_OF_MEMORY. */
gfk_status gfk_batch_image_build(const gfk_batch_plan *plan, const gfk_batch_kernel *kernel,
                                 gfk_batch_image *image);
/* The job for a copy of the image at this address, which is aligned to 256 bytes. */
gfk_batch_job gfk_batch_job_at(const gfk_batch_image *image, void *address);

#ifdef __cplusplus
}
#endif
#endif
