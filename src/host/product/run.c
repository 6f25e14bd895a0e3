/* SPDX-License-Identifier: BSD-3-Clause */
/* The product call: its checks, and the call of the engine. */
#include "engine.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/base/threads.h"
#include "host/device/device.h"

gfk_status gfk_product_check_arguments(gfk_product_t product, const gfk_regions *in,
                                       const gfk_regions *out, size_t bytes, gfk_stream_t stream) {
    if (product == NULL || in == NULL || out == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    return bytes % (product->info.field.w / 8) != 0
               ? GFK_STATUS_INVALID_SIZE
               : gfk_device_check_stream(product->info.device, stream);
}

gfk_status gfk_product_compute(const gfk_product_call *call) {
    return call->product->engine->run(call);
}

gfk_status gfk_product_run(gfk_product_t product, const gfk_regions *in, const gfk_regions *out,
                           size_t bytes, gfk_accumulate mode, gfk_stream_t stream) {
    if (mode != GFK_SET && mode != GFK_XOR)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_product_check_arguments(product, in, out, bytes, stream));
    const gfk_product_info *const info = &product->info;
    const gfk_operand operands[] = {
        gfk_operand_regions(in, info->cols, bytes, GFK_READ),
        gfk_operand_regions(out, info->rows, bytes, GFK_WRITE),
    };
    RETURN_IF_ERROR(gfk_operands_check(info->device, product->check_pointers, operands, 2));
    const gfk_product_call call = {.product = product,
                                   .in = in,
                                   .out = out,
                                   .bytes = bytes,
                                   .accumulate = mode == GFK_XOR,
                                   .stream = stream};
    return bytes != 0 ? gfk_product_compute(&call) : GFK_STATUS_SUCCESS;
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
