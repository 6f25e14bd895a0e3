/* SPDX-License-Identifier: BSD-3-Clause */
/* From a matrix to a program, in the cheaper of two ways. */
#include <stdlib.h>

#include "lower.h"

/* By pipe: {the ordinary way, by multiplications}. */
static gfk_xor_cost cost_of(unsigned w, const gfk_xor_op *op) {
    switch (op->kind) {
    case GFK_XOR_SHIFT_LEFT: /* a multiplication */
        return (gfk_xor_cost){0, 1};
    case GFK_XOR_DOUBLE:
        if (w == 32)
            return op->multiply ? (gfk_xor_cost){1, 4} : (gfk_xor_cost){2, 1};
        return op->multiply ? (gfk_xor_cost){2, 4} : (gfk_xor_cost){3, 1};
    case GFK_XOR_CARRY: /* the upper half of a product takes two turns */
        return op->multiply ? (gfk_xor_cost){0, 3} : (gfk_xor_cost){1, 0};
    default:
        return (gfk_xor_cost){1, 0};
    }
}

gfk_xor_cost gfk_xor_program_cost(const gfk_xor_program *program) {
    gfk_xor_cost total = {0, 0};
    for (size_t i = 0; i < program->count; i++) {
        const gfk_xor_cost c = cost_of(program->w, &program->ops[i]);
        total.alu += c.alu;
        total.fma += c.fma;
    }
    return total;
}

size_t gfk_xor_program_length(const gfk_xor_program *program) {
    const gfk_xor_cost cost = gfk_xor_program_cost(program);
    return cost.alu > cost.fma ? cost.alu : cost.fma;
}

/* Can this op be done by multiplications? The polynomial has to fit into a factor of 32 bits, for
 * w = 8 and 16 moved up by one. */
static bool can_multiply(const gfk_xor_program *p, const gfk_xor_op *op) {
    if (op->kind == GFK_XOR_DOUBLE)
        return p->w == 32 || !(p->polynomial >> (p->w - 1) & 1);
    return op->kind == GFK_XOR_CARRY;
}

/* Moves doublings to the pipe of multiplications, one instruction less here for three turns more
 * there, as long as the first pipe would take longer, and longer than memory does. They are spread
 * evenly, so that both pipes are busy all the time. */
static void balance(gfk_xor_program *p) {
    const gfk_xor_cost cost = gfk_xor_program_cost(p);
    const size_t memory = GFK_XOR_PER_WORD * (p->rows + p->cols);
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

typedef bool way_fn(gfk_xor_program *program, const uint32_t *matrix);

static gfk_status create(gfk_xor_program *program, const gfk_field *field, size_t rows, size_t cols,
                         const uint32_t *matrix, way_fn *way) {
    *program = (gfk_xor_program){
        .w = field->w, .polynomial = field->polynomial, .rows = rows, .cols = cols};
    program->outputs = calloc(rows, sizeof *program->outputs);
    if (program->outputs == NULL || !way(program, matrix))
        return GFK_STATUS_OUT_OF_MEMORY;
    balance(program);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_xor_program_create(gfk_xor_program *program, const gfk_field *field, size_t rows,
                                  size_t cols, const uint32_t *matrix) {
    gfk_status status = create(program, field, rows, cols, matrix, gfk_xor_horner);
    if (status != GFK_STATUS_SUCCESS || !gfk_xor_dual_accepts(field->w, rows, cols, matrix))
        return status;
    gfk_xor_program dual;
    status = create(&dual, field, rows, cols, matrix, gfk_xor_dual);
    if (status == GFK_STATUS_SUCCESS &&
        gfk_xor_program_length(&dual) < gfk_xor_program_length(program)) {
        const gfk_xor_program longer = *program;
        *program = dual;
        dual = longer;
    }
    gfk_xor_program_free(&dual);
    return status;
}

void gfk_xor_program_free(gfk_xor_program *program) {
    free(program->ops);
    free(program->outputs);
    *program = (gfk_xor_program){0};
}
