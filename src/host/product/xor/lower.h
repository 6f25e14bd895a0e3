/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the operations of a program. Running out of memory is remembered in program->failed. */
#ifndef GFK_XOR_EMIT_H
#define GFK_XOR_EMIT_H

#include "ir.h"

/* Appends an operation and returns the value that it makes. */
uint32_t gfk_xor_emit(gfk_xor_program *program, gfk_xor_op op);
/* x ^ y ^ z, or x ^ y where z is GFK_XOR_NONE. */
uint32_t gfk_xor_emit_sum(gfk_xor_program *program, uint32_t x, uint32_t y, uint32_t z);
uint32_t gfk_xor_emit_unary(gfk_xor_program *program, gfk_xor_kind kind, uint32_t x,
                            uint32_t immediate);
uint32_t gfk_xor_emit_binary(gfk_xor_program *program, gfk_xor_kind kind, uint32_t x, uint32_t y);

/* The two ways from a matrix to the operations and outputs of an empty program; false: out of
 * memory. */
bool gfk_xor_horner(gfk_xor_program *program, const uint32_t *matrix); /* doubles the outputs */
bool gfk_xor_dual(gfk_xor_program *program, const uint32_t *matrix);   /* doubles the inputs */

/* Is the dual worth writing? It wants fewer different inputs than outputs, and registers for all
 * powers of them. */
bool gfk_xor_dual_accepts(unsigned w, size_t rows, size_t cols, const uint32_t *matrix);

#endif
