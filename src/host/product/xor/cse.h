/* SPDX-License-Identifier: BSD-3-Clause */
/* Common subexpressions of XOR sums: terms of two or three operands that many sums share. */
#ifndef GFK_XOR_CSE_H
#define GFK_XOR_CSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sum of terms, to be reduced by XORs of two or three operands until `leave` operands are left,
 * which whoever takes the sum adds for nothing. */
typedef struct gfk_xor_term {
    uint32_t operand[3]; /* terms with lower numbers */
    unsigned count;      /* 2 or 3 */
} gfk_xor_term;

/* The sums over `inputs` inputs. Terms 0 to inputs - 1 are the inputs; the others are what the
 * search found worth computing once. */
typedef struct gfk_xor_sums {
    size_t inputs, sums;
    size_t words;     /* uint64_t words of a column: bit s of column t says that sum s has term t */
    size_t capacity;  /* columns that there is room for */
    size_t terms;     /* columns in use, inputs included */
    uint64_t *column; /* [capacity][words] */
    gfk_xor_term *term; /* [capacity]; those of the inputs are not used */
    uint8_t *leave;     /* [sums]: 1 or 2 */
} gfk_xor_sums;

/* Empty sums; false: out of memory. */
bool gfk_xor_sums_init(gfk_xor_sums *s, size_t inputs, size_t sums);
void gfk_xor_sums_free(gfk_xor_sums *s);

static inline void gfk_xor_sums_add(gfk_xor_sums *s, size_t sum, size_t term) {
    s->column[term * s->words + sum / 64] |= UINT64_C(1) << (sum % 64);
}

static inline bool gfk_xor_sums_has(const gfk_xor_sums *s, size_t sum, size_t term) {
    return s->column[term * s->words + sum / 64] >> (sum % 64) & 1;
}

/* Finds terms, greedily; false: out of memory. */
bool gfk_xor_sums_share(gfk_xor_sums *s);

#endif
