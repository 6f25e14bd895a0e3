/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program on the CPU, for one word of every region. */
#ifndef GFK_XOR_INTERPRET_H
#define GFK_XOR_INTERPRET_H

#include "ir.h"

/* SUCCESS or OUT_OF_MEMORY. */
gfk_status gfk_xor_interpret(const gfk_xor_program *program, const uint32_t *in, uint32_t *out);

#endif
