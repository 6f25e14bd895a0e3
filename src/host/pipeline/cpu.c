/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU's part: its engine, on slices that fit into a core's cache. */
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

enum {
    SLICE_BYTES = 512 << 10, /* of all regions together: an L2 cache */
    LEAST_SLICE = 4096,      /* a page */
    MOST_SLICE = 65536,
    LONG_SLICE_BYTES = 16 << 20, /* where nothing is read twice */
    MOST_LONG_SLICE = 1 << 20,
    ONE_PASS_INS = 64,       /* that ISA-L's engine sums up at once */
    ONE_PASS_OUTS = 6,       /* that ISA-L computes while it reads the inputs once */
    SLICES_PER_THREAD = 4,   /* at least, so that all have something to do till the end */
    SHARED_SLICES = 8,       /* per thread, where devices want the threads' help in between */
    SHARED_SLICE = 256 << 10 /* but no more bytes of a region than this or a slice */
};

static size_t pages(size_t bytes, size_t regions, size_t most) {
    const size_t length = bytes / regions / LEAST_SLICE * LEAST_SLICE;
    return length < LEAST_SLICE ? LEAST_SLICE : gfk_least(length, most);
}

/* What is read again is to be found in the cache. Where nothing is, longer slices are faster, as
 * each begins with as many waits for memory as there are regions. */
static size_t slice_of(const gfk_job *job) {
    const size_t regions = job->in.count + job->out.count;
    const size_t usual = pages(SLICE_BYTES, regions, MOST_SLICE);
    if (job->work != GFK_WORK_SET || job->in_place || job->in.count > ONE_PASS_INS ||
        job->out.count > ONE_PASS_OUTS || job->kept->host->info.engine->family != GFK_ENGINE_ISAL)
        return usual;
    const size_t share = job->bytes / job->pipeline->info.threads / SLICES_PER_THREAD;
    const size_t length = pages(share, 1, pages(LONG_SLICE_BYTES, regions, MOST_LONG_SLICE));
    return length > usual ? length : usual;
}

gfk_status gfk_cpu_prepare(gfk_job *job) {
    job->slice = slice_of(job);
    const size_t regions = job->in.count + job->out.count;
    size_t bytes = regions * sizeof(void *);
    if (job->in_place)
        bytes += job->slice;
    job->scratch_bytes = (bytes + 63) / 64 * 64;
    job->scratch = malloc(job->pipeline->info.threads * job->scratch_bytes);
    return job->scratch ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

/* ---- one slice ---------------------------------------------------------------------------------
 */

static void point(void **pointers, const gfk_side *side, size_t at) {
    for (size_t i = 0; i < side->count; i++)
        pointers[i] = gfk_region_address(side->regions, i) + at;
}

static void do_slice(gfk_job *job, size_t at, size_t length, unsigned char *scratch) {
    void **pointers = (void **)(void *)scratch;
    const gfk_regions in = {pointers, NULL, 0}, out = {pointers + job->in.count, NULL, 0};
    const gfk_product_call call = {.product = job->kept->host,
                                   .in = &in,
                                   .out = &out,
                                   .bytes = length,
                                   .accumulate = job->work == GFK_WORK_XOR,
                                   .alone = true,
                                   .mismatch_map =
                                       job->work == GFK_WORK_CHECK ? &job->differs : NULL,
                                   .shift = GFK_ONE_MARK};
    point(pointers, &job->in, at);
    point(pointers + job->in.count, &job->out, at);
    if (job->in_place) { /* engines read an input again after they wrote beside it */
        unsigned char *copy = (unsigned char *)(pointers + job->in.count + job->out.count);
        memcpy(copy, pointers[0], length);
        pointers[0] = copy;
    }
    (void)call.product->engine->run(&call); /* the engines of the CPU cannot fail */
}

/* ---- ranges ------------------------------------------------------------------------------------
 */

typedef struct slices {
    gfk_job *job;
    gfk_range range;
    atomic_size_t next;
} slices;

/* A thread with its part of the scratch memory. */
static void member(size_t number, void *context) {
    slices *s = context;
    gfk_job *job = s->job;
    unsigned char *scratch = job->scratch + number * job->scratch_bytes;
    for (;;) {
        const size_t done = atomic_fetch_add_explicit(&s->next, job->slice, memory_order_relaxed);
        if (done >= s->range.length)
            return;
        do_slice(job, s->range.at + done, gfk_least(job->slice, s->range.length - done), scratch);
    }
}

void gfk_cpu_range(gfk_job *job, gfk_range range) {
    slices s = {.job = job, .range = range};
    const size_t count = range.length / job->slice + (range.length % job->slice != 0);
    gfk_pool_run(job->pipeline->pool, gfk_least(job->pipeline->info.threads, count), member, &s);
}

void gfk_cpu_work(gfk_job *job, bool alone) {
    const size_t shared = gfk_least(SHARED_SLICES * job->slice,
                                    job->slice > SHARED_SLICE ? job->slice : (size_t)SHARED_SLICE);
    const size_t want =
        alone ? job->bytes : shared / job->slice * job->slice * job->pipeline->info.threads;
    for (gfk_range range; gfk_job_take(job, want, &range);) {
        gfk_cpu_range(job, range);
        job->cpu_bytes += range.length;
    }
}
