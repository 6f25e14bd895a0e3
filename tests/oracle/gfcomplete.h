/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle: products in GF(2^w) by GF-Complete, which shares no code with this library. */
#ifndef GFK_TESTS_ORACLE_GFCOMPLETE_H
#define GFK_TESTS_ORACLE_GFCOMPLETE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One field of GF-Complete. Its fields rewrite their own tables during a multiplication, so an
 * oracle belongs to one thread. */
typedef struct oracle oracle;

/* w is 8, 16 or 32; polynomial is irreducible, with its leading term; 0 is GF-Complete's default.
 * NULL if GF-Complete refuses. */
oracle *oracle_create(unsigned w, uint64_t polynomial);
void oracle_destroy(oracle *o);

/* Operands are below 2^w, divisors are not 0. */
uint32_t oracle_multiply(oracle *o, uint32_t a, uint32_t b);
uint32_t oracle_divide(oracle *o, uint32_t a, uint32_t b);

/* dst = c * src, whole symbols, any alignment, any length. */
void oracle_multiply_region(oracle *o, uint32_t c, const void *src, void *dst, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
