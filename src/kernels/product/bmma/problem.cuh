/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of a launch: where the regions are, as kernel parameters, and how a run fills them
 * in. */
#pragma once

#include "kernel.cuh"
#include "kernels/product/extent.cuh"
#include "operand.h"

namespace gfk {
namespace bmma {

template <size_t Inputs, size_t Outputs>
struct Job : Extent {
    using Regions = ListedRegions<Inputs, Outputs>;
    const uint32_t *matrix;       /* the layout's table */
    const uint32_t *coefficients; /* for the cut vectors: rows * stride */
    uint32_t stride;              /* columns of the whole matrix */
    uint32_t passes, panels;      /* of this launch */
    uint64_t pass_words;          /* from pass to pass of the table */
    Regions regions;

    __device__ uint32_t coefficient(unsigned j, unsigned i) const {
        return coefficients[(uint64_t)j * stride + i];
    }
};

using RingJob = Job<40, 16>;
using ManyJob = Job<512, 512>;
using UnalignedJob = Job<2048, 512>;

/* `lanes` neighbouring lanes load the vectors of `lanes` neighbouring inputs in one instruction. In
 * the place of a missing input stands one that a neighbouring lane loads in the same instruction;
 * the matrix operand is zero there. */
inline size_t stand_in(size_t i, size_t count, size_t lanes) {
    const size_t first = i - i % lanes;
    return i < count ? i : first < count ? first : 0;
}

/* The regions of a launch: inputs from first_in on, for layout T up to whole passes, and outputs
 * from first_out on. */
template <class T, class J>
void fill_regions(J &job, const Run &run, size_t first_in, size_t cols, size_t first_out,
                  size_t rows) {
    const gfk_product_call *call = run.call;
    const size_t all_cols = call->product->info.cols;
    job.cols = (uint32_t)cols;
    job.rows = (uint32_t)rows;
    job.stride = (uint32_t)all_cols;
    job.passes = (uint32_t)gfk_divide_up(cols, T::inputs);
    job.panels = (uint32_t)gfk_divide_up(rows, T::outputs);
    job.coefficients = run.coefficients + first_out * all_cols + first_in;
    for (size_t i = 0; i < (size_t)job.passes * T::inputs; i++)
        job.regions.in[i] = gfk_region_address(call->in, first_in + stand_in(i, cols, T::lanes)) -
                            run.vectors.phase;
    list_regions(job.regions.out, call->out, first_out, rows, run.vectors.phase);
}

/* Blocks of kernel K, which take `block_bytes` of every region at a time: as many as there is work
 * for, but at most `resident`. */
template <class K>
uint64_t blocks_of(const Extent &job, uint64_t block_bytes, uint64_t resident) {
    const uint64_t whole = gfk_divide_up(16 * job.count, block_bytes);
    const uint64_t cut = gfk_divide_up(partial_threads(job, K::T::w), K::threads);
    const uint64_t blocks = whole < cut ? cut : whole;
    return blocks < resident ? blocks : resident;
}

} // namespace bmma
} // namespace gfk
