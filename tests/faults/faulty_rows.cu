// SPDX-License-Identifier: BSD-3-Clause
// The right product, then one wrong bit in the last symbol.
#include "host/region/kernel.h"
#include "kernels/common/launch.cuh"

extern "C" {
gfk_run_fn gfk_shift_w8_naive, gfk_shift_w16_naive, gfk_shift_w32_naive;
}

namespace {

__global__ void flip(unsigned char *byte) {
    *byte ^= 1;
}

gfk_status run(gfk_run_fn *right, const gfk_call *call) {
    gfk_status status = right(call);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const unsigned symbol_bytes = call->multiplier->info.field.w / 8;
    return gfk::launch(flip, 1, 1, 0, call->stream, call->dst + call->bytes - symbol_bytes);
}

} // namespace

extern "C" gfk_status gfk_shift_w8_naive_faulty(const gfk_call *call) {
    return run(gfk_shift_w8_naive, call);
}
extern "C" gfk_status gfk_shift_w16_naive_faulty(const gfk_call *call) {
    return run(gfk_shift_w16_naive, call);
}
extern "C" gfk_status gfk_shift_w32_naive_faulty(const gfk_call *call) {
    return run(gfk_shift_w32_naive, call);
}
