/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of clmad for short regions, whose time is that of a launch and of the first load. All
 * inputs come into registers at once and nothing branches: inputs that a product lacks repeat the
 * first one with a coefficient of zero. The coefficients stay in the kernel's parameters, as symbols
 * of w bits, so that few of the parameters' cache lines are waited for. */
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
    static constexpr unsigned parts = 4 / Words;             /* of a vector */
    static constexpr unsigned packed = outputs * Width / 32; /* words of an input's coefficients */
    static constexpr bool aligned = true;
    static constexpr int blocks = Inputs > 10 ? 6 : 8; /* that a multiprocessor holds */
};

template <class K>
struct ShortJob : Extent {
    const uint8_t *in[K::inputs];
    uint8_t *out[K::panels * K::outputs];
    gfk_barrett barrett;
    uint32_t coefficients[K::panels][K::inputs][K::packed]; /* the first output's the lowest */
};

template <class K>
__device__ inline uint32_t coefficient(const ShortJob<K> &job, unsigned panel, unsigned i,
                                       unsigned j) {
    const unsigned bit = j * K::width;
    return job.coefficients[panel][i][bit / 32] >> bit % 32 & 0xffffffff >> (32 - K::width);
}

template <class K>
__device__ uint32_t sum_of_symbol(const ShortJob<K> &job, unsigned j, uint64_t at) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < job.cols; i++)
        sum = clmad(load_bytes(job.in[i] + at, K::width / 8),
                    coefficient(job, j / K::outputs, i, j % K::outputs), sum);
    return reduce_sums<K::width>(sum, job.barrett) & (0xffffffff >> (32 - K::width));
}

/* A part of the outputs of a panel. The panel is compiled in, or the coefficients would be no operands of
 * instructions. */
template <class K, unsigned Panel>
__device__ inline void multiply_part(const ShortJob<K> &job, uint64_t offset) {
    uint8_t *const *const out = job.out + Panel * K::outputs;
    const unsigned rows = job.rows - Panel * K::outputs;
    uint32_t x[K::inputs][K::words];
#pragma unroll
    for (int i = 0; i < K::inputs; i++)
        load_vector<true, Load::early>(job.in[i] + offset, x[i]);
    uint64_t sums[K::outputs][K::words] = {};
    if (job.epilogue.reads()) {
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
            if (j < rows) {
                uint32_t y[K::words];
                load_vector<true, Load::early>(out[j] + offset, y);
#pragma unroll
                for (int k = 0; k < K::words; k++)
                    sums[j][k] = spread_symbols<K::width>(y[k]);
            }
    }
#pragma unroll
    for (int i = 0; i < K::inputs; i++)
#pragma unroll
        for (int k = 0; k < K::words; k++) {
            const uint64_t symbols = spread_symbols<K::width>(x[i][k]);
#pragma unroll
            for (int j = 0; j < K::outputs; j++)
                sums[j][k] = clmad(symbols, coefficient(job, Panel, i, j), sums[j][k]);
        }
#pragma unroll
    for (int j = 0; j < K::outputs; j++)
        if (j < rows) {
            uint32_t y[K::words], any = 0;
#pragma unroll
            for (int k = 0; k < K::words; k++)
                any |= y[k] = reduce_sums<K::width>(sums[j][k], job.barrett);
            if (!job.epilogue.mismatch_map)
                store_vector<true>(out[j] + offset, y);
            else if (any)
                job.epilogue.report(offset - job.phase, 4 * K::words);
        }
}

/* Loads the parameters' cache lines, which otherwise are waited for one after the other. */
template <class J>
__device__ inline void touch(const J &job) {
    uint32_t any = 0;
#pragma unroll
    for (unsigned at = 0; at < sizeof job; at += 64)
        any |= ((const uint32_t *)&job)[at / 4];
    asm volatile("" : : "r"(any));
}

/* blockDim.y panels of outputs, each of blockDim.x threads. */
template <class K>
__global__
__launch_bounds__(K::threads,
                  K::blocks) void multiply_short(const __grid_constant__ ShortJob<K> job) {
    const uint64_t part = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t offset = 16 * job.first + 4 * K::words * part;
    touch(job);
    begin_early();
    if (job.epilogue.unwanted())
        return;
    if (part < K::parts * job.count) {
        if (threadIdx.y == 0)
            multiply_part<K, 0>(job, offset);
        else
            multiply_part<K, 1>(job, offset);
    }
    finish_ends<K::width>(job, threadIdx.y * blockDim.x + threadIdx.x, blockDim.x * blockDim.y,
                          [&](unsigned j, uint64_t at) { return sum_of_symbol(job, j, at); });
}

} // namespace clmad_engine
} // namespace gfk
