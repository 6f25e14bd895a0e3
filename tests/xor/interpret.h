/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program on the CPU, for one word of every region. */
#ifndef GFK_JIT_INTERPRET_H
#define GFK_JIT_INTERPRET_H

#include "host/product/xor/ir.h"

/* SUCCESS or OUT_OF_MEMORY. */
gfk_status gfk_jit_interpret(const gfk_jit_program *program, const uint32_t *in, uint32_t *out);

#endif
