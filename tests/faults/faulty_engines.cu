// SPDX-License-Identifier: BSD-3-Clause
// The right products, then one wrong bit in the last symbol of the last output.
#include "host/product/engine.h"
#include "kernels/common/launch.cuh"

extern "C" {
gfk_engine_accepts_fn gfk_perop_split_w8_accepts, gfk_perop_split_w16_accepts,
    gfk_perop_split_w32_accepts;
gfk_engine_create_fn gfk_perop_split_w8_create, gfk_perop_split_w16_create,
    gfk_perop_split_w32_create;
gfk_engine_destroy_fn gfk_perop_split_w8_destroy;
gfk_engine_run_fn gfk_perop_split_w8_run, gfk_perop_split_w16_run, gfk_perop_split_w32_run;
}

namespace {

__global__ void flip(unsigned char *byte) {
    *byte ^= 1;
}

gfk_status run(gfk_engine_run_fn *right, const gfk_product_call *call) {
    gfk_status status = right(call);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const gfk_product_info *info = &call->product->info;
    unsigned char *last = gfk_region_address(call->out, info->rows - 1);
    return gfk::launch(flip, 1, 1, 0, call->stream, last + call->bytes - info->field.w / 8);
}

} // namespace

#define FAULTY(w)                                                                                  \
    extern "C" gfk_status gfk_perop_split_w##w##_faulty_accepts(gfk_product_info *info,            \
                                                                const char **reason) {             \
        return gfk_perop_split_w##w##_accepts(info, reason);                                       \
    }                                                                                              \
    extern "C" gfk_status gfk_perop_split_w##w##_faulty_create(gfk_product_t product,              \
                                                               const gfk_product_desc *desc) {     \
        return gfk_perop_split_w##w##_create(product, desc);                                       \
    }                                                                                              \
    extern "C" void gfk_perop_split_w##w##_faulty_destroy(gfk_product_t product) {                 \
        gfk_perop_split_w8_destroy(product);                                                       \
    }                                                                                              \
    extern "C" gfk_status gfk_perop_split_w##w##_faulty_run(const gfk_product_call *call) {        \
        return run(gfk_perop_split_w##w##_run, call);                                              \
    }
FAULTY(8)
FAULTY(16)
FAULTY(32)
