/* SPDX-License-Identifier: BSD-3-Clause */
/* The intermediate representation: a matrix as a straight-line program over 32-bit words of packed
 * symbols. Value i < cols is the word of input i, every operation makes the next value, and
 * outputs[j] is the value of output j. */
#ifndef GFK_JIT_IR_H
#define GFK_JIT_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/field.h>
#include <gfk/status.h>

#define GFK_JIT_NONE UINT32_MAX /* no value */

typedef enum gfk_jit_kind {
    GFK_JIT_ZERO,   /* 0 */
    GFK_JIT_SUM,    /* a ^ b, or a ^ b ^ c */
    GFK_JIT_DOUBLE, /* every symbol of a times x, reduced, ^ b if there is a b; not for w = 32 */
    GFK_JIT_SHIFT_LEFT,  /* a << immediate */
    GFK_JIT_SHIFT_RIGHT, /* a >> immediate */
    GFK_JIT_CARRY,       /* the upper word of (b:a) << 1 */
    GFK_JIT_KINDS
} gfk_jit_kind;

typedef struct gfk_jit_op {
    gfk_jit_kind kind;
    uint32_t a, b, c; /* values */
    uint32_t immediate;
    bool multiply; /* DOUBLE and CARRY: use multiplications, to relieve the other pipe */
} gfk_jit_op;

typedef struct gfk_jit_program {
    unsigned w;
    uint64_t polynomial;
    size_t rows, cols;
    size_t count, capacity;
    gfk_jit_op *ops; /* op i makes value cols + i */
    uint32_t *outputs;
    bool failed; /* an allocation failed */
} gfk_jit_program;

/* Writes the program of a matrix. The caller frees it whatever the status. SUCCESS or
 * OUT_OF_MEMORY. */
gfk_status gfk_jit_program_create(gfk_jit_program *program, const gfk_field *field, size_t rows,
                                  size_t cols, const uint32_t *matrix);
void gfk_jit_program_free(gfk_jit_program *program);

/* The cost of one word of every region: instructions on the pipe that LOP3, PRMT and shifts share
 * (ALU), and issue slots of the pipe that multiplies and adds (FMA). */
typedef struct gfk_jit_cost {
    size_t alu, fma;
} gfk_jit_cost;

gfk_jit_cost gfk_jit_program_cost(const gfk_jit_program *program);
size_t gfk_jit_program_length(const gfk_jit_program *program); /* the cost of the busier pipe */

/* Instructions that a pipe executes in 70 % of the time in which memory moves a word, on an H200. A
 * shorter program is limited by memory. */
#define GFK_JIT_PER_WORD 11

/* ---- lowering: from a matrix to operations; program->failed remembers a failed allocation ---- */

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
