/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of compiled kernels, the files shapes.def and panels.def below this folder. This file
 * says what a row is, and has all rows as one table. Every list has the same rows:
 *
 * GFK_KERNEL(owner, kernel, w, BUILD, (fields), ...)
 *
 *   owner, kernel  the row's id is <owner>/<kernel>. The owner is an engine, or a call with a
 *                  width
 *   w              the width of the symbols
 *   BUILD          CUDA: every build with CUDA has the kernel. WGMMA: only a build for 9.0 has it,
 *                  in the files of the target gfk_wgmma. CLMAD: only a build by nvcc 13.3 or newer
 *                  has it
 *   fields         named members of gfk_compiled_kernel_info, in the order of the struct, which C++
 *                  needs; members that a row does not name are 0. Bounds are {minimum, maximum},
 *                  both inclusive, and 0 is no bound
 *   ...            the C++ type of the kernel; in matmul's list named members of gfk_matmul_numbers
 *
 * A kernel's file defines the symbol gfk_<owner>_<kernel> by GFK_KERNEL_SYMBOL. In a build without
 * the kernel the row exists too, and has no code. */
#ifndef GFK_KERNELS_LIST_H
#define GFK_KERNELS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/registry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gfk_kernel_build { GFK_BUILD_CUDA, GFK_BUILD_WGMMA, GFK_BUILD_CLMAD } gfk_kernel_build;

/* The numbers of a matmul's kernel. The times are microseconds on an H200. */
typedef struct gfk_matmul_numbers {
    unsigned levels; /* of divisions of the elements into halves */
    double call;
    double k_block, end; /* while all multiprocessors have a tile: its K-block, the end of a part */
    double data, matrix; /* 1 MiB of the data operand, and of the matrix operand */
} gfk_matmul_numbers;

typedef struct gfk_kernel_row {
    gfk_compiled_kernel_info info; /* first, so that an info pointer is a row pointer */
    gfk_kernel_build build;
    const void *const *symbol; /* what GFK_KERNEL_SYMBOL defines; NULL: not in this build */
    gfk_matmul_numbers matmul; /* 0 for the kernels of other calls */
} gfk_kernel_row;

/* The initializer of a row's info. */
#define GFK_KERNEL_UNPACK(...) __VA_ARGS__
#define GFK_KERNEL_INFO(owner, kernel, width, fields)                                              \
    {.id = #owner "/" #kernel, .w = width, GFK_KERNEL_UNPACK fields}

/* The rows of an owner, or of a call for all widths ("matmul"); they stand next to each other.
 * NULL: all rows. Returns the first one; NULL, with a count of 0, if there is none. */
const gfk_kernel_row *gfk_rows_of(const char *owner, size_t *count);
/* The row with this id; NULL: there is none. */
const gfk_kernel_row *gfk_row_find(const char *id);
/* The first row of a call for this width that takes the shape; NULL: there is none. */
const gfk_kernel_row *gfk_row_first(const char *call, unsigned w, size_t inputs, size_t outputs);
static inline bool gfk_within(gfk_bounds bounds, size_t n) {
    return n >= bounds.min && (bounds.max == 0 || n <= bounds.max);
}
bool gfk_row_takes(const gfk_compiled_kernel_info *info, size_t inputs, size_t outputs);
/* Does the device have what the kernel needs? The answer is that of gfk_device_check. */
gfk_status gfk_row_check_device(const gfk_compiled_kernel_info *info, int device,
                                const char **reason);
/* Has this build the kernel's code? In a build without CUDA all kernels have, because a simulated
 * device runs them. */
bool gfk_row_is_built(const gfk_kernel_row *row);

#ifdef __cplusplus
} /* extern "C" */

/* GCC warns of members that C++ rows do not name, and not of those of C rows. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Defines the symbol of a row: the address of a constant, which only the kernel's files read. In a
 * named namespace. */
#define GFK_KERNEL_SYMBOL(owner, kernel, ...)                                                      \
    extern "C" {                                                                                   \
    extern const void *const gfk_##owner##_##kernel;                                               \
    const void *const gfk_##owner##_##kernel = __VA_ARGS__;                                        \
    }

namespace gfk {

/* The constant of type T of a row that is in this build. */
template <class T>
const T &symbol_of(const gfk_kernel_row *row) {
    return *static_cast<const T *>(*row->symbol);
}

template <class T>
const T &symbol_of(const gfk_compiled_kernel_info *info) {
    return symbol_of<T>((const gfk_kernel_row *)info);
}

} // namespace gfk
#endif
#endif
