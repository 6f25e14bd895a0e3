/* SPDX-License-Identifier: BSD-3-Clause */
/* Horner's rule over the bits of the coefficients. For each output, from the top bit down, the
 * accumulator is doubled and the inputs whose coefficient has the bit are added.
 *
 * w = 8 and 16 reduce at every doubling: symbols whose top bit is shifted out get the polynomial.
 * A doubling is three ALU operations and one addition, and adds one operand of the next sum for
 * free. w = 32 doubles 64 bits without a reduction, in one operation and one addition, adds two
 * operands for free, and reduces once at the end. */
#include <stdlib.h>

#include "cse.h"
#include "host/base/sizes.h"
#include "ir.h"

typedef struct builder {
    gfk_jit_program *program;
    const uint32_t *matrix;
    gfk_jit_sums sums; /* of one group of outputs: sum (j - first) * w + bit */
    uint32_t *value;   /* [capacity of sums]: the values of the terms computed so far */
    uint32_t *operand; /* a queue: the operands of the current sum */
    size_t operands;
} builder;

/* Computes a term where it is first needed, so that it occupies a register as late as possible. */
static uint32_t term(builder *b, uint32_t t) {
    if (b->value[t] == GFK_JIT_NONE) {
        const gfk_jit_term *e = &b->sums.term[t];
        const uint32_t x = term(b, e->operand[0]), y = term(b, e->operand[1]);
        b->value[t] = gfk_jit_emit_sum(b->program, x, y,
                                       e->count == 3 ? term(b, e->operand[2]) : GFK_JIT_NONE);
    }
    return b->value[t];
}

/* Adds up the operands until at most `slack` values are left, which then come first. The additions
 * form a tree, because a long chain would wait for each result. */
static void reduce(builder *b, size_t slack) {
    size_t begin = 0, end = b->operands;
    while (end - begin > slack) {
        const uint32_t *x = &b->operand[begin];
        const size_t take = end - begin == slack + 1 ? 2 : 3;
        const uint32_t made =
            gfk_jit_emit_sum(b->program, x[0], x[1], take == 3 ? x[2] : GFK_JIT_NONE);
        begin += take;
        b->operand[end++] = made; /* `operand` has room for twice as many */
    }
    b->operands = end - begin;
    for (size_t i = 0; i < b->operands; i++)
        b->operand[i] = b->operand[begin + i];
}

static void reduce_sum(builder *b, size_t s, size_t slack) {
    b->operands = 0;
    for (uint32_t t = 0; t < b->sums.terms; t++)
        if (gfk_jit_sums_has(&b->sums, s, t))
            b->operand[b->operands++] = term(b, t);
    reduce(b, slack);
}

static uint32_t operand(const builder *b, size_t i) {
    return i < b->operands ? b->operand[i] : GFK_JIT_NONE;
}

/* floor(x^64 / polynomial) without its leading term. Barrett's reduction with it is exact here. */
static uint32_t reciprocal(uint64_t polynomial) {
    uint32_t quotient = 0;
    uint32_t rest = (uint32_t)polynomial; /* x^32 modulo the polynomial */
    for (int bit = 31; bit >= 0; bit--) {
        const uint32_t top = rest >> 31;
        quotient |= top << bit;
        rest = rest << 1 ^ (top ? (uint32_t)polynomial : 0);
    }
    return quotient;
}

/* The sum of x shifted by the bits of `set`, of x itself for SHIFT_RIGHT, and of y if there is one.
 */
static uint32_t sum_of_shifts(builder *b, gfk_jit_kind kind, uint32_t x, uint32_t set, uint32_t y) {
    b->operands = 0;
    if (y != GFK_JIT_NONE)
        b->operand[b->operands++] = y;
    for (unsigned bit = 0; bit < 32; bit++) {
        if (!(set >> bit & 1))
            continue;
        const unsigned by = kind == GFK_JIT_SHIFT_LEFT ? bit : 32 - bit;
        if (by < 32)
            b->operand[b->operands++] = by == 0 ? x : gfk_jit_emit_unary(b->program, kind, x, by);
    }
    if (kind == GFK_JIT_SHIFT_RIGHT)
        b->operand[b->operands++] = x;
    reduce(b, 1);
    return b->operand[0];
}

/* high * x^32 + low, reduced. */
static uint32_t reduce_wide(builder *b, uint32_t high, uint32_t low) {
    const uint32_t quotient = sum_of_shifts(b, GFK_JIT_SHIFT_RIGHT, high,
                                            reciprocal(b->program->polynomial), GFK_JIT_NONE);
    return sum_of_shifts(b, GFK_JIT_SHIFT_LEFT, quotient, (uint32_t)b->program->polynomial, low);
}

static bool empty(const builder *b, size_t s) {
    for (size_t t = 0; t < b->sums.terms; t++)
        if (gfk_jit_sums_has(&b->sums, s, t))
            return false;
    return true;
}

static uint32_t output(builder *b, size_t first_sum) {
    const size_t w = b->program->w;
    uint32_t low = GFK_JIT_NONE, high = GFK_JIT_NONE;
    for (size_t bit = w; bit-- > 0;) {
        const size_t s = first_sum + bit;
        if (low == GFK_JIT_NONE) {
            if (!empty(b, s)) {
                reduce_sum(b, s, 1);
                low = operand(b, 0);
            }
            continue;
        }
        reduce_sum(b, s, b->sums.slack[s]);
        if (w != 32) {
            low = gfk_jit_emit_binary(b->program, GFK_JIT_DOUBLE, low, operand(b, 0));
            continue;
        }
        high = high == GFK_JIT_NONE ? gfk_jit_emit_unary(b->program, GFK_JIT_SHIFT_RIGHT, low, 31)
                                    : gfk_jit_emit_binary(b->program, GFK_JIT_CARRY, low, high);
        low = gfk_jit_emit_unary(b->program, GFK_JIT_SHIFT_LEFT, low, 1);
        if (b->operands != 0)
            low = gfk_jit_emit_sum(b->program, low, operand(b, 0), operand(b, 1));
    }
    if (low == GFK_JIT_NONE)
        return gfk_jit_emit_unary(b->program, GFK_JIT_ZERO, GFK_JIT_NONE, 0);
    return high == GFK_JIT_NONE ? low : reduce_wide(b, high, low);
}

/* The sums of a group of outputs. The topmost sum of an output has no consumer that could take
 * operands. */
static void fill(builder *b, size_t first, size_t rows) {
    const gfk_jit_program *p = b->program;
    for (size_t j = 0; j < rows; j++) {
        uint32_t seen = 0;
        for (size_t i = 0; i < p->cols; i++) {
            const uint32_t c = b->matrix[(first + j) * p->cols + i];
            seen |= c;
            for (unsigned bit = 0; bit < p->w; bit++)
                if (c >> bit & 1)
                    gfk_jit_sums_add(&b->sums, j * p->w + bit, i);
        }
        for (unsigned bit = 0; bit < p->w; bit++)
            b->sums.slack[j * p->w + bit] = p->w == 32 && seen >> bit > 1 ? 2 : 1;
    }
}

static bool lower_group(builder *b, size_t first, size_t rows) {
    const gfk_jit_program *p = b->program;
    if (!gfk_jit_sums_init(&b->sums, p->cols, rows * p->w))
        return false;
    fill(b, first, rows);
    bool ok = gfk_jit_sums_share(&b->sums);
    /* The operands of reduce_wide are at most 33. */
    b->value = malloc(b->sums.capacity * sizeof *b->value);
    b->operand = malloc(2 * (b->sums.capacity + 40) * sizeof *b->operand);
    ok = ok && b->value != NULL && b->operand != NULL;
    for (size_t t = 0; ok && t < b->sums.terms; t++)
        b->value[t] = t < p->cols ? (uint32_t)t : GFK_JIT_NONE;
    for (size_t j = 0; ok && j < rows; j++)
        p->outputs[first + j] = output(b, j * p->w);
    free(b->value);
    free(b->operand);
    gfk_jit_sums_free(&b->sums);
    return ok && !p->failed;
}

bool gfk_jit_lower_horner(gfk_jit_program *program, const uint32_t *matrix) {
    builder b = {.program = program, .matrix = matrix};
    /* The outputs of a group share terms; larger groups would need more registers than there are.
     * The groups are of nearly the same size: 17 outputs are 9 and 8. */
    const size_t most = program->cols > 48 ? 11 : 16;
    const size_t groups = gfk_divide_up(program->rows, most);
    bool ok = true;
    for (size_t g = 0; ok && g < groups; g++) {
        const size_t first = g * program->rows / groups, end = (g + 1) * program->rows / groups;
        ok = lower_group(&b, first, end - first);
    }
    return ok;
}
