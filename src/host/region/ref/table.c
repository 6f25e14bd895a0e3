/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE: one lookup in the row of all products with c. For w=8 the rows of all constants belong to
 * the field; for w=16 and 32 prepare makes the row in the workspace. */
#include "walk.h"

static inline uint32_t table(const gfk_call *call, unsigned w, uint32_t x) {
    if (w == 8)
        return gfk_symbol_get(call->multiplier->tables, 256 * call->c + x, 8);
    return gfk_symbol_get(call->workspace, x, w);
}

gfk_status gfk_table_host(const gfk_call *call) {
    return gfk_walk(call, table);
}
