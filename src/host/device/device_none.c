/* SPDX-License-Identifier: BSD-3-Clause */
/* The device layer without CUDA. gfk_device_resolve rejects every device number, so only calls on
 * pinned memory reach another function; the other functions exist for the linker. */
#include "device.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

gfk_status gfk_device_resolve(int requested, int *device, const char **reason) {
    *reason = "this build of the library has no CUDA kernels";
    return GFK_STATUS_NO_DEVICE;
}

gfk_memory_kind gfk_device_memory_kind(const void *memory, size_t bytes) {
    return GFK_MEMORY_PAGEABLE;
}

bool gfk_device_reaches(int place, const void *memory, size_t bytes) {
    return place == GFK_CPU;
}

#define NOT_SUPPORTED(name, ...)                                                                   \
    gfk_status name(__VA_ARGS__) {                                                                 \
        return GFK_STATUS_NOT_SUPPORTED;                                                           \
    }
NOT_SUPPORTED(gfk_device_status, int error)
NOT_SUPPORTED(gfk_device_check, unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
              const char **reason)
NOT_SUPPORTED(gfk_device_name, int device, char *name, size_t bytes)
NOT_SUPPORTED(gfk_device_processors, int device, int *processors)
NOT_SUPPORTED(gfk_device_capability, int device, int *cc)
NOT_SUPPORTED(gfk_device_double_ratio, int device, int *ratio)
NOT_SUPPORTED(gfk_device_require_current, int device)
NOT_SUPPORTED(gfk_device_enter, int device, int *previous)
NOT_SUPPORTED(gfk_device_leave, int previous, gfk_status status)
NOT_SUPPORTED(gfk_device_alloc, void **memory, uint64_t bytes)
NOT_SUPPORTED(gfk_device_upload, void *memory, const void *host, size_t bytes)
NOT_SUPPORTED(gfk_device_register, void *memory, size_t bytes)
NOT_SUPPORTED(gfk_device_unregister, void *memory)
NOT_SUPPORTED(gfk_device_open, gfk_stream_t *stream, void **event)
NOT_SUPPORTED(gfk_device_zero, void *memory, size_t bytes, gfk_stream_t stream)
NOT_SUPPORTED(gfk_device_send, void *device, size_t pitch, const void *host, size_t stride,
              size_t bytes, size_t rows, gfk_stream_t stream)
NOT_SUPPORTED(gfk_device_fetch, void *host, size_t stride, const void *device, size_t pitch,
              size_t bytes, size_t rows, gfk_stream_t stream)
NOT_SUPPORTED(gfk_device_record, void *event, gfk_stream_t stream)
NOT_SUPPORTED(gfk_device_wait, void *event)
NOT_SUPPORTED(gfk_device_drain, gfk_stream_t stream)

void gfk_device_synchronize(int device) {}
void gfk_device_free(int device, void *memory) {}
void gfk_device_close(gfk_stream_t stream, void *event) {}
