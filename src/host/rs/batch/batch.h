/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches on a device. gfk_rs_batch_create makes a plan of the stripes; the image, which the kernel
 * reads, is made from the plan.
 *
 * A warp, or a block, does one task: some neighbouring vectors of one stripe (extent.cuh says what
 * a vector is). The number of the task leads to the stripe, and the stripe's record has all
 * addresses. So the loads of data depend on one earlier load if all stripes have the same number of
 * tasks, else on two. */
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
    size_t bytes;     /* 1 to GFK_BATCH_MOST_BYTES */
    size_t pattern;   /* index of the pattern */
    size_t addresses; /* index of the stripe's first address: k sources, then the outputs */
} gfk_batch_stripe;

typedef struct gfk_batch_plan {
    gfk_field field;
    size_t k;
    const gfk_rs_rebuild *patterns; /* the different losses; encoding is the loss of all parity */
    size_t pattern_count;
    gfk_batch_stripe *stripes;
    size_t stripe_count;
    void **addresses;
    gfk_pool *pool; /* NULL: one thread works on the patterns */
} gfk_batch_plan;

/* With at least this number of elements in decode matrices, the threads of a pool are faster than
 * the calling thread alone. */
#define GFK_BATCH_MANY 100000

/* Calls body(i, context) for every pattern, in any order. */
void gfk_batch_for_patterns(const gfk_batch_plan *plan, gfk_step_fn *body, void *context);

/* ---- the image ------------------------------------------------------------------------------ */

/* The head of a stripe's record. The head is followed by the addresses where vector 0 of every
 * region would begin, as 64-bit words: k of inputs, then those of the outputs. */
typedef struct gfk_batch_record {
    uint32_t first_task;
    uint32_t rows;
    uint64_t matrix;                 /* index of the first word of the stripe's matrix operand */
    uint32_t vectors;                /* number of vectors, including partial ones */
    uint32_t whole_begin, whole_end; /* vectors [whole_begin, whole_end) can be loaded by words */
    uint8_t phase;                   /* bytes of vector 0 that come before the region */
    uint8_t tail;                    /* bytes of the last vector that belong to the region */
} gfk_batch_record;

/* The longest region whose vectors can be counted in 32 bits. */
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
    uint32_t polynomial; /* the lower 32 bits of the field's polynomial */
    uint32_t w;
} gfk_batch_job;

/* A compiled kernel (src/kernels/rs), and the form of the image that it reads. */
typedef struct gfk_batch_kernel {
    size_t outputs;      /* the number of outputs in a record is a multiple of this */
    size_t task_vectors; /* vectors in a task */
    size_t (*matrix_words)(size_t rows, size_t cols);
    void (*build)(uint32_t *matrix, size_t rows, size_t cols, const uint32_t *coefficients);
    gfk_status (*launch)(const gfk_batch_job *job, gfk_stream_t stream);
} gfk_batch_kernel;

/* Returns the kernel for k inputs and up to `rows` outputs on the current device. clmad: the device
 * has a fast carry-less multiply-add. whole: the result of gfk_batch_is_whole. */
gfk_batch_kernel gfk_batch_choose(unsigned w, size_t k, size_t rows, bool clmad, bool whole);
/* Sets the kernel that uses the carry-less multiply-add; false if no kernel takes k inputs. */
bool gfk_batch_choose_clmad(unsigned w, size_t k, size_t rows, bool whole,
                            gfk_batch_kernel *kernel);

typedef struct gfk_batch_image {
    unsigned char *data; /* owned by the image */
    size_t bytes;
    gfk_batch_job job; /* the job for the image at `data` */
} gfk_batch_image;

/* Are all regions aligned, and do they consist of whole vectors? */
bool gfk_batch_is_whole(const gfk_batch_plan *plan);
/* Builds the image of a plan with at least one stripe. Returns INVALID_SIZE if there are 2^31 tasks
 * or more, or OUT_OF_MEMORY. */
gfk_status gfk_batch_image_build(const gfk_batch_plan *plan, const gfk_batch_kernel *kernel,
                                 gfk_batch_image *image);
/* Returns the job for a copy of the image at this address, which is aligned to 256 bytes. */
gfk_batch_job gfk_batch_job_at(const gfk_batch_image *image, void *address);

#ifdef __cplusplus
}
#endif
#endif
