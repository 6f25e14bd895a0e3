/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix as a straight-line program over 32-bit words of packed symbols: value i < cols is the
 * word of input i, every operation makes the next value, and outputs[j] is the value of output j.
 */
#ifndef GFK_XOR_PROGRAM_H
#define GFK_XOR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/field.h>
#include <gfk/status.h>

#define GFK_XOR_NONE UINT32_MAX /* no value */

typedef enum gfk_xor_kind {
    GFK_XOR_ZERO,   /* 0 */
    GFK_XOR_SUM,    /* a ^ b, or a ^ b ^ c */
    GFK_XOR_DOUBLE, /* every symbol of a times x, reduced, ^ b if there is one: not for w = 32 */
    GFK_XOR_SHIFT_LEFT,  /* a << immediate */
    GFK_XOR_SHIFT_RIGHT, /* a >> immediate */
    GFK_XOR_CARRY,       /* the upper word of (b:a) << 1 */
    GFK_XOR_KINDS
} gfk_xor_kind;

typedef struct gfk_xor_op {
    gfk_xor_kind kind;
    uint32_t a, b, c; /* values */
    uint32_t immediate;
    bool multiply; /* of DOUBLE and CARRY: by multiplications, to spare the other pipe */
} gfk_xor_op;

typedef struct gfk_xor_program {
    unsigned w;
    uint64_t polynomial;
    size_t rows, cols;
    size_t count, capacity;
    gfk_xor_op *ops; /* op i makes value cols + i */
    uint32_t *outputs;
    bool failed; /* out of memory while it was written */
} gfk_xor_program;

/* Writes the program of a matrix, to be freed whatever the status. SUCCESS or OUT_OF_MEMORY. */
gfk_status gfk_xor_program_create(gfk_xor_program *program, const gfk_field *field, size_t rows,
                                  size_t cols, const uint32_t *matrix);
void gfk_xor_program_free(gfk_xor_program *program);

/* What a word of every region costs: instructions on the pipe that LOP3, PRMT and shifts share, and
 * turns of the pipe beside it, which multiplies and adds. */
typedef struct gfk_xor_cost {
    size_t alu, fma;
} gfk_xor_cost;

gfk_xor_cost gfk_xor_program_cost(const gfk_xor_program *program);
size_t gfk_xor_program_length(const gfk_xor_program *program); /* what limits: the fuller pipe */

/* Instructions of a pipe in 70 % of the time that memory takes to move a word, on an H200: a
 * program of no more is not what limits. */
#define GFK_XOR_PER_WORD 11

#endif
