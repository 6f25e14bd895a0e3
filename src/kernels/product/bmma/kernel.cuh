/* SPDX-License-Identifier: BSD-3-Clause */
/* A compiled BMMA kernel on the host. The symbol of a row of shapes.def points to a Kernel. */
#pragma once

#include "kernels/product/extent.cuh"
#include "shapes.cuh"

namespace gfk {
namespace bmma {

/* A run of a product by one kernel. */
struct Run {
    const gfk_product_call *call;
    const Vectors &vectors;
    const uint32_t *matrix;       /* the kernel's matrix operand */
    const uint32_t *coefficients; /* all of them */
};

struct Kernel {
    bool long_regions; /* Is the kernel faster than the streamed ones only for long regions? */
    /* The matrix operand of a product, in 32-bit words. */
    size_t (*words)(size_t rows, size_t cols);
    void (*build)(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                  const uint32_t *matrix);
    gfk_status (*prepare)(); /* at create, on the product's device; NULL: nothing */
    /* NOT_SUPPORTED, with nothing launched, if the kernel does not take these regions. */
    gfk_status (*run)(const Run &run);
    /* A faster one, whose matrix operand is not larger, for matrices of which no column has more
     * than its most_ones; NULL: none. */
    const Kernel *light;
    unsigned most_ones = 0;
};

/* Each file with kernels defines kernel_of for the policies that it compiles, and by CUDA_ROW or
 * WGMMA_ROW the symbols of their rows. */
template <class K>
constexpr Kernel kernel_of();
template <class K>
constexpr Kernel symbol_for = kernel_of<K>();

#define GFK_KERNEL(owner, kernel, w, BUILD, ...) BUILD##_ROW(owner, kernel)

} // namespace bmma
} // namespace gfk
