/* SPDX-License-Identifier: BSD-3-Clause */
/* bus.h without CUDA. Of work only gfk_bus_resolve is ever reached: no device gets past it. */
#include "bus.h"

gfk_status gfk_bus_resolve(int requested, int *device) {
    (void)requested;
    (void)device;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_name(int device, char *name, size_t bytes) {
    (void)device;
    (void)name;
    (void)bytes;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_enter(int device, int *previous) {
    (void)device;
    (void)previous;
    return GFK_STATUS_NOT_SUPPORTED;
}

void gfk_bus_leave(int previous) {
    (void)previous;
}

gfk_status gfk_bus_register(void *memory, size_t bytes) {
    (void)memory;
    (void)bytes;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_unregister(void *memory) {
    (void)memory;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_bus_memory gfk_bus_memory_of(const void *memory, size_t bytes) {
    (void)memory;
    (void)bytes;
    return GFK_BUS_PAGEABLE;
}

gfk_status gfk_bus_alloc(void **memory, size_t bytes) {
    (void)memory;
    (void)bytes;
    return GFK_STATUS_NOT_SUPPORTED;
}

void gfk_bus_free(void *memory) {
    (void)memory;
}

gfk_status gfk_bus_open(gfk_stream_t *stream, void **event) {
    (void)stream;
    (void)event;
    return GFK_STATUS_NOT_SUPPORTED;
}

void gfk_bus_close(gfk_stream_t stream, void *event) {
    (void)stream;
    (void)event;
}

gfk_status gfk_bus_send(void *device, size_t pitch, const void *host, size_t stride, size_t bytes,
                        size_t rows, gfk_stream_t stream) {
    (void)device;
    (void)pitch;
    (void)host;
    (void)stride;
    (void)bytes;
    (void)rows;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_fetch(void *host, size_t stride, const void *device, size_t pitch, size_t bytes,
                         size_t rows, gfk_stream_t stream) {
    return gfk_bus_send(host, stride, device, pitch, bytes, rows, stream);
}

gfk_status gfk_bus_clear(void *device, size_t bytes, gfk_stream_t stream) {
    (void)device;
    (void)bytes;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_record(void *event, gfk_stream_t stream) {
    (void)event;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_wait(void *event) {
    (void)event;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_drain(gfk_stream_t stream) {
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_product(gfk_product_t *product, int device, const gfk_field *field, size_t rows,
                           size_t cols, const uint32_t *matrix) {
    (void)product;
    (void)device;
    (void)field;
    (void)rows;
    (void)cols;
    (void)matrix;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_bus_run(const gfk_product_call *call) {
    (void)call;
    return GFK_STATUS_NOT_SUPPORTED;
}
