/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating: the public call with all its checks. */
#include "locate.h"
#include "host/base/sizes.h"
#include "host/rs/code.h"

/* On a device the workspace holds the mismatch map and the memory of the blocks. */
static size_t map_bytes(size_t bytes) {
    const size_t chunks = gfk_divide_up(bytes, (size_t)1 << GFK_LOCATE_CHUNK_SHIFT);
    return gfk_round_up(chunks * sizeof(uint32_t), 256);
}
static size_t workspace_of(const gfk_rs_locator *locator, size_t bytes) {
    return locator->device < 0 ? gfk_locate_host_workspace(locator, bytes)
                               : map_bytes(bytes) + gfk_locate_slabs(locator, bytes);
}

gfk_status gfk_rs_locate_workspace(gfk_rs_t code, size_t bytes, size_t *workspace_bytes) {
    if (code == NULL || workspace_bytes == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (code->locator == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    if (bytes % (code->info.field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    *workspace_bytes = workspace_of(code->locator, bytes);
    return GFK_STATUS_SUCCESS;
}

static gfk_status check_call(gfk_rs_t code, const gfk_locate_call *call, size_t workspace_bytes) {
    const size_t k = code->info.k, m = code->info.m, bytes = call->bytes;
    RETURN_IF_ERROR(
        gfk_product_check_arguments(code->encoder, call->data, call->parity, bytes, call->stream));
    const unsigned access = call->repair ? GFK_WRITE : GFK_READ;
    const gfk_operand operands[] = {
        gfk_operand_regions(call->data, k, bytes, access),
        gfk_operand_regions(call->parity, m, bytes, access),
        gfk_operand_range(call->verdict, sizeof *call->verdict, sizeof(uint64_t), GFK_WRITE),
        gfk_operand_range(call->counts, (k + m) * sizeof *call->counts, sizeof(uint64_t),
                          GFK_WRITE),
        gfk_operand_workspace(call->workspace, workspace_bytes, workspace_of(code->locator, bytes),
                              256),
    };
    RETURN_IF_ERROR(gfk_rs_check_memory(code, operands, sizeof operands / sizeof operands[0]));
    return code->info.device >= 0 && bytes != 0 && k + m > GFK_LOCATE_MOST_DEVICE_POINTERS &&
                   (call->data->pointers != NULL || call->parity->pointers != NULL)
               ? GFK_STATUS_NOT_SUPPORTED
               : GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_locate(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                         size_t bytes, gfk_rs_repair repair, gfk_rs_verdict *verdict,
                         uint64_t *counts, void *workspace, size_t workspace_bytes,
                         gfk_stream_t stream) {
    if (code == NULL || (repair != GFK_RS_REPORT && repair != GFK_RS_REPAIR))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (code->locator == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    const gfk_locate_call call = {
        .locator = code->locator,
        .data = data,
        .parity = parity,
        .bytes = bytes,
        .repair = repair == GFK_RS_REPAIR,
        .verdict = verdict,
        .counts = counts,
        .workspace = workspace,
        .mismatch_map = workspace,
        /* computed in integers, because the workspace has not been checked yet */
        .slabs = workspace ? (uint8_t *)((uintptr_t)workspace + map_bytes(bytes)) : NULL,
        .stream = stream};
    RETURN_IF_ERROR(check_call(code, &call, workspace_bytes));
    if (code->info.device < 0) {
        gfk_locate_on_host(&call);
        return GFK_STATUS_SUCCESS;
    }
    RETURN_IF_ERROR(gfk_locate_device_clear(&call));
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    const uint32_t *skip_if;
    RETURN_IF_ERROR(gfk_locate_device_sample(&call, &skip_if));
    const gfk_status status =
        gfk_product_compute(&(gfk_product_call){.product = code->encoder,
                                                .in = data,
                                                .out = parity,
                                                .bytes = bytes,
                                                .stream = stream,
                                                .mismatch_map = call.mismatch_map,
                                                .shift = GFK_LOCATE_CHUNK_SHIFT,
                                                .skip_if = skip_if});
    if (status == GFK_STATUS_NOT_SUPPORTED) /* the code is too wide for the engine */
        RETURN_IF_ERROR(gfk_locate_device_mark(&call));
    else
        RETURN_IF_ERROR(status);
    return gfk_locate_device_run(&call);
}
