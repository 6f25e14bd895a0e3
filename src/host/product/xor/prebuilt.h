/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of common codes, compiled when the library is built: w = 8 with the default polynomial
 * and the default matrix. prebuilt.cmake has the list of codes; prebuilt_tool.c writes the table.
 */
#ifndef GFK_JIT_PREBUILT_H
#define GFK_JIT_PREBUILT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/field.h>

typedef struct gfk_jit_prebuilt {
    size_t cols, rows;
    unsigned cc; /* compute capability that the code is for */
    const unsigned char *code;
} gfk_jit_prebuilt;

extern const gfk_jit_prebuilt gfk_jit_prebuilt_list[];
extern const size_t gfk_jit_prebuilt_count;

/* The machine code for this matrix on a device of this compute capability; NULL: there is none. */
const unsigned char *gfk_jit_prebuilt_find(const gfk_field *field, size_t rows, size_t cols,
                                           const uint32_t *matrix, unsigned cc);

#endif
