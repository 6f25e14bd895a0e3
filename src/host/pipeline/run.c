/* SPDX-License-Identifier: BSD-3-Clause */
/* The execution of every call: checks, plan, work, and the second computation of chunks that
 * devices failed to compute. */
#include <stdlib.h>

#include "host/base/field.h"
#include "pipeline.h"

/* ---- who works ------------------------------------------------------------------------------ */

/* A participant of a call: a device or the CPU. */
typedef struct participant {
    pthread_t thread;
    gfk_job *job;
    gfk_device_worker *worker; /* NULL: the CPU */
} participant;

static void *take_part(void *argument) {
    const participant *p = argument;
    if (p->worker != NULL)
        gfk_device_worker_run(p->worker, p->job);
    else
        gfk_cpu_work(p->job);
    return NULL;
}

/* Divides the threads among `devices` devices and the CPU. A device needs several threads that copy
 * if regions are staged, else one thread that waits. */
static void share_threads(gfk_job *job, gfk_path path, size_t devices) {
    const size_t threads = job->pipeline->info.threads;
    const bool staged = devices != 0 && job->in.staged_count + job->out.staged_count != 0;
    const size_t copying = path == GFK_PATH_BOTH ? threads / 4 : threads;
    job->feeding = staged ? gfk_least(copying / devices, GFK_COPIERS) : 1;
    if (job->feeding == 0)
        job->feeding = 1;
    job->computing = threads;
    if (staged && path == GFK_PATH_BOTH)
        job->computing -= gfk_least(threads - 1, job->feeding * devices);
    /* a matmul starts its own threads */
    const size_t on_cpu = job->matmul != NULL ? 1 : job->computing;
    job->takers = devices * job->feeding + (path == GFK_PATH_GPU ? 0 : on_cpu);
    job->past_caches = path == GFK_PATH_BOTH; /* a device alone leaves memory idle enough */
}

/* The calling thread is the last participant. A participant whose thread cannot be started leaves
 * its part to the others. */
static void share_call(gfk_job *job, gfk_path path) {
    gfk_pipeline_t p = job->pipeline;
    participant all[GFK_MOST_DEVICES + 1];
    size_t count = 0, started = 0;
    for (size_t i = 0; path != GFK_PATH_CPU && i < p->info.device_count; i++)
        if (gfk_worker_can(&p->workers[i], job))
            all[count++] = (participant){.job = job, .worker = &p->workers[i]};
    share_threads(job, path, count);
    if (path != GFK_PATH_GPU)
        all[count++] = (participant){.job = job};
    while (started + 1 < count &&
           pthread_create(&all[started].thread, NULL, take_part, &all[started]) == 0)
        started++;
    (void)take_part(&all[count - 1]);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(all[i].thread, NULL);
}

static void reset_workers(gfk_job *job) {
    for (size_t i = 0; i < job->pipeline->info.device_count; i++) {
        gfk_device_worker *worker = &job->pipeline->workers[i];
        worker->status = GFK_STATUS_SUCCESS;
        worker->done = 0;
        worker->chunk = worker->redo_count = 0;
        worker->lost_output = false;
    }
}

/* Computes on the CPU the chunks that devices failed to compute, and the rest that no participant
 * began because all devices failed. Returns the bytes. */
static size_t redo(gfk_job *job) {
    const size_t before = job->cpu_bytes;
    job->computing = job->pipeline->info.threads;
    job->takers = job->matmul != NULL ? 1 : job->computing;
    gfk_cpu_work(job);
    for (size_t i = 0; i < job->pipeline->info.device_count; i++) {
        const gfk_device_worker *worker = &job->pipeline->workers[i];
        for (size_t n = 0; n < worker->redo_count; n++) {
            job->next = worker->redo[n].at;
            job->end = job->next + worker->redo[n].length;
            gfk_cpu_work(job);
        }
    }
    return job->cpu_bytes - before;
}

static gfk_status carry_out(gfk_job *job, gfk_pipeline_report *report) {
    const double begin = gfk_now();
    const gfk_pipeline_t p = job->pipeline;
    *report = (gfk_pipeline_report){.device_status = GFK_STATUS_SUCCESS};
    report->path = gfk_job_plan(job, &report->reason);
    reset_workers(job);
    share_call(job, report->path);
    bool lost_output = false;
    for (size_t i = 0; i < p->info.device_count; i++) {
        const gfk_device_worker *worker = &p->workers[i];
        report->device_bytes[i] = worker->done;
        report->gpu_bytes += worker->done;
        if (worker->chunk > report->chunk)
            report->chunk = worker->chunk;
        if (report->device_status == GFK_STATUS_SUCCESS)
            report->device_status = worker->status;
        lost_output |= worker->lost_output;
    }
    if (report->path != GFK_PATH_CPU)
        report->staged_regions = job->in.staged_count + job->out.staged_count;
    if (!lost_output)
        report->redone_bytes = redo(job);
    report->cpu_bytes = job->cpu_bytes;
    report->seconds = gfk_now() - begin;
    return lost_output ? GFK_STATUS_CUDA : GFK_STATUS_SUCCESS;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* The operands of a matmul, the report, and the answer of a check. */
enum { OPERANDS = GFK_MATMUL_OPERANDS + 2 };

static gfk_status check_request(gfk_pipeline_t pipeline, const gfk_request *r) {
    if (pipeline == NULL || (r->matrix == NULL && r->a == NULL) || r->in == NULL ||
        r->out == NULL || r->rows == 0 || r->cols == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    const size_t most = SIZE_MAX / 32; /* neither elements nor the lists of regions wrap around */
    return r->rows > most / r->cols || r->bytes % (r->field->w / 8) != 0 ? GFK_STATUS_INVALID_SIZE
                                                                         : GFK_STATUS_SUCCESS;
}

static gfk_status run_job(gfk_job *job, gfk_pipeline_report *report) {
    size_t *lists = NULL;
    gfk_status status = GFK_STATUS_SUCCESS;
    if (job->pipeline->info.device_count != 0) {
        lists = malloc(2 * (job->in.count + job->out.count) * sizeof *lists);
        status = lists ? gfk_job_find_staged(job, lists) : GFK_STATUS_OUT_OF_MEMORY;
    }
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_cpu_prepare(job);
    if (status == GFK_STATUS_SUCCESS)
        status = carry_out(job, report);
    free(job->scratch);
    free(lists);
    return status;
}

/* Runs a product, or a matmul that gfk_matmul_check allows and whose operands it has set. */
static gfk_status check_and_run(gfk_pipeline_t pipeline, const gfk_request *r,
                                const gfk_matmul_call *matmul, gfk_operand *operands,
                                gfk_pipeline_report *report) {
    const bool checks = r->work == GFK_WORK_CHECK;
    const bool in_place = r->in_place && r->bytes != 0 &&
                          gfk_region_address(r->in, 0) == gfk_region_address(r->out, 0);
    operands[0] = gfk_operand_regions(r->in, r->cols, in_place ? 0 : r->bytes, GFK_HOST);
    operands[1] =
        gfk_operand_regions(r->out, r->rows, r->bytes, checks ? GFK_HOST : GFK_HOST | GFK_WRITE);
    operands[GFK_MATMUL_OPERANDS] = gfk_report_operand(report);
    operands[GFK_MATMUL_OPERANDS + 1] = gfk_operand_range(
        r->differs, checks ? sizeof *r->differs : 0, sizeof *r->differs, GFK_WRITE);
    RETURN_IF_ERROR(gfk_operands_check(GFK_CPU, false, operands, OPERANDS));
    gfk_job job = {.pipeline = pipeline,
                   .matmul = matmul,
                   .in = {.regions = r->in, .count = r->cols},
                   .out = {.regions = r->out, .count = r->rows},
                   .bytes = r->bytes,
                   .end = r->bytes,
                   .work = r->work,
                   .in_place = in_place};
    gfk_status status = GFK_STATUS_SUCCESS;
    gfk_pipeline_report made;
    (void)gfk_pipeline_idle(&made);
    if (r->bytes != 0) {
        if (matmul == NULL)
            RETURN_IF_ERROR(gfk_product_cache_find(pipeline, r, &job.cached));
        status = run_job(&job, &made);
        if (matmul == NULL)
            gfk_lru_release(&pipeline->products, &job.cached->node);
    } else if (matmul == NULL && !gfk_field_contains_all(r->field, r->matrix, r->rows * r->cols)) {
        return GFK_STATUS_INVALID_CONSTANT; /* the product returns this status if there are bytes */
    }
    if (checks && status == GFK_STATUS_SUCCESS)
        *r->differs = job.differs;
    if (report != NULL && (status == GFK_STATUS_SUCCESS || status == GFK_STATUS_CUDA))
        *report = made;
    return status;
}

gfk_status gfk_pipeline_idle(gfk_pipeline_report *report) {
    const gfk_operand operand = gfk_report_operand(report);
    RETURN_IF_ERROR(gfk_operands_check(GFK_CPU, false, &operand, 1));
    if (report != NULL)
        *report = (gfk_pipeline_report){.path = GFK_PATH_CPU, .reason = "there is nothing to do"};
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_pipeline_run(gfk_pipeline_t pipeline, const gfk_request *request,
                            gfk_pipeline_report *report) {
    RETURN_IF_ERROR(check_request(pipeline, request));
    gfk_matmul_call matmul = {.field = request->field,
                              .a = request->a,
                              .b = request->in,
                              .c = request->out,
                              .bytes = request->bytes};
    const bool is_matmul = request->a != NULL;
    gfk_generator generator;
    gfk_operand operands[OPERANDS] = {{0}};
    if (is_matmul)
        RETURN_IF_ERROR(gfk_matmul_check(&matmul, &generator, operands));
    pthread_mutex_lock(&pipeline->mutex);
    const gfk_status status =
        check_and_run(pipeline, request, is_matmul ? &matmul : NULL, operands, report);
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}
