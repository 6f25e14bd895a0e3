/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal contract of pipelines: the state of a pipeline, the state of a call, and the
 * functions that the files of this folder offer each other. */
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

/* A matrix with its product on the CPU. Its products on devices are made at the first use there. */
typedef struct gfk_cached_product {
    gfk_lru_node node; /* the user of the node is the current call */
    gfk_field field;
    size_t rows, cols;
    uint32_t *matrix;
    gfk_product_t host;
    gfk_product_t device[GFK_MOST_DEVICES]; /* element i: the product on the device of worker i */
} gfk_cached_product;

/* A range of bytes of every region. */
typedef struct gfk_range {
    size_t at, length;
} gfk_range;

/* A stage of the ring through which chunks go: a stream, memory on the device, and pinned
 * buffers. */
typedef struct gfk_stage {
    gfk_stream_t stream;
    void *event;
    unsigned char *memory; /* inputs, outputs, mismatch flag */
    unsigned char *pinned; /* mismatch flag, staged inputs, staged outputs */
    gfk_range range;       /* length 0: the stage has no chunk */
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
    size_t number; /* index of the worker in the pipeline */
    bool dead;     /* the device does not answer any more */
    unsigned opened;
    gfk_stage stages[GFK_MOST_STREAMS];
    gfk_buffer memory, pinned; /* the memory of all stages */
    gfk_buffer matrix;         /* the matrix of the current matmul */
    /* The following members belong to the current call. */
    gfk_status status;
    atomic_size_t done; /* bytes of each region that the device has computed */
    size_t chunk;       /* bytes of all regions together */
    size_t redo_count;
    gfk_range redo[GFK_MOST_STREAMS]; /* the chunks that the device failed to compute */
    bool lost_output; /* the outputs of one of these chunks cannot be computed again */
} gfk_device_worker;

struct gfk_pipeline {
    gfk_pipeline_info info;
    gfk_calibration calibration;
    pthread_mutex_t mutex; /* the current call holds the mutex, which guards all members below */
    gfk_pool *pool;
    gfk_device_worker *workers; /* info.device_count workers */
    bool no_device;             /* the path is the CPU because there is no device */
    gfk_lru products;           /* a list of gfk_cached_product */
};

/* ---- what a call is made of ----------------------------------------------------------------- */

typedef enum gfk_work { GFK_WORK_SET, GFK_WORK_XOR, GFK_WORK_CHECK } gfk_work;

/* The arguments of a call: a product with `matrix`, or a matmul with `a`. The other one is NULL. */
typedef struct gfk_request {
    const gfk_field *field;
    size_t rows, cols;
    const uint32_t *matrix;
    const gfk_matrix *a;
    const gfk_regions *in, *out;
    size_t bytes;
    gfk_work work;
    bool in_place;     /* the output may be the input; only with one row and one column */
    uint32_t *differs; /* the answer of GFK_WORK_CHECK */
} gfk_request;

/* The inputs or the outputs of a call. */
typedef struct gfk_side {
    const gfk_regions *regions;
    size_t count;
    size_t stride; /* the stride of all regions if they are pinned and equally spaced, else 0 */
    /* slot i: index of region i among the staged regions; SIZE_MAX: region i is not staged */
    size_t *slot;
    size_t *staged;
    size_t staged_count;
} gfk_side;

struct gfk_job {
    gfk_pipeline_t pipeline;
    gfk_cached_product *cached; /* NULL: the call is a matmul */
    /* NULL: the call is a product. Only field, a and generator are read. */
    const gfk_matmul_call *matmul;
    gfk_side in, out;
    size_t bytes;
    gfk_work work;
    bool in_place;    /* one region is multiplied in place */
    size_t computing; /* threads of the CPU that compute */
    size_t feeding;   /* threads that copy regions for each device, or order its work */
    size_t takers;    /* threads that take parts of the range */
    bool past_caches; /* staged outputs are copied to the caller's regions past the caches */
    /* If not 0, the CPU computes `step` bytes of each region into memory of its own, and copies the
     * bytes from there to the caller's regions past the caches. */
    size_t step;
    atomic_size_t next;      /* the bytes below `next` have been taken */
    size_t end;              /* the end of the range that can be taken */
    uint32_t differs;        /* a mismatch map of one entry */
    atomic_size_t cpu_bytes; /* bytes of each region that the CPU has computed */
    size_t tile;             /* bytes of each region that a thread of the CPU takes at a time */
    unsigned char *scratch;  /* scratch_bytes for each thread of the CPU */
    size_t scratch_bytes;
};
/* The largest number of threads that copy for one device: 8 threads copy nearly as much as the bus
 * carries, and more threads slow down each other's orders to the device. */
enum { GFK_COPIERS = 8 };

/* Returns the seconds since an arbitrary moment. */
static inline double gfk_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Takes the next `want` bytes of the job. Near the end of the job the function takes less, down to
 * `least`, so that no thread still has a long part when all others have finished. Both are
 * multiples of GFK_GRAIN. Returns false if all bytes have been taken. */
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

/* calls.c: gfk_matmul_host for a field that has been proven (host/base/field.h). */
gfk_status gfk_matmul_host_proven(gfk_pipeline_t pipeline, const gfk_field *field,
                                  const gfk_matrix *a, const gfk_regions *b, const gfk_regions *c,
                                  size_t bytes, gfk_accumulate mode, gfk_pipeline_report *report);
/* run.c: every public call ends here. */
gfk_status gfk_pipeline_run(gfk_pipeline_t pipeline, const gfk_request *request,
                            gfk_pipeline_report *report);
static inline gfk_operand gfk_report_operand(const gfk_pipeline_report *report) {
    return gfk_operand_optional(report, sizeof *report, _Alignof(gfk_pipeline_report), GFK_WRITE);
}
/* Writes the report of a call that has nothing to do. */
gfk_status gfk_pipeline_idle(gfk_pipeline_report *report);

/* plan.c: does the worker's device answer, and does it have kernels for the job? */
bool gfk_worker_can(const gfk_device_worker *worker, const gfk_job *job);
/* plan.c: chooses GPU, CPU or BOTH, and sets *reason to the reason. */
gfk_path gfk_job_plan(const gfk_job *job, const char **reason);

/* product_cache.c: finds or makes the cache entry of the request's matrix, with a product on the
 * CPU. The caller releases the entry. gfk_cached_product_on finds or makes the entry's product on a
 * worker's device, which is the current device. */
void gfk_product_cache_init(gfk_pipeline_t pipeline);
gfk_status gfk_product_cache_find(gfk_pipeline_t pipeline, const gfk_request *request,
                                  gfk_cached_product **cached);
gfk_status gfk_cached_product_on(gfk_cached_product *cached, const gfk_device_worker *worker,
                                 gfk_product_t *product);

/* cpu.c: gfk_cpu_prepare allocates scratch memory for the job. gfk_cpu_work computes tiles on
 * job->computing threads until no tile is left. */
gfk_status gfk_cpu_prepare(gfk_job *job);
void gfk_cpu_work(gfk_job *job);

/* device_worker.c: computes chunks until no chunk is left or the device fails. Afterwards the
 * worker holds the result, and the list of chunks that it failed to compute. */
void gfk_device_worker_run(gfk_device_worker *worker, gfk_job *job);
void gfk_device_worker_close(gfk_device_worker *worker);

/* staging.c: decides which regions must be staged. `lists` has room for twice the number of
 * regions. Returns INVALID_ARGUMENT if a region is in device memory. */
gfk_status gfk_job_find_staged(gfk_job *job, size_t *lists);
/* staging.c: copies the bytes `range` of the staged regions to the pinned buffers of a stage, or,
 * if `out` is true, back. The pinned regions are `pitch` bytes apart. */
void gfk_copy_staged(const gfk_job *job, const gfk_side *side, gfk_range range,
                     unsigned char *pinned, size_t pitch, bool out);
/* staging.c: copies like memcpy, but with stores that do not read the cache line that they
 * overwrite. */
void gfk_copy_past_caches(unsigned char *to, const unsigned char *from, size_t bytes);

/* calibrate.c: gfk_machine_describe writes the names of this machine and of the pipeline's devices,
 * and the number of threads. gfk_machine_fits: does the calibration have the same names and
 * number? */
void gfk_machine_describe(gfk_calibration *calibration, const gfk_pipeline_info *info);
bool gfk_machine_fits(const gfk_calibration *calibration, const gfk_pipeline_info *info);

/* plan.c: is every number of the calibration within its bounds? */
bool gfk_calibration_is_valid(const gfk_calibration *calibration);
/* Bounds of gfk_calibration.both. */
#define GFK_LEAST_SHARE 1e-3
#define GFK_MOST_SHARE 1e3
/* calibration_file.c: reads a calibration from the text of a file. */
gfk_status gfk_calibration_parse(gfk_calibration *calibration, const char *text, size_t length);

#endif
