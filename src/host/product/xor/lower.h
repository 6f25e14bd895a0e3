/* SPDX-License-Identifier: BSD-3-Clause */
/* Lowering: from a matrix to the operations of a program. program->failed remembers a failed
 * allocation. */
#ifndef GFK_JIT_LOWER_H
#define GFK_JIT_LOWER_H

#include "ir.h"

/* Appends an operation and returns the value that it makes. */
uint32_t gfk_jit_emit(gfk_jit_program *program, gfk_jit_op op);
/* x ^ y ^ z, or x ^ y where z is GFK_JIT_NONE. */
uint32_t gfk_jit_emit_sum(gfk_jit_program *program, uint32_t x, uint32_t y, uint32_t z);
uint32_t gfk_jit_emit_unary(gfk_jit_program *program, gfk_jit_kind kind, uint32_t x,
                            uint32_t immediate);
uint32_t gfk_jit_emit_binary(gfk_jit_program *program, gfk_jit_kind kind, uint32_t x, uint32_t y);

/* The two ways to write the operations and outputs of an empty program; false: out of memory. */
bool gfk_jit_lower_horner(gfk_jit_program *program,
                          const uint32_t *matrix); /* doubles the outputs */
bool gfk_jit_lower_transposed(gfk_jit_program *program,
                              const uint32_t *matrix); /* doubles the inputs */

/* Is the transposed way worth trying? It needs fewer different columns than outputs, and registers
 * for all powers of the inputs. */
bool gfk_jit_transposed_accepts(unsigned w, size_t rows, size_t cols, const uint32_t *matrix);

#endif
