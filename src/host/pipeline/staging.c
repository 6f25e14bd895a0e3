/* SPDX-License-Identifier: BSD-3-Clause */
/* Staging: which regions devices cannot reach, and the copies between these regions and pinned
 * buffers, on all threads. */
#include <string.h>

#include "pipeline.h"

enum {
    PART = 256 << 10, /* bytes of a region that a thread takes at a time */
    COPIERS = 16,     /* the most threads; 64 threads copied at half the rate of 16 */
};

static bool in_one_pinned_range(const gfk_side *side, size_t bytes) {
    const gfk_regions *regions = side->regions;
    return regions->pointers == NULL &&
           gfk_device_memory_kind(regions->base, (side->count - 1) * regions->stride + bytes) ==
               GFK_MEMORY_PINNED;
}

/* Fills the lists of a side: place, then staged. */
static gfk_status stage_side(gfk_side *side, size_t bytes, size_t *lists) {
    side->place = lists;
    side->staged = lists + side->count;
    side->staged_count = 0;
    side->even = in_one_pinned_range(side, bytes);
    for (size_t i = 0; i < side->count; i++) {
        const gfk_memory_kind memory =
            side->even ? GFK_MEMORY_PINNED
                       : gfk_device_memory_kind(gfk_region_address(side->regions, i), bytes);
        if (memory == GFK_MEMORY_DEVICE)
            return GFK_STATUS_INVALID_ARGUMENT;
        side->place[i] = SIZE_MAX;
        if (memory == GFK_MEMORY_PAGEABLE) {
            side->place[i] = side->staged_count;
            side->staged[side->staged_count++] = i;
        }
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_job_stage(gfk_job *job, size_t *lists) {
    RETURN_IF_ERROR(stage_side(&job->in, job->bytes, lists));
    return stage_side(&job->out, job->bytes, lists + 2 * job->in.count);
}

/* ---- copies --------------------------------------------------------------------------------- */

typedef struct copies {
    const gfk_side *side;
    gfk_range range;
    unsigned char *pinned;
    size_t pitch, parts; /* parts of each region */
    bool out;
} copies;

static void copy_part(size_t step, void *context) {
    const copies *c = context;
    const size_t place = step / c->parts, at = step % c->parts * PART;
    const size_t length = gfk_least(PART, c->range.length - at);
    unsigned char *theirs =
        gfk_region_address(c->side->regions, c->side->staged[place]) + c->range.at + at;
    unsigned char *ours = c->pinned + place * c->pitch + at;
    if (c->out)
        memcpy(theirs, ours, length);
    else
        memcpy(ours, theirs, length);
}

static void copy(const gfk_job *job, copies *c) {
    c->parts = c->range.length / PART + (c->range.length % PART != 0);
    gfk_pool_run(job->pipeline->pool, gfk_least(job->pipeline->info.threads, COPIERS),
                 c->side->staged_count * c->parts, copy_part, c);
}

void gfk_stage_in(const gfk_job *job, const gfk_side *side, gfk_range range, unsigned char *pinned,
                  size_t pitch) {
    copies c = {.side = side, .range = range, .pinned = pinned, .pitch = pitch, .out = false};
    copy(job, &c);
}

void gfk_stage_out(const gfk_job *job, const gfk_side *side, gfk_range range, unsigned char *pinned,
                   size_t pitch) {
    copies c = {.side = side, .range = range, .pinned = pinned, .pitch = pitch, .out = true};
    copy(job, &c);
}
