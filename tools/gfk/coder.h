/* SPDX-License-Identifier: BSD-3-Clause */
/* The code at work on stripes in host memory, on whatever computes it. All that the tool knows of
 * backends is behind this. */
#ifndef GFK_TOOL_CODER_H
#define GFK_TOOL_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/gfk.h>
#include <gfk/rs.h>

typedef enum coder_backend { BACKEND_AUTO = 0, BACKEND_CUDA, BACKEND_HOST } coder_backend;

/* What --backend, --device and --memory say. */
typedef struct coder_options {
    coder_backend backend;
    int device;      /* -1: any */
    uint64_t memory; /* bytes for batches, and as many for pinned buffers of a GPU */
} coder_options;

/* One stripe: k + m blocks of the same length. */
typedef struct coder_stripe {
    void **blocks;
    size_t bytes;
} coder_stripe;

typedef struct coder coder;

/* All that return int return 0, or an exit code after a message. One thread at a time. */
int coder_open(coder **made, const coder_options *options, const gfk_field *field,
               gfk_rs_matrix matrix, size_t k, size_t m);
void coder_close(coder *c); /* NULL is allowed */
/* What computed last, for a person: "gpu", "both", or the engine on the CPU. */
const char *coder_engine(const coder *c);
/* Memory for blocks; pinned if a GPU was asked for, which then reads and writes it itself. */
void *coder_allocate(const coder *c, size_t bytes);
void coder_free(const coder *c, void *memory);

/* Parity from data, of each stripe. */
int coder_encode(coder *c, const coder_stripe *stripes, size_t count);
/* The wanted ones of the lost blocks from k others, the same ones of each stripe. */
int coder_decode(coder *c, const coder_stripe *stripes, size_t count, const size_t *lost,
                 size_t lost_count, const size_t *wanted, size_t wanted_count);
/* Does the parity of a stripe match its data? */
int coder_verify(coder *c, const coder_stripe *stripe, bool *matches);
/* Corrects symbols that are wrong without saying so, as far as the code can name them: *corrected
 * is false where it cannot, and the blocks are then undefined. counts: k + m words, in how many
 * positions each block was wrong. */
int coder_correct(coder *c, const coder_stripe *stripe, bool *corrected, uint64_t *counts);

#endif
