/* SPDX-License-Identifier: BSD-3-Clause */
/* The transposed way: the inputs x are doubled, x, 2x, 4x, ..., and each output is one sum of such
 * powers. Inputs with equal columns are first added and count as one input. So there are w - 1
 * doublings for each different column, however many outputs there are.
 *
 * A term is computed as soon as the last power that it needs is there, and all sums grow together:
 * each power is used up soon, and few registers are live. */
#include <stdlib.h>

#include "cse.h"
#include "ir.h"

enum { MOST_POWERS = 128 }; /* with more powers, kernels of many outputs spill registers */

/* A sum that grows by XORs of three operands. */
typedef struct open_sum {
    uint32_t operand[3];
    unsigned count;
} open_sum;

typedef struct builder {
    gfk_jit_program *program;
    const uint32_t *matrix;
    size_t distinct;          /* different columns */
    size_t like[MOST_POWERS]; /* [distinct]: the first column of each kind */
    gfk_jit_sums sums;        /* one per output; term bit * distinct + i is input i times x^bit */
    uint32_t *value;          /* [capacity of sums] */
    uint32_t *ready;          /* [capacity of sums]: the last power that a term needs */
    open_sum *output;         /* [rows] */
} builder;

static bool equal_columns(const uint32_t *matrix, size_t rows, size_t cols, size_t a, size_t b) {
    for (size_t j = 0; j < rows; j++)
        if (matrix[j * cols + a] != matrix[j * cols + b])
            return false;
    return true;
}

/* The first column that is like column i. */
static size_t first_like(const uint32_t *matrix, size_t rows, size_t cols, size_t i) {
    size_t first = 0;
    while (!equal_columns(matrix, rows, cols, first, i))
        first++;
    return first;
}

bool gfk_jit_transposed_accepts(unsigned w, size_t rows, size_t cols, const uint32_t *matrix) {
    size_t distinct = 0;
    for (size_t i = 0; i < cols; i++)
        distinct += first_like(matrix, rows, cols, i) == i;
    return distinct < rows && distinct * w <= MOST_POWERS;
}

static void add(gfk_jit_program *p, open_sum *s, uint32_t value) {
    s->operand[s->count++] = value;
    if (s->count == 3) {
        s->operand[0] = gfk_jit_emit_sum(p, s->operand[0], s->operand[1], s->operand[2]);
        s->count = 1;
    }
}

static uint32_t close_sum(gfk_jit_program *p, const open_sum *s) {
    if (s->count == 0)
        return gfk_jit_emit_unary(p, GFK_JIT_ZERO, GFK_JIT_NONE, 0);
    return s->count == 1 ? s->operand[0]
                         : gfk_jit_emit_sum(p, s->operand[0], s->operand[1], GFK_JIT_NONE);
}

/* The sum of all inputs whose columns are of kind i. */
static uint32_t input(builder *b, size_t i) {
    gfk_jit_program *p = b->program;
    open_sum s = {.count = 0};
    for (size_t other = b->like[i]; other < p->cols; other++)
        if (equal_columns(b->matrix, p->rows, p->cols, b->like[i], other))
            add(p, &s, (uint32_t)other);
    return close_sum(p, &s);
}

/* The bits that any coefficient of kind i has. */
static uint32_t bits(const builder *b, size_t i) {
    uint32_t seen = 0;
    for (size_t j = 0; j < b->program->rows; j++)
        seen |= b->matrix[j * b->program->cols + b->like[i]];
    return seen;
}

static void power(builder *b, size_t t) {
    const size_t i = t % b->distinct, bit = t / b->distinct;
    if (bits(b, i) >> bit == 0)
        return;
    b->value[t] = bit == 0 ? input(b, i)
                           : gfk_jit_emit_binary(b->program, GFK_JIT_DOUBLE,
                                                 b->value[t - b->distinct], GFK_JIT_NONE);
}

static void add_to_outputs(builder *b, size_t t) {
    for (size_t j = 0; j < b->program->rows; j++)
        if (gfk_jit_sums_has(&b->sums, j, t))
            add(b->program, &b->output[j], b->value[t]);
}

static void fill(builder *b) {
    const gfk_jit_program *p = b->program;
    for (size_t j = 0; j < p->rows; j++) {
        b->sums.slack[j] = 1;
        for (size_t i = 0; i < b->distinct; i++)
            for (size_t bit = 0; bit < p->w; bit++)
                if (b->matrix[j * p->cols + b->like[i]] >> bit & 1)
                    gfk_jit_sums_add(&b->sums, j, bit * b->distinct + i);
    }
}

static void order(builder *b) {
    for (uint32_t t = 0; t < b->sums.terms; t++) {
        const gfk_jit_term *e = &b->sums.term[t];
        b->ready[t] = t < b->sums.inputs ? t : 0;
        for (unsigned i = 0; t >= b->sums.inputs && i < e->count; i++)
            if (b->ready[e->operand[i]] > b->ready[t])
                b->ready[t] = b->ready[e->operand[i]];
    }
}

static void compute(builder *b) {
    gfk_jit_program *p = b->program;
    for (size_t t = 0; t < b->sums.inputs; t++) {
        power(b, t);
        add_to_outputs(b, t);
        for (size_t u = b->sums.inputs; u < b->sums.terms; u++) {
            if (b->ready[u] != t)
                continue;
            const gfk_jit_term *e = &b->sums.term[u];
            b->value[u] = gfk_jit_emit_sum(p, b->value[e->operand[0]], b->value[e->operand[1]],
                                           e->count == 3 ? b->value[e->operand[2]] : GFK_JIT_NONE);
            add_to_outputs(b, u);
        }
    }
    for (size_t j = 0; j < p->rows; j++)
        p->outputs[j] = close_sum(p, &b->output[j]);
}

bool gfk_jit_lower_transposed(gfk_jit_program *program, const uint32_t *matrix) {
    builder b = {.program = program, .matrix = matrix};
    for (size_t i = 0; i < program->cols; i++)
        if (first_like(matrix, program->rows, program->cols, i) == i)
            b.like[b.distinct++] = i;
    if (!gfk_jit_sums_init(&b.sums, b.distinct * program->w, program->rows))
        return false;
    fill(&b);
    b.value = malloc(b.sums.capacity * sizeof *b.value);
    b.ready = malloc(b.sums.capacity * sizeof *b.ready);
    b.output = calloc(program->rows, sizeof *b.output);
    const bool ok =
        b.value != NULL && b.ready != NULL && b.output != NULL && gfk_jit_sums_share(&b.sums);
    if (ok) {
        order(&b);
        compute(&b);
    }
    free(b.value);
    free(b.ready);
    free(b.output);
    gfk_jit_sums_free(&b.sums);
    return ok && !program->failed;
}
