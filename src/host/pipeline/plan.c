/* SPDX-License-Identifier: BSD-3-Clause */
/* Who does a call. */
#include "pipeline.h"

/* The rule without calibration. */
enum {
    WORTH_A_TRIP = 16 << 20, /* bytes of all regions together */
    WORTH_A_TRIP_FROM_REFERENCE = 1 << 20,
    MANY_THREADS = 12
};

static size_t devices_left(gfk_pipeline_t pipeline) {
    size_t left = 0;
    for (size_t i = 0; i < pipeline->info.device_count; i++)
        left += !pipeline->lanes[i].lost;
    return left;
}

static gfk_path by_calibration(const gfk_job *job, gfk_where where, const char **reason) {
    gfk_advice advice;
    gfk_advise_work(&job->pipeline->calibration, &job->kept->field, job->in.count, job->out.count,
                    job->bytes, job->work, where, &advice);
    *reason = advice.path == GFK_PATH_CPU   ? "by the calibration the CPU is fastest"
              : advice.path == GFK_PATH_GPU ? "by the calibration the GPU is fastest"
                                            : "by the calibration GPU and CPU together are fastest";
    return advice.path;
}

/* ISA-L encodes some 5 GB/s with a core, a bus carries some 55 GB/s, pageable regions take the
 * cores anyway, and without ISA-L the CPU is ten times slower. */
static gfk_path by_rule(const gfk_job *job, gfk_where where, const char **reason) {
    const size_t regions = job->in.count + job->out.count;
    const bool isal = job->kept->host->info.engine->family == GFK_ENGINE_ISAL;
    if (job->bytes < (isal ? WORTH_A_TRIP : WORTH_A_TRIP_FROM_REFERENCE) / regions) {
        *reason = "there is no calibration, and the regions are short";
        return GFK_PATH_CPU;
    }
    if (!isal) {
        *reason = "there is no calibration, the regions are long, and ISA-L lacks this field";
        return GFK_PATH_GPU;
    }
    if (where == GFK_PAGEABLE) {
        *reason = "there is no calibration, ISA-L has this field, and a region is pageable";
        return GFK_PATH_CPU;
    }
    if (job->pipeline->info.threads >= MANY_THREADS) {
        *reason = "there is no calibration, ISA-L has this field, and there are many threads";
        return GFK_PATH_CPU;
    }
    *reason = "there is no calibration, the regions are long and pinned, and there are few threads";
    return GFK_PATH_GPU;
}

gfk_path gfk_job_plan(const gfk_job *job, const char **reason) {
    const gfk_pipeline_info *info = &job->pipeline->info;
    if (info->path != GFK_PATH_CPU && devices_left(job->pipeline) == 0) {
        *reason = "no GPU answers any more";
        return GFK_PATH_CPU;
    }
    if (info->path != GFK_PATH_AUTO) {
        *reason = job->pipeline->alone ? "there is no GPU" : "the path was asked for";
        return info->path;
    }
    const size_t staged = job->in.staged_count + job->out.staged_count;
    const gfk_where where = staged == 0 ? GFK_PINNED : GFK_PAGEABLE;
    return info->calibrated ? by_calibration(job, where, reason) : by_rule(job, where, reason);
}
