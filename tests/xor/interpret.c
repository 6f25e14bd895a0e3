/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "host/base/poly.h"
#include "interpret.h"

/* Symbol by symbol, as the field does it. */
static uint32_t doubled(uint32_t x, unsigned w, uint64_t polynomial) {
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += w)
        result |= gfk_poly_double(x >> at & (UINT32_MAX >> (32 - w)), w, polynomial) << at;
    return result;
}

static uint32_t apply(const gfk_jit_program *p, const gfk_jit_op *op, const uint32_t *value) {
    const uint32_t a = op->a == GFK_JIT_NONE ? 0 : value[op->a];
    const uint32_t b = op->b == GFK_JIT_NONE ? 0 : value[op->b];
    const uint32_t c = op->c == GFK_JIT_NONE ? 0 : value[op->c];
    switch (op->kind) {
    case GFK_JIT_SUM:
        return a ^ b ^ c;
    case GFK_JIT_DOUBLE:
        return doubled(a, p->w, p->polynomial) ^ b;
    case GFK_JIT_SHIFT_LEFT:
        return a << op->immediate;
    case GFK_JIT_SHIFT_RIGHT:
        return a >> op->immediate;
    case GFK_JIT_CARRY:
        return b << 1 | a >> 31;
    default:
        return 0;
    }
}

gfk_status gfk_jit_interpret(const gfk_jit_program *program, const uint32_t *in, uint32_t *out) {
    uint32_t *value = malloc((program->cols + program->count) * sizeof *value);
    if (value == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    memcpy(value, in, program->cols * sizeof *value);
    for (size_t i = 0; i < program->count; i++)
        value[program->cols + i] = apply(program, &program->ops[i], value);
    for (size_t j = 0; j < program->rows; j++)
        out[j] = value[program->outputs[j]];
    free(value);
    return GFK_STATUS_SUCCESS;
}
