/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "report.h"

enum {
    MOST_BATCHES = 4,    /* one for each step, and one more */
    READ_BYTES = 8 << 20 /* bytes that a read should have at least */
};

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool create(batch *b, const coder *c, size_t k, size_t m, size_t block_bytes,
                   size_t capacity) {
    const size_t n = k + m;
    *b = (batch){.k = k, .n = n, .block_bytes = block_bytes, .capacity = capacity};
    b->memory = coder_allocate(c, capacity * n * block_bytes);
    b->headers = malloc(capacity * n * BLOCK_HEADER_BYTES);
    b->blocks = calloc(capacity * n, sizeof *b->blocks);
    b->states = calloc(capacity * n, sizeof *b->states);
    b->stripes = calloc(capacity, sizeof *b->stripes);
    return b->memory != NULL && b->headers != NULL && b->blocks != NULL && b->states != NULL &&
           b->stripes != NULL;
}

int batch_set_create(batch_set *set, const coder *c, size_t k, size_t m, size_t block_bytes,
                     uint64_t file_bytes, uint64_t memory) {
    const uint64_t per_stripe = (uint64_t)(k + m) * (block_bytes + BLOCK_HEADER_BYTES);
    const uint64_t stripe_bytes = (uint64_t)k * block_bytes;
    const uint64_t room = memory / per_stripe; /* in stripes */
    *set = (batch_set){.coder = c};
    if (room == 0)
        return fail(TOOL_USAGE, "this code needs --memory %llu or more",
                    (unsigned long long)per_stripe);
    const uint64_t stripes = file_bytes == 0 ? 1 : (file_bytes - 1) / stripe_bytes + 1;
    uint64_t count = smaller(room, MOST_BATCHES);
    uint64_t capacity = smaller((READ_BYTES - 1) / stripe_bytes + 1, room / count);
    capacity = smaller(smaller(capacity, stripes), MOST_STRIPES);
    count = smaller(count, (stripes - 1) / capacity + 1);
    set->batches = calloc(count, sizeof *set->batches);
    set->pointers = calloc(count, sizeof *set->pointers);
    bool made = set->batches != NULL && set->pointers != NULL;
    for (; made && set->count < count; set->count++) {
        made = create(&set->batches[set->count], c, k, m, block_bytes, (size_t)capacity);
        set->pointers[set->count] = &set->batches[set->count];
    }
    if (made)
        return 0;
    batch_set_destroy(set);
    return fail(TOOL_INTERNAL, "out of memory");
}

void batch_set_destroy(batch_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        batch *b = &set->batches[i];
        coder_free(set->coder, b->memory);
        free(b->headers);
        free(b->blocks);
        free(b->states);
        free(b->stripes);
    }
    free(set->batches);
    free(set->pointers);
    *set = (batch_set){0};
}

size_t batch_capacity_bytes(const batch *b) {
    return b->capacity * b->k * b->block_bytes;
}

size_t batch_stripes(const batch *b) {
    const size_t stripe_bytes = b->k * b->block_bytes;
    return (b->bytes + stripe_bytes - 1) / stripe_bytes;
}

void batch_assign(batch *b, uint64_t first, size_t bytes) {
    b->first = first;
    b->bytes = bytes;
    const shard_header geometry = {
        .k = (uint32_t)b->k, .block_bytes = b->block_bytes, .file_bytes = bytes};
    const size_t stripes = batch_stripes(b), m = b->n - b->k;
    uint8_t *parity = b->memory + b->capacity * b->k * b->block_bytes;
    for (size_t s = 0; s < stripes; s++) {
        const size_t length = stripe_block_bytes(&geometry, s);
        void **blocks = b->blocks + s * b->n;
        for (size_t i = 0; i < b->k; i++)
            blocks[i] = b->memory + s * b->k * b->block_bytes + i * length;
        for (size_t j = 0; j < m; j++)
            blocks[b->k + j] = parity + (s * m + j) * b->block_bytes;
        b->stripes[s] = (coder_stripe){blocks, length};
    }
    memset(b->states, 0, stripes * b->n * sizeof *b->states);
}

void batch_pad(batch *b) {
    const size_t stripes = batch_stripes(b);
    if (stripes == 0)
        return;
    const size_t end = (stripes - 1) * b->k * b->block_bytes + b->k * b->stripes[stripes - 1].bytes;
    memset(b->memory + b->bytes, 0, end - b->bytes);
}

void batch_seal(const batch *b, size_t stripe, size_t index, const uint8_t set_id[SET_ID_BYTES]) {
    const size_t bytes = b->stripes[stripe].bytes;
    block_header header = {.index = (uint32_t)index,
                           .bytes = (uint32_t)bytes,
                           .stripe = b->first + stripe,
                           .checksum = XXH3_64bits(batch_block(b, stripe, index), bytes)};
    memcpy(header.set_id, set_id, SET_ID_BYTES);
    block_header_write(&header, batch_header(b, stripe, index));
}
