/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT: first the whole carry-less product, then its reduction. */
#include "walk.h"

static inline uint32_t shift(const gfk_call *call, unsigned w, uint32_t x) {
    uint64_t product = 0;
    for (unsigned i = 0; i < w; i++)
        if (call->c >> i & 1)
            product ^= (uint64_t)x << i;
    for (unsigned i = 2 * w - 2; i >= w; i--)
        if (product >> i & 1)
            product ^= call->multiplier->info.field.polynomial << (i - w);
    return (uint32_t)product;
}

gfk_status gfk_shift_host(const gfk_call *call) {
    return gfk_walk(call, shift);
}
