/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "lower.h"

uint32_t gfk_jit_emit(gfk_jit_program *p, gfk_jit_op op) {
    if (p->count == p->capacity && !p->failed) {
        const size_t capacity = 2 * p->capacity + 256;
        gfk_jit_op *ops = realloc(p->ops, capacity * sizeof *ops);
        if (ops == NULL) {
            p->failed = true;
        } else {
            p->ops = ops;
            p->capacity = capacity;
        }
    }
    if (p->failed)
        return 0;
    p->ops[p->count] = op;
    return (uint32_t)(p->cols + p->count++);
}

uint32_t gfk_jit_emit_sum(gfk_jit_program *p, uint32_t x, uint32_t y, uint32_t z) {
    return gfk_jit_emit(p, (gfk_jit_op){.kind = GFK_JIT_SUM, .a = x, .b = y, .c = z});
}

uint32_t gfk_jit_emit_unary(gfk_jit_program *p, gfk_jit_kind kind, uint32_t x, uint32_t immediate) {
    return gfk_jit_emit(p, (gfk_jit_op){kind, x, GFK_JIT_NONE, GFK_JIT_NONE, immediate, false});
}

uint32_t gfk_jit_emit_binary(gfk_jit_program *p, gfk_jit_kind kind, uint32_t x, uint32_t y) {
    return gfk_jit_emit(p, (gfk_jit_op){kind, x, y, GFK_JIT_NONE, 0, false});
}
