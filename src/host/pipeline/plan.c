/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a call. */
#include "pipeline.h"

/* The rule without a calibration. Bytes are those of all regions together, rates are GB/s of
 * inputs. On the machine of results/h200 one thread of ISA-L 2.30 encodes 9 to 13 GB/s, and 16
 * threads reach the limit of memory at 62 to 80; newer processors and versions reach 20 per thread.
 * Each device has a bus of its own, PCIe 5. */
enum {
    WORTH_A_TRIP = 16 << 20,
    WORTH_A_TRIP_FROM_REFERENCE = 1 << 20,
    ISAL_THREAD = 12,
    ISAL_TOGETHER = 70,
    BUS = 55
};

static size_t devices_left(gfk_pipeline_t pipeline) {
    size_t left = 0;
    for (size_t i = 0; i < pipeline->info.device_count; i++)
        left += !pipeline->workers[i].dead;
    return left;
}

static gfk_path by_calibration(const gfk_job *job, gfk_where where, const char **reason) {
    gfk_advice advice;
    gfk_advise_work(&job->pipeline->calibration, &job->cached->field, job->in.count, job->out.count,
                    job->bytes, job->work, where, &advice);
    *reason = advice.path == GFK_PATH_CPU   ? "by the calibration the CPU is fastest"
              : advice.path == GFK_PATH_GPU ? "by the calibration the GPU is fastest"
                                            : "by the calibration GPU and CPU together are fastest";
    return advice.path;
}

/* Copying pageable regions occupies the cores anyway. Without ISA-L the CPU is ten times slower. */
static gfk_path by_rule(const gfk_job *job, gfk_where where, const char **reason) {
    const size_t regions = job->in.count + job->out.count;
    const bool isal = job->cached->host->info.engine->family == GFK_ENGINE_ISAL;
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
    const size_t isal_rate =
        gfk_least(ISAL_THREAD * (size_t)job->pipeline->info.threads, ISAL_TOGETHER);
    if (isal_rate >= BUS * devices_left(job->pipeline)) {
        *reason = "there is no calibration, ISA-L has this field, and there are enough threads";
        return GFK_PATH_CPU;
    }
    *reason = "there is no calibration, the regions are long and pinned, and the bus carries more "
              "than ISA-L should encode";
    return GFK_PATH_GPU;
}

gfk_path gfk_job_plan(const gfk_job *job, const char **reason) {
    const gfk_pipeline_info *info = &job->pipeline->info;
    if (info->path != GFK_PATH_CPU && devices_left(job->pipeline) == 0) {
        *reason = "no GPU answers any more";
        return GFK_PATH_CPU;
    }
    if (info->path != GFK_PATH_AUTO) {
        *reason = job->pipeline->no_device ? "there is no GPU" : "the path was asked for";
        return info->path;
    }
    const size_t staged = job->in.staged_count + job->out.staged_count;
    const gfk_where where = staged == 0 ? GFK_PINNED : GFK_PAGEABLE;
    return info->calibrated ? by_calibration(job, where, reason) : by_rule(job, where, reason);
}
