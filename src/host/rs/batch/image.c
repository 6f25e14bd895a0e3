/* SPDX-License-Identifier: BSD-3-Clause */
/* The image of a batch: records of stripes, the index from tasks to stripes, and matrix operands,
 * one for each pattern. */
#include "batch.h"
#include "host/base/sizes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 0x7fffffff, ALIGNMENT = 256 };

/* ---- all patterns --------------------------------------------------------------------------- */

/* patterns that a thread takes at a time; one pattern may take less than a microsecond */
enum { PATTERNS = 16 };

typedef struct pattern_loop {
    const gfk_batch_plan *plan;
    gfk_step_fn *body;
    void *context;
} pattern_loop;

static void do_patterns(size_t part, void *context) {
    const pattern_loop *l = context;
    for (size_t i = part * PATTERNS; i < (part + 1) * PATTERNS && i < l->plan->pattern_count; i++)
        l->body(i, l->context);
}

void gfk_batch_for_patterns(const gfk_batch_plan *plan, gfk_step_fn *body, void *context) {
    pattern_loop l = {plan, body, context};
    const size_t parts = gfk_divide_up(plan->pattern_count, PATTERNS);
    if (plan->pool != NULL)
        gfk_pool_run(plan->pool, GFK_ALL_THREADS, parts, do_patterns, &l);
    else
        for (size_t part = 0; part < parts; part++)
            do_patterns(part, &l);
}

/* ---- the image ------------------------------------------------------------------------------ */

/* The offsets of the parts of an image. */
typedef struct layout {
    size_t record_bytes, matrices, index, bytes;
    size_t index_words; /* 0: all stripes have the same number of tasks */
    uint32_t tasks, reciprocal, shift;
} layout;

/* Describes a stripe as vectors; extent.cuh says what a vector is. A vector that is not aligned is
 * loaded by words, which may reach three bytes beyond either end of the vector, so the outermost
 * vectors do not count as whole. */
static gfk_batch_record cut_stripe(const gfk_batch_plan *plan, const gfk_batch_stripe *stripe) {
    const gfk_rs_rebuild *pattern = &plan->patterns[stripe->pattern];
    void *const *address = plan->addresses + stripe->addresses;
    const unsigned first = (unsigned)((uintptr_t)address[0] % 16);
    bool aligned = first % (plan->field.w / 8) == 0;
    for (size_t i = 1; aligned && i < plan->k + pattern->rows; i++)
        aligned = (uintptr_t)address[i] % 16 == first;
    const unsigned phase = aligned ? first : 0;
    const uint64_t end = (uint64_t)stripe->bytes + phase;
    gfk_batch_record record = {.rows = (uint32_t)pattern->rows};
    record.vectors = (uint32_t)((end + 15) / 16);
    record.whole_begin = phase != 0 || !aligned;
    record.whole_end = (uint32_t)(end / 16);
    if (!aligned && record.whole_end != 0)
        record.whole_end--;
    record.phase = (uint8_t)phase;
    record.tail = (uint8_t)((end - 1) % 16 + 1);
    return record;
}

bool gfk_batch_is_whole(const gfk_batch_plan *plan) {
    for (size_t i = 0; i < plan->stripe_count; i++) {
        const gfk_batch_record record = cut_stripe(plan, &plan->stripes[i]);
        if (record.whole_begin != 0 || record.whole_end != record.vectors)
            return false;
    }
    return true;
}

static uint32_t tasks_of(const gfk_batch_record *record, const gfk_batch_kernel *kernel) {
    return (record->vectors - 1) / (uint32_t)kernel->task_vectors + 1;
}

/* task * reciprocal >> shift is task / each for every task below 2^31: with 2^l >= each and
 * shift = 31 + l, reciprocal * each exceeds 2^shift by less than 2^l, so that a task below 2^31
 * adds less than 1 / each to the quotient. */
static void divide_by(uint32_t each, layout *l) {
    l->shift = 31;
    while (UINT64_C(1) << (l->shift - 31) < each)
        l->shift++;
    l->reciprocal = (uint32_t)(((UINT64_C(1) << l->shift) + each - 1) / each);
}

static gfk_status measure_image(const gfk_batch_plan *plan, const gfk_batch_kernel *kernel,
                                layout *l) {
    uint64_t tasks = 0;
    uint32_t each = 0;
    bool uniform = true;
    for (size_t i = 0; i < plan->stripe_count; i++) {
        const gfk_batch_record record = cut_stripe(plan, &plan->stripes[i]);
        const uint32_t mine = tasks_of(&record, kernel);
        uniform = uniform && (i == 0 || mine == each);
        each = mine;
        tasks += mine;
        if (tasks > MOST_TASKS)
            return GFK_STATUS_INVALID_SIZE;
    }
    size_t rows = 0, words = 0;
    for (size_t i = 0; i < plan->pattern_count; i++) {
        const gfk_rs_rebuild *pattern = &plan->patterns[i];
        rows = pattern->rows > rows ? pattern->rows : rows;
        words += gfk_round_up(kernel->matrix_words(pattern->rows, plan->k), 4);
    }
    *l = (layout){.tasks = (uint32_t)tasks};
    l->record_bytes =
        gfk_round_up(sizeof(gfk_batch_record) + 8 * (plan->k + gfk_round_up(rows, kernel->outputs)),
                     sizeof(gfk_batch_record));
    if (uniform)
        divide_by(each, l);
    else
        l->index_words = l->tasks;
    l->matrices = gfk_round_up(plan->stripe_count * l->record_bytes, ALIGNMENT);
    l->index = gfk_round_up(l->matrices + 4 * words, ALIGNMENT);
    l->bytes = l->index + 4 * l->index_words;
    return GFK_STATUS_SUCCESS;
}

/* Writes the record's `count` addresses. The addresses of missing outputs are 0. */
static void put_addresses(const gfk_batch_plan *plan, const gfk_batch_stripe *stripe,
                          const gfk_batch_record *record, size_t count, uint64_t *to) {
    void *const *address = plan->addresses + stripe->addresses;
    for (size_t i = 0; i < count; i++)
        to[i] = i < plan->k + record->rows ? (uintptr_t)address[i] - record->phase : 0;
}

static void put_stripes(const gfk_batch_plan *plan, const gfk_batch_kernel *kernel, const layout *l,
                        const uint64_t *operands, unsigned char *data) {
    uint32_t *index = (uint32_t *)(void *)(data + l->index);
    const size_t addresses = (l->record_bytes - sizeof(gfk_batch_record)) / 8;
    uint32_t task = 0;
    for (size_t i = 0; i < plan->stripe_count; i++) {
        const gfk_batch_stripe *stripe = &plan->stripes[i];
        gfk_batch_record *to = (gfk_batch_record *)(void *)(data + i * l->record_bytes);
        gfk_batch_record record = cut_stripe(plan, stripe);
        record.matrix = operands[stripe->pattern];
        record.first_task = task;
        task += tasks_of(&record, kernel);
        for (uint32_t t = record.first_task; l->index_words != 0 && t < task; t++)
            index[t] = (uint32_t)i;
        *to = record;
        put_addresses(plan, stripe, &record, addresses, (uint64_t *)(void *)(to + 1));
    }
}

typedef struct operands {
    const gfk_batch_plan *plan;
    const gfk_batch_kernel *kernel;
    uint32_t *matrices;
    uint64_t *at; /* the first word of each pattern's operand */
} operands;

static void build_operand(size_t i, void *context) {
    const operands *o = context;
    const gfk_rs_rebuild *pattern = &o->plan->patterns[i];
    if (pattern->rows == 0) /* the pattern has nothing to rebuild, or cannot be rebuilt */
        return;
    o->kernel->build(o->matrices + o->at[i], pattern->rows, o->plan->k, pattern->matrix);
}

gfk_status gfk_batch_image_build(const gfk_batch_plan *plan, const gfk_batch_kernel *kernel,
                                 gfk_batch_image *image) {
    layout l;
    RETURN_IF_ERROR(measure_image(plan, kernel, &l));
    unsigned char *data = malloc(l.bytes);
    uint64_t *at = malloc(plan->pattern_count * sizeof *at);
    if (data == NULL || at == NULL) {
        free(data);
        free(at);
        return GFK_STATUS_OUT_OF_MEMORY;
    }
    uint32_t *matrices = (uint32_t *)(void *)(data + l.matrices);
    uint64_t words = 0;
    for (size_t i = 0; i < plan->pattern_count; i++) {
        at[i] = words;
        words += gfk_round_up(kernel->matrix_words(plan->patterns[i].rows, plan->k), 4);
    }
    operands all = {plan, kernel, matrices, at};
    gfk_batch_for_patterns(plan, build_operand, &all);
    put_stripes(plan, kernel, &l, at, data);
    free(at);
    *image = (gfk_batch_image){
        .data = data,
        .bytes = l.bytes,
        .job = {.records = data,
                .matrices = matrices,
                .index = l.index_words ? (const uint32_t *)(const void *)(data + l.index) : NULL,
                .reciprocal = l.reciprocal,
                .shift = l.shift,
                .tasks = l.tasks,
                .record_bytes = (uint32_t)l.record_bytes,
                .cols = (uint32_t)plan->k,
                .polynomial = (uint32_t)plan->field.polynomial,
                .w = plan->field.w}};
    return GFK_STATUS_SUCCESS;
}

gfk_batch_job gfk_batch_job_at(const gfk_batch_image *image, void *address) {
    const uint32_t *words = address, *own = (const uint32_t *)(const void *)image->data;
    gfk_batch_job job = image->job;
    job.records = address;
    job.matrices = words + (job.matrices - own);
    if (job.index != NULL)
        job.index = words + (job.index - own);
    return job;
}
