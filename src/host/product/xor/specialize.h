/* SPDX-License-Identifier: BSD-3-Clause */
/* From a matrix to a kernel: what the kernel is compiled for, its key, and how it is launched.
 * Nothing here needs CUDA. */
#ifndef GFK_JIT_SPECIALIZE_H
#define GFK_JIT_SPECIALIZE_H

#include "disk_cache.h"
#include "ptx.h"

/* Raise this number with every change of the generated kernels, so that kernels of older versions
 * in caches are no longer found. tests/xor/ptx_test.cpp fails when only the text changes. */
#define GFK_JIT_GENERATOR 7

/* Can a matrix of this shape be compiled? Larger ones take seconds to compile, and registers spill.
 */
bool gfk_jit_accepts(unsigned w, size_t rows, size_t cols);
enum { GFK_JIT_MOST_COLS = 96, GFK_JIT_MOST_ROWS = 64 };

/* Words per thread and threads per block for a shape, from measurements. */
gfk_jit_target gfk_jit_choose_target(unsigned w, size_t rows, size_t cols, unsigned cc);

/* Everything on which the code depends, including the compiler's name. The caller frees the data,
 * which is NULL if there is no memory. */
gfk_bytes gfk_jit_key(const gfk_field *field, size_t rows, size_t cols, const uint32_t *matrix,
                      const gfk_jit_target *target, const char *compiler);

/* Writes the text of the kernel. SUCCESS, or OUT_OF_MEMORY also where writing fails. */
gfk_status gfk_jit_write_ptx(FILE *out, const gfk_field *field, size_t rows, size_t cols,
                             const uint32_t *matrix, const gfk_jit_target *target);

/* Divides `bytes` bytes at these addresses into tiles and edges, and moves the addresses to tile 0.
 * `bytes` is a multiple of the symbol and at most GFK_JIT_LONGEST. */
#define GFK_JIT_LONGEST (UINT64_C(1) << 32)
gfk_jit_shape gfk_jit_make_shape(const gfk_jit_target *target, unsigned w, uint64_t *regions,
                                 size_t count, uint64_t bytes, bool accumulate);

#endif
