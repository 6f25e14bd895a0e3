/* SPDX-License-Identifier: BSD-3-Clause */
/* Common subexpressions of XOR sums: terms of two or three operands that many sums share. */
#ifndef GFK_JIT_CSE_H
#define GFK_JIT_CSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A term that is computed once: the XOR of two or three other terms. */
typedef struct gfk_jit_term {
    uint32_t operand[3]; /* terms with lower numbers */
    unsigned count;      /* 2 or 3 */
} gfk_jit_term;

/* Sums over `inputs` inputs. Terms 0 to inputs - 1 are the inputs; the search adds the others. Each
 * sum is reduced by XORs of two or three operands until at most `slack` operands are left: the
 * consumer of the sum folds these into its own LOP3. */
typedef struct gfk_jit_sums {
    size_t inputs, sums;
    size_t words;     /* uint64_t words of a column: bit s of column t says that sum s has term t */
    size_t capacity;  /* columns that there is room for */
    size_t terms;     /* columns in use, inputs included */
    uint64_t *column; /* [capacity][words] */
    gfk_jit_term *term; /* [capacity]; the entries of the inputs are not used */
    uint8_t *slack;     /* [sums]: 1 or 2 */
} gfk_jit_sums;

/* Empty sums; false: out of memory. */
bool gfk_jit_sums_init(gfk_jit_sums *s, size_t inputs, size_t sums);
void gfk_jit_sums_free(gfk_jit_sums *s);

static inline void gfk_jit_sums_add(gfk_jit_sums *s, size_t sum, size_t term) {
    s->column[term * s->words + sum / 64] |= UINT64_C(1) << (sum % 64);
}

static inline bool gfk_jit_sums_has(const gfk_jit_sums *s, size_t sum, size_t term) {
    return s->column[term * s->words + sum / 64] >> (sum % 64) & 1;
}

/* Finds terms, greedily; false: out of memory. */
bool gfk_jit_sums_share(gfk_jit_sums *s);

#endif
