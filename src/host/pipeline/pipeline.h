/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal contract of pipelines: what a pipeline owns, what a call is made of, and what the
 * files of this folder offer each other. */
#ifndef GFK_HOST_PIPELINE_H
#define GFK_HOST_PIPELINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include <gfk/gfk.h>
#include <gfk/host.h>

#include "host/base/lru.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/base/threads.h"
#include "host/device/device.h"
#include "host/product/engine.h"
#include "host/product/matmul.h"

/* ---- what a pipeline owns ------------------------------------------------------------------- */

/* A matrix with its product on the CPU and, from the first use there on, on the devices. */
typedef struct gfk_cached_product {
    gfk_lru_node node; /* its user is the call that is going on */
    gfk_field field;
    size_t rows, cols;
    uint32_t *matrix;
    gfk_product_t host;
    gfk_product_t device[GFK_MOST_DEVICES]; /* of device worker i */
} gfk_cached_product;

/* A part of the byte range. */
typedef struct gfk_range {
    size_t at, length;
} gfk_range;

/* A stage of the ring through which chunks go: its stream, its memory on the device, and its pinned
 * buffers. */
typedef struct gfk_stage {
    gfk_stream_t stream;
    void *event;
    unsigned char *memory; /* inputs, outputs, mismatch flag */
    unsigned char *pinned; /* mismatch flag, staged inputs, staged outputs */
    gfk_range range;       /* length 0: no chunk is on its way */
    bool ordered;          /* all work of the chunk is ordered, up to the event */
    bool returning;        /* results may have begun to arrive in the caller's memory */
} gfk_stage;

typedef struct gfk_buffer {
    unsigned char *data;
    size_t bytes;
} gfk_buffer;

typedef struct gfk_job gfk_job;

/* One device of a pipeline. */
typedef struct gfk_device_worker {
    int device;
    size_t number; /* in the pipeline */
    bool dead;     /* the device does not answer any more */
    unsigned opened;
    gfk_stage stages[GFK_MOST_STREAMS];
    gfk_buffer memory, pinned; /* of all stages */
    gfk_buffer matrix;         /* of the matmul that is going on */
    /* Of the call that is going on. */
    gfk_status status;
    atomic_size_t done; /* bytes of the byte range */
    size_t chunk;       /* bytes of all regions together */
    size_t redo_count;
    gfk_range redo[GFK_MOST_STREAMS]; /* chunks that the device failed to compute */
    bool lost_output;                 /* the outputs of one of them cannot be computed again */
} gfk_device_worker;

struct gfk_pipeline {
    gfk_pipeline_info info;
    gfk_calibration calibration;
    pthread_mutex_t mutex; /* held by the call that is going on; guards everything below */
    gfk_pool *pool;
    gfk_device_worker *workers; /* info.device_count of them */
    bool no_device;             /* the path is the CPU because there is no device */
    gfk_lru products;           /* of gfk_cached_product */
};

/* ---- what a call is made of ----------------------------------------------------------------- */

typedef enum gfk_work { GFK_WORK_SET, GFK_WORK_XOR, GFK_WORK_CHECK } gfk_work;

/* What a call asks for: a product with `matrix`, or a matmul with `a`. The other one is NULL. */
typedef struct gfk_request {
    const gfk_field *field;
    size_t rows, cols;
    const uint32_t *matrix;
    const gfk_matrix *a;
    const gfk_regions *in, *out;
    size_t bytes;
    gfk_work work;
    bool in_place;     /* the output may be the input; only with one row and one column */
    uint32_t *differs; /* of GFK_WORK_CHECK */
} gfk_request;

/* The inputs or the outputs. */
typedef struct gfk_side {
    const gfk_regions *regions;
    size_t count;
    size_t stride; /* of all regions, where they are pinned and equally spaced; else 0 */
    size_t *place; /* of each region among the staged ones; SIZE_MAX: not staged */
    size_t *staged;
    size_t staged_count;
} gfk_side;

struct gfk_job {
    gfk_pipeline_t pipeline;
    gfk_cached_product *cached;    /* NULL: a matmul, */
    const gfk_matmul_call *matmul; /* of which field, a and generator are read; else NULL */
    gfk_side in, out;
    size_t bytes;
    gfk_work work;
    bool in_place;      /* one region is multiplied in place */
    size_t computing;   /* threads of the CPU that compute */
    size_t feeding;     /* threads that copy regions for each device, or order its work */
    size_t takers;      /* threads that take parts of the range */
    bool past_caches;   /* staged outputs go past the caches to their place */
    size_t step;        /* the CPU computes so many bytes of each region into memory of its own,
                              * from where they go past the caches to their place; 0: not so */
    atomic_size_t next; /* the range up to here has been taken */
    size_t end;         /* of the range that can be taken */
    uint32_t differs;   /* a mismatch map of one entry */
    atomic_size_t cpu_bytes; /* that the CPU did */
    size_t tile;             /* bytes of each region that a thread of the CPU takes at a time */
    unsigned char *scratch;  /* scratch_bytes for each such thread */
    size_t scratch_bytes;
};
/* The most threads that copy for one device: 8 copy nearly as much as the bus carries, and more of
 * them hinder each other where they order work. */
enum { GFK_COPIERS = 8 };

/* Seconds since any moment. */
static inline double gfk_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Takes the next `want` bytes. Near the end it takes less, down to `least`, so that nobody is left
 * with a long part when all others are done. Both are multiples of GFK_GRAIN. False: there is no
 * rest. */
enum { GFK_GRAIN = 256 };
static inline bool gfk_job_take(gfk_job *job, size_t want, size_t least, gfk_range *range) {
    size_t at = atomic_load_explicit(&job->next, memory_order_relaxed), length;
    do {
        if (at >= job->end)
            return false;
        const size_t left = job->end - at;
        const size_t share =
            job->takers == 1 ? left : left / 2 / job->takers / GFK_GRAIN * GFK_GRAIN;
        length = gfk_least(left, share < least ? least : gfk_least(share, want));
    } while (!atomic_compare_exchange_weak_explicit(&job->next, &at, at + length,
                                                    memory_order_relaxed, memory_order_relaxed));
    *range = (gfk_range){at, length};
    return true;
}

/* ---- what the files offer ------------------------------------------------------------------- */

/* calls.c: of a field that has been proven: host/base/field.h. */
gfk_status gfk_matmul_host_proven(gfk_pipeline_t pipeline, const gfk_field *field,
                                  const gfk_matrix *a, const gfk_regions *b, const gfk_regions *c,
                                  size_t bytes, gfk_accumulate mode, gfk_pipeline_report *report);
/* run.c: every public call ends here. */
gfk_status gfk_pipeline_run(gfk_pipeline_t pipeline, const gfk_request *request,
                            gfk_pipeline_report *report);
static inline gfk_operand gfk_report_operand(const gfk_pipeline_report *report) {
    return gfk_operand_optional(report, sizeof *report, _Alignof(gfk_pipeline_report), GFK_WRITE);
}
/* The report of a call that has nothing to do. */
gfk_status gfk_pipeline_idle(gfk_pipeline_report *report);

/* plan.c: does the worker's device answer, and has it kernels for the job? */
bool gfk_worker_can(const gfk_device_worker *worker, const gfk_job *job);
/* plan.c: GPU, CPU or BOTH, and why. */
gfk_path gfk_job_plan(const gfk_job *job, const char **reason);

/* product_cache.c: the request's matrix with its product on the CPU, found or made, which the
 * caller releases; and its product on a worker's device, which is current. */
void gfk_product_cache_init(gfk_pipeline_t pipeline);
gfk_status gfk_product_cache_find(gfk_pipeline_t pipeline, const gfk_request *request,
                                  gfk_cached_product **cached);
gfk_status gfk_cached_product_on(gfk_cached_product *cached, const gfk_device_worker *worker,
                                 gfk_product_t *product);

/* cpu.c: scratch memory for the job; tiles on job->computing threads until none is left. */
gfk_status gfk_cpu_prepare(gfk_job *job);
void gfk_cpu_work(gfk_job *job);

/* device_worker.c: chunks until none is left or the device fails. The worker then holds the result,
 * and the chunks that it failed to compute. */
void gfk_device_worker_run(gfk_device_worker *worker, gfk_job *job);
void gfk_device_worker_close(gfk_device_worker *worker);

/* staging.c: which regions must be staged; lists has room for twice the number of regions.
 * INVALID_ARGUMENT: a region is in device memory. */
gfk_status gfk_job_find_staged(gfk_job *job, size_t *lists);
/* staging.c: copies the part `range` of the staged regions to the pinned buffers of a stage, where
 * the regions are `pitch` bytes apart, or with `out` back. */
void gfk_copy_staged(const gfk_job *job, const gfk_side *side, gfk_range range,
                     unsigned char *pinned, size_t pitch, bool out);
/* staging.c: as memcpy. An ordinary store first reads the line that it overwrites; these stores do
 * not. */
void gfk_copy_past_caches(unsigned char *to, const unsigned char *from, size_t bytes);

/* calibrate.c: writes the names of this machine and of the pipeline's devices and the number of
 * threads; and: are they those of the calibration? */
void gfk_machine_describe(gfk_calibration *calibration, const gfk_pipeline_info *info);
bool gfk_machine_fits(const gfk_calibration *calibration, const gfk_pipeline_info *info);

/* plan.c: are all numbers of the calibration in their bounds? */
bool gfk_calibration_is_valid(const gfk_calibration *calibration);
/* Bounds of gfk_calibration.both. */
#define GFK_LEAST_SHARE 1e-3
#define GFK_MOST_SHARE 1e3
/* calibration_file.c: reads the text of a file. */
gfk_status gfk_calibration_parse(gfk_calibration *calibration, const char *text, size_t length);

#endif
