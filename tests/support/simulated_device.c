/* SPDX-License-Identifier: BSD-3-Clause */
/* src/host/device/device.h without its code section, and the engines of simulated_engines.def. One
 * lock guards everything: the simulation is about order, not speed. */
#include "simulated_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/device/device.h"
#include "host/product/matmul.h"

/* An operation that was ordered on a stream, in a list. */
typedef struct order {
    struct order *next;
    enum { COPY, CLEAR, RUN, MATMUL } kind;
    unsigned char *to;
    const unsigned char *from;
    size_t to_pitch, from_pitch, bytes, rows;
    gfk_product_call call;
    gfk_matmul_call matmul;
    gfk_matrix matrix;
    gfk_regions in, out;
} order;

struct CUstream_st {
    struct CUstream_st *next;
    int device;
    order *first, **last;
    uint64_t ordered, done;
};

typedef struct event {
    gfk_stream_t stream;
    uint64_t until;
} event;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static simulated_device config = SIMULATED_DEVICE_INIT;
static uint64_t faults, asked; /* asked: calls on the failing device */
static gfk_stream_t streams;   /* a list */
static bool dead;
static _Thread_local int current;

static gfk_status guarded(gfk_status status) {
    (void)pthread_mutex_unlock(&mutex);
    return status;
}

void simulated_device_set(const simulated_device *bus) {
    (void)pthread_mutex_lock(&mutex);
    config = *bus;
    asked = 0;
    dead = false;
    (void)pthread_mutex_unlock(&mutex);
}

uint64_t simulated_device_faults(void) {
    (void)pthread_mutex_lock(&mutex);
    const uint64_t n = faults;
    (void)pthread_mutex_unlock(&mutex);
    return n;
}

int simulated_device_current(void) {
    return current;
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* Which addresses belong to a device, or are registered memory of the host? */
enum { SIMULATED_FREE = -2, SIMULATED_PINNED = -1, MOST_RANGES = 1024 };

typedef struct range {
    unsigned char *begin;
    size_t bytes;
    int device; /* SIMULATED_FREE: a free entry */
} range;

static range ranges[MOST_RANGES];
static size_t range_count;

static range *range_find(const void *memory) {
    const unsigned char *p = memory;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].device != SIMULATED_FREE && p >= ranges[i].begin &&
            p < ranges[i].begin + ranges[i].bytes)
            return &ranges[i];
    return NULL;
}

static bool range_holds(const void *memory, size_t bytes, int device) {
    const range *r = range_find(memory);
    return r != NULL && r->device == device &&
           bytes <= (size_t)(r->begin + r->bytes - (const unsigned char *)memory);
}

static gfk_status range_add(void *memory, size_t bytes, int device) {
    size_t i = 0;
    while (i < range_count && ranges[i].device != SIMULATED_FREE)
        i++;
    if (i == MOST_RANGES)
        return GFK_STATUS_OUT_OF_MEMORY;
    range_count += i == range_count;
    ranges[i] = (range){memory, bytes, device};
    return GFK_STATUS_SUCCESS;
}

static size_t range_used(int device) {
    size_t used = 0;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].device == device)
            used += ranges[i].bytes;
    return used;
}

static size_t ranges_in_use(void) {
    size_t count = 0;
    for (size_t i = 0; i < range_count; i++)
        count += ranges[i].device != SIMULATED_FREE;
    return count;
}

/* ---- memory --------------------------------------------------------------------------------- */

size_t simulated_device_left(void) {
    (void)pthread_mutex_lock(&mutex);
    size_t left = ranges_in_use();
    for (gfk_stream_t s = streams; s != NULL; s = s->next)
        left++;
    (void)pthread_mutex_unlock(&mutex);
    return left;
}

/* Every call that can fail asks this function first. */
static bool fails(int device) {
    if (device != config.failing)
        return false;
    const bool now = ++asked == config.fails_after;
    dead |= now && config.dies;
    return now || dead;
}

static gfk_status failure(void) {
    return dead ? GFK_STATUS_CUDA : config.status;
}

gfk_status gfk_device_register(void *memory, size_t bytes) {
    (void)pthread_mutex_lock(&mutex);
    if (config.devices == 0)
        return guarded(GFK_STATUS_NO_DEVICE);
    if (bytes > config.pinned || range_used(SIMULATED_PINNED) > config.pinned - bytes)
        return guarded(GFK_STATUS_OUT_OF_MEMORY);
    return guarded(range_find(memory) ? GFK_STATUS_INVALID_ARGUMENT
                                      : range_add(memory, bytes, SIMULATED_PINNED));
}

gfk_status gfk_device_unregister(void *memory) {
    (void)pthread_mutex_lock(&mutex);
    range *r = range_find(memory);
    if (r == NULL || r->device != SIMULATED_PINNED || r->begin != memory)
        return guarded(GFK_STATUS_INVALID_ARGUMENT);
    r->device = SIMULATED_FREE;
    return guarded(GFK_STATUS_SUCCESS);
}

gfk_memory_kind gfk_device_memory_kind(const void *memory, size_t bytes) {
    (void)pthread_mutex_lock(&mutex);
    const range *r = range_find(memory);
    const gfk_memory_kind kind = r == NULL || r->device == SIMULATED_FREE ? GFK_MEMORY_PAGEABLE
                                 : r->device != SIMULATED_PINNED          ? GFK_MEMORY_DEVICE
                                 : range_holds(memory, bytes, SIMULATED_PINNED)
                                     ? GFK_MEMORY_PINNED
                                     : GFK_MEMORY_PAGEABLE;
    (void)pthread_mutex_unlock(&mutex);
    return kind;
}

static bool reaches(int place, const void *memory) {
    const range *r = range_find(memory);
    return r == NULL ? place == GFK_CPU : r->device == SIMULATED_PINNED || r->device == place;
}

bool gfk_device_reaches(int place, const void *memory, size_t bytes) {
    (void)pthread_mutex_lock(&mutex);
    const bool both = bytes == 0 || (reaches(place, memory) &&
                                     reaches(place, (const unsigned char *)memory + bytes - 1));
    (void)pthread_mutex_unlock(&mutex);
    return both;
}

gfk_status gfk_device_alloc(void **memory, uint64_t bytes) {
    (void)pthread_mutex_lock(&mutex);
    if (fails(current))
        return guarded(failure());
    if (bytes > config.memory || range_used(current) > config.memory - bytes)
        return guarded(GFK_STATUS_OUT_OF_MEMORY);
    void *made = aligned_alloc(256, (bytes + 255) / 256 * 256); /* as CUDA does */
    memset(made, 0x5a, bytes);
    *memory = made;
    return guarded(range_add(made, bytes, current));
}

void gfk_device_free(int device, void *memory) {
    if (memory == NULL)
        return;
    (void)pthread_mutex_lock(&mutex);
    range *r = range_find(memory);
    if (r == NULL || r->begin != memory || r->device != device)
        faults++;
    else
        r->device = SIMULATED_FREE;
    free(memory);
    (void)pthread_mutex_unlock(&mutex);
}

gfk_status gfk_device_upload(void *memory, const void *host, size_t bytes) {
    (void)pthread_mutex_lock(&mutex);
    if (fails(current))
        return guarded(failure());
    if (range_holds(memory, bytes, current))
        memcpy(memory, host, bytes);
    else
        faults++;
    return guarded(GFK_STATUS_SUCCESS);
}

void *simulated_device_memory(size_t bytes) {
    void *memory = malloc(bytes);
    (void)pthread_mutex_lock(&mutex);
    (void)range_add(memory, bytes, 0);
    (void)pthread_mutex_unlock(&mutex);
    return memory;
}

void simulated_device_memory_free(void *memory) {
    gfk_device_free(0, memory);
}

/* ---- devices -------------------------------------------------------------------------------- */

gfk_status gfk_device_resolve(int requested, int *device, const char **reason) {
    (void)pthread_mutex_lock(&mutex);
    if (config.devices == 0 || requested >= config.devices) {
        *reason = "there is no simulated device of this number";
        return guarded(GFK_STATUS_NO_DEVICE);
    }
    *device = requested == GFK_CURRENT_DEVICE ? current : requested;
    return guarded(GFK_STATUS_SUCCESS);
}

gfk_status gfk_device_name(int device, char *name, size_t bytes) {
    (void)snprintf(name, bytes, "simulated, number %d", device);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_enter(int device, int *previous) {
    (void)pthread_mutex_lock(&mutex);
    if (fails(device))
        return guarded(failure());
    *previous = current;
    current = device;
    return guarded(GFK_STATUS_SUCCESS);
}

gfk_status gfk_device_leave(int previous, gfk_status status) {
    current = previous;
    return status;
}

gfk_status gfk_device_require_current(int device) {
    return device == current ? GFK_STATUS_SUCCESS : GFK_STATUS_WRONG_DEVICE;
}

gfk_status gfk_device_check(unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
                            const char **reason) {
    (void)cc_min;
    (void)cc_max;
    (void)shared_bytes;
    (void)device;
    *reason = NULL;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_processors(int device, int *processors) {
    (void)device;
    *processors = 1;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_capability(int device, int *cc) {
    (void)device;
    *cc = 90;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_double_ratio(int device, int *ratio) {
    (void)device;
    *ratio = 64;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_open(gfk_stream_t *stream, void **mark) {
    (void)pthread_mutex_lock(&mutex);
    if (fails(current))
        return guarded(failure());
    gfk_stream_t s = calloc(1, sizeof *s);
    event *e = calloc(1, sizeof *e);
    s->device = current;
    s->last = &s->first;
    *stream = s;
    *mark = e;
    s->next = streams;
    streams = s;
    return guarded(GFK_STATUS_SUCCESS);
}

/* ---- orders --------------------------------------------------------------------------------- */

/* simulated_matmul.c */
void gfk_simulated_matmul_run(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                              size_t threads);

static void follow_matmul(const order *o) {
    gfk_matmul_call call = o->matmul;
    call.a = &o->matrix;
    call.b = &o->in;
    call.c = &o->out;
    memset(call.workspace, 0xa5, call.plan.space);
    call.workspace = aligned_alloc(256, 1 << 20);
    gfk_simulated_matmul_run(&call, 1, NULL, 1);
    free(call.workspace);
}

static void follow(const order *o) {
    gfk_product_call call = o->call;
    switch (o->kind) {
    case COPY:
        for (size_t i = 0; i < o->rows; i++)
            memcpy(o->to + i * o->to_pitch, o->from + i * o->from_pitch, o->bytes);
        break;
    case CLEAR:
        memset(o->to, 0, o->bytes);
        break;
    case MATMUL:
        follow_matmul(o);
        break;
    default:
        call.in = &o->in;
        call.out = &o->out;
        (void)gfk_host_product_run(&call);
    }
}

static void advance(gfk_stream_t s, uint64_t until) {
    while (s->done < until) {
        order *o = s->first;
        follow(o);
        s->first = o->next;
        if (s->first == NULL)
            s->last = &s->first;
        free(o);
        s->done++;
    }
}

static unsigned dice(unsigned sides) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % sides;
}

/* Executes operations of random streams, or none. */
static void pass_time(void) {
    for (gfk_stream_t s = streams; s != NULL && config.time == SIMULATED_MIXED; s = s->next)
        if (s->done != s->ordered && !(dead && s->device == config.failing) && dice(2))
            advance(s, s->done + 1);
}

/* A device that dies leaves the last operation of a stream half done. */
static void die(gfk_stream_t s) {
    if (s->done == s->ordered)
        return;
    advance(s, s->ordered - 1);
    if (s->first->kind == COPY) {
        s->first->bytes = (s->first->bytes + 1) / 2;
        follow(s->first);
        s->first->bytes = 0; /* the rest of it is never done */
    }
}

static gfk_status put(const order *ordered, gfk_stream_t s) {
    if (s->device != current)
        faults++;
    if (fails(s->device))
        return failure();
    order *o = malloc(sizeof *o);
    *o = *ordered;
    o->next = NULL;
    *s->last = o;
    s->last = &o->next;
    s->ordered++;
    if (config.time == SIMULATED_EARLY)
        advance(s, s->ordered);
    pass_time();
    return GFK_STATUS_SUCCESS;
}

static gfk_status copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                       size_t rows, gfk_stream_t s, bool back) {
    const order o = {.kind = COPY,
                     .to = to,
                     .from = from,
                     .to_pitch = to_pitch,
                     .from_pitch = from_pitch,
                     .bytes = bytes,
                     .rows = rows};
    (void)pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < rows; i++) {
        const unsigned char *here = (const unsigned char *)from + i * from_pitch;
        const unsigned char *there = (const unsigned char *)to + i * to_pitch;
        if (!range_holds(back ? here : there, bytes, s->device) ||
            !range_holds(back ? there : here, bytes, SIMULATED_PINNED))
            faults++;
    }
    return guarded(put(&o, s));
}

gfk_status gfk_device_send(void *device, size_t pitch, const void *host, size_t stride,
                           size_t bytes, size_t rows, gfk_stream_t stream) {
    return copy(device, pitch, host, stride, bytes, rows, stream, false);
}

gfk_status gfk_device_fetch(void *host, size_t stride, const void *device, size_t pitch,
                            size_t bytes, size_t rows, gfk_stream_t stream) {
    return copy(host, stride, device, pitch, bytes, rows, stream, true);
}

gfk_status gfk_device_zero(void *device, size_t bytes, gfk_stream_t stream) {
    const order o = {.kind = CLEAR, .to = device, .bytes = bytes};
    (void)pthread_mutex_lock(&mutex);
    if (!range_holds(device, bytes, stream->device))
        faults++;
    return guarded(put(&o, stream));
}

gfk_status gfk_simulated_run(const gfk_product_call *call) {
    order o = {.kind = RUN, .call = *call, .in = *call->in, .out = *call->out};
    const gfk_product_info *info = &call->product->info;
    (void)pthread_mutex_lock(&mutex);
    const int device = call->stream->device;
    if (!range_holds(o.in.base, (info->cols - 1) * o.in.stride + call->bytes, device) ||
        !range_holds(o.out.base, (info->rows - 1) * o.out.stride + call->bytes, device))
        faults++;
    return guarded(put(&o, call->stream));
}

gfk_status gfk_matmul_run(const gfk_matmul_call *call) {
    order o = {
        .kind = MATMUL, .matmul = *call, .matrix = *call->a, .in = *call->b, .out = *call->c};
    const gfk_matrix *a = call->a;
    (void)pthread_mutex_lock(&mutex);
    const int device = call->stream->device;
    if (!range_holds(o.in.base, (a->cols - 1) * o.in.stride + call->bytes, device) ||
        !range_holds(o.out.base, (a->rows - 1) * o.out.stride + call->bytes, device) ||
        (call->generator == NULL &&
         !range_holds(a->elements, a->rows * a->stride * call->field->w / 8, device)) ||
        !range_holds(call->workspace, call->plan.space, device) ||
        (uintptr_t)call->workspace % 256 != 0)
        faults++;
    const gfk_status status = put(&o, call->stream);
    if (status == GFK_STATUS_SUCCESS && call->generator != NULL) /* which the call reads */
        advance(call->stream, call->stream->ordered);
    return guarded(status);
}

gfk_status gfk_device_record(void *mark, gfk_stream_t stream) {
    event *e = mark;
    (void)pthread_mutex_lock(&mutex);
    *e = (event){stream, stream->ordered};
    return guarded(fails(stream->device) ? failure() : GFK_STATUS_SUCCESS);
}

gfk_status gfk_device_wait(void *mark) {
    const event *e = mark;
    (void)pthread_mutex_lock(&mutex);
    const unsigned wait_us = config.wait_us;
    (void)pthread_mutex_unlock(&mutex);
    (void)usleep(wait_us);
    (void)pthread_mutex_lock(&mutex);
    if (fails(e->stream->device))
        return guarded(failure());
    for (int i = 0; i < 8; i++)
        pass_time();
    advance(e->stream, e->until);
    return guarded(GFK_STATUS_SUCCESS);
}

gfk_status gfk_device_drain(gfk_stream_t stream) {
    (void)pthread_mutex_lock(&mutex);
    if (fails(stream->device)) {
        if (dead)
            die(stream);
        return guarded(failure());
    }
    advance(stream, stream->ordered);
    return guarded(GFK_STATUS_SUCCESS);
}

void gfk_device_close(gfk_stream_t stream, void *mark) {
    (void)pthread_mutex_lock(&mutex);
    if (stream->done != stream->ordered && !(dead && stream->device == config.failing))
        faults++;
    while (stream->first != NULL) {
        order *o = stream->first;
        stream->first = o->next;
        free(o);
    }
    gfk_stream_t *link = &streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    free(stream);
    free(mark);
    (void)pthread_mutex_unlock(&mutex);
}

void gfk_device_synchronize(int device) {
    (void)pthread_mutex_lock(&mutex);
    for (gfk_stream_t s = streams; s != NULL; s = s->next)
        if (s->device == device)
            advance(s, s->ordered);
    (void)pthread_mutex_unlock(&mutex);
}
