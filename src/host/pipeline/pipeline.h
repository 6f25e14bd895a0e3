/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal contract of pipelines: what a pipeline owns, what a call is made of, and what the
 * files here offer each other. */
#ifndef GFK_HOST_PIPELINE_H
#define GFK_HOST_PIPELINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <gfk/gfk.h>
#include <gfk/host.h>

#include "host/base/pool.h"
#include "host/device/device.h"
#include "host/product/engine.h"

enum { GFK_KEPT_MATRICES = 8, GFK_ONE_MARK = 63 /* the shift that leaves one for all */ };

/* ---- what a pipeline owns ----------------------------------------------------------------------
 */

/* One matrix, with its product on the CPU and, from the first use there on, on the devices. */
typedef struct gfk_kept {
    gfk_field field;
    size_t rows, cols;
    uint32_t *matrix; /* NULL: free */
    gfk_product_t host;
    gfk_product_t device[GFK_MOST_DEVICES]; /* of lane i */
    uint64_t used;                          /* when, as a count of calls */
} gfk_kept;

/* A part of the byte range. */
typedef struct gfk_range {
    size_t at, length;
} gfk_range;

/* One chunk on its way: its stream, where it is on the device, and its pinned buffers. */
typedef struct gfk_slot {
    gfk_stream_t stream;
    void *event;
    unsigned char *memory; /* inputs, outputs, mark, workspace */
    unsigned char *pinned; /* mark, staged inputs, staged outputs */
    gfk_range range;       /* length 0: nothing under way */
    bool ordered;          /* completely, up to the event */
    bool returning;        /* results may have begun to arrive in the caller's memory */
} gfk_slot;

typedef struct gfk_job gfk_job;

/* One device of a pipeline. */
typedef struct gfk_lane {
    int device;
    size_t number; /* in the pipeline */
    bool lost;     /* it does not answer any more */
    unsigned opened;
    gfk_slot slot[GFK_MOST_STREAMS];
    unsigned char *memory, *pinned; /* of all slots */
    size_t memory_bytes, pinned_bytes;
    /* The call that is going on. */
    gfk_status status;
    size_t done, chunk; /* bytes of the byte range; of all regions together */
    size_t redo_count;
    gfk_range redo[GFK_MOST_STREAMS]; /* chunks that it failed to do */
    bool spoiled;                     /* results of one of them cannot be made again */
} gfk_lane;

struct gfk_pipeline {
    gfk_pipeline_info info;
    gfk_calibration calibration;
    pthread_mutex_t mutex; /* of the call that is going on, and of all below */
    gfk_pool *pool;
    gfk_lane *lanes; /* info.device_count */
    bool alone;      /* on the CPU because there is no device */
    uint64_t calls;
    gfk_kept kept[GFK_KEPT_MATRICES];
};

/* ---- what a call is made of --------------------------------------------------------------------
 */

typedef enum gfk_work { GFK_WORK_SET, GFK_WORK_XOR, GFK_WORK_CHECK } gfk_work;

/* The inputs or the outputs. */
typedef struct gfk_side {
    const gfk_regions *regions;
    size_t count;
    bool even;     /* equally spaced in one pinned range */
    size_t *place; /* of each region among the staged ones; SIZE_MAX: not staged */
    size_t *staged;
    size_t staged_count;
} gfk_side;

struct gfk_job {
    gfk_pipeline_t pipeline;
    gfk_kept *kept;
    gfk_side in, out;
    size_t bytes;
    gfk_work work;
    const uint32_t *answer; /* GFK_WORK_CHECK: where the caller wants it */
    bool in_place;          /* one region, multiplied where it is */
    atomic_size_t next;     /* the part of the byte range that somebody has begun */
    uint32_t differs;       /* a mark, as gfk_mark sets it */
    size_t cpu_bytes;       /* that the CPU did of it, before any failure */
    size_t slice;           /* bytes of each region that a thread of the CPU takes in one go */
    unsigned char *scratch; /* of each such thread, scratch_bytes */
    size_t scratch_bytes;
};

static inline size_t gfk_least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The next `want` bytes or what is left; false: nothing is. */
static inline bool gfk_job_take(gfk_job *job, size_t want, gfk_range *range) {
    range->at = atomic_fetch_add_explicit(&job->next, want, memory_order_relaxed);
    if (range->at >= job->bytes)
        return false;
    range->length = gfk_least(want, job->bytes - range->at);
    return true;
}

/* run.c: every call comes down to this one. */
typedef struct gfk_request {
    const gfk_field *field;
    size_t rows, cols;
    const uint32_t *matrix;
    const gfk_regions *in, *out;
    size_t bytes;
    gfk_work work;
    bool in_place;     /* the output may be the input; of one row and one column only */
    uint32_t *differs; /* of GFK_WORK_CHECK */
} gfk_request;
gfk_status gfk_pipeline_run(gfk_pipeline_t pipeline, const gfk_request *request,
                            gfk_pipeline_report *report);

/* A call that has nothing to do. */
gfk_status gfk_pipeline_idle(gfk_pipeline_report *report);

/* regions.c: does what is written overlap what it must not? Clears job->in_place where the output
 * is not the input. */
gfk_status gfk_job_overlap(gfk_job *job);
/* regions.c: which regions must be staged. INVALID_ARGUMENT for one in device memory. */
gfk_status gfk_job_stage(gfk_job *job);

/* plan.c: GPU, CPU or BOTH, and why. */
gfk_path gfk_job_plan(const gfk_job *job, const char **reason);

/* kept.c: the matrix, from the last ones or anew, with its product on the CPU; and its product on a
 * lane, whose device is current. */
gfk_status gfk_kept_find(gfk_pipeline_t pipeline, const gfk_field *field, size_t rows, size_t cols,
                         const uint32_t *matrix, gfk_kept **kept);
gfk_status gfk_kept_on(gfk_kept *kept, const gfk_lane *lane, gfk_product_t *product);
void gfk_kept_drop(gfk_kept *kept);

/* cpu.c: scratch memory for the job; a range of it on all threads; ranges until none is left, all
 * in one go if no device takes any. */
gfk_status gfk_cpu_prepare(gfk_job *job);
void gfk_cpu_range(gfk_job *job, gfk_range range);
void gfk_cpu_work(gfk_job *job, bool alone);

/* team.c: body(0) to body(count - 1) on at most so many threads, and the pipeline's number. */
void gfk_team_run(gfk_pipeline_t pipeline, size_t most, size_t count, gfk_step_fn *body,
                  void *context);

/* lane.c: ranges until none is left or the device fails; what it leaves behind is in the lane. */
void gfk_lane_work(gfk_lane *lane, gfk_job *job);
void gfk_lane_close(gfk_lane *lane);

/* staging.c: between the caller's memory and a slot's pinned buffers. The distance of staged
 * regions there is `pitch`. */
void gfk_stage_in(const gfk_job *job, const gfk_side *side, gfk_range range, unsigned char *pinned,
                  size_t pitch);
void gfk_stage_out(const gfk_job *job, const gfk_side *side, gfk_range range, unsigned char *pinned,
                   size_t pitch);

/* machine.c: the names of this machine, of these devices and the number of threads; and are they a
 * calibration's? */
void gfk_machine_describe(gfk_calibration *calibration, const gfk_pipeline_info *info);
bool gfk_machine_fits(const gfk_calibration *calibration, const gfk_pipeline_info *info);

/* advice.c: gfk_advise for a work other than GFK_WORK_SET too; the row of a field in the tables of
 * a calibration; and are all its numbers ones that a machine can have? */
void gfk_advise_work(const gfk_calibration *calibration, const gfk_field *field, size_t k, size_t m,
                     size_t bytes, gfk_work work, gfk_where where, gfk_advice *advice);
unsigned gfk_calibration_row(const gfk_field *field);
bool gfk_calibration_sound(const gfk_calibration *calibration);
/* Bounds of gfk_calibration.both. */
#define GFK_LEAST_SHARE 1e-3
#define GFK_MOST_SHARE 1e3
/* calibration_file.c: the file's text, which is not changed. */
gfk_status gfk_calibration_parse(gfk_calibration *calibration, char *text, size_t length);

#endif
