/* SPDX-License-Identifier: BSD-3-Clause */
/* The product call: all checks, and the call of the engine. */
#include "engine.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/base/threads.h"
#include "host/device/device.h"

gfk_status gfk_regions_check(const gfk_regions *regions, size_t count, size_t bytes) {
    if (regions->pointers != NULL) {
        for (size_t i = 0; i < count; i++) {
            if (regions->pointers[i] == NULL)
                return GFK_STATUS_INVALID_ARGUMENT;
            if ((uintptr_t)regions->pointers[i] > UINTPTR_MAX - bytes)
                return GFK_STATUS_INVALID_SIZE;
        }
        return GFK_STATUS_SUCCESS;
    }
    if (regions->base == NULL || regions->stride < bytes)
        return GFK_STATUS_INVALID_ARGUMENT;
    const size_t room = UINTPTR_MAX - (uintptr_t)regions->base;
    if (bytes > room || (count - 1) > (room - bytes) / regions->stride)
        return GFK_STATUS_INVALID_SIZE;
    return GFK_STATUS_SUCCESS;
}

bool gfk_regions_reach(int place, const gfk_regions *regions, size_t count, size_t bytes) {
    for (size_t i = 0; i < count; i++)
        if (!gfk_device_reaches(place, gfk_region_address(regions, i), bytes))
            return false;
    return true;
}

gfk_status gfk_product_check_arguments(gfk_product_t product, const gfk_regions *in,
                                       const gfk_regions *out, size_t bytes, gfk_stream_t stream) {
    if (product == NULL || in == NULL || out == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_device_check_stream(product->info.device, stream));
    if (bytes % (product->info.field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(gfk_regions_check(in, product->info.cols, bytes));
    RETURN_IF_ERROR(gfk_regions_check(out, product->info.rows, bytes));
    const int place = product->info.device;
    return product->check_pointers && !(gfk_regions_reach(place, in, product->info.cols, bytes) &&
                                        gfk_regions_reach(place, out, product->info.rows, bytes))
               ? GFK_STATUS_WRONG_DEVICE
               : GFK_STATUS_SUCCESS;
}

gfk_status gfk_product_run(gfk_product_t product, const gfk_regions *in, const gfk_regions *out,
                           size_t bytes, gfk_accumulate mode, gfk_stream_t stream) {
    if (mode != GFK_SET && mode != GFK_XOR)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_product_check_arguments(product, in, out, bytes, stream));
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    if (gfk_outputs_overlap(in, product->info.cols, out, product->info.rows, bytes))
        return GFK_STATUS_OVERLAP;
    const gfk_product_call call = {.product = product,
                                   .in = in,
                                   .out = out,
                                   .bytes = bytes,
                                   .accumulate = mode == GFK_XOR,
                                   .stream = stream};
    return product->engine->run(&call);
}

typedef struct tiles {
    const gfk_product_call *call;
    size_t tile;
    gfk_range_fn *range;
} tiles;

static void compute_tile(size_t i, void *context) {
    const tiles *t = context;
    const size_t offset = i * t->tile, left = t->call->bytes - offset;
    t->range(t->call, offset, left < t->tile ? left : t->tile);
}

void gfk_share_tiles(const gfk_product_call *call, size_t tile, gfk_range_fn *range) {
    tiles t = {call, tile, range};
    if (call->on_caller || call->product->pool == NULL)
        range(call, 0, call->bytes);
    else
        gfk_pool_run(call->product->pool, GFK_ALL_THREADS, gfk_divide_up(call->bytes, tile),
                     compute_tile, &t);
}

gfk_status gfk_product_check(gfk_product_t product, const gfk_regions *in, const gfk_regions *out,
                             size_t bytes, uint32_t *mismatch_map, unsigned shift,
                             const uint32_t *unwanted, gfk_stream_t stream) {
    if (mismatch_map == NULL || shift < 12 || shift > 63)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_product_check_arguments(product, in, out, bytes, stream));
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_product_call call = {.product = product,
                                   .in = in,
                                   .out = out,
                                   .bytes = bytes,
                                   .stream = stream,
                                   .mismatch_map = mismatch_map,
                                   .shift = shift,
                                   .unwanted = unwanted};
    return product->engine->run(&call);
}
