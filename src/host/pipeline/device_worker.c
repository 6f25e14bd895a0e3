/* SPDX-License-Identifier: BSD-3-Clause */
/* One device's share of a call. Chunks go to the device, through its engine and back. Several
 * chunks are on their way at a time, each on its own stream, so that both directions of the bus and
 * the processors are busy at once.
 *
 * Several threads feed the device, and each of them owns some of the stages. A thread copies a
 * chunk's staged regions, orders the chunk's work, and meanwhile works on its other stages. A
 * thread waits only for the oldest of its chunks, and never for another thread. */
#include "pipeline.h"

enum {
    ALIGN = GFK_GRAIN, /* alignment of regions on the device, and of mismatch flags */
    /* bytes of a region in a chunk; if a chunk would have less, there are fewer stages */
    LEAST_LENGTH = 4096,
    DIRECT_CHUNK = 64 << 20, /* long enough to hide the time for ordering and starting copies */
    STAGED_CHUNK = 8 << 20,  /* short enough that staged bytes are still in the CPU's cache */
    DIRECT_STAGES = 4,
    STAGES_PER_FEEDER = 2,
    /* the smallest number, so that the first and the last chunk are a small part of the call */
    CHUNKS_PER_STAGE = 4,
    /* bytes of a region in a chunk of a matmul; the work that is done once for each chunk shall be
     * a small part */
    MATMUL_LENGTH = 4096,
    LEAST_CHUNK = 2 << 20 /* the shortest chunk; to order a chunk takes about 40 microseconds */
};

/* The division of the byte range into chunks, and the memory of each stage. */
typedef struct chunking {
    size_t length, least; /* bytes of each region in a chunk, and in a chunk near the end */
    unsigned stages, feeders;
    size_t memory, pinned;
} chunking;

typedef struct device_run {
    gfk_device_worker *worker;
    gfk_job *job;
    gfk_product_t product;
    gfk_matrix matrix;      /* the matrix of a matmul, on the device */
    gfk_matmul_call matmul; /* complete except for regions, stream and workspace */
    chunking chunks;
    atomic_int failure; /* the status of a feeder that had to stop, or SUCCESS */
} device_run;

static size_t round_up(size_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t round_down(size_t n, size_t least) {
    return n < least ? least : n / ALIGN * ALIGN;
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* Returns the bytes of each region that fit into the limit together with a mismatch flag. */
static size_t length_within(size_t limit, size_t regions) {
    return limit < ALIGN ? 0 : regions == 0 ? SIZE_MAX : (limit - ALIGN) / regions;
}

/* Returns the bytes of device memory that a chunk takes in addition to its regions. */
static size_t workspace_of(const device_run *r, size_t length) {
    if (r->job->matmul == NULL)
        return 0;
    gfk_matmul_call call = r->matmul;
    call.bytes = length;
    return gfk_matmul_make_plan(&call) == GFK_STATUS_SUCCESS ? round_up(call.plan.space) : 0;
}

static size_t chunk_memory(const device_run *r, size_t length) {
    const gfk_job *job = r->job;
    return (job->in.count + job->out.count) * length + ALIGN + workspace_of(r, length);
}

static size_t most_length(const device_run *r, unsigned stages) {
    const gfk_job *job = r->job;
    const gfk_pipeline_info *info = &job->pipeline->info;
    const size_t regions = job->in.count + job->out.count;
    const size_t staged = job->in.staged_count + job->out.staged_count;
    const size_t length = length_within(info->device_memory / stages, regions);
    const size_t pinned = info->pinned_memory / info->device_count / stages;
    size_t most = gfk_least(length, length_within(pinned, staged)) / ALIGN * ALIGN;
    if (job->matmul != NULL) /* the workspace grows with the length */
        for (most = gfk_least(most, round_up(job->bytes));
             most != 0 && chunk_memory(r, most) > info->device_memory / stages;)
            most = (most - most / 8 - 1) / ALIGN * ALIGN;
    return most;
}

static unsigned usual_stages(const gfk_job *job) {
    const bool direct = job->in.staged_count + job->out.staged_count == 0;
    const size_t stages = direct ? DIRECT_STAGES : STAGES_PER_FEEDER * job->feeding;
    return (unsigned)gfk_least(stages, GFK_MOST_STREAMS);
}

/* Divides the byte range. Returns false if the limits on memory do not allow a single chunk. */
static bool plan_chunks(device_run *r) {
    const gfk_job *job = r->job;
    const gfk_pipeline_info *info = &job->pipeline->info;
    const size_t regions = job->in.count + job->out.count;
    const size_t staged = job->in.staged_count + job->out.staged_count;
    unsigned stages = info->streams ? info->streams : usual_stages(job);
    size_t length = most_length(r, stages);
    while (stages > 1 && length < LEAST_LENGTH)
        length = most_length(r, --stages);
    if (length == 0)
        return false;
    const bool staged_product = staged != 0 && job->matmul == NULL;
    const size_t usual = staged_product ? STAGED_CHUNK : DIRECT_CHUNK;
    length = gfk_least(length, round_down((info->chunk ? info->chunk : usual) / regions, ALIGN));
    size_t least = round_down(LEAST_CHUNK / regions, ALIGN);
    if (job->matmul != NULL && least < MATMUL_LENGTH)
        least = MATMUL_LENGTH;
    if (info->chunk == 0) {
        const size_t share = job->bytes / CHUNKS_PER_STAGE / stages / info->device_count;
        length = gfk_least(length, round_down(share, least));
    }
    length = gfk_least(length, round_up(job->bytes));
    const size_t chunks = job->bytes / length + (job->bytes % length != 0);
    stages = (unsigned)gfk_least(stages, chunks);
    r->chunks = (chunking){.length = length,
                           .least = gfk_least(length, least),
                           .stages = stages,
                           .feeders = (unsigned)gfk_least(stages, job->feeding),
                           .memory = round_up(chunk_memory(r, length)),
                           .pinned = staged * length + ALIGN};
    return true;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void free_buffer(gfk_device_worker *worker, gfk_buffer *buffer) {
    if (buffer == &worker->pinned)
        gfk_pinned_free(buffer->data);
    else
        gfk_device_free(worker->device, buffer->data);
    *buffer = (gfk_buffer){NULL, 0};
}

static gfk_status grow_buffer(gfk_device_worker *worker, gfk_buffer *buffer, size_t bytes) {
    void *memory = NULL;
    if (buffer->bytes >= bytes)
        return GFK_STATUS_SUCCESS;
    free_buffer(worker, buffer);
    RETURN_IF_ERROR(buffer == &worker->pinned ? gfk_pinned_alloc(&memory, bytes)
                                              : gfk_device_alloc(&memory, bytes));
    *buffer = (gfk_buffer){memory, bytes};
    return GFK_STATUS_SUCCESS;
}

/* Copies a matrix in host memory to the device, without the gaps between its rows. */
static gfk_status prepare_matmul(device_run *r) {
    const gfk_matmul_call *call = r->job->matmul;
    gfk_matrix *a = &r->matrix;
    *a = *call->a;
    int place;
    r->matmul = *call;
    RETURN_IF_ERROR(gfk_matmul_resolve(r->worker->device, &place, &r->matmul.machine));
    r->matmul.kernel = gfk_matmul_smallest_kernel(call->field->w, &r->matmul.machine);
    if (call->generator != NULL)
        return GFK_STATUS_SUCCESS;
    const size_t row = a->cols * (call->field->w / 8);
    const bool gaps = a->stride != a->cols;
    RETURN_IF_ERROR(grow_buffer(r->worker, &r->worker->matrix, a->rows * row));
    const size_t parts = gaps ? a->rows : 1, part = gaps ? row : a->rows * row;
    for (size_t j = 0; j < parts; j++)
        RETURN_IF_ERROR(gfk_device_upload(
            r->worker->matrix.data + j * part,
            (const unsigned char *)call->a->elements + j * a->stride * (call->field->w / 8), part));
    a->elements = r->worker->matrix.data;
    a->stride = a->cols;
    return GFK_STATUS_SUCCESS;
}

static gfk_status prepare(device_run *r) {
    gfk_device_worker *worker = r->worker;
    const chunking *c = &r->chunks;
    if (r->job->matmul != NULL)
        RETURN_IF_ERROR(prepare_matmul(r));
    else
        RETURN_IF_ERROR(gfk_cached_product_on(r->job->cached, worker, &r->product));
    if (!plan_chunks(r))
        return GFK_STATUS_OUT_OF_MEMORY;
    RETURN_IF_ERROR(grow_buffer(worker, &worker->memory, c->stages * c->memory));
    RETURN_IF_ERROR(grow_buffer(worker, &worker->pinned, c->stages * c->pinned));
    for (; worker->opened < c->stages; worker->opened++) {
        gfk_stage *stage = &worker->stages[worker->opened];
        RETURN_IF_ERROR(gfk_device_open(&stage->stream, &stage->event));
    }
    for (unsigned i = 0; i < c->stages; i++) {
        worker->stages[i].memory = worker->memory.data + i * c->memory;
        worker->stages[i].pinned = worker->pinned.data + i * c->pinned;
    }
    worker->chunk = c->length * (r->job->in.count + r->job->out.count);
    return GFK_STATUS_SUCCESS;
}

/* ---- one chunk ------------------------------------------------------------------------------ */

/* The addresses of a chunk's inputs and outputs, on the device and in the pinned buffers. */
typedef struct layout {
    size_t pitch;
    unsigned char *in, *out, *mismatch;
    unsigned char *staged_mismatch, *staged_in, *staged_out;
} layout;

static layout layout_of(const gfk_job *job, const gfk_stage *stage) {
    layout l = {.pitch = round_up(stage->range.length), .in = stage->memory};
    l.out = l.in + job->in.count * l.pitch;
    l.mismatch = l.out + job->out.count * l.pitch;
    l.staged_mismatch = stage->pinned;
    l.staged_in = l.staged_mismatch + ALIGN;
    l.staged_out = l.staged_in + job->in.staged_count * l.pitch;
    return l;
}

/* Returns the number of regions from `first` on that are equally spaced in host memory. */
static size_t row_count(const gfk_side *side, size_t first) {
    const bool staged = side->slot[first] != SIZE_MAX;
    size_t end = first + 1;
    while (end < side->count && (staged ? side->slot[end] != SIZE_MAX : side->stride != 0))
        end++;
    return end - first;
}

/* Orders the copies of one side of a chunk. */
static gfk_status order_copies(const gfk_side *side, const gfk_stage *stage, unsigned char *memory,
                               unsigned char *staging, size_t pitch, bool back) {
    for (size_t i = 0, rows; i < side->count; i += rows) {
        rows = row_count(side, i);
        const bool staged = side->slot[i] != SIZE_MAX;
        unsigned char *host = staged ? staging + side->slot[i] * pitch
                                     : gfk_region_address(side->regions, i) + stage->range.at;
        const size_t stride = staged ? pitch : rows > 1 ? side->stride : pitch;
        unsigned char *device = memory + i * pitch;
        const size_t length = stage->range.length;
        RETURN_IF_ERROR(
            back ? gfk_device_fetch(host, stride, device, pitch, length, rows, stage->stream)
                 : gfk_device_send(device, pitch, host, stride, length, rows, stage->stream));
    }
    return GFK_STATUS_SUCCESS;
}

static gfk_status order_product(const device_run *r, const gfk_stage *stage, const layout *l) {
    const gfk_regions in = {NULL, l->in, l->pitch}, out = {NULL, l->out, l->pitch};
    const gfk_work work = r->job->work;
    const gfk_product_call call = {
        .product = r->product,
        .in = &in,
        .out = &out,
        .bytes = stage->range.length,
        .accumulate = work == GFK_WORK_XOR,
        .stream = stage->stream,
        .mismatch_map = work == GFK_WORK_CHECK ? (uint32_t *)(void *)l->mismatch : NULL,
        .shift = GFK_WHOLE_REGION};
    return gfk_product_compute(&call);
}

static gfk_status order_matmul(const device_run *r, const gfk_stage *stage, const layout *l) {
    const gfk_regions in = {NULL, l->in, l->pitch}, out = {NULL, l->out, l->pitch};
    gfk_matmul_call call = r->matmul;
    call.a = &r->matrix;
    call.b = &in;
    call.c = &out;
    call.bytes = stage->range.length;
    call.accumulate = r->job->work == GFK_WORK_XOR;
    call.workspace = l->mismatch + ALIGN;
    call.stream = stage->stream;
    RETURN_IF_ERROR(gfk_matmul_make_plan(&call));
    return gfk_matmul_run(&call);
}

static gfk_status start_chunk(device_run *r, gfk_stage *stage) {
    gfk_job *job = r->job;
    const layout l = layout_of(job, stage);
    const bool check = job->work == GFK_WORK_CHECK, read_out = job->work != GFK_WORK_SET;
    gfk_copy_staged(job, &job->in, stage->range, l.staged_in, l.pitch, false);
    RETURN_IF_ERROR(order_copies(&job->in, stage, l.in, l.staged_in, l.pitch, false));
    if (read_out) {
        gfk_copy_staged(job, &job->out, stage->range, l.staged_out, l.pitch, false);
        RETURN_IF_ERROR(order_copies(&job->out, stage, l.out, l.staged_out, l.pitch, false));
    }
    if (check)
        RETURN_IF_ERROR(gfk_device_zero(l.mismatch, sizeof(uint32_t), stage->stream));
    RETURN_IF_ERROR(job->matmul != NULL ? order_matmul(r, stage, &l) : order_product(r, stage, &l));
    stage->returning = !check && job->out.staged_count != job->out.count;
    if (check)
        RETURN_IF_ERROR(gfk_device_fetch(l.staged_mismatch, ALIGN, l.mismatch, ALIGN,
                                         sizeof(uint32_t), 1, stage->stream));
    else
        RETURN_IF_ERROR(order_copies(&job->out, stage, l.out, l.staged_out, l.pitch, true));
    RETURN_IF_ERROR(gfk_device_record(stage->event, stage->stream));
    stage->ordered = true;
    return GFK_STATUS_SUCCESS;
}

static gfk_status finish_chunk(device_run *r, gfk_stage *stage) {
    if (stage->range.length == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(gfk_device_wait(stage->event));
    gfk_job *job = r->job;
    const layout l = layout_of(job, stage);
    if (job->work != GFK_WORK_CHECK)
        gfk_copy_staged(job, &job->out, stage->range, l.staged_out, l.pitch, true);
    else if (*(const uint32_t *)(const void *)l.staged_mismatch != 0)
        __atomic_store_n(&job->differs, 1, __ATOMIC_RELAXED);
    r->worker->done += stage->range.length;
    stage->range.length = 0;
    stage->ordered = stage->returning = false;
    return GFK_STATUS_SUCCESS;
}

/* ---- all chunks ----------------------------------------------------------------------------- */

/* A feeder takes every `feeders`-th stage. */
static gfk_status run_chunks(device_run *r, size_t feeder) {
    const size_t feeders = r->chunks.feeders;
    const size_t stages = (r->chunks.stages - feeder + feeders - 1) / feeders;
    gfk_stage *first = &r->worker->stages[feeder];
    size_t next = 0;
    for (;; next = (next + 1) % stages) {
        gfk_stage *stage = &first[next * feeders];
        RETURN_IF_ERROR(finish_chunk(r, stage));
        if (atomic_load(&r->failure) != GFK_STATUS_SUCCESS ||
            !gfk_job_take(r->job, r->chunks.length, r->chunks.least, &stage->range))
            break;
        RETURN_IF_ERROR(start_chunk(r, stage));
    }
    for (size_t i = 1; i < stages; i++)
        RETURN_IF_ERROR(finish_chunk(r, &first[(next + i) % stages * feeders]));
    return GFK_STATUS_SUCCESS;
}

static void feed(size_t feeder, void *context) {
    device_run *r = context;
    int previous;
    gfk_status status = gfk_device_enter(r->worker->device, &previous);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_device_leave(previous, run_chunks(r, feeder));
    if (status != GFK_STATUS_SUCCESS)
        atomic_store(&r->failure, (int)status);
}

/* Works after a failure: waits for the chunks that still arrive, and leaves the other chunks to the
 * CPU. No work is under way when the function returns. */
static void abandon(device_run *r) {
    gfk_device_worker *worker = r->worker;
    const gfk_job *job = r->job;
    bool answers = true;
    for (unsigned i = 0; i < worker->opened; i++) {
        gfk_stage *stage = &worker->stages[i];
        if (stage->ordered && finish_chunk(r, stage) == GFK_STATUS_SUCCESS)
            continue;
        answers &= gfk_device_drain(stage->stream) == GFK_STATUS_SUCCESS;
        if (stage->range.length == 0)
            continue;
        worker->redo[worker->redo_count++] = stage->range;
        worker->lost_output |= stage->returning && (job->work == GFK_WORK_XOR || job->in_place);
        stage->range.length = 0;
        stage->ordered = stage->returning = false;
    }
    worker->dead |= !answers;
}

void gfk_device_worker_run(gfk_device_worker *worker, gfk_job *job) {
    device_run r = {.worker = worker, .job = job};
    int previous;
    worker->status = gfk_device_enter(worker->device, &previous);
    if (worker->status != GFK_STATUS_SUCCESS) {
        /* after a failure of CUDA the context is not usable any more */
        worker->dead = worker->status != GFK_STATUS_OUT_OF_MEMORY;
        return;
    }
    worker->status = prepare(&r);
    if (worker->status == GFK_STATUS_SUCCESS) {
        gfk_pool_run(job->pipeline->pool, r.chunks.feeders, r.chunks.feeders, feed, &r);
        worker->status = (gfk_status)atomic_load(&r.failure);
    }
    if (worker->status != GFK_STATUS_SUCCESS)
        abandon(&r);
    free_buffer(worker, &worker->matrix);
    (void)gfk_device_leave(previous, worker->status);
}

void gfk_device_worker_close(gfk_device_worker *worker) {
    int previous;
    if (worker->opened == 0 && worker->memory.data == NULL && worker->pinned.data == NULL)
        return; /* the device has not been used */
    const bool entered = gfk_device_enter(worker->device, &previous) == GFK_STATUS_SUCCESS;
    for (unsigned i = 0; i < worker->opened; i++)
        gfk_device_close(worker->stages[i].stream, worker->stages[i].event);
    free_buffer(worker, &worker->memory);
    free_buffer(worker, &worker->pinned);
    if (entered)
        (void)gfk_device_leave(previous, GFK_STATUS_SUCCESS);
}
