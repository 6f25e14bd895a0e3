/* SPDX-License-Identifier: BSD-3-Clause */
/* Names this machine, and measures the rates that plan.c needs: products of the shapes that a
 * calibration names, through pipelines as a caller would use them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/base/cauchy.h"
#include "pipeline.h"

/* ---- the names of this machine, by which a calibration knows it ----------------------------- */

enum { NAME = sizeof((gfk_calibration *)0)->host };

/* Sets a name of one line that is not empty and has no blanks at its ends. */
static void set_name(char *name, const char *text) {
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = 0;
    for (; text[length] != 0 && text[length] != '\n' && length < NAME - 1; length++)
        name[length] =
            (unsigned char)text[length] < ' ' || text[length] == 127 ? '?' : text[length];
    while (length > 0 && name[length - 1] == ' ')
        length--;
    memset(name + length, 0, NAME - length);
    if (length == 0)
        memcpy(name, "unknown", sizeof "unknown");
}

/* Linux has the processor's name in this file on some architectures. */
static void set_processor(char *name, const char *otherwise) {
    set_name(name, otherwise);
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", strlen("model name")) == 0) {
            set_name(name, colon + 1);
            break;
        }
    }
    (void)fclose(file);
}

void gfk_machine_describe(gfk_calibration *calibration, const gfk_pipeline_info *info) {
    struct utsname system;
    const bool known = uname(&system) >= 0;
    set_name(calibration->host, known ? system.nodename : "");
    set_processor(calibration->processor, known ? system.machine : "");
    calibration->threads = info->threads;
    calibration->device_count = info->device_count;
    for (size_t i = 0; i < info->device_count; i++) {
        char name[256] = "";
        (void)gfk_device_name(info->devices[i], name, sizeof name);
        set_name(calibration->devices[i], name);
    }
}

bool gfk_machine_fits(const gfk_calibration *calibration, const gfk_pipeline_info *info) {
    gfk_calibration here = {.threads = 0};
    gfk_machine_describe(&here, info);
    if (strcmp(here.host, calibration->host) != 0 ||
        strcmp(here.processor, calibration->processor) != 0 ||
        here.threads != calibration->threads || here.device_count != calibration->device_count)
        return false;
    for (size_t i = 0; i < here.device_count; i++)
        if (strcmp(here.devices[i], calibration->devices[i]) != 0)
            return false;
    return true;
}

/* ---- measurements --------------------------------------------------------------------------- */

enum {
    BUFFER = 1 << 30, /* larger than any cache: the larger ones have 300 MiB and more */
    /* bytes of all regions together; the bytes double until a run is long enough */
    FIRST_TRY = 1 << 20,
    CALL_BYTES = 256,
    CALLS = 20,
    SIDE = 32,                /* inputs and outputs of the product that measures the kernel */
    KERNEL_BYTES = 256 << 10, /* bytes of each of the product's regions */
    KERNEL_RUNS = 32
};
static const double LONG_ENOUGH = 0.01, LONG_RUN = 0.2; /* seconds */

typedef struct meter {
    const gfk_pipeline_desc *desc; /* the caller's descriptor */
    gfk_pipeline_t pipeline;
    unsigned char *memory;
    size_t bytes;
    uint32_t *matrix; /* SIDE * SIDE elements; they lie at the end of `memory`, not on the stack */
    gfk_field fields[4]; /* in the order of gfk_calibration.cpu */
    gfk_status status;   /* status of the first failure; after a failure nothing is measured */
} meter;

static double least(double a, double b) {
    return a < b ? a : b;
}

/* Makes a pipeline like the caller's, but with this path. */
static void open_path(meter *t, gfk_path path) {
    gfk_pipeline_desc d = *t->desc;
    d.path = path;
    d.calibration_file = NULL;
    if (path == GFK_PATH_CPU) {
        d.devices = NULL;
        d.device_count = 0;
    }
    gfk_pipeline_destroy(t->pipeline);
    t->pipeline = NULL;
    if (t->status == GFK_STATUS_SUCCESS)
        t->status = gfk_pipeline_create(&t->pipeline, &d);
}

/* ---- products ------------------------------------------------------------------------------- */

/* Returns the seconds of one product of k inputs and m outputs with `bytes` bytes each. If a device
 * fails, the CPU computes the product, and the time says nothing about the device. */
static double run_once(meter *t, const gfk_field *field, size_t k, size_t m, size_t bytes) {
    const gfk_regions in = {NULL, t->memory, bytes}, out = {NULL, t->memory + k * bytes, bytes};
    gfk_pipeline_report report;
    if (t->status != GFK_STATUS_SUCCESS)
        return 1;
    (void)gfk_cauchy_matrix(field, k, m, t->matrix); /* the field has enough elements */
    const double begin = gfk_now();
    t->status =
        gfk_product_host(t->pipeline, field, m, k, t->matrix, &in, &out, bytes, GFK_SET, &report);
    const double seconds = gfk_now() - begin;
    if (t->status == GFK_STATUS_SUCCESS)
        t->status = report.device_status;
    return seconds;
}

/* Returns the length of a region, in whole pages, such that k + m regions have `bytes` bytes
 * together. */
static size_t region_bytes(size_t all, size_t k, size_t m) {
    const size_t bytes = all / (k + m) / 4096 * 4096;
    return bytes ? bytes : 4096;
}

/* Returns the seconds per byte of each region. The length grows until a run is long enough or the
 * memory ends. The shorter time of two runs counts: the first run makes products, buffers and
 * pages, which may take longer than the computation. */
static double per_byte(meter *t, unsigned f, size_t k, size_t m) {
    for (size_t all = FIRST_TRY;; all *= 2) {
        const size_t bytes = region_bytes(gfk_least(all, t->bytes), k, m);
        const double first = run_once(t, &t->fields[f], k, m, bytes);
        const double seconds = least(first, run_once(t, &t->fields[f], k, m, bytes));
        if (all >= t->bytes || seconds >= LONG_ENOUGH || t->status != GFK_STATUS_SUCCESS)
            return seconds / (double)bytes;
    }
}

static double per_call(meter *t) {
    double best = 1;
    for (unsigned i = 0; i < CALLS; i++)
        best = least(best, run_once(t, &t->fields[0], 8, 4, CALL_BYTES));
    return best;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Returns the seconds of one run on the worker's device. The regions are at `memory`. */
static double run_kernel(meter *t, gfk_product_t product, unsigned char *memory,
                         gfk_stream_t stream) {
    const gfk_regions in = {NULL, memory, KERNEL_BYTES};
    const gfk_regions out = {NULL, memory + (size_t)SIDE * KERNEL_BYTES, KERNEL_BYTES};
    const gfk_product_call call = {
        .product = product, .in = &in, .out = &out, .bytes = KERNEL_BYTES, .stream = stream};
    /* The first run loads the kernel. Its time counts if the run takes so long that loading does
     * not matter. */
    for (unsigned runs = 1;; runs = KERNEL_RUNS) {
        const double begin = gfk_now();
        for (unsigned i = 0; i < runs && t->status == GFK_STATUS_SUCCESS; i++)
            t->status = gfk_product_compute(&call);
        if (t->status == GFK_STATUS_SUCCESS)
            t->status = gfk_device_drain(stream);
        const double seconds = gfk_now() - begin;
        if (runs == KERNEL_RUNS || seconds > LONG_RUN || t->status != GFK_STATUS_SUCCESS)
            return seconds / runs;
    }
}

static double kernel_rate(meter *t, const gfk_device_worker *worker, const gfk_field *field) {
    const gfk_stream_t stream = worker->stages[0].stream;
    gfk_product_t product = NULL;
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.device = worker->device;
    void *memory = NULL;
    double seconds = 1;
    (void)gfk_cauchy_matrix(field, SIDE, SIDE, t->matrix);
    t->status = gfk_product_create_proven(&product, field, SIDE, SIDE, t->matrix, &desc);
    if (t->status == GFK_STATUS_SUCCESS)
        t->status = gfk_device_alloc(&memory, (size_t)2 * SIDE * KERNEL_BYTES);
    if (t->status == GFK_STATUS_SUCCESS)
        t->status = gfk_device_send(memory, KERNEL_BYTES, t->memory, KERNEL_BYTES, KERNEL_BYTES,
                                    SIDE, stream);
    if (t->status == GFK_STATUS_SUCCESS)
        seconds = run_kernel(t, product, memory, stream);
    gfk_device_free(worker->device, memory);
    gfk_product_destroy(product);
    return (double)((size_t)SIDE * SIDE * KERNEL_BYTES) / seconds;
}

/* Measures one device. All devices are assumed to be alike. */
static void measure_kernels(meter *t, gfk_calibration *c) {
    const gfk_device_worker *worker = &t->pipeline->workers[0];
    int previous;
    t->status = gfk_device_enter(worker->device, &previous);
    if (t->status != GFK_STATUS_SUCCESS)
        return;
    for (size_t f = 0; f < 4 && t->status == GFK_STATUS_SUCCESS; f++)
        c->kernel[f] = (double)c->device_count * kernel_rate(t, worker, &t->fields[f]);
    t->status = gfk_device_leave(previous, t->status);
}

/* ---- all paths ------------------------------------------------------------------------------ */

/* Returns the seconds per byte of 8 inputs and 4 outputs. */
static double measure_cpu(meter *t, gfk_calibration *c) {
    static const size_t shapes[5][2] = {{1, 1}, {8, 1}, {8, 2}, {8, 4}, {8, 8}};
    open_path(t, GFK_PATH_CPU);
    for (unsigned f = 0; f < 4; f++)
        for (size_t s = 0; s < 5; s++)
            c->cpu[f][s] = (double)shapes[s][0] / per_byte(t, f, shapes[s][0], shapes[s][1]);
    c->cpu_call = per_call(t);
    return per_byte(t, 0, 8, 4);
}

/* The same on GPUs. What the bus carries shows in products that move nearly nothing the other way.
 */
static double measure_gpu(meter *t, gfk_where where, gfk_calibration *c) {
    open_path(t, GFK_PATH_GPU);
    c->bus[where][0] = 8 / per_byte(t, 0, 8, 1);
    c->bus[where][1] = 8 / per_byte(t, 0, 1, 8);
    c->bus[where][2] = 2 / per_byte(t, 0, 1, 1);
    c->gpu_call = per_call(t);
    if (where == GFK_PINNED && t->status == GFK_STATUS_SUCCESS)
        measure_kernels(t, c);
    return per_byte(t, 0, 8, 4);
}

static gfk_status measure_rates(meter *t, gfk_calibration *c) {
    const double cpu = measure_cpu(t, c);
    for (int where = GFK_PAGEABLE; c->device_count != 0 && where <= GFK_PINNED; where++) {
        if (t->status == GFK_STATUS_SUCCESS && where == GFK_PINNED)
            t->status = gfk_pinned_register(t->memory, t->bytes);
        const double gpu = measure_gpu(t, (gfk_where)where, c);
        open_path(t, GFK_PATH_BOTH);
        /* The share of the rate that CPU and devices would have if neither slowed down the other.
         * The measured share can have any value if the machine was busy with other work. */
        const double share = 1 / (1 / cpu + 1 / gpu) / per_byte(t, 0, 8, 4);
        c->both[where] = share < GFK_LEAST_SHARE ? GFK_LEAST_SHARE : least(share, GFK_MOST_SHARE);
    }
    if (c->device_count != 0)
        (void)gfk_pinned_unregister(t->memory);
    return t->status;
}

static size_t buffer_bytes(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const size_t all = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
    return gfk_least(BUFFER, all / 16 / FIRST_TRY * FIRST_TRY + FIRST_TRY);
}

/* Fills a range with pseudorandom bytes: a product of zeros would be faster than a product of
 * data. */
static void fill_random(uint64_t begin, uint64_t end, void *context) {
    unsigned char *memory = context;
    uint64_t x = begin + 1;
    for (uint64_t i = begin; i < end; i += sizeof x) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(memory + i, &x, sizeof x);
    }
}

gfk_status gfk_calibrate(const gfk_pipeline_desc *desc, const char *file,
                         gfk_calibration *calibration) {
    const gfk_pipeline_desc defaults = GFK_PIPELINE_DESC_INIT;
    static const uint64_t polynomials[4] = {0, 0x12b, 0, 0};
    static const unsigned widths[4] = {8, 8, 16, 32};
    if (file == NULL && calibration == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    meter t = {.desc = desc ? desc : &defaults, .bytes = buffer_bytes()};
    open_path(&t, t.desc->path == GFK_PATH_CPU ? GFK_PATH_CPU : GFK_PATH_AUTO);
    if (t.status != GFK_STATUS_SUCCESS)
        return t.status;
    gfk_calibration c = {.threads = 0};
    gfk_machine_describe(&c, &t.pipeline->info);
    for (size_t i = 0; i < 4; i++)
        (void)gfk_field_init(&t.fields[i], widths[i], polynomials[i]);
    t.memory = aligned_alloc(4096, t.bytes + sizeof(uint32_t[SIDE][SIDE]));
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (t.memory != NULL) {
        t.matrix = (void *)(t.memory + t.bytes);
        gfk_parallel_for(t.bytes, fill_random, t.memory);
        status = measure_rates(&t, &c);
    }
    gfk_pipeline_destroy(t.pipeline);
    free(t.memory);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    if (calibration != NULL)
        *calibration = c;
    return file != NULL ? gfk_calibration_save(&c, file) : GFK_STATUS_SUCCESS;
}
