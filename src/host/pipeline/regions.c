/* SPDX-License-Identifier: BSD-3-Clause */
/* Do a call's regions overlap, and which of them must be staged? */
#include "host/product/overlap.h"
#include "pipeline.h"

static bool has_answer(const gfk_side *side, const gfk_job *job) {
    return gfk_regions_touch(side->regions, side->count, job->bytes, job->answer,
                             sizeof *job->answer);
}

gfk_status gfk_job_overlap(gfk_job *job) {
    if (job->work == GFK_WORK_CHECK)
        return has_answer(&job->in, job) || has_answer(&job->out, job) ? GFK_STATUS_OVERLAP
                                                                       : GFK_STATUS_SUCCESS;
    job->in_place = job->in_place && gfk_region_address(job->in.regions, 0) ==
                                         gfk_region_address(job->out.regions, 0);
    return !job->in_place && gfk_outputs_overlap(job->in.regions, job->in.count, job->out.regions,
                                                 job->out.count, job->bytes)
               ? GFK_STATUS_OVERLAP
               : GFK_STATUS_SUCCESS;
}

static bool in_one_pinned_range(const gfk_side *side, size_t bytes) {
    const gfk_regions *regions = side->regions;
    return regions->pointers == NULL &&
           gfk_device_memory_kind(regions->base, (side->count - 1) * regions->stride + bytes) ==
               GFK_MEMORY_PINNED;
}

static gfk_status stage_side(gfk_side *side, size_t bytes) {
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

gfk_status gfk_job_stage(gfk_job *job) {
    const gfk_status status = stage_side(&job->in, job->bytes);
    return status == GFK_STATUS_SUCCESS ? stage_side(&job->out, job->bytes) : status;
}
