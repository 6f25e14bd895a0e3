/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h without CUDA. Only the first function is ever reached: every other one is called for a
 * CUDA row that gfk_device_resolve let through. */
#include "device.h"

gfk_status gfk_device_resolve(int requested, int *device, const char **reason) {
    (void)requested;
    (void)device;
    *reason = "this build of the library has no CUDA kernels";
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_check(const gfk_kernel_info *info, int device, const char **reason) {
    (void)info;
    return gfk_device_resolve(device, &device, reason);
}

gfk_status gfk_device_check_range(unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
                                  const char **reason) {
    (void)cc_min;
    (void)cc_max;
    (void)shared_bytes;
    return gfk_device_resolve(device, &device, reason);
}

gfk_status gfk_device_current(int *device) {
    (void)device;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_select(int device) {
    (void)device;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_processors(int device, int *processors) {
    (void)device;
    (void)processors;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_capability(int device, int *cc) {
    (void)device;
    (void)cc;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_alloc(void **memory, uint64_t bytes) {
    (void)memory;
    (void)bytes;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_zero(void *memory, size_t bytes, gfk_stream_t stream) {
    (void)memory;
    (void)bytes;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

void gfk_device_synchronize(int device) {
    (void)device;
}

gfk_status gfk_device_upload(void *memory, const void *host, size_t bytes) {
    (void)memory;
    (void)host;
    (void)bytes;
    return GFK_STATUS_NOT_SUPPORTED;
}

void gfk_device_free(int device, void *memory) {
    (void)device;
    (void)memory;
}

gfk_status gfk_device_clear(const gfk_call *call) {
    (void)call;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_device_copy(const gfk_call *call) {
    (void)call;
    return GFK_STATUS_NOT_SUPPORTED;
}
