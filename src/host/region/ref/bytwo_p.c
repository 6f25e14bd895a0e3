/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p: for each bit of c from the top, double the product and add the symbol if the bit is set.
 */
#include "host/base/poly.h"
#include "walk.h"

static inline uint32_t bytwo_p(const gfk_call *call, unsigned w, uint32_t x) {
    uint32_t product = 0;
    for (unsigned i = w; i-- > 0;) {
        product = gfk_poly_double(product, w, call->multiplier->info.field.polynomial);
        if (call->c >> i & 1)
            product ^= x;
    }
    return product;
}

gfk_status gfk_bytwo_p_host(const gfk_call *call) {
    return gfk_walk(call, bytwo_p);
}
