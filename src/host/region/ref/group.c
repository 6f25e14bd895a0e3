/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP gs gr: multiply gs bits of the symbol at a time, from the top, by a table of the multiples
 * of c; then reduce gr bits at a time, from the top, by a table of i * x^w. */
#include "walk.h"

static inline uint32_t group(const gfk_call *call, unsigned w, uint32_t x) {
    const uint32_t *multiples = call->workspace;
    const uint32_t *reductions = call->multiplier->tables;
    const unsigned gs = call->multiplier->info.arg1, gr = call->multiplier->info.arg2;
    const unsigned top = (w - 1) / gs * gs; /* where the topmost group of x begins */
    uint64_t product = 0;
    for (unsigned i = 0; i <= top; i += gs)
        product = product << gs ^ multiples[x >> (top - i) & ((1u << gs) - 1)];
    /* The product has at most w + top bits. */
    for (unsigned i = (top + gr - 1) / gr; i-- > 0;) {
        uint64_t high = product >> (w + i * gr);
        product ^= high << (w + i * gr) ^ (uint64_t)reductions[high] << (i * gr);
    }
    return (uint32_t)product;
}

gfk_status gfk_group_host(const gfk_call *call) {
    return gfk_walk(call, group);
}
