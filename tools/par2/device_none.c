/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without CUDA: device_begin finds no device, and nothing else is called. */
#include "device.h"

gfk_status device_begin(int device, char *name, size_t room, uint64_t *free_bytes) {
    (void)device, (void)name, (void)room, (void)free_bytes;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_use(int device) {
    (void)device;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_alloc(void **memory, uint64_t bytes) {
    (void)memory, (void)bytes;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_stream_open(gfk_stream_t *stream) {
    (void)stream;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_event_open(void **event) {
    (void)event;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_zero(void *memory, size_t bytes, gfk_stream_t stream) {
    (void)memory, (void)bytes, (void)stream;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_send(void *memory, const void *host, size_t bytes, gfk_stream_t stream) {
    (void)memory, (void)host, (void)bytes, (void)stream;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_fetch(void *host, const void *memory, size_t bytes, gfk_stream_t stream) {
    (void)host, (void)memory, (void)bytes, (void)stream;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_record(void *event, gfk_stream_t stream) {
    (void)event, (void)stream;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_follow(gfk_stream_t stream, void *event) {
    (void)stream, (void)event;
    return GFK_STATUS_NO_DEVICE;
}

gfk_status device_wait(void *event) {
    (void)event;
    return GFK_STATUS_NO_DEVICE;
}

void device_free(void *memory) {
    (void)memory;
}

void device_stream_close(gfk_stream_t stream) {
    (void)stream;
}

void device_event_close(void *event) {
    (void)event;
}

bool device_passed(void *event) {
    (void)event;
    return true;
}
