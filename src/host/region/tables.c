/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a field, built once for each multiplier: on the host, then uploaded for CUDA rows.
 * The giant tables of LOG w=32 are built on the device instead, in log_naive.cu. This file also
 * builds the tables of a constant, for rows on the CPU. */
#include <stdlib.h>
#include <string.h>

#include "host/base/poly.h"
#include "host/base/symbol.h"
#include "host/base/threads.h"
#include "host/device/device.h"
#include "kernel.h"

typedef void fill_fn(const gfk_multiplier_info *info, void *tables);

static gfk_status create(gfk_multiplier_t multiplier, fill_fn *fill) {
    if (!multiplier->on_device) {
        fill(&multiplier->info, multiplier->tables);
        return GFK_STATUS_SUCCESS;
    }
    const size_t bytes = multiplier->info.table_bytes;
    void *staging = calloc(1, bytes);
    if (staging == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    fill(&multiplier->info, staging);
    const gfk_status status = gfk_device_upload(multiplier->tables, staging, bytes);
    free(staging);
    return status;
}

#define CREATE(id, fill)                                                                           \
    gfk_status id(gfk_multiplier_t multiplier) {                                                   \
        return create(multiplier, fill);                                                           \
    }

/* TABLE w=8: the product of a and b at 256 * a + b. */
static void fill_products(const gfk_multiplier_info *info, void *tables) {
    unsigned char *products = tables;
    for (uint32_t a = 0; a < 256; a++)
        for (uint32_t b = 0; b < 256; b++)
            products[256 * a + b] =
                (unsigned char)gfk_poly_multiply(a, b, 8, info->field.polynomial);
}
CREATE(gfk_create_products, fill_products)

/* LOG: 2^w logarithms to the base of the field's generator, then 2^w antilogarithms. log[0] does
 * not exist; its entry is 2^w - 1, which no logarithm equals. antilog[2^w - 1] is 1. */
typedef struct log_tables {
    const gfk_field *field;
    void *log, *antilog;
} log_tables;

static void fill_log_part(uint64_t begin, uint64_t end, void *context) {
    const log_tables *t = context;
    const unsigned w = t->field->w;
    uint32_t power = gfk_poly_pow(t->field->generator, begin, w, t->field->polynomial);
    for (uint64_t i = begin; i < end; i++) {
        gfk_symbol_set(t->antilog, i, w, power);
        gfk_symbol_set(t->log, power, w, (uint32_t)i);
        power = gfk_poly_multiply(power, t->field->generator, w, t->field->polynomial);
    }
}

static void fill_log(const gfk_multiplier_info *info, void *tables) {
    const unsigned w = info->field.w;
    const uint64_t order = (UINT64_C(1) << w) - 1;
    log_tables t = {&info->field, tables, (unsigned char *)tables + ((order + 1) * w / 8)};
    gfk_parallel_for(order, fill_log_part, &t);
    gfk_symbol_set(t.log, 0, w, (uint32_t)order);
    gfk_symbol_set(t.antilog, order, w, 1);
}
CREATE(gfk_create_log, fill_log)

/* LOG w=16: the plain tables, followed by the antilogarithms of 0, 2, 4, ... modulo 65535. There
 * are 98,304 of these, so that 32,768 in a row can begin at any of the 65,535 different ones. */
static void fill_log_even(const gfk_multiplier_info *info, void *tables) {
    fill_log(info, tables);
    const uint16_t *antilog = (const uint16_t *)tables + 65536;
    uint16_t *even = (uint16_t *)tables + 2 * 65536;
    for (uint32_t i = 0; i < 98304; i++)
        even[i] = antilog[2 * i % 65535];
}
CREATE(gfk_create_log_even, fill_log_even)

/* GROUP: the reduction of the gr bits above x^(w-1). Entry i is i * x^w and has 32 bits. */
static void fill_reductions(const gfk_multiplier_info *info, void *tables) {
    const gfk_field *field = &info->field;
    uint32_t *reductions = tables;
    const uint32_t x_to_w = (uint32_t)(field->polynomial ^ (UINT64_C(1) << field->w));
    for (uint32_t i = 0; i < UINT32_C(1) << info->arg2; i++)
        reductions[i] = gfk_poly_multiply(x_to_w, i, field->w, field->polynomial);
}
CREATE(gfk_create_reductions, fill_reductions)

/* SPLIT 8 8: for each k from 0 to 2 * w/8 - 2 a table with a * b * x^(8k) at 256 * a + b. */
static void fill_split_8_8(const gfk_multiplier_info *info, void *tables) {
    const unsigned w = info->field.w;
    const uint64_t polynomial = info->field.polynomial;
    for (unsigned k = 0; k < 2 * w / 8 - 1; k++) {
        const uint32_t scale = gfk_poly_pow(2, 8 * k, w, polynomial);
        for (uint32_t a = 0; a < 256; a++) {
            const uint32_t scaled = gfk_poly_multiply(scale, a, w, polynomial);
            for (uint32_t b = 0; b < 256; b++)
                gfk_symbol_set(tables, 65536 * k + 256 * a + b, w,
                               gfk_poly_multiply(scaled, b, w, polynomial));
        }
    }
}
CREATE(gfk_create_split_8_8, fill_split_8_8)

/* ---- the tables of one constant, from its basis, in the workspace --------------------------- */

gfk_expansion gfk_expansion_of(gfk_multiplier_t multiplier) {
    const gfk_multiplier_info *info = &multiplier->info;
    const unsigned w = info->field.w;
    switch (info->kernel->method) {
    case GFK_METHOD_GROUP: /* the multiples of c, 32 bits each */
        return (gfk_expansion){1, info->arg1, 4};
    case GFK_METHOD_SPLIT:
        return (gfk_expansion){w / info->arg2, info->arg2, w / 8};
    default: /* TABLE: the whole row */
        return (gfk_expansion){1, w, w / 8};
    }
}

typedef struct table {
    void *entries;
    const uint32_t *basis;
    unsigned w; /* bits of an entry */
} table;

/* Writes entries [begin, end) of one table, in blocks of 2^16 that do not depend on each other. The
 * first entry of a block is a sum over the basis; each further entry is computed from the entry
 * without its lowest bit. */
static void expand(uint64_t begin, uint64_t end, void *context) {
    const table *t = context;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t entry = 0;
        if (v % 65536 == 0) {
            for (unsigned bit = 0; bit < 32; bit++)
                if (v >> bit & 1)
                    entry ^= t->basis[bit];
        } else {
            entry = gfk_symbol_get(t->entries, v & (v - 1), t->w) ^ t->basis[__builtin_ctzll(v)];
        }
        gfk_symbol_set(t->entries, v, t->w, entry);
    }
}

gfk_status gfk_prepare_host(const gfk_call *call) {
    const gfk_expansion e = gfk_expansion_of(call->multiplier);
    for (unsigned part = 0; part < e.parts; part++) {
        table t = {(unsigned char *)call->workspace + ((size_t)part * e.entry_bytes << e.bits),
                   call->basis + part * e.bits, 8 * e.entry_bytes};
        gfk_parallel_for(UINT64_C(1) << e.bits, expand, &t);
    }
    return GFK_STATUS_SUCCESS;
}
