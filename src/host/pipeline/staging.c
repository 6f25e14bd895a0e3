/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the caller's pageable memory and pinned buffers, on all threads. */
#include <string.h>

#include "pipeline.h"

enum {
    PART = 256 << 10, /* bytes of a region that a thread takes at a time */
    COPIERS = 16,     /* the most threads; 64 threads copied at half the rate of 16 */
};

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
