/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of the references over a region, symbol by symbol. */
#ifndef GFK_HOST_REF_WALK_H
#define GFK_HOST_REF_WALK_H

#include "host/base/symbol.h"
#include "host/region/kernel.h"

/* The math of a method: one symbol times the call's constant. The width w is a constant once the
 * function is inlined. */
typedef uint32_t gfk_ref_op(const gfk_call *call, unsigned w, uint32_t x);

static inline __attribute__((always_inline)) void gfk_walk_width(const gfk_call *call, unsigned w,
                                                                 gfk_ref_op *op) {
    const size_t symbols = call->bytes / (w / 8);
    for (size_t i = 0; i < symbols; i++) {
        uint32_t y = op(call, w, gfk_symbol_get(call->src, i, w));
        if (call->accumulate)
            y ^= gfk_symbol_get(call->dst, i, w);
        gfk_symbol_set(call->dst, i, w, y);
    }
}

static inline __attribute__((always_inline)) gfk_status gfk_walk(const gfk_call *call,
                                                                 gfk_ref_op *op) {
    switch (call->multiplier->info.field.w) {
    case 8:
        gfk_walk_width(call, 8, op);
        break;
    case 16:
        gfk_walk_width(call, 16, op);
        break;
    default:
        gfk_walk_width(call, 32, op);
    }
    return GFK_STATUS_SUCCESS;
}

#endif
