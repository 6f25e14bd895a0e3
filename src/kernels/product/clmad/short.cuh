/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of clmad for short regions of whole vectors whose outputs are set: their time is that
 * of a launch and of the first load, so each instruction and each cache line of parameters that
 * other uses would need shows. All inputs come into registers at once; the coefficients stay in the
 * kernel's parameters, as symbols of w bits. */
#pragma once

#include "kernel.cuh"

namespace gfk {
namespace clmad_engine {

/* One compiled kernel: a panel of four outputs.
 *
 * Inputs  that a thread loads, those that the product has or more
 * Words   of a region that a thread takes: 1 or 2 */
template <int Width, int Inputs, int Words>
struct Short {
    static constexpr int width = Width, outputs = 4, inputs = Inputs, words = Words, threads = 128;
    static constexpr unsigned panels = 2;                    /* the most of a launch */
    static constexpr unsigned packed = outputs * Width / 32; /* words of an input's coefficients */
    static constexpr int blocks = Inputs > 10 ? 6 : 8;       /* that a multiprocessor holds */
};

template <class K>
struct ShortJob {
    uint64_t count; /* of parts, which are K::words words of each region */
    uint32_t rows, cols;
    ListedRegions<K::inputs, K::panels * K::outputs> regions;
    gfk_barrett barrett;
    uint32_t coefficients[K::panels][K::inputs][K::packed]; /* the first output's the lowest */
};

template <class K>
__device__ inline uint32_t coefficient(const ShortJob<K> &job, unsigned panel, unsigned i,
                                       unsigned j) {
    const unsigned bit = j * K::width;
    return job.coefficients[panel][i][bit / 32] >> bit % 32 & symbol_mask<K::width>;
}

/* Computes a part of the outputs of a panel. The panel is compiled in, or the coefficients would be
 * no operands of instructions. Passes of inputs that the product lacks are left out; an input that
 * it lacks in a pass repeats the first one, with a coefficient of zero. */
template <class K, unsigned Panel>
__device__ inline void multiply_part(const ShortJob<K> &job, uint64_t offset) {
    constexpr int pass = K::inputs > 10 ? 4 : K::inputs;
    uint8_t *const *const out = job.regions.out + Panel * K::outputs;
    const unsigned rows = job.rows - Panel * K::outputs;
    uint32_t x[K::inputs][K::words];
    uint64_t sums[K::outputs][K::words] = {};
#pragma unroll
    for (int first = 0; first < K::inputs; first += pass) {
        if (first >= job.cols)
            break;
#pragma unroll
        for (int i = first; i < first + pass && i < K::inputs; i++)
            load_vector<true, Load::early>(job.regions.in[i] + offset, x[i]);
    }
#pragma unroll
    for (int first = 0; first < K::inputs; first += pass) {
        if (first >= job.cols)
            break;
#pragma unroll
        for (int i = first; i < first + pass && i < K::inputs; i++)
#pragma unroll
            for (int k = 0; k < K::words; k++) {
                const uint64_t symbols = spread_symbols<K::width>(x[i][k]);
#pragma unroll
                for (int j = 0; j < K::outputs; j++)
                    sums[j][k] = clmad(symbols, coefficient(job, Panel, i, j), sums[j][k]);
            }
    }
#pragma unroll
    for (int j = 0; j < K::outputs; j++)
        if (j < rows) {
            uint32_t y[K::words];
#pragma unroll
            for (int k = 0; k < K::words; k++)
                y[k] = reduce_sums<K::width>(sums[j][k], job.barrett);
            store_vector<true>(out[j] + offset, y);
        }
}

/* Computes blockDim.y panels of outputs by blockDim.x threads each. */
template <class K>
__global__
__launch_bounds__(K::threads,
                  K::blocks) void multiply_short(const __grid_constant__ ShortJob<K> job) {
    const uint64_t part = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t offset = 4 * K::words * part;
    begin_early();
    if (part >= job.count)
        return;
    if (threadIdx.y == 0)
        multiply_part<K, 0>(job, offset);
    else
        multiply_part<K, 1>(job, offset);
}

} // namespace clmad_engine
} // namespace gfk
