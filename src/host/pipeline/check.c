/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a call's regions, and which of them a device can reach by itself. */
#include "../product/overlap.h"
#include "pipeline.h"

/* Every region has an address and ends before the last byte of the address space. */
static gfk_status check_side(const gfk_side *side, size_t bytes) {
    const gfk_regions *regions = side->regions;
    if (regions->pointers == NULL) {
        if (regions->base == NULL || regions->stride < bytes)
            return GFK_STATUS_INVALID_ARGUMENT;
        const size_t room = UINTPTR_MAX - (uintptr_t)regions->base;
        return bytes > room || (side->count - 1) > (room - bytes) / regions->stride
                   ? GFK_STATUS_INVALID_SIZE
                   : GFK_STATUS_SUCCESS;
    }
    for (size_t i = 0; i < side->count; i++)
        if (regions->pointers[i] == NULL)
            return GFK_STATUS_INVALID_ARGUMENT;
    for (size_t i = 0; i < side->count; i++)
        if ((uintptr_t)regions->pointers[i] > UINTPTR_MAX - bytes)
            return GFK_STATUS_INVALID_SIZE;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_job_check(gfk_job *job) {
    gfk_status status = check_side(&job->in, job->bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = check_side(&job->out, job->bytes);
    if (status != GFK_STATUS_SUCCESS || job->work == GFK_WORK_CHECK)
        return status;
    job->in_place = job->in_place && gfk_region_address(job->in.regions, 0) ==
                                         gfk_region_address(job->out.regions, 0);
    if (job->in_place)
        return GFK_STATUS_SUCCESS;
    return gfk_outputs_overlap(job->in.regions, job->in.count, job->out.regions, job->out.count,
                               job->bytes)
               ? GFK_STATUS_OVERLAP
               : GFK_STATUS_SUCCESS;
}

static bool in_one_pinned_range(const gfk_side *side, size_t bytes) {
    const gfk_regions *regions = side->regions;
    return regions->pointers == NULL &&
           gfk_bus_memory_of(regions->base, (side->count - 1) * regions->stride + bytes) ==
               GFK_BUS_PINNED;
}

static gfk_status stage_side(gfk_side *side, size_t bytes) {
    side->staged_count = 0;
    side->even = in_one_pinned_range(side, bytes);
    for (size_t i = 0; i < side->count; i++) {
        const gfk_bus_memory memory =
            side->even ? GFK_BUS_PINNED
                       : gfk_bus_memory_of(gfk_region_address(side->regions, i), bytes);
        if (memory == GFK_BUS_DEVICE)
            return GFK_STATUS_INVALID_ARGUMENT;
        side->place[i] = SIZE_MAX;
        if (memory == GFK_BUS_PAGEABLE) {
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
