/* SPDX-License-Identifier: BSD-3-Clause */
/* The region calls: all checks, the constants 0 and 1, and the call of the row's function. */
#include <string.h>

#include "host/base/field.h"
#include "host/base/poly.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "kernel.h"

/* Checks what does not depend on the regions: constant, workspace, stream, device. */
static gfk_status check_context(gfk_multiplier_t m, uint32_t c, const void *workspace,
                                size_t workspace_bytes, gfk_stream_t stream) {
    if (m == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (!gfk_field_contains(&m->info.field, c))
        return GFK_STATUS_INVALID_CONSTANT;
    if (m->info.workspace_bytes > (workspace ? workspace_bytes : 0))
        return GFK_STATUS_WORKSPACE_TOO_SMALL;
    if (m->info.workspace_bytes != 0 && (uintptr_t)workspace % 16 != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (gfk_wraps(workspace, (size_t)m->info.workspace_bytes))
        return GFK_STATUS_INVALID_SIZE;
    return gfk_device_check_stream(m->info.device, stream);
}

static gfk_status check_regions(gfk_multiplier_t m, const void *src, const void *dst, size_t bytes,
                                gfk_accumulate mode, const void *workspace) {
    if (mode != GFK_SET && mode != GFK_XOR)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes % (m->info.field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    if (src == NULL || dst == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (gfk_wraps(src, bytes) || gfk_wraps(dst, bytes))
        return GFK_STATUS_INVALID_SIZE;
    const size_t used = (size_t)m->info.workspace_bytes;
    if ((src != dst && gfk_overlap(src, bytes, dst, bytes)) ||
        (used != 0 &&
         (gfk_overlap(workspace, used, src, bytes) || gfk_overlap(workspace, used, dst, bytes))))
        return GFK_STATUS_OVERLAP;
    return GFK_STATUS_SUCCESS;
}

static gfk_status check_memory(const gfk_call *call) {
    const gfk_multiplier_info *info = &call->multiplier->info;
    return gfk_device_reaches(info->device, call->src, call->bytes) &&
                   gfk_device_reaches(info->device, call->dst, call->bytes) &&
                   gfk_device_reaches(info->device, call->workspace, info->workspace_bytes)
               ? GFK_STATUS_SUCCESS
               : GFK_STATUS_WRONG_DEVICE;
}

static void fill_basis(gfk_call *call) {
    const gfk_field *field = &call->multiplier->info.field;
    uint32_t power = call->c;
    for (unsigned i = 0; i < field->w; i++) {
        call->basis[i] = power;
        power = gfk_poly_double(power, field->w, field->polynomial);
    }
}

static gfk_status clear(const gfk_call *call) {
    if (call->accumulate)
        return GFK_STATUS_SUCCESS;
    if (call->multiplier->on_device)
        return gfk_device_zero(call->dst, call->bytes, call->stream);
    memset(call->dst, 0, call->bytes);
    return GFK_STATUS_SUCCESS;
}

static gfk_status copy(const gfk_call *call) {
    if (call->multiplier->on_device)
        return gfk_region_copy_on_device(call);
    if (call->accumulate) {
        for (size_t i = 0; i < call->bytes; i++)
            call->dst[i] ^= call->src[i];
    } else if (call->dst != call->src) {
        memcpy(call->dst, call->src, call->bytes);
    }
    return GFK_STATUS_SUCCESS;
}

static gfk_status prepare(const gfk_call *call) {
    const gfk_kernel *kernel = call->multiplier->kernel;
    return kernel->prepare && call->c > 1 ? kernel->prepare(call) : GFK_STATUS_SUCCESS;
}

static gfk_status multiply(const gfk_call *call) {
    switch (call->c) {
    case 0:
        return clear(call);
    case 1:
        return copy(call);
    default:
        return call->multiplier->kernel->multiply(call);
    }
}

/* All checks, then the tables unless they are prepared, then the product. */
static gfk_status check_and_multiply(gfk_call *call, size_t workspace_bytes, gfk_accumulate mode,
                                     bool prepared) {
    gfk_multiplier_t m = call->multiplier;
    call->accumulate = mode == GFK_XOR;
    RETURN_IF_ERROR(check_context(m, call->c, call->workspace, workspace_bytes, call->stream));
    RETURN_IF_ERROR(check_regions(m, call->src, call->dst, call->bytes, mode, call->workspace));
    if (call->bytes == 0)
        return GFK_STATUS_SUCCESS;
    if (m->check_pointers)
        RETURN_IF_ERROR(check_memory(call));
    fill_basis(call);
    if (!prepared)
        RETURN_IF_ERROR(prepare(call));
    return multiply(call);
}

gfk_status gfk_region_multiply(gfk_multiplier_t multiplier, uint32_t c, const void *src, void *dst,
                               size_t bytes, gfk_accumulate mode, void *workspace,
                               size_t workspace_bytes, gfk_stream_t stream) {
    gfk_call call = {.multiplier = multiplier,
                     .c = c,
                     .src = src,
                     .dst = dst,
                     .bytes = bytes,
                     .workspace = workspace,
                     .stream = stream};
    return check_and_multiply(&call, workspace_bytes, mode, false);
}

gfk_status gfk_region_multiply_prepared(gfk_multiplier_t multiplier, uint32_t c, const void *src,
                                        void *dst, size_t bytes, gfk_accumulate mode,
                                        const void *workspace, size_t workspace_bytes,
                                        gfk_stream_t stream) {
    void *const read_only = (void *)(uintptr_t)workspace;
    gfk_call call = {.multiplier = multiplier,
                     .c = c,
                     .src = src,
                     .dst = dst,
                     .bytes = bytes,
                     .workspace = read_only,
                     .stream = stream};
    return check_and_multiply(&call, workspace_bytes, mode, true);
}

gfk_status gfk_region_prepare(gfk_multiplier_t multiplier, uint32_t c, void *workspace,
                              size_t workspace_bytes, gfk_stream_t stream) {
    RETURN_IF_ERROR(check_context(multiplier, c, workspace, workspace_bytes, stream));
    gfk_call call = {.multiplier = multiplier, .c = c, .workspace = workspace, .stream = stream};
    if (multiplier->check_pointers)
        RETURN_IF_ERROR(check_memory(&call));
    fill_basis(&call);
    return prepare(&call);
}
