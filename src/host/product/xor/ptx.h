/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a program as the PTX of a kernel. */
#ifndef GFK_JIT_PTX_H
#define GFK_JIT_PTX_H

#include <stdio.h>

#include "ir.h"

#define GFK_JIT_KERNEL "gfk_xor" /* the name of every kernel */

/* gfk_jit_shape.mode. */
enum { GFK_JIT_STORE = 0, GFK_JIT_ADD = 1, GFK_JIT_CHECK = 2 };

/* The kernel's second parameter. The first is an array of addresses, inputs and then outputs, of
 * tile 0 of each region. A thread takes one tile: `words` aligned words of every region, or one
 * word of regions that are not aligned. One block more takes the edges in front of the tiles and
 * behind them, symbol by symbol. */
typedef struct gfk_jit_shape {
    uint64_t tail;      /* offset of the first byte behind the tiles */
    uint32_t tiles;     /* below 2^32 - threads */
    uint32_t blocks;    /* for the tiles */
    uint32_t head;      /* symbols in front of the tiles */
    uint32_t edges;     /* symbols in front and behind; at most `threads` */
    uint32_t mode;      /* what to do with the outputs */
    uint32_t unaligned; /* 1: tiles are single words at any address */
    /* for GFK_JIT_CHECK: mismatch_map[o >> shift] becomes 1 where an output differs */
    uint64_t mismatch_map;
    uint64_t origin; /* o of tile 0 */
    uint32_t shift;
} gfk_jit_shape;

typedef struct gfk_jit_target {
    unsigned cc;      /* compute capability, 10 * major + minor */
    unsigned words;   /* 1, 2 or 4 */
    unsigned threads; /* of a block */
    unsigned blocks;  /* per multiprocessor, for which the registers must suffice; 0: any number */
} gfk_jit_target;

/* Writes the kernel; ferror(out) tells whether this failed. */
void gfk_jit_ptx(FILE *out, const gfk_jit_program *program, const gfk_jit_target *target);

#endif
