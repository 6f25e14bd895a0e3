/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of every call: checks, the plan, everybody who works on it, what failed done again. */
#include <stdlib.h>
#include <time.h>

#include "host/base/field.h"
#include "pipeline.h"

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- who works ---------------------------------------------------------------------------------
 */

/* One of those who share a call: a lane, or the CPU. */
typedef struct worker {
    pthread_t thread;
    gfk_job *job;
    gfk_lane *lane; /* NULL: the CPU */
    bool alone;
} worker;

static void *work(void *argument) {
    const worker *w = argument;
    if (w->lane != NULL)
        gfk_lane_work(w->lane, w->job);
    else
        gfk_cpu_work(w->job, w->alone);
    return NULL;
}

/* The calling thread is the last worker. One whose thread cannot be started leaves its part to the
 * others. */
static void share(gfk_job *job, gfk_path path) {
    gfk_pipeline_t p = job->pipeline;
    worker workers[GFK_MOST_DEVICES + 1];
    size_t count = 0, started = 0;
    for (size_t i = 0; path != GFK_PATH_CPU && i < p->info.device_count; i++)
        if (!p->lanes[i].lost)
            workers[count++] = (worker){.job = job, .lane = &p->lanes[i]};
    if (path != GFK_PATH_GPU) {
        workers[count] = (worker){.job = job, .alone = count == 0};
        count++;
    }
    while (started + 1 < count &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    (void)work(&workers[count - 1]);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(workers[i].thread, NULL);
}

static void reset_lanes(gfk_job *job) {
    for (size_t i = 0; i < job->pipeline->info.device_count; i++) {
        gfk_lane *lane = &job->pipeline->lanes[i];
        lane->status = GFK_STATUS_SUCCESS;
        lane->done = lane->chunk = lane->redo_count = 0;
        lane->spoiled = false;
    }
}

/* What lanes left behind, and what nobody began because all of them failed. */
static size_t redo(gfk_job *job) {
    size_t bytes = 0;
    for (size_t i = 0; i < job->pipeline->info.device_count; i++) {
        const gfk_lane *lane = &job->pipeline->lanes[i];
        for (size_t n = 0; n < lane->redo_count; n++) {
            gfk_cpu_range(job, lane->redo[n]);
            bytes += lane->redo[n].length;
        }
    }
    const size_t before = job->cpu_bytes;
    gfk_cpu_work(job, true);
    bytes += job->cpu_bytes - before;
    job->cpu_bytes = before;
    return bytes;
}

static gfk_status carry_out(gfk_job *job, gfk_pipeline_report *report) {
    const double begin = now();
    const gfk_pipeline_t p = job->pipeline;
    *report = (gfk_pipeline_report){.device_status = GFK_STATUS_SUCCESS};
    report->path = gfk_job_plan(job, &report->reason);
    reset_lanes(job);
    share(job, report->path);
    bool spoiled = false;
    for (size_t i = 0; i < p->info.device_count; i++) {
        const gfk_lane *lane = &p->lanes[i];
        report->device_bytes[i] = lane->done;
        report->gpu_bytes += lane->done;
        if (lane->chunk > report->chunk)
            report->chunk = lane->chunk;
        if (report->device_status == GFK_STATUS_SUCCESS)
            report->device_status = lane->status;
        spoiled |= lane->spoiled;
    }
    if (report->path != GFK_PATH_CPU)
        report->staged_regions = job->in.staged_count + job->out.staged_count;
    if (!spoiled)
        report->redone_bytes = redo(job);
    report->cpu_bytes = job->cpu_bytes + report->redone_bytes;
    report->seconds = now() - begin;
    return spoiled ? GFK_STATUS_CUDA : GFK_STATUS_SUCCESS;
}

/* ---- the call ----------------------------------------------------------------------------------
 */

static gfk_status check_request(gfk_pipeline_t pipeline, const gfk_request *r) {
    if (pipeline == NULL || r->field == NULL || r->matrix == NULL || r->in == NULL ||
        r->out == NULL || r->rows == 0 || r->cols == 0 ||
        (r->work == GFK_WORK_CHECK && r->differs == NULL) || !gfk_field_genuine(r->field))
        return GFK_STATUS_INVALID_ARGUMENT;
    return r->rows > SIZE_MAX / sizeof(uint32_t) / r->cols ? GFK_STATUS_INVALID_SIZE
                                                           : GFK_STATUS_SUCCESS;
}

/* The lists of staged regions, in one piece of memory. */
static gfk_status make_lists(gfk_job *job) {
    const size_t regions = job->in.count + job->out.count;
    size_t *lists = malloc(2 * regions * sizeof *lists);
    if (lists == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    job->in.place = lists;
    job->in.staged = lists + job->in.count;
    job->out.place = lists + 2 * job->in.count;
    job->out.staged = job->out.place + job->out.count;
    return GFK_STATUS_SUCCESS;
}

static gfk_status run(gfk_job *job, gfk_pipeline_report *report) {
    gfk_status status = gfk_job_overlap(job);
    if (status == GFK_STATUS_SUCCESS && job->pipeline->info.device_count != 0) {
        status = make_lists(job);
        if (status == GFK_STATUS_SUCCESS)
            status = gfk_job_stage(job);
    }
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_cpu_prepare(job);
    if (status == GFK_STATUS_SUCCESS)
        status = carry_out(job, report);
    free(job->scratch);
    free(job->in.place);
    return status;
}

static gfk_status run_locked(gfk_pipeline_t pipeline, const gfk_request *r,
                             gfk_pipeline_report *report) {
    gfk_job job = {.pipeline = pipeline,
                   .in = {.regions = r->in, .count = r->cols},
                   .out = {.regions = r->out, .count = r->rows},
                   .bytes = r->bytes,
                   .work = r->work,
                   .answer = r->differs,
                   .in_place = r->in_place};
    gfk_status status = gfk_kept_find(pipeline, r->field, r->rows, r->cols, r->matrix, &job.kept);
    if (status == GFK_STATUS_SUCCESS)
        status =
            gfk_product_check_arguments(job.kept->host, r->in, r->out, r->bytes, NULL, 0, NULL);
    if (status == GFK_STATUS_SUCCESS && r->bytes != 0)
        status = run(&job, report);
    if (status == GFK_STATUS_SUCCESS && r->differs != NULL)
        *r->differs = job.differs;
    return status;
}

gfk_status gfk_pipeline_idle(gfk_pipeline_report *report) {
    if (report != NULL)
        *report = (gfk_pipeline_report){.path = GFK_PATH_CPU, .reason = "there is nothing to do"};
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_pipeline_run(gfk_pipeline_t pipeline, const gfk_request *request,
                            gfk_pipeline_report *report) {
    gfk_status status = check_request(pipeline, request);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    gfk_pipeline_report made;
    (void)gfk_pipeline_idle(&made);
    pthread_mutex_lock(&pipeline->mutex);
    status = run_locked(pipeline, request, &made);
    pthread_mutex_unlock(&pipeline->mutex);
    if (report != NULL && (status == GFK_STATUS_SUCCESS || status == GFK_STATUS_CUDA))
        *report = made;
    return status;
}
