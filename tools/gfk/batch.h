/* SPDX-License-Identifier: BSD-3-Clause */
/* Several stripes in memory: what one step of the pipeline hands to the next. */
#ifndef GFK_TOOL_BATCH_H
#define GFK_TOOL_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "coder.h"
#include "format.h"

enum { MOST_STRIPES = 256 }; /* of a batch; so that one write takes a shard's part of it */

typedef enum block_state {
    BLOCK_UNREAD = 0, /* nobody looked */
    BLOCK_MISSING,    /* there is no such place to read */
    BLOCK_DAMAGED,    /* it does not match its checksum, or is another block */
    BLOCK_UNKNOWN,    /* its header is damaged; the block itself may be intact */
    BLOCK_ELSEWHERE,  /* intact, but not in the shard's best source */
    BLOCK_GOOD
} block_state;

typedef struct batch {
    size_t k, n;        /* n = k + m */
    size_t block_bytes; /* of whole stripes */
    size_t capacity;    /* stripes that there is room for */
    uint64_t first;     /* stripe */
    size_t bytes;       /* of the file, from that stripe on */
    uint8_t *memory;  /* the data blocks of all stripes, as they are in the file; then the parity */
    uint8_t *headers; /* n per stripe */
    void **blocks;    /* n per stripe: addresses */
    block_state *states; /* n per stripe */
    coder_stripe *stripes;
} batch;

/* The batches of a pipeline: as many and as large as the memory allows and the file needs. */
typedef struct batch_set {
    const coder *coder; /* whose memory it is */
    batch *batches;
    void **pointers; /* the same, for pipeline_run */
    size_t count;
} batch_set;

/* file_bytes: UINT64_MAX if nobody knows. Returns 0, or an exit code after a message. */
int batch_set_create(batch_set *set, const coder *c, size_t k, size_t m, size_t block_bytes,
                     uint64_t file_bytes, uint64_t memory);
void batch_set_destroy(batch_set *set);

size_t batch_stripes(const batch *b);
size_t batch_capacity_bytes(const batch *b); /* of the file */
/* Sets first and bytes, and with them where the blocks are; clears the states. */
void batch_assign(batch *b, uint64_t first, size_t bytes);
/* Fills what is left of the last stripe with zeros. */
void batch_pad(batch *b);

/* Writes the header of a block, with the checksum of what the block holds now. */
void batch_seal(const batch *b, size_t stripe, size_t index, const uint8_t set_id[SET_ID_BYTES]);

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
