/* SPDX-License-Identifier: BSD-3-Clause */
/* From a matrix to a kernel's code: what it is compiled for, the key of the result, and how it is
 * launched. Nothing here needs CUDA. */
#ifndef GFK_JIT_SPECIALIZE_H
#define GFK_JIT_SPECIALIZE_H

#include "disk_cache.h"
#include "ptx.h"

/* To be raised with every change of the generated kernels: kernels of older versions in caches are
 * then no longer found. tests/xor_ptx_test.cpp fails when the text changes and this does not. */
#define GFK_JIT_GENERATOR 7

/* Beyond these, compiling takes seconds and registers spill. */
bool gfk_jit_accepts(unsigned w, size_t rows, size_t cols);
enum { GFK_JIT_MOST_COLS = 96, GFK_JIT_MOST_ROWS = 64 };

/* Words per thread and threads per block for a shape; from measurements. */
gfk_jit_target gfk_jit_choose_target(unsigned w, size_t rows, size_t cols, unsigned cc);

/* Everything that the code depends on, the compiler's name among it; data is NULL if there is no
 * memory. The caller frees it. */
gfk_bytes gfk_jit_key(const gfk_field *field, size_t rows, size_t cols, const uint32_t *matrix,
                      const gfk_jit_target *target, const char *compiler);

/* The text of the kernel. SUCCESS or OUT_OF_MEMORY; to be freed whatever the status. */
gfk_status gfk_jit_write_ptx(gfk_text *text, const gfk_field *field, size_t rows, size_t cols,
                             const uint32_t *matrix, const gfk_jit_target *target);

/* How `bytes` bytes at these addresses are cut into units and edges; moves the addresses to unit 0.
 * `bytes` is a multiple of the symbol and at most GFK_JIT_LONGEST. */
#define GFK_JIT_LONGEST (UINT64_C(1) << 32)
gfk_jit_shape gfk_jit_make_shape(const gfk_jit_target *target, unsigned w, uint64_t *regions,
                                 size_t count, uint64_t bytes, bool accumulate);

#endif
