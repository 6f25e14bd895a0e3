/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/par2/device.h on the simulated devices. A simulated device makes a stream and an event
 * together; each object here is such a pair, and uses one of the two. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/par2/device.h"
#include "host/device/device.h"

typedef struct pair {
    gfk_stream_t stream;
    void *mark;
    bool recorded;
} pair;

/* The streams of the one place that a run of the tool has. */
enum { MOST_STREAMS = 3 };
static pair streams[MOST_STREAMS];

gfk_status device_begin(int device, char *name, size_t room, uint64_t *free_bytes) {
    const char *reason = NULL;
    int resolved = 0;
    const char *const memory = getenv("FAKE_MEMORY"); /* bytes */
    *free_bytes = memory == NULL ? (uint64_t)512 << 20 : strtoull(memory, NULL, 10);
    (void)gfk_device_name(device, name, room);
    const gfk_status status = gfk_device_resolve(device, &resolved, &reason);
    return status == GFK_STATUS_SUCCESS ? device_use(device) : status;
}

gfk_status device_use(int device) {
    int previous = 0;
    return gfk_device_enter(device, &previous);
}

gfk_status device_alloc(void **memory, uint64_t bytes) {
    return gfk_device_alloc(memory, bytes);
}

void device_free(void *memory) {
    gfk_device_free(simulated_device_current(), memory);
}

gfk_status device_stream_open(gfk_stream_t *stream) {
    size_t i = 0;
    while (streams[i].stream != NULL)
        i++;
    const gfk_status status = gfk_device_open(&streams[i].stream, &streams[i].mark);
    *stream = streams[i].stream;
    return status;
}

void device_stream_close(gfk_stream_t stream) {
    for (size_t i = 0; i < MOST_STREAMS && stream != NULL; i++)
        if (streams[i].stream == stream) {
            gfk_device_close(stream, streams[i].mark);
            streams[i] = (pair){NULL, NULL, false};
        }
}

gfk_status device_event_open(void **event) {
    pair *const made = calloc(1, sizeof *made);
    const gfk_status status = gfk_device_open(&made->stream, &made->mark);
    *event = status == GFK_STATUS_SUCCESS ? made : NULL;
    if (status != GFK_STATUS_SUCCESS)
        free(made);
    return status;
}

void device_event_close(void *event) {
    pair *const p = event;
    if (p != NULL)
        gfk_device_close(p->stream, p->mark);
    free(p);
}

gfk_status device_zero(void *memory, size_t bytes, gfk_stream_t stream) {
    return gfk_device_zero(memory, bytes, stream);
}

gfk_status device_send(void *memory, const void *host, size_t bytes, gfk_stream_t stream) {
    return gfk_device_send(memory, bytes, host, bytes, bytes, 1, stream);
}

gfk_status device_fetch(void *host, const void *memory, size_t bytes, gfk_stream_t stream) {
    return gfk_device_fetch(host, bytes, memory, bytes, bytes, 1, stream);
}

gfk_status device_record(void *event, gfk_stream_t stream) {
    pair *const p = event;
    p->recorded = true;
    return gfk_device_record(p->mark, stream);
}

/* The stream's later work waits: here the caller does. */
gfk_status device_follow(gfk_stream_t stream, void *event) {
    (void)stream;
    return device_wait(event);
}

gfk_status device_wait(void *event) {
    const pair *const p = event;
    return p->recorded ? gfk_device_wait(p->mark) : GFK_STATUS_SUCCESS;
}

/* Every third answer is no, as of work that is not done: then other work is ordered. */
bool device_passed(void *event) {
    static atomic_uint questions;
    return atomic_fetch_add(&questions, 1) % 3 != 2 && device_wait(event) == GFK_STATUS_SUCCESS;
}
