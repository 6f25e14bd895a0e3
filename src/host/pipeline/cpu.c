/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU's part of a call: its engine, on tiles that fit into a core's cache. */
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

enum {
    TILE_BYTES = 512 << 10, /* bytes of all regions together: an L2 cache */
    LEAST_TILE = 4096,      /* a page */
    MOST_TILE = 65536,
    LONG_TILE_BYTES = 16 << 20, /* bytes of all regions together, if no region is read twice */
    MOST_LONG_TILE = 1 << 20,
    ONE_PASS_INS = 64, /* inputs that ISA-L's engine sums up in one pass */
    ONE_PASS_OUTS = 6, /* outputs that ISA-L computes while it reads the inputs once */
    /* the smallest number of tiles, so that all threads are busy to the end */
    TILES_PER_THREAD = 4,
    SHORTER = 8, /* tiles near the end of a call are up to 8 times shorter */
    /* bytes of all regions together; of more bytes a cache would keep little */
    PAST_CACHES = 128 << 20,
    MATMUL_PART = 16 << 10, /* bytes of a region that a matmul on the CPU takes at a time */
    OWN_STEP = 16 << 10,
    OWN_PITCH = OWN_STEP + 256 /* the extra bytes put outputs into different cache sets */
};

static size_t whole_pages(size_t bytes, size_t regions, size_t most) {
    const size_t length = bytes / regions / LEAST_TILE * LEAST_TILE;
    return length < LEAST_TILE ? LEAST_TILE : gfk_least(length, most);
}

/* Regions that are read again should still be in the cache. If no region is read again, longer
 * tiles are faster, because each tile begins with one wait for memory for each region. */
static size_t tile_of(gfk_job *job) {
    const size_t regions = job->in.count + job->out.count;
    const size_t usual = whole_pages(TILE_BYTES, regions, MOST_TILE);
    if (job->work != GFK_WORK_SET || job->in_place || job->in.count > ONE_PASS_INS ||
        job->out.count > ONE_PASS_OUTS || job->cached->host->info.engine->family != GFK_ENGINE_ISAL)
        return usual;
    if (job->bytes >= PAST_CACHES / regions)
        job->step = OWN_STEP;
    const size_t share = job->bytes / job->pipeline->info.threads / TILES_PER_THREAD;
    const size_t length =
        whole_pages(share, 1, whole_pages(LONG_TILE_BYTES, regions, MOST_LONG_TILE));
    return length > usual ? length : usual;
}

/* The scratch memory of a matmul: the matmul's own workspace, then the addresses of a range. */
static gfk_status prepare_matmul(gfk_job *job) {
    const size_t all = SIZE_MAX / 256; /* bytes that give each thread work */
    job->scratch_bytes = gfk_matmul_cpu_space(job->out.count, all, 1, job->pipeline->info.threads);
    const size_t pointers = (job->in.count + job->out.count) * sizeof(void *);
    job->scratch = aligned_alloc(256, (job->scratch_bytes + pointers + 255) / 256 * 256);
    return job->scratch ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

gfk_status gfk_cpu_prepare(gfk_job *job) {
    if (job->matmul != NULL)
        return prepare_matmul(job);
    job->tile = tile_of(job);
    size_t bytes = (job->in.count + job->out.count) * sizeof(void *);
    if (job->in_place)
        bytes += job->tile;
    if (job->step != 0)
        bytes += job->out.count * OWN_PITCH;
    job->scratch_bytes = (bytes + 63) / 64 * 64;
    job->scratch = malloc(job->pipeline->info.threads * job->scratch_bytes);
    return job->scratch ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

static void set_pointers(void **pointers, const gfk_side *side, size_t at) {
    for (size_t i = 0; i < side->count; i++)
        pointers[i] = gfk_region_address(side->regions, i) + at;
}

/* Computes a range. The outputs go to `own`, one after the other, or, if `own` is NULL, to the
 * caller's regions. */
static void compute_range(gfk_job *job, gfk_range range, unsigned char *scratch,
                          unsigned char *own) {
    void **pointers = (void **)(void *)scratch, **outs = pointers + job->in.count;
    const gfk_regions in = {pointers, NULL, 0}, out = {outs, NULL, 0};
    const gfk_product_call call = {.product = job->cached->host,
                                   .in = &in,
                                   .out = &out,
                                   .bytes = range.length,
                                   .accumulate = job->work == GFK_WORK_XOR,
                                   .on_caller = true,
                                   .mismatch_map =
                                       job->work == GFK_WORK_CHECK ? &job->differs : NULL,
                                   .shift = GFK_WHOLE_REGION};
    set_pointers(pointers, &job->in, range.at);
    set_pointers(outs, &job->out, range.at);
    for (size_t i = 0; own != NULL && i < job->out.count; i++)
        outs[i] = own + i * OWN_PITCH;
    if (job->in_place) { /* engines read an input again after they wrote the output */
        unsigned char *copy = (unsigned char *)(outs + job->out.count);
        memcpy(copy, pointers[0], range.length);
        pointers[0] = copy;
    }
    (void)gfk_product_compute(&call); /* the engines of the CPU cannot fail */
}

static void compute_tile(gfk_job *job, gfk_range tile, unsigned char *scratch) {
    if (job->step == 0) {
        compute_range(job, tile, scratch, NULL);
        return;
    }
    unsigned char *own = scratch + job->scratch_bytes - job->out.count * OWN_PITCH;
    for (size_t at = 0; at < tile.length; at += job->step) {
        const gfk_range part = {tile.at + at, gfk_least(job->step, tile.length - at)};
        compute_range(job, part, scratch, own);
        for (size_t i = 0; i < job->out.count; i++)
            gfk_copy_past_caches(gfk_region_address(job->out.regions, i) + part.at,
                                 own + i * OWN_PITCH, part.length);
    }
}

/* One thread, with its own scratch memory, takes tiles until none is left. */
static void compute_tiles(size_t thread, void *context) {
    gfk_job *job = context;
    unsigned char *scratch = job->scratch + thread * job->scratch_bytes;
    const size_t least = job->tile < SHORTER * LEAST_TILE ? LEAST_TILE : job->tile / SHORTER;
    for (gfk_range range; gfk_job_take(job, job->tile, least, &range);) {
        compute_tile(job, range, scratch);
        atomic_fetch_add_explicit(&job->cpu_bytes, range.length, memory_order_relaxed);
    }
}

/* Computes a matmul with all threads together, because the threads share the rows of the matrix
 * too. If devices work on the same call, the threads take one part of the range at a time. */
static void compute_matmul(gfk_job *job) {
    void **pointers = (void **)(void *)(job->scratch + job->scratch_bytes);
    const gfk_regions in = {pointers, NULL, 0}, out = {pointers + job->in.count, NULL, 0};
    const size_t most = job->takers == 1 ? job->bytes : MATMUL_PART;
    for (gfk_range range; gfk_job_take(job, most, LEAST_TILE, &range);) {
        gfk_matmul_call call = *job->matmul;
        set_pointers(pointers, &job->in, range.at);
        set_pointers(pointers + job->in.count, &job->out, range.at);
        call.b = &in;
        call.c = &out;
        call.bytes = range.length;
        call.accumulate = job->work == GFK_WORK_XOR;
        call.workspace = job->scratch;
        gfk_matmul_cpu_run(&call, 1, job->pipeline->pool, job->computing);
        atomic_fetch_add_explicit(&job->cpu_bytes, range.length, memory_order_relaxed);
    }
}

void gfk_cpu_work(gfk_job *job) {
    if (job->matmul != NULL) {
        compute_matmul(job);
        return;
    }
    const size_t next = gfk_least(atomic_load(&job->next), job->end), left = job->end - next;
    const size_t tiles = left / job->tile + (left % job->tile != 0);
    const size_t threads = gfk_least(job->computing, tiles);
    if (threads != 0)
        gfk_pool_run(job->pipeline->pool, threads, threads, compute_tiles, job);
}
