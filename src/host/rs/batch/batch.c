/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: checks of stripes, the plan, and its way to a device or to the loop on the CPU. */
#include <stdlib.h>
#include <string.h>

#include <gfk/rs.h>

#include "batch.h"
#include "host/base/hash.h"
#include "host/device/device.h"
#include "host/rs/code.h"

struct gfk_rs_batch {
    int device; /* GFK_CPU or a device's number */
    /* The patterns exist while the batch is made. Afterwards only the CPU keeps the plan. */
    gfk_batch_plan plan;
    size_t address_count, address_room;
    /* The members of a batch on a device. */
    void *memory; /* the image; NULL: the batch has nothing to do */
    gfk_batch_job job;
    gfk_status (*launch)(const gfk_batch_job *job, gfk_stream_t stream);
    /* The members of a batch on the CPU. */
    gfk_product_t *products; /* one product for each pattern */
    size_t product_count;
};

/* ---- the different losses, each inverted once ----------------------------------------------- */

typedef struct loss {
    size_t begin, count; /* range of the pattern's lost regions in pattern_table.lost, ascending */
    gfk_status status;   /* the status of the pattern's decode matrix */
    bool used;           /* a stripe of the batch has the pattern */
} loss;

/* The table of patterns. It starts as zeros except for the code. */
typedef struct pattern_table {
    gfk_rs_t code;
    loss *list;
    size_t count, room;
    size_t *slots;     /* a hash table of indices + 1; 0 is free */
    size_t slot_count; /* a power of two, more than twice count */
    size_t *lost, lost_count, lost_room;
    gfk_rs_rebuild *rebuilds;
} pattern_table;

/* Returns the slot of a loss in the table, or the free slot where the loss belongs. */
static size_t *slot_of(const pattern_table *p, const size_t *lost, size_t count) {
    const uint64_t hash = gfk_hash(GFK_HASH_BEGIN, lost, count * sizeof *lost);
    size_t i = (size_t)(hash ^ hash >> 32) & (p->slot_count - 1);
    for (; p->slots[i] != 0; i = (i + 1) & (p->slot_count - 1)) {
        const loss *found = &p->list[p->slots[i] - 1];
        if (found->count == count &&
            memcmp(p->lost + found->begin, lost, count * sizeof *lost) == 0)
            break;
    }
    return &p->slots[i];
}

/* Makes room for one more pattern. */
static gfk_status reserve(pattern_table *p) {
    const size_t m = p->code->info.m;
    if (p->lost_room - p->lost_count < m) {
        const size_t room = 2 * p->lost_room + m;
        size_t *lost = realloc(p->lost, room * sizeof *lost);
        if (lost == NULL)
            return GFK_STATUS_OUT_OF_MEMORY;
        p->lost = lost;
        p->lost_room = room;
    }
    if (p->count < p->room)
        return GFK_STATUS_SUCCESS;
    const size_t room = p->room ? 2 * p->room : 16;
    loss *list = realloc(p->list, room * sizeof *list);
    if (list == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->list = list;
    size_t *slots = calloc(4 * room, sizeof *slots);
    if (slots == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    free(p->slots);
    p->slots = slots;
    p->slot_count = 4 * room;
    p->room = room;
    for (size_t i = 0; i < p->count; i++)
        *slot_of(p, p->lost + list[i].begin, list[i].count) = i + 1;
    return GFK_STATUS_SUCCESS;
}

/* Is there a list, and is it short enough? Returns the statuses of gfk_rs_rebuild_create. */
static gfk_status check_length(gfk_rs_t code, const gfk_rs_stripe *stripe) {
    gfk_rs_rebuild none;
    if (stripe->lost == NULL && stripe->lost_count != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    return stripe->lost_count <= code->info.m
               ? GFK_STATUS_SUCCESS
               : gfk_rs_rebuild_create(&none, code, stripe->lost, stripe->lost_count, NULL, 0);
}

/* Sets the index of the pattern for this loss. lost NULL: the pattern of encoding, which rebuilds
 * all parity. */
static gfk_status find_pattern(pattern_table *p, const gfk_rs_stripe *stripe, size_t *index) {
    RETURN_IF_ERROR(reserve(p));
    const size_t rows = stripe->lost ? stripe->lost_count : p->code->info.m;
    size_t *lost = p->lost + p->lost_count;
    for (size_t i = 0; i < rows; i++)
        lost[i] = stripe->lost ? stripe->lost[i] : p->code->info.k + i;
    gfk_rs_sort(lost, rows);
    size_t *slot = slot_of(p, lost, rows);
    if (*slot == 0) {
        p->list[p->count] = (loss){.begin = p->lost_count, .count = rows};
        p->lost_count += rows;
        *slot = ++p->count;
    }
    *index = *slot - 1;
    return GFK_STATUS_SUCCESS;
}

static void invert(size_t i, void *context) {
    const pattern_table *p = context;
    p->list[i].status = gfk_rs_rebuild_create(&p->rebuilds[i], p->code, p->lost + p->list[i].begin,
                                              p->list[i].count, NULL, 0);
}

/* Writes the pattern of each stripe whose list is short enough, and makes the patterns' decode
 * matrices. Returns the number of stripes before the one at which memory ran out. */
static size_t make_patterns(gfk_batch_plan *plan, pattern_table *p, const gfk_rs_stripe *stripes,
                            size_t count) {
    size_t i = 0, elements = 0;
    while (i < count &&
           (check_length(p->code, &stripes[i]) != GFK_STATUS_SUCCESS ||
            find_pattern(p, &stripes[i], &plan->stripes[i].pattern) == GFK_STATUS_SUCCESS))
        i++;
    p->rebuilds = calloc(p->count ? p->count : 1, sizeof *p->rebuilds);
    if (p->rebuilds == NULL)
        return 0;
    plan->patterns = p->rebuilds;
    plan->pattern_count = p->count;
    for (size_t j = 0; j < p->count; j++)
        elements += p->list[j].count * plan->k;
    if (plan->pool == NULL && elements >= GFK_BATCH_MANY)
        plan->pool = gfk_pool_acquire();
    gfk_batch_for_patterns(plan, invert, p);
    return i;
}

static void clear_patterns(pattern_table *p) {
    for (size_t i = 0; p->rebuilds != NULL && i < p->count; i++)
        gfk_rs_rebuild_free(&p->rebuilds[i]);
    free(p->rebuilds);
    free(p->list);
    free(p->slots);
    free(p->lost);
}

/* ---- one stripe ----------------------------------------------------------------------------- */

static bool reserve_addresses(gfk_rs_batch_t batch, size_t count) {
    if (count <= batch->address_room - batch->address_count)
        return true;
    const size_t room = 2 * batch->address_room + count;
    void **grown = realloc(batch->plan.addresses, room * sizeof *grown);
    if (grown == NULL)
        return false;
    batch->plan.addresses = grown;
    batch->address_room = room;
    return true;
}

/* Adds a stripe with the pattern `index` to the plan, unless the stripe has an error or nothing to
 * do. */
static gfk_status add_stripe(gfk_rs_batch_t batch, pattern_table *patterns, size_t index,
                             const gfk_rs_stripe *stripe) {
    gfk_batch_plan *plan = &batch->plan;
    RETURN_IF_ERROR(check_length(patterns->code, stripe));
    RETURN_IF_ERROR(patterns->list[index].status);
    if (stripe->bytes % (plan->field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    const gfk_rs_rebuild *pattern = &plan->patterns[index];
    const size_t k = plan->k, rows = pattern->rows;
    if (stripe->bytes == 0 || rows == 0)
        return GFK_STATUS_SUCCESS;
    if (batch->device >= 0 && stripe->bytes > GFK_BATCH_MOST_BYTES)
        return GFK_STATUS_INVALID_SIZE;
    if (!reserve_addresses(batch, k + rows))
        return GFK_STATUS_OUT_OF_MEMORY;
    void **address = plan->addresses + batch->address_count;
    const gfk_rs_regions all = {k, &stripe->data, &stripe->parity, stripe->bytes};
    gfk_rs_addresses(&all, pattern->sources, k, address);
    gfk_rs_addresses(&all, pattern->outputs, rows, address + k);
    const gfk_regions in = {.pointers = address}, out = {.pointers = address + k};
    const gfk_operand operands[] = {gfk_operand_regions(&in, k, stripe->bytes, GFK_READ),
                                    gfk_operand_regions(&out, rows, stripe->bytes, GFK_WRITE)};
    RETURN_IF_ERROR(gfk_rs_check_memory(patterns->code, operands, 2));
    if (gfk_rs_unread_overlap(&all, pattern, &out, rows))
        return GFK_STATUS_OVERLAP;
    plan->stripes[plan->stripe_count++] =
        (gfk_batch_stripe){stripe->bytes, index, batch->address_count};
    batch->address_count += k + rows;
    patterns->list[index].used = true;
    return GFK_STATUS_SUCCESS;
}

/* ---- on a device ---------------------------------------------------------------------------- */

static gfk_batch_kernel kernel_for(const gfk_batch_plan *plan, int device) {
    size_t rows = 0;
    for (size_t i = 0; i < plan->pattern_count; i++)
        rows = plan->patterns[i].rows > rows ? plan->patterns[i].rows : rows;
    return gfk_batch_choose(plan->field.w, plan->k, rows, gfk_device_prefers_clmad(device),
                            gfk_batch_is_whole(plan));
}

static gfk_status upload(gfk_rs_batch_t batch) {
    gfk_batch_image image;
    const gfk_batch_kernel kernel = kernel_for(&batch->plan, batch->device);
    RETURN_IF_ERROR(gfk_batch_image_build(&batch->plan, &kernel, &image));
    gfk_status status = gfk_device_alloc(&batch->memory, image.bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_device_upload(batch->memory, image.data, image.bytes);
    batch->job = gfk_batch_job_at(&image, batch->memory);
    batch->launch = kernel.launch;
    free(image.data);
    return status;
}

static gfk_status make_on_device(gfk_rs_batch_t batch) {
    int previous;
    RETURN_IF_ERROR(gfk_device_enter(batch->device, &previous));
    return gfk_device_leave(previous, upload(batch));
}

/* ---- on the CPU ----------------------------------------------------------------------------- */

typedef struct host_products {
    gfk_rs_batch_t batch;
    const pattern_table *patterns;
    gfk_product_desc desc;
} host_products;

static void make_product(size_t i, void *context) {
    const host_products *h = context;
    const gfk_batch_plan *plan = &h->batch->plan;
    if (h->patterns->list[i].used)
        h->patterns->list[i].status =
            gfk_product_create_proven(&h->batch->products[i], &plan->field, plan->patterns[i].rows,
                                      plan->k, plan->patterns[i].matrix, &h->desc);
}

static gfk_status make_on_host(gfk_rs_batch_t batch, const pattern_table *patterns) {
    const gfk_batch_plan *plan = &batch->plan;
    host_products h = {.batch = batch, .patterns = patterns};
    RETURN_IF_ERROR(gfk_rs_product_desc(patterns->code, NULL, &h.desc));
    batch->products = calloc(plan->pattern_count, sizeof *batch->products);
    if (batch->products == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    batch->product_count = plan->pattern_count;
    gfk_batch_for_patterns(plan, make_product, &h);
    for (size_t i = 0; i < plan->pattern_count; i++)
        if (patterns->list[i].used)
            RETURN_IF_ERROR(patterns->list[i].status);
    return GFK_STATUS_SUCCESS;
}

/* Create has made the checks of gfk_product_run, and the engines of the CPU cannot fail. */
static void run_stripe(size_t i, void *context) {
    gfk_rs_batch_t batch = context;
    const gfk_batch_stripe *stripe = &batch->plan.stripes[i];
    void *const *address = batch->plan.addresses + stripe->addresses;
    const gfk_regions in = {.pointers = address}, out = {.pointers = address + batch->plan.k};
    const gfk_product_call call = {.product = batch->products[stripe->pattern],
                                   .in = &in,
                                   .out = &out,
                                   .bytes = stripe->bytes};
    (void)gfk_product_compute(&call);
}

/* ---- the interface -------------------------------------------------------------------------- */

/* Makes the plan, and from the plan the image or the products. */
static gfk_status make_batch(gfk_rs_batch_t batch, pattern_table *patterns,
                             const gfk_rs_stripe *stripes, size_t count, gfk_status *statuses) {
    gfk_batch_plan *plan = &batch->plan;
    size_t ready = 0;
    plan->stripes = calloc(count ? count : 1, sizeof *plan->stripes);
    if (batch->device < 0)
        plan->pool = gfk_pool_acquire();
    if (plan->stripes != NULL && (batch->device >= 0 || plan->pool != NULL))
        ready = make_patterns(plan, patterns, stripes, count);
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < count && (statuses != NULL || status == GFK_STATUS_SUCCESS); i++) {
        const gfk_status one =
            status      ? status
            : i < ready ? add_stripe(batch, patterns, plan->stripes[i].pattern, &stripes[i])
                        : GFK_STATUS_OUT_OF_MEMORY;
        if (statuses != NULL)
            statuses[i] = one;
        if (statuses == NULL || one == GFK_STATUS_OUT_OF_MEMORY)
            status = one;
    }
    if (status != GFK_STATUS_SUCCESS || plan->stripe_count == 0)
        return status;
    return batch->device >= 0 ? make_on_device(batch) : make_on_host(batch, patterns);
}

/* A batch on a device keeps only its image. */
static void clear_plan(gfk_batch_plan *plan) {
    free(plan->stripes);
    free(plan->addresses);
    gfk_pool_release(plan->pool);
    *plan = (gfk_batch_plan){0};
}

gfk_status gfk_rs_batch_create(gfk_rs_batch_t *batch, gfk_rs_t code, const gfk_rs_stripe *stripes,
                               size_t count, gfk_status *statuses) {
    if (batch == NULL || code == NULL || (stripes == NULL && count != 0))
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_rs_batch_t made = calloc(1, sizeof *made);
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    made->device = code->info.device;
    made->plan = (gfk_batch_plan){.field = code->info.field, .k = code->info.k};
    pattern_table patterns = {.code = code};
    const gfk_status status = make_batch(made, &patterns, stripes, count, statuses);
    made->plan.patterns = NULL;
    clear_patterns(&patterns);
    if (made->device >= 0)
        clear_plan(&made->plan);
    if (status == GFK_STATUS_SUCCESS)
        *batch = made;
    else
        gfk_rs_batch_destroy(made);
    return status;
}

gfk_status gfk_rs_batch_run(gfk_rs_batch_t batch, gfk_stream_t stream) {
    if (batch == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_device_check_stream(batch->device, stream));
    if (batch->memory != NULL)
        return batch->launch(&batch->job, stream);
    if (batch->device < 0 && batch->plan.stripe_count != 0)
        gfk_pool_run(batch->plan.pool, GFK_ALL_THREADS, batch->plan.stripe_count, run_stripe,
                     batch);
    return GFK_STATUS_SUCCESS;
}

void gfk_rs_batch_destroy(gfk_rs_batch_t batch) {
    if (batch == NULL)
        return;
    gfk_device_free(batch->device, batch->memory);
    for (size_t i = 0; i < batch->product_count; i++)
        gfk_product_destroy(batch->products[i]);
    free(batch->products);
    clear_plan(&batch->plan);
    free(batch);
}
