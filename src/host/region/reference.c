/* SPDX-License-Identifier: BSD-3-Clause */
/* The references: one kernel for each method and width, on one CPU thread, in simple code. Every
 * other row must give the same bytes. A method is a function of one symbol. */
#include "host/base/poly.h"
#include "host/base/symbol.h"
#include "kernel.h"

/* Multiplies one symbol by the call's constant. The width w is a constant once the function is
 * inlined. */
typedef uint32_t method_fn(const gfk_call *call, unsigned w, uint32_t x);

static inline __attribute__((always_inline)) void walk_width(const gfk_call *call, unsigned w,
                                                             method_fn *method) {
    const size_t symbols = call->bytes / (w / 8);
    for (size_t i = 0; i < symbols; i++) {
        uint32_t y = method(call, w, gfk_symbol_get(call->src, i, w));
        if (call->accumulate)
            y ^= gfk_symbol_get(call->dst, i, w);
        gfk_symbol_set(call->dst, i, w, y);
    }
}

/* The loop over a region, symbol by symbol. */
static inline __attribute__((always_inline)) gfk_status walk(const gfk_call *call,
                                                             method_fn *method) {
    switch (call->multiplier->info.field.w) {
    case 8:
        walk_width(call, 8, method);
        break;
    case 16:
        walk_width(call, 16, method);
        break;
    default:
        walk_width(call, 32, method);
    }
    return GFK_STATUS_SUCCESS;
}

#define KERNEL(id, method)                                                                         \
    gfk_status id(const gfk_call *call) {                                                          \
        return walk(call, method);                                                                 \
    }

/* SHIFT: first the whole carry-less product, then its reduction. */
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
KERNEL(gfk_shift_host, shift)

/* GROUP gs gr: multiply gs bits of the symbol at a time, from the top, by a table of the multiples
 * of c; then reduce gr bits at a time, from the top, by a table of i * x^w. */
static inline uint32_t group(const gfk_call *call, unsigned w, uint32_t x) {
    const uint32_t *multiples = call->workspace;
    const uint32_t *reductions = call->multiplier->tables;
    const unsigned gs = call->multiplier->info.arg1, gr = call->multiplier->info.arg2;
    const unsigned top = (w - 1) / gs * gs; /* the lowest bit of the topmost group of x */
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
KERNEL(gfk_group_host, group)

/* BYTWO_p: for each bit of c from the top, double the product and add the symbol if the bit is set.
 */
static inline uint32_t bytwo_p(const gfk_call *call, unsigned w, uint32_t x) {
    uint32_t product = 0;
    for (unsigned i = w; i-- > 0;) {
        product = gfk_poly_double(product, w, call->multiplier->info.field.polynomial);
        if (call->c >> i & 1)
            product ^= x;
    }
    return product;
}
KERNEL(gfk_bytwo_p_host, bytwo_p)

/* BYTWO_b: for each bit of c from the bottom to the topmost set bit, add the symbol if the bit is
 * set, and double the symbol. */
static inline uint32_t bytwo_b(const gfk_call *call, unsigned w, uint32_t x) {
    uint32_t product = 0;
    for (uint32_t bits = call->c; bits != 0; bits >>= 1) {
        if (bits & 1)
            product ^= x;
        x = gfk_poly_double(x, w, call->multiplier->info.field.polynomial);
    }
    return product;
}
KERNEL(gfk_bytwo_b_host, bytwo_b)

/* TABLE: one lookup in the row of all products with c. For w=8 the rows of all constants belong to
 * the field; for w=16 and 32 prepare makes the row in the workspace. */
static inline uint32_t table(const gfk_call *call, unsigned w, uint32_t x) {
    if (w == 8)
        return gfk_symbol_get(call->multiplier->tables, 256 * call->c + x, 8);
    return gfk_symbol_get(call->workspace, x, w);
}
KERNEL(gfk_table_host, table)

/* LOG: antilog((log x + log c) mod (2^w - 1)). */
static inline uint32_t log_antilog(const gfk_call *call, unsigned w, uint32_t x) {
    const uint64_t order = (UINT64_C(1) << w) - 1;
    const unsigned char *log = call->multiplier->tables;
    const unsigned char *antilog = log + (order + 1) * w / 8;
    if (x == 0)
        return 0;
    uint64_t sum = (uint64_t)gfk_symbol_get(log, x, w) + gfk_symbol_get(log, call->c, w);
    return gfk_symbol_get(antilog, sum % order, w);
}
KERNEL(gfk_log_host, log_antilog)

/* SPLIT: one lookup for each part of the symbol; the results are XORed. */

/* SPLIT w b: prepare made a table of 2^b products with c per part. */
static inline uint32_t split(const gfk_call *call, unsigned w, uint32_t x) {
    const unsigned bits = call->multiplier->info.arg2;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t product = 0;
    for (unsigned part = 0; part < w / bits; part++)
        product ^= gfk_symbol_get(call->workspace, (part << bits) + (x >> (part * bits) & mask), w);
    return product;
}
KERNEL(gfk_split_host, split)

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
KERNEL(gfk_split_8_8_host, split_8_8)

/* CARRY_FREE: the carry-less product, then Barrett's reduction by two more. The quotient by the
 * polynomial is exact, because there are no carries. */
static inline uint32_t carry_free(const gfk_call *call, unsigned w, uint32_t x) {
    const gfk_barrett *barrett = &call->multiplier->barrett;
    const uint64_t product = gfk_poly_carry_less(x, call->c);
    const uint64_t quotient = gfk_poly_carry_less(barrett->quotient, product >> w) >> w;
    return (uint32_t)(product ^ gfk_poly_carry_less(quotient, barrett->polynomial));
}
KERNEL(gfk_carry_free_host, carry_free)
