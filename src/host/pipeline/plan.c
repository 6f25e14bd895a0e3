/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a call: predicted from the rates of a calibration, or else by a rule. */
#include <stdio.h>

#include "host/base/field.h"
#include "pipeline.h"

enum { IN, OUT, SUM }; /* of gfk_calibration.bus */
enum {
    ONE_TO_1,
    EIGHT_TO_1,
    EIGHT_TO_8 = 4
}; /* of gfk_calibration.cpu: 1 input and 1 output, 8 and 1, 8 and 8 */

typedef struct shape {
    unsigned row; /* of the field in the tables of a calibration */
    double k, m;
    gfk_work work;
    gfk_where where;
} shape;

/* The row of a field in the tables of a calibration. */
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

/* Bounds that the file can represent: whole bytes per second, nanoseconds, millionths. */
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

/* Seconds per input byte with 8 inputs and m outputs: linear interpolation between the measured
 * numbers of outputs, and extrapolation beyond them. */
static double with_eight(const double *rates, double m) {
    unsigned i = EIGHT_TO_1; /* rates[i] is for 2^(i - 1) outputs */
    while (i + 1 < EIGHT_TO_8 && m > (double)(1u << i))
        i++;
    const double left = (double)(1u << (i - 1)), right = 2 * left;
    const double low = 1 / rates[i], high = 1 / rates[i + 1];
    const double slope = high > low ? (high - low) / (right - left) : 0;
    return low + slope * (m - left);
}

/* The fewer inputs there are, the larger is the share of the time for writing outputs. */
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

/* gfk_advise for any work. */
static void advise(const gfk_calibration *c, const gfk_field *field, size_t k, size_t m,
                   size_t bytes, gfk_work work, gfk_where where, gfk_advice *advice) {
    const shape s = {row_of(field), (double)k, (double)m, work, where};
    const char *limit = "the call";
    *advice = (gfk_advice){.gpu_seconds = -1, .both_seconds = -1, .path = GFK_PATH_CPU};
    advice->cpu_seconds = cpu_seconds(c, &s, (double)bytes);
    if (c->device_count != 0) {
        advice->gpu_seconds = gpu_seconds(c, &s, (double)bytes, &limit);
        advice->both_seconds =
            bytes ? both_seconds(c, where, advice->cpu_seconds, advice->gpu_seconds)
                  : larger(c->cpu_call, c->gpu_call);
        advice->crossover = crossover(c, &s);
        if (advice->gpu_seconds < advice->cpu_seconds)
            advice->path = GFK_PATH_GPU;
        if (advice->both_seconds < advice->gpu_seconds &&
            advice->both_seconds < advice->cpu_seconds)
            advice->path = GFK_PATH_BOTH;
    }
    say_why(advice, &s, bytes, limit);
}

gfk_status gfk_advise(const gfk_calibration *calibration, const gfk_field *field, size_t k,
                      size_t m, size_t bytes, gfk_where where, gfk_advice *advice) {
    if (calibration == NULL || field == NULL || advice == NULL || k == 0 || m == 0 ||
        (where != GFK_PAGEABLE && where != GFK_PINNED) || !gfk_field_is_valid(field) ||
        !gfk_calibration_is_valid(calibration))
        return GFK_STATUS_INVALID_ARGUMENT;
    advise(calibration, field, k, m, bytes, GFK_WORK_SET, where, advice);
    return GFK_STATUS_SUCCESS;
}

/* ---- the path of a call --------------------------------------------------------------------- */

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

/* Multiply-adds of bytes per second of a matmul at w = 8: of a thread with AVX-512, and of a device
 * from regions in its memory; wider symbols divide both by w/8. A pageable matrix goes to a device at
 * UPLOAD bytes per second. Rates of the bus are those of the calibration, or of PCIe 5. */
#define MATMUL_THREAD 100e9
#define MATMUL_DEVICE 80e12
#define UPLOAD 8e9
#define MATMUL_CALL 300e-6

static gfk_path plan_matmul(const gfk_job *job, gfk_where where, const char **reason) {
    const gfk_pipeline_info *info = &job->pipeline->info;
    const gfk_calibration *c = &job->pipeline->calibration;
    const double m = (double)job->out.count, k = (double)job->in.count;
    const double symbol = job->matmul->field->w / 8, work = m * k * (double)job->bytes * symbol;
    const double devices = (double)devices_left(job);
    const double rate = info->calibrated        ? c->bus[where][SUM]
                        : where == GFK_PAGEABLE ? devices * BUS * 0.5e9
                                                : devices * BUS * 1e9;
    const double bus = (double)job->bytes * (k + (job->work == GFK_WORK_XOR ? 2 : 1) * m) / rate;
    const double upload = job->matrix_bytes ? m * k * symbol / UPLOAD : 0;
    const double gpu = MATMUL_CALL + upload + larger(bus, work / MATMUL_DEVICE / devices);
    if (work / MATMUL_THREAD / info->threads <= gpu) {
        *reason = "a matmul on the CPU is predicted to take no longer than on a GPU";
        return GFK_PATH_CPU;
    }
    *reason = "a matmul on a GPU is predicted to take less time than on the CPU";
    return GFK_PATH_GPU;
}

static gfk_path by_calibration(const gfk_job *job, gfk_where where, const char **reason) {
    gfk_advice advice;
    advise(&job->pipeline->calibration, &job->cached->field, job->in.count, job->out.count,
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
    if (isal_rate >= BUS * devices_left(job)) {
        *reason = "there is no calibration, ISA-L has this field, and there are enough threads";
        return GFK_PATH_CPU;
    }
    *reason = "there is no calibration, the regions are long and pinned, and the bus carries more "
              "than ISA-L should encode";
    return GFK_PATH_GPU;
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
    if (job->matmul != NULL)
        return plan_matmul(job, where, reason);
    return info->calibrated ? by_calibration(job, where, reason) : by_rule(job, where, reason);
}
