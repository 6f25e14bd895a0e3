/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a call. The times are predicted from the rates of a calibration, or, without a
 * calibration, from assumed rates. */
#include <stdio.h>

#include "host/base/field.h"
#include "pipeline.h"

enum { IN, OUT, SUM }; /* the columns of gfk_calibration.bus */
enum {
    ONE_TO_1,
    EIGHT_TO_1,
    EIGHT_TO_8 = 4
}; /* the columns of gfk_calibration.cpu: 1 input and 1 output, 8 and 1, 8 and 8 */

typedef struct shape {
    unsigned row; /* the row of the field in the tables of a calibration */
    double k, m;
    gfk_work work;
    gfk_where where;
} shape;

/* Returns the row of a field in the tables of a calibration. */
static unsigned row_of(const gfk_field *field) {
    switch (field->w) {
    case 8:
        return field->polynomial == GFK_POLYNOMIAL_W8 ? 0 : 1;
    case 16:
        return 2;
    default:
        return 3;
    }
}

/* ---- validity ------------------------------------------------------------------------------- */

/* The bounds are values that the file can represent: whole bytes per second, nanoseconds,
 * millionths. */
static bool within(const double *numbers, size_t count, double least, double most) {
    for (size_t i = 0; i < count; i++)
        if (!(numbers[i] >= least && numbers[i] <= most))
            return false;
    return true;
}

static bool rates(const double *numbers, size_t count) {
    return within(numbers, count, 1, 1e18);
}

bool gfk_calibration_is_valid(const gfk_calibration *c) {
    if (c->device_count > GFK_MOST_DEVICES || c->threads == 0 || !rates(c->cpu[0], 20) ||
        !within(&c->cpu_call, 1, 1e-9, 1e6))
        return false;
    return c->device_count == 0 ||
           (rates(c->bus[0], 6) && rates(c->kernel, 4) && within(&c->gpu_call, 1, 1e-9, 1e6) &&
            within(c->both, 2, GFK_LEAST_SHARE, GFK_MOST_SHARE));
}

/* ---- the CPU -------------------------------------------------------------------------------- */

/* Returns the seconds per input byte with 8 inputs and m outputs, by linear interpolation between
 * the measured numbers of outputs, and by extrapolation outside of them. */
static double with_eight(const double *rates, double m) {
    unsigned i = EIGHT_TO_1; /* rates[i] is for 2^(i - 1) outputs */
    while (i + 1 < EIGHT_TO_8 && m > (double)(1u << i))
        i++;
    const double left = (double)(1u << (i - 1)), right = 2 * left;
    const double low = 1 / rates[i], high = 1 / rates[i + 1];
    const double slope = high > low ? (high - low) / (right - left) : 0;
    return low + slope * (m - left);
}

/* With fewer inputs, writing the outputs takes a larger share of the time. */
static double cpu_seconds(const gfk_calibration *c, const shape *s, double bytes) {
    const double *rates = c->cpu[s->row];
    const double eight = with_eight(rates, s->m);
    const double write = (1 / rates[ONE_TO_1] - 1 / rates[EIGHT_TO_1]) / (1 - 0.125);
    double each = eight + (write > 0 ? write : 0) * s->m * (1 / s->k - 0.125);
    if (each < 0.5 * eight)
        each = 0.5 * eight;
    return c->cpu_call + each * s->k * bytes;
}

/* ---- the GPU -------------------------------------------------------------------------------- */

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double gpu_seconds(const gfk_calibration *c, const shape *s, double bytes,
                          const char **limit) {
    const double *bus = c->bus[s->where];
    const double in = bytes * (s->work == GFK_WORK_SET ? s->k : s->k + s->m);
    const double out = s->work == GFK_WORK_CHECK ? 0 : bytes * s->m;
    const double kernel = bytes * s->k * s->m / c->kernel[s->row];
    const double each[4] = {in / bus[IN], out / bus[OUT], (in + out) / bus[SUM], kernel};
    static const char *const limits[4] = {"the way in", "the way out", "the ways in and out",
                                          "the kernel"};
    double most = 0;
    for (unsigned i = 0; i < 4; i++)
        if (each[i] > most) {
            most = each[i];
            *limit = limits[i];
        }
    return c->gpu_call + most;
}

static double both_seconds(const gfk_calibration *c, gfk_where where, double cpu, double gpu) {
    const double ideal = 1 / (1 / (cpu - c->cpu_call) + 1 / (gpu - c->gpu_call));
    return larger(c->cpu_call, c->gpu_call) + ideal / c->both[where];
}

/* ---- advice --------------------------------------------------------------------------------- */

static size_t crossover(const gfk_calibration *c, const shape *s) {
    const char *limit;
    for (size_t bytes = 64; bytes <= SIZE_MAX / 2; bytes *= 2)
        if (gpu_seconds(c, s, (double)bytes, &limit) < cpu_seconds(c, s, (double)bytes))
            return bytes;
    return 0;
}

static void say_why(gfk_advice *advice, const shape *s, size_t bytes, const char *limit) {
    const char *kind = s->where == GFK_PINNED ? "pinned" : "pageable";
    if (advice->gpu_seconds < 0)
        (void)snprintf(
            advice->why, sizeof advice->why,
            "%.0f inputs and %.0f outputs of %zu bytes, %s: CPU %.4g s; there is no GPU.", s->k,
            s->m, bytes, kind, advice->cpu_seconds);
    else
        (void)snprintf(advice->why, sizeof advice->why,
                       "%.0f inputs and %.0f outputs of %zu bytes, %s: CPU %.4g s, GPU %.4g s "
                       "(limited by %s), both together %.4g s.",
                       s->k, s->m, bytes, kind, advice->cpu_seconds, advice->gpu_seconds, limit,
                       advice->both_seconds);
}

/* Sets the times of all paths, and chooses the path with the shortest time. */
static void predict(const gfk_calibration *c, const shape *s, size_t bytes, gfk_advice *advice,
                    const char **limit) {
    *advice = (gfk_advice){.gpu_seconds = -1, .both_seconds = -1, .path = GFK_PATH_CPU};
    advice->cpu_seconds = cpu_seconds(c, s, (double)bytes);
    if (c->device_count == 0)
        return;
    advice->gpu_seconds = gpu_seconds(c, s, (double)bytes, limit);
    advice->both_seconds = bytes
                               ? both_seconds(c, s->where, advice->cpu_seconds, advice->gpu_seconds)
                               : larger(c->cpu_call, c->gpu_call);
    if (advice->gpu_seconds < advice->cpu_seconds)
        advice->path = GFK_PATH_GPU;
    if (advice->both_seconds < advice->gpu_seconds && advice->both_seconds < advice->cpu_seconds)
        advice->path = GFK_PATH_BOTH;
}

gfk_status gfk_advise(const gfk_calibration *calibration, const gfk_field *field, size_t k,
                      size_t m, size_t bytes, gfk_where where, gfk_advice *advice) {
    if (calibration == NULL || field == NULL || advice == NULL || k == 0 || m == 0 ||
        (where != GFK_PAGEABLE && where != GFK_PINNED) || !gfk_field_is_valid(field) ||
        !gfk_calibration_is_valid(calibration))
        return GFK_STATUS_INVALID_ARGUMENT;
    const shape s = {row_of(field), (double)k, (double)m, GFK_WORK_SET, where};
    const char *limit = "the call";
    predict(calibration, &s, bytes, advice, &limit);
    if (calibration->device_count != 0)
        advice->crossover = crossover(calibration, &s);
    say_why(advice, &s, bytes, limit);
    return GFK_STATUS_SUCCESS;
}

/* ---- the path of a call --------------------------------------------------------------------- */

bool gfk_worker_can(const gfk_device_worker *worker, const gfk_job *job) {
    const char *reason;
    return !worker->dead &&
           (job->matmul == NULL ||
            gfk_matmul_check_device(worker->device, &reason) == GFK_STATUS_SUCCESS);
}

static size_t devices_left(const gfk_job *job) {
    size_t left = 0;
    for (size_t i = 0; i < job->pipeline->info.device_count; i++)
        left += gfk_worker_can(&job->pipeline->workers[i], job);
    return left;
}

/* The number of threads without shared resources that would be as fast. Threads share cores and
 * memory: 32 threads are as fast as 16 threads that share nothing. */
static double alone(double threads) {
    return threads / (1 + threads / 32);
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

/* Sets the rates for a machine without a calibration: the rates of one known machine, scaled by
 * threads and devices. results/notes/host-memory.md states these rates. */
static void assume_rates(const gfk_job *job, gfk_calibration *c) {
    static const double thread[4][5] = {{5.7e9, 11.1e9, 10.4e9, 7.1e9, 4.9e9},
                                        {6.8e9, 7.4e9, 5.2e9, 2.9e9, 1.3e9},
                                        {7.5e9, 5.8e9, 3.2e9, 1.8e9, 1.3e9},
                                        {7.4e9, 3.1e9, 2.6e9, 2.4e9, 1.2e9}};
    static const double kernel[4] = {23e12, 23e12, 17e12, 8e12};
    const double devices = (double)devices_left(job), threads = job->pipeline->info.threads;
    const double tiles = job->tile ? (double)((job->bytes - 1) / job->tile + 1) : threads;
    const double copying = smaller(threads, (double)GFK_COPIERS * devices);
    const double staged = 8.7e9 * copying / (1 + copying / 12);
    const double one_way = smaller(52e9 * devices, 140e9), both = smaller(92e9 * devices, 150e9);
    *c = (gfk_calibration){.device_count = 1,
                           .bus = {{staged, staged, 1.2 * staged}, {one_way, one_way, both}},
                           .cpu_call = 1e-6,
                           .gpu_call = 45e-6 * devices,
                           .both = {GFK_LEAST_SHARE, GFK_LEAST_SHARE}};
    for (unsigned f = 0; f < 4; f++) {
        c->kernel[f] = devices * kernel[f];
        for (unsigned i = 0; i < 5; i++)
            c->cpu[f][i] = alone(smaller(threads, tiles)) * thread[f][i];
        c->cpu[f][0] = smaller(c->cpu[f][0], 70e9);
    }
}

/* Returns the number of copies of a chunk: pinned regions that are not equally spaced need one copy
 * each. */
static double single_copies(const gfk_job *job) {
    const gfk_side *in = &job->in, *out = &job->out;
    return (double)((in->stride ? 0 : in->count - in->staged_count) +
                    (out->stride ? 0 : out->count - out->staged_count));
}

/* The rates of matmuls are multiply-adds of bytes per second at w = 8; for wider symbols they are
 * divided by w/8. Every pageable region needs a copy of its own, even if the region is short. */
static gfk_path plan_matmul(const gfk_job *job, gfk_where where, const gfk_calibration *c,
                            const char **reason) {
    const double m = (double)job->out.count, k = (double)job->in.count, bytes = (double)job->bytes;
    const double symbol = job->matmul->field->w / 8, work = m * k * bytes * symbol;
    const double devices = (double)devices_left(job), threads = job->pipeline->info.threads;
    const size_t spaces =
        gfk_matmul_cpu_space(job->out.count, job->bytes, 1, job->pipeline->info.threads);
    const double used = (double)(spaces / gfk_matmul_cpu_space(job->out.count, job->bytes, 1, 1));
    const double cpu = work / 80e9 / alone(smaller(threads, used));
    const double in = bytes * (job->work == GFK_WORK_XOR ? k + m : k), out = bytes * m;
    const double *bus = c->bus[where];
    const double sent = larger((in + out) / bus[SUM], larger(in / bus[IN], out / bus[OUT]));
    const double chunks = 1 + bytes * (k + m) / (64 << 20);
    const double moved = larger(sent, 2e-6 * single_copies(job) * chunks / devices);
    const double upload = job->matmul->generator == NULL ? m * k * symbol / 12e9 : 0;
    const double copies = 0.35e-6 * (double)(job->in.staged_count + job->out.staged_count);
    const double gpu =
        120e-6 + 60e-6 * devices + upload + copies + larger(moved, work / 80e12 / devices);
    *reason = cpu <= gpu ? "a matmul on the CPU is predicted to take no longer than on a GPU"
                         : "a matmul on a GPU is predicted to take less time than on the CPU";
    return cpu <= gpu ? GFK_PATH_CPU : GFK_PATH_GPU;
}

static gfk_path plan_product(const gfk_job *job, gfk_where where, const gfk_calibration *c,
                             const char **reason) {
    static const char *const reasons[2][3] = {
        {"there is no calibration, and by assumed rates the CPU is fastest",
         "there is no calibration, and by assumed rates the GPU is fastest",
         "there is no calibration, and by assumed rates GPU and CPU together are fastest"},
        {"by the calibration the CPU is fastest", "by the calibration the GPU is fastest",
         "by the calibration GPU and CPU together are fastest"}};
    const bool calibrated = job->pipeline->info.calibrated;
    const bool isal = job->cached->host->info.engine->family == GFK_ENGINE_ISAL;
    shape s = {row_of(&job->cached->field), (double)job->in.count, (double)job->out.count,
               job->work, where};
    if (s.row == 0 && !calibrated && !isal)
        s.row = 1; /* use the rates of a machine without ISA-L */
    gfk_advice advice;
    const char *limit;
    predict(c, &s, job->bytes, &advice, &limit);
    *reason = reasons[calibrated][advice.path - GFK_PATH_CPU];
    return advice.path;
}

gfk_path gfk_job_plan(const gfk_job *job, const char **reason) {
    const gfk_pipeline_info *info = &job->pipeline->info;
    if (info->path != GFK_PATH_CPU && devices_left(job) == 0) {
        *reason = job->pipeline->no_device ? "there is no GPU"
                  : job->matmul != NULL    ? "no GPU can run a matmul, or none answers any more"
                                           : "no GPU answers any more";
        return GFK_PATH_CPU;
    }
    if (info->path != GFK_PATH_AUTO) {
        *reason = job->pipeline->no_device ? "there is no GPU" : "the path was asked for";
        return info->path;
    }
    const size_t staged = job->in.staged_count + job->out.staged_count;
    const gfk_where where = staged == 0 ? GFK_PINNED : GFK_PAGEABLE;
    const gfk_calibration *rates = &job->pipeline->calibration;
    gfk_calibration assumed;
    if (!info->calibrated) {
        assume_rates(job, &assumed);
        rates = &assumed;
    }
    return job->matmul != NULL ? plan_matmul(job, where, rates, reason)
                               : plan_product(job, where, rates, reason);
}
