/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_b: for each bit of c from the bottom to the topmost set bit, add the symbol if the bit is
 * set, and double the symbol. */
#include "host/base/poly.h"
#include "walk.h"

static inline uint32_t bytwo_b(const gfk_call *call, unsigned w, uint32_t x) {
    uint32_t product = 0;
    for (uint32_t bits = call->c; bits != 0; bits >>= 1) {
        if (bits & 1)
            product ^= x;
        x = gfk_poly_double(x, w, call->multiplier->info.field.polynomial);
    }
    return product;
}

gfk_status gfk_bytwo_b_host(const gfk_call *call) {
    return gfk_walk(call, bytwo_b);
}
