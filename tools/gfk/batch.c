/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"

#include <pthread.h>
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

static bool create(batch *b, const coder *c, size_t k, size_t n, size_t block_bytes,
                   size_t capacity) {
    *b = (batch){.k = k, .n = n, .block_bytes = block_bytes, .capacity = capacity};
    b->memory = coder_allocate(c, capacity * n * block_bytes);
    b->headers = malloc(capacity * n * BLOCK_HEADER_BYTES);
    b->blocks = calloc(capacity * n, sizeof *b->blocks);
    b->states = calloc(capacity * n, sizeof *b->states);
    b->stripes = calloc(capacity, sizeof *b->stripes);
    return b->memory != NULL && b->headers != NULL && b->blocks != NULL && b->states != NULL &&
           b->stripes != NULL;
}

static void destroy(batch *b, const coder *c) {
    coder_free(c, b->memory);
    free(b->headers);
    free(b->blocks);
    free(b->states);
    free(b->stripes);
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

void batch_buffers(const batch *b, size_t index, size_t first, size_t count,
                   struct iovec *buffers) {
    for (size_t s = first; s < first + count; s++) {
        *buffers++ = (struct iovec){batch_header(b, s, index), BLOCK_HEADER_BYTES};
        *buffers++ = (struct iovec){batch_block(b, s, index), b->stripes[s].bytes};
    }
}

/* ---- the ring of batches -------------------------------------------------------------------- */

typedef struct ring {
    batch batches[MOST_BATCHES];
    size_t count;
    batch_step *const *steps;
    void *context;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    uint64_t done[BATCH_STEPS]; /* batches that each step has finished */
    uint64_t last;              /* number of batches in the input; UINT64_MAX: not known yet */
    int code;                   /* exit code; a nonzero code stops all steps */
} ring;

typedef struct worker {
    ring *ring;
    size_t step;
} worker;

/* Makes the batches. The memory limit and the file size set their number and their size. */
static int create_all(ring *r, const coder *c, const shard_header *header, uint64_t file_bytes,
                      uint64_t memory) {
    const uint64_t n = (uint64_t)header->k + header->m, block_bytes = header->block_bytes;
    const uint64_t stripe_bytes = header->k * block_bytes;
    const uint64_t room = memory / (n * (block_bytes + BLOCK_HEADER_BYTES)); /* in stripes */
    if (room == 0)
        return fail(TOOL_USAGE, "this code needs --memory %llu or more",
                    (unsigned long long)(n * (block_bytes + BLOCK_HEADER_BYTES)));
    const uint64_t stripes = file_bytes == 0 ? 1 : (file_bytes - 1) / stripe_bytes + 1;
    uint64_t count = smaller(room, MOST_BATCHES);
    uint64_t capacity = smaller((READ_BYTES - 1) / stripe_bytes + 1, room / count);
    capacity = smaller(smaller(capacity, stripes), MOST_STRIPES);
    count = smaller(count, (stripes - 1) / capacity + 1);
    bool made = true;
    for (; made && r->count < count; r->count++)
        made = create(&r->batches[r->count], c, header->k, (size_t)n, (size_t)block_bytes,
                      (size_t)capacity);
    return made ? 0 : no_memory();
}

/* Waits until the previous step has finished batch number `n`; the first step waits until the last
 * step has finished the batch whose memory batch `n` uses again. False if batch `n` does not exist
 * or a step failed. */
static bool wait_for(ring *r, size_t step, uint64_t n) {
    pthread_mutex_lock(&r->mutex);
    while (r->code == 0 && n < r->last &&
           (step == 0 ? n - r->done[BATCH_STEPS - 1] >= r->count : n >= r->done[step - 1]))
        pthread_cond_wait(&r->changed, &r->mutex);
    const bool go = r->code == 0 && n < r->last;
    pthread_mutex_unlock(&r->mutex);
    return go;
}

static void *serve(void *argument) {
    const worker *w = argument;
    ring *r = w->ring;
    for (uint64_t n = 0; wait_for(r, w->step, n); n++) {
        const int code = r->steps[w->step](&r->batches[n % r->count], r->context);
        pthread_mutex_lock(&r->mutex);
        if (code == BATCH_END)
            r->last = n;
        else if (code == 0)
            r->done[w->step]++;
        else if (r->code == 0)
            r->code = code;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->mutex);
    }
    return NULL;
}

/* Starts a thread for each step, and waits for all of them. */
static void run_steps(ring *r) {
    worker workers[BATCH_STEPS];
    pthread_t threads[BATCH_STEPS];
    size_t started = 0;
    for (; started < BATCH_STEPS; started++) {
        workers[started] = (worker){r, started};
        const int error = pthread_create(&threads[started], NULL, serve, &workers[started]);
        if (error != 0) {
            pthread_mutex_lock(&r->mutex);
            r->code = fail(TOOL_INTERNAL, "cannot start a thread: %s", strerror(error));
            pthread_cond_broadcast(&r->changed);
            pthread_mutex_unlock(&r->mutex);
            break;
        }
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

int batch_run(const coder *c, const shard_header *header, uint64_t file_bytes, uint64_t memory,
              const char *what, batch_step *const steps[BATCH_STEPS], void *context) {
    ring r = {.steps = steps,
              .context = context,
              .mutex = PTHREAD_MUTEX_INITIALIZER,
              .changed = PTHREAD_COND_INITIALIZER,
              .last = UINT64_MAX};
    r.code = create_all(&r, c, header, file_bytes, memory);
    if (r.code == 0) {
        if (what != NULL)
            progress_begin(what, file_bytes == UINT64_MAX ? 0 : file_bytes);
        run_steps(&r);
        if (what != NULL)
            progress_end();
    }
    for (size_t i = 0; i < r.count; i++)
        destroy(&r.batches[i], c);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.mutex);
    return r.code;
}
