/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of one constant, expanded from its basis c * 2^i into the workspace. */
#include "host/base/symbol.h"
#include "host/base/threads.h"
#include "host/region/kernel.h"

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
    unsigned w; /* of an entry, in bits */
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
