/* SPDX-License-Identifier: BSD-3-Clause */
/* From a matrix to a program, by the cheaper of two ways. */
#include <stdlib.h>

#include "ir.h"

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

/* The cost of an operation: {ALU, FMA}. */
static gfk_jit_cost cost_of(unsigned w, const gfk_jit_op *op) {
    switch (op->kind) {
    case GFK_JIT_SHIFT_LEFT: /* a multiplication */
        return (gfk_jit_cost){0, 1};
    case GFK_JIT_DOUBLE:
        if (w == 32)
            return op->multiply ? (gfk_jit_cost){1, 4} : (gfk_jit_cost){2, 1};
        return op->multiply ? (gfk_jit_cost){2, 4} : (gfk_jit_cost){3, 1};
    case GFK_JIT_CARRY: /* the upper half of a product takes two turns */
        return op->multiply ? (gfk_jit_cost){0, 3} : (gfk_jit_cost){1, 0};
    default:
        return (gfk_jit_cost){1, 0};
    }
}

gfk_jit_cost gfk_jit_program_cost(const gfk_jit_program *program) {
    gfk_jit_cost total = {0, 0};
    for (size_t i = 0; i < program->count; i++) {
        const gfk_jit_cost c = cost_of(program->w, &program->ops[i]);
        total.alu += c.alu;
        total.fma += c.fma;
    }
    return total;
}

size_t gfk_jit_program_length(const gfk_jit_program *program) {
    const gfk_jit_cost cost = gfk_jit_program_cost(program);
    return cost.alu > cost.fma ? cost.alu : cost.fma;
}

/* Can this operation use multiplications? The polynomial has to fit into a factor of 32 bits, for
 * w = 8 and 16 shifted up by one. */
static bool can_multiply(const gfk_jit_program *p, const gfk_jit_op *op) {
    if (op->kind == GFK_JIT_DOUBLE)
        return p->w == 32 || !(p->polynomial >> (p->w - 1) & 1);
    return op->kind == GFK_JIT_CARRY;
}

/* Moves doublings to the FMA pipe as long as the ALU pipe takes longer than the FMA pipe and longer
 * than memory. Each move saves one ALU instruction and costs three FMA slots. The moved doublings
 * are spread evenly over the program, so that both pipes are busy all the time. */
static void balance(gfk_jit_program *p) {
    const gfk_jit_cost cost = gfk_jit_program_cost(p);
    const size_t memory = GFK_JIT_PER_WORD * (p->rows + p->cols);
    size_t candidates = 0, chosen = 0, seen = 0;
    for (size_t i = 0; i < p->count; i++)
        candidates += can_multiply(p, &p->ops[i]);
    while (chosen < candidates && cost.alu - chosen > memory &&
           cost.alu - chosen > cost.fma + 3 * chosen + 3)
        chosen++;
    for (size_t i = 0; i < p->count; i++) {
        if (can_multiply(p, &p->ops[i])) {
            p->ops[i].multiply = (seen + 1) * chosen / candidates > seen * chosen / candidates;
            seen++;
        }
    }
}

typedef bool way_fn(gfk_jit_program *program, const uint32_t *matrix);

static gfk_status create(gfk_jit_program *program, const gfk_field *field, size_t rows, size_t cols,
                         const uint32_t *matrix, way_fn *way) {
    *program = (gfk_jit_program){
        .w = field->w, .polynomial = field->polynomial, .rows = rows, .cols = cols};
    program->outputs = calloc(rows, sizeof *program->outputs);
    if (program->outputs == NULL || !way(program, matrix))
        return GFK_STATUS_OUT_OF_MEMORY;
    balance(program);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_jit_program_create(gfk_jit_program *program, const gfk_field *field, size_t rows,
                                  size_t cols, const uint32_t *matrix) {
    gfk_status status = create(program, field, rows, cols, matrix, gfk_jit_lower_horner);
    if (status != GFK_STATUS_SUCCESS || !gfk_jit_transposed_accepts(field->w, rows, cols, matrix))
        return status;
    gfk_jit_program transposed;
    status = create(&transposed, field, rows, cols, matrix, gfk_jit_lower_transposed);
    if (status == GFK_STATUS_SUCCESS &&
        gfk_jit_program_length(&transposed) < gfk_jit_program_length(program)) {
        const gfk_jit_program longer = *program;
        *program = transposed;
        transposed = longer;
    }
    gfk_jit_program_free(&transposed);
    return status;
}

void gfk_jit_program_free(gfk_jit_program *program) {
    free(program->ops);
    free(program->outputs);
    *program = (gfk_jit_program){0};
}
