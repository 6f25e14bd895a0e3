/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch: several stripes in memory, which one step passes to the next step. */
#ifndef GFK_TOOL_BATCH_H
#define GFK_TOOL_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "coder.h"
#include "format.h"

enum { MOST_STRIPES = 256 }; /* stripes of a batch; one write then takes all blocks of a shard */

typedef enum block_state {
    BLOCK_UNREAD = 0, /* the block has not been read */
    BLOCK_MISSING,    /* the block cannot be read from any source */
    BLOCK_DAMAGED,    /* the checksum is wrong, or the header is another block's */
    BLOCK_UNKNOWN,    /* the header is damaged; the block may be intact */
    BLOCK_ELSEWHERE,  /* the block is intact, but not in the shard's best source */
    BLOCK_GOOD        /* the block is intact in the shard's best source */
} block_state;

typedef struct batch {
    size_t k, n;           /* n = k + m: blocks of a stripe */
    size_t block_bytes;    /* bytes of a block in a whole stripe */
    size_t capacity;       /* stripes that fit into the batch */
    uint64_t first;        /* number of the first stripe */
    size_t bytes;          /* bytes of the file in the batch, from the first stripe on */
    uint8_t *memory;       /* data blocks of all stripes in file order, then parity blocks */
    uint8_t *headers;      /* headers of the blocks, n per stripe */
    void **blocks;         /* addresses of the blocks, n per stripe */
    block_state *states;   /* states of the blocks, n per stripe */
    coder_stripe *stripes; /* blocks and block length of each stripe */
} batch;

enum { BATCH_END = -1, BATCH_STEPS = 3 };

/* Processes one batch in one step. Returns 0, or an exit code that stops all steps. At the end of
 * the input the first step leaves the batch empty and returns BATCH_END. */
typedef int batch_step(batch *b, void *context);

/* Reads, codes and writes at the same time: passes batches of stripes of `header` through the
 * steps in a ring, and draws the progress line `what`. Each step has a thread of its own and takes
 * the batches in the same order. file_bytes is UINT64_MAX if the size is unknown. Returns 0, or
 * the exit code that stopped the steps, after all threads have ended. */
int batch_run(const coder *c, const shard_header *header, uint64_t file_bytes, uint64_t memory,
              const char *what, batch_step *const steps[BATCH_STEPS], void *context);

size_t batch_stripes(const batch *b);
size_t batch_capacity_bytes(const batch *b); /* bytes of the file that fit into the batch */
/* Sets first and bytes, computes the addresses of the blocks, and clears the states. */
void batch_assign(batch *b, uint64_t first, size_t bytes);
/* Fills the rest of the last stripe with zeros. */
void batch_pad(batch *b);

/* Writes the header of a block with the checksum of the block's present content. */
void batch_seal(const batch *b, size_t stripe, size_t index, const uint8_t set_id[SET_ID_BYTES]);

/* Fills `buffers` with the header and the block of shard `index` for each of `count` stripes. */
void batch_buffers(const batch *b, size_t index, size_t first, size_t count, struct iovec *buffers);

static inline void *batch_block(const batch *b, size_t stripe, size_t index) {
    return b->blocks[stripe * b->n + index];
}

static inline uint8_t *batch_header(const batch *b, size_t stripe, size_t index) {
    return b->headers + (stripe * b->n + index) * BLOCK_HEADER_BYTES;
}

static inline block_state *batch_states(const batch *b, size_t stripe) {
    return b->states + stripe * b->n;
}

#endif
