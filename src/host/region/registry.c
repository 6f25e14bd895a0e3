/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kernels as an array, and its enumeration. */
#include <string.h>

#include "host/base/status.h"
#include "host/device/device.h"
#include "kernel.h"

/* A build without CUDA, or whose nvcc does not know the carry-less multiply-add, has the rows but
 * not their functions. */
#ifdef GFK_HAVE_CUDA
#define CUDA(f) f
#define GFK_CUDA_ROW(id, ...)                                                                      \
    gfk_run_fn gfk_##id, gfk_prepare_##id;                                                         \
    gfk_create_fn gfk_create_##id;
#else
#define CUDA(f) NULL
#define GFK_CUDA_ROW(id, ...)
#endif
#ifdef GFK_HAVE_CLMAD
#define CLMAD(f) f
#define GFK_CLMAD_ROW GFK_CUDA_ROW
#else
#define CLMAD(f) NULL
#define GFK_CLMAD_ROW(id, ...)
#endif
#define GFK_HOST_ROW(...)
#include "kernels.def"
#undef GFK_HOST_ROW
#undef GFK_CUDA_ROW
#undef GFK_CLMAD_ROW

#define ROW(row_id, METHOD, width, IMPLEMENTATION)                                                 \
    .info.id = #row_id, .info.method = GFK_METHOD_##METHOD, .info.w = width,                       \
    .info.implementation = GFK_IMPLEMENTATION_##IMPLEMENTATION, .info.variant = "",                \
    .info.parameters = "", .info.tile_bytes = width / 8
#define GFK_HOST_ROW(id, METHOD, w, ...) {ROW(id, METHOD, w, HOST), __VA_ARGS__},
#define GFK_CUDA_ROW(id, METHOD, w, IMPLEMENTATION, ...)                                           \
    {ROW(id, METHOD, w, IMPLEMENTATION), .multiply = CUDA(gfk_##id), __VA_ARGS__},
#define GFK_CLMAD_ROW(id, METHOD, w, IMPLEMENTATION, ...)                                          \
    {ROW(id, METHOD, w, IMPLEMENTATION), .info.cc_min = 80, .multiply = CLMAD(gfk_##id),           \
     __VA_ARGS__},
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init" /* a row's fields replace the defaults of ROW */
const gfk_kernel gfk_kernels[] = {
#include "kernels.def"
};
#pragma GCC diagnostic pop

enum { COUNT = sizeof gfk_kernels / sizeof gfk_kernels[0] };

size_t gfk_kernel_count(void) {
    return COUNT;
}

const gfk_kernel_info *gfk_kernel_at(size_t index) {
    return index < COUNT ? &gfk_kernels[index].info : NULL;
}

const gfk_kernel_info *gfk_kernel_find(const char *id) {
    for (size_t i = 0; id != NULL && i < COUNT; i++)
        if (strcmp(id, gfk_kernels[i].info.id) == 0)
            return &gfk_kernels[i].info;
    return NULL;
}

const gfk_kernel *gfk_kernel_of(const gfk_kernel_info *info) {
    for (size_t i = 0; i < COUNT; i++)
        if (info == &gfk_kernels[i].info)
            return &gfk_kernels[i];
    return NULL;
}

gfk_status gfk_kernel_check(const gfk_kernel *kernel, int requested, int *device,
                            const char **reason) {
    const gfk_kernel_info *info = &kernel->info;
    *device = GFK_CPU;
    *reason = NULL;
    if (info->implementation == GFK_IMPLEMENTATION_HOST)
        return GFK_STATUS_SUCCESS;
    if (kernel->multiply == NULL) {
        *reason = GFK_NOT_BUILT;
        return GFK_STATUS_NOT_SUPPORTED;
    }
    RETURN_IF_ERROR(gfk_device_resolve(requested, device, reason));
    return gfk_device_check(info->cc_min, info->cc_max, info->shared_bytes, *device, reason);
}

gfk_status gfk_kernel_available(const gfk_kernel_info *info, int device, const char **reason) {
    const char *unused;
    if (reason == NULL)
        reason = &unused;
    const gfk_kernel *kernel = gfk_kernel_of(info);
    if (kernel == NULL) {
        *reason = "this is no row of the list";
        return GFK_STATUS_INVALID_ARGUMENT;
    }
    if (!gfk_device_allows(device, info->implementation == GFK_IMPLEMENTATION_HOST, true)) {
        *reason = "the number stands for no place where this row can run";
        return GFK_STATUS_INVALID_ARGUMENT;
    }
    return gfk_kernel_check(kernel, device, &device, reason);
}

const char *gfk_method_name(gfk_method method) {
    static const char *const names[] = {"AUTO",  "SHIFT", "GROUP", "BYTWO_p",   "BYTWO_b",
                                        "TABLE", "LOG",   "SPLIT", "CARRY_FREE"};
    return (size_t)method < sizeof names / sizeof names[0] ? names[method] : "unknown";
}

const char *gfk_implementation_name(gfk_implementation implementation) {
    static const char *const names[] = {"auto", "host", "naive", "opt"};
    return (size_t)implementation < sizeof names / sizeof names[0] ? names[implementation]
                                                                   : "unknown";
}
