/* SPDX-License-Identifier: BSD-3-Clause */
/* The region calls: all checks, the constants 0 and 1, and the call of the row's function. */
#include <string.h>

#include "host/base/field.h"
#include "host/base/poly.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "kernel.h"
#include "operands.h"

static gfk_status check_call(const gfk_call *call, size_t workspace_bytes, gfk_accumulate mode) {
    const gfk_multiplier_t m = call->multiplier;
    if (m == NULL || (mode != GFK_SET && mode != GFK_XOR))
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_multiplier_info *const info = &m->info;
    if (!gfk_field_contains(&info->field, call->c))
        return GFK_STATUS_INVALID_CONSTANT;
    if (call->bytes % (info->field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    RETURN_IF_ERROR(gfk_device_check_stream(info->device, call->stream));
    const bool in_place = call->src == call->dst;
    const gfk_operand operands[] = {
        gfk_operand_range(call->src, in_place ? 0 : call->bytes, 1, GFK_READ),
        gfk_operand_range(call->dst, call->bytes, 1, GFK_WRITE),
        gfk_operand_workspace(call->workspace, workspace_bytes, (size_t)info->workspace_bytes, 16),
    };
    return gfk_operands_check(info->device, m->check_pointers, operands, 3);
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

static gfk_status multiply_region(const gfk_call *call) {
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
    call->accumulate = mode == GFK_XOR;
    RETURN_IF_ERROR(check_call(call, workspace_bytes, mode));
    if (call->bytes == 0)
        return GFK_STATUS_SUCCESS;
    fill_basis(call);
    if (!prepared)
        RETURN_IF_ERROR(prepare(call));
    return multiply_region(call);
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
    gfk_call call = {.multiplier = multiplier, .c = c, .workspace = workspace, .stream = stream};
    RETURN_IF_ERROR(check_call(&call, workspace_bytes, GFK_SET));
    fill_basis(&call);
    return prepare(&call);
}
