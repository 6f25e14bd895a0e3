/* SPDX-License-Identifier: BSD-3-Clause */
/* The right product, then one wrong bit in the last symbol. */
#include "faulty_rows.h"

gfk_status gfk_shift_host_faulty(const gfk_call *call) {
    gfk_status status = gfk_shift_host(call);
    call->dst[call->bytes - call->multiplier->info.field.w / 8] ^= 1;
    return status;
}
