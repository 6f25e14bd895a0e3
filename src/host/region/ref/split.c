/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT: one lookup for each part of the symbol; the results are XORed. */
#include "walk.h"

/* SPLIT w b: prepare made a table of 2^b products with c per part. */
static inline uint32_t split(const gfk_call *call, unsigned w, uint32_t x) {
    const unsigned bits = call->multiplier->info.arg2;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t product = 0;
    for (unsigned part = 0; part < w / bits; part++)
        product ^= gfk_symbol_get(call->workspace, (part << bits) + (x >> (part * bits) & mask), w);
    return product;
}

gfk_status gfk_split_host(const gfk_call *call) {
    return gfk_walk(call, split);
}

/* SPLIT 8 8: both factors are split into bytes. The field has a table of byte times byte for each
 * sum of the bytes' positions. */
static inline uint32_t split_8_8(const gfk_call *call, unsigned w, uint32_t x) {
    uint32_t product = 0;
    for (unsigned i = 0; i < w / 8; i++)
        for (unsigned j = 0; j < w / 8; j++)
            product ^= gfk_symbol_get(
                call->multiplier->tables,
                65536 * (i + j) + 256 * (x >> (8 * i) & 255) + (call->c >> (8 * j) & 255), w);
    return product;
}

gfk_status gfk_split_8_8_host(const gfk_call *call) {
    return gfk_walk(call, split_8_8);
}
