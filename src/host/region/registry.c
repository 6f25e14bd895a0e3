/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kernels as an array, and its enumeration. */
#include <string.h>

#include "host/device/device.h"
#include "kernel.h"

/* The multiply function of a CUDA row is gfk_<id>; the row may have a create and a prepare of its
 * own. A build without CUDA has the row but not the functions. */
#ifdef GFK_HAVE_CUDA
#define CUDA_FUNCTION(f) f
#define GFK_CUDA_ROW(id, ...)                                                                      \
    gfk_run_fn gfk_##id, gfk_prepare_##id;                                                         \
    gfk_create_fn gfk_create_##id;
#else
#define CUDA_FUNCTION(f) NULL
#define GFK_CUDA_ROW(id, ...)
#endif
#define GFK_HOST_ROW(...)
#include "kernels.def"
#undef GFK_HOST_ROW
#undef GFK_CUDA_ROW

#define NONE NULL
#define GFK_HOST_ROW(id, METHOD, w, variant, parameters, arg1, arg2, lo, hi, labels, tables,       \
                     workspace, create, prepare, multiply)                                         \
    {{#id, GFK_METHOD_##METHOD, w, GFK_IMPLEMENTATION_HOST, variant, parameters, arg1, arg2, lo,   \
      hi, labels, tables, workspace, 0, 0, 0, (w) / 8},                                            \
     create,                                                                                       \
     prepare,                                                                                      \
     multiply},
#define GFK_CUDA_ROW(id, METHOD, w, IMPL, variant, parameters, arg1, arg2, lo, hi, labels, tables, \
                     workspace, cc_min, cc_max, shared, tile, create, prepare)                     \
    {{#id, GFK_METHOD_##METHOD, w, GFK_IMPLEMENTATION_##IMPL, variant, parameters, arg1, arg2, lo, \
      hi, labels, tables, workspace, cc_min, cc_max, shared, tile},                                \
     CUDA_FUNCTION(create),                                                                        \
     CUDA_FUNCTION(prepare),                                                                       \
     CUDA_FUNCTION(gfk_##id)},
const gfk_kernel gfk_kernels[] = {
#include "kernels.def"
};

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
    *device = -1;
    *reason = NULL;
    if (info->implementation == GFK_IMPLEMENTATION_HOST)
        return GFK_STATUS_SUCCESS;
    if (kernel->multiply == NULL) {
        *reason = "this build of the library has no CUDA kernels";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    const gfk_status status = gfk_device_resolve(requested, device, reason);
    return status == GFK_STATUS_SUCCESS
               ? gfk_device_check(info->cc_min, info->cc_max, info->shared_bytes, *device, reason)
               : status;
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
    return gfk_kernel_check(kernel, device, &device, reason);
}

const char *gfk_method_name(gfk_method method) {
    static const char *const names[] = {"AUTO",    "SHIFT", "GROUP", "BYTWO_p",
                                        "BYTWO_b", "TABLE", "LOG",   "SPLIT"};
    return (size_t)method < sizeof names / sizeof names[0] ? names[method] : "unknown";
}

const char *gfk_implementation_name(gfk_implementation implementation) {
    static const char *const names[] = {"auto", "host", "naive", "opt"};
    return (size_t)implementation < sizeof names / sizeof names[0] ? names[implementation]
                                                                   : "unknown";
}
