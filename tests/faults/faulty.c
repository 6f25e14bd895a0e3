/* SPDX-License-Identifier: BSD-3-Clause */
/* The right products, then one wrong bit in the last symbol (of the last output). */
#include "faulty.h"

static gfk_status run(gfk_run_fn *right, const gfk_call *call) {
    gfk_status status = right(call);
    call->dst[call->bytes - call->multiplier->info.field.w / 8] ^= 1;
    return status;
}

gfk_status gfk_shift_host_faulty(const gfk_call *call) {
    return run(gfk_shift_host, call);
}

gfk_status gfk_carry_free_host_faulty(const gfk_call *call) {
    return run(gfk_carry_free_host, call);
}

gfk_status gfk_host_product_faulty(const gfk_product_call *call) {
    gfk_status status = gfk_host_product_run(call);
    const gfk_product_info *info = &call->product->info;
    gfk_region_address(call->out, info->rows - 1)[call->bytes - info->field.w / 8] ^= 1;
    return status;
}
