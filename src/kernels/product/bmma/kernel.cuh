/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host knows of a compiled BMMA kernel: the other half of a row of shapes.def. */
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
    bool
        long_regions; /* does it need regions of some length, to be faster than the streamed kernels? */
    /* The matrix operand of a product, in 32-bit words. */
    size_t (*words)(size_t rows, size_t cols);
    void (*build)(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                  const uint32_t *matrix);
    gfk_status (*prepare)(); /* at create, on the product's device; NULL: nothing */
    /* NOT_SUPPORTED, with nothing launched, if the kernel does not take these regions. */
    gfk_status (*run)(const Run &run);
    /* A faster one, whose matrix operand is not larger, for matrices of which no column has more than
     * its most_ones; NULL: none. */
    const Kernel *light;
    unsigned most_ones = 0;
};

/* The rows of shapes.def by the files that compile them. A kernel of another file, or of none in
 * this build, has no `run`. */
extern const Kernel mma_kernels[], wgmma_kernels[];

/* Each of these files defines kernel_of for the policies that it compiles. */
template <class K>
constexpr Kernel kernel_of();

/* The row of policy K in the list of a file. */
template <Fragment Instruction, class K>
constexpr Kernel row_of() {
    if constexpr (K::fragment == Instruction)
        return kernel_of<K>();
    else
        return {};
}

} // namespace bmma
} // namespace gfk
