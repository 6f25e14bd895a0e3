/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the BMMA engines. bmma_layout.h says who holds what.
 *
 * narrow: all inputs in one pass, all outputs in a few groups: the matrix operand stays in
 * registers, and the next unit's data is loaded while this one's is computed. Aligned regions only.
 * wide: any shape; a warp keeps a pass of inputs in registers and goes through all groups of
 * outputs, whose matrix operands come through L1. Further passes add to the outputs. */
#pragma once

#include "bmma_layout.h"
#include "cut_cells.cuh"

namespace gfk {
namespace bmma {

/* D = A * B + D with k = 128: popcount of the AND of bit rows and bit columns. */
__device__ inline void mma(uint32_t (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0) {
    asm volatile("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(b0));
}
/* The same with k = 256. */
__device__ inline void mma(uint32_t (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                           uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/* The counts of one bit pair of one output word. b[tile * steps + step]. */
template <class T>
__device__ inline void count(const uint32_t (&a)[T::symbols][T::steps],
                             const uint32_t (&b)[T::pair_registers], int word,
                             uint32_t (&c)[2][4]) {
#pragma unroll
    for (int chain = 0; chain < 2; chain++) {
        const int symbol = first_symbol<T>(word, chain), tile = tile_of<T>(chain) * T::steps;
#pragma unroll
        for (int i = 0; i < 4; i++)
            c[chain][i] = 0;
#pragma unroll
        for (int s = 0; s + 1 < T::steps; s += 2)
            mma(c[chain], a[symbol][s], a[symbol + 1][s], a[symbol][s + 1], a[symbol + 1][s + 1],
                b[tile + s], b[tile + s + 1]);
        if (T::steps % 2)
            mma(c[chain], a[symbol][T::steps - 1], a[symbol + 1][T::steps - 1],
                b[tile + T::steps - 1]);
    }
}

/* The matrix operand of one bit pair, from a group's table. */
template <class T>
__device__ inline void load_pair(const uint32_t *group, int pair, unsigned lane,
                                 uint32_t (&b)[T::pair_registers]) {
#pragma unroll
    for (int r = 0; r < T::pair_registers; r += T::vector) {
        const uint32_t *p = group + T::index(pair, r, 0) + lane * T::vector;
        if constexpr (T::vector == 4) {
            const uint4 v = __ldg((const uint4 *)p);
            b[r] = v.x;
            b[r + 1] = v.y;
            b[r + 2] = v.z;
            b[r + 3] = v.w;
        } else if constexpr (T::vector == 2) {
            const uint2 v = __ldg((const uint2 *)p);
            b[r] = v.x;
            b[r + 1] = v.y;
        } else {
            b[r] = __ldg(p);
        }
    }
}

/* What a lane has of a group becomes words of regions. */
template <class T>
__device__ inline void exchange(uint32_t (&words)[T::words], unsigned lane) {
    if constexpr (T::w == 32) {
#pragma unroll
        for (int round = 0; round < 2; round++) {
            const uint32_t received = __shfl_xor_sync(0xffffffff, words[0], 1 << round);
            words[0] = prmt(words[0], received, exchange_selector(round, (int)lane));
        }
    }
}

/* Where all regions are. */
template <size_t Inputs, size_t Outputs>
struct Job : Walk {
    const uint32_t *matrix;       /* the layout's table */
    const uint32_t *coefficients; /* for the cut cells: rows * stride */
    uint32_t stride;              /* columns of the whole matrix */
    uint32_t passes, groups;      /* wide: of this launch */
    uint64_t pass_words;          /* wide: from pass to pass of the table */
    const uint8_t *in[Inputs];    /* up to a multiple of what a pass takes; the rest repeats one */
    uint8_t *out[Outputs];

    __device__ uint32_t coefficient(unsigned j, unsigned i) const {
        return coefficients[(uint64_t)j * stride + i];
    }
};

/* A narrow kernel's choices. Groups: of outputs, all in one pass. Blocks: per multiprocessor, which
 * the registers must allow. */
template <class Layout_, int Groups, int Threads, int Blocks, bool Prefetch, Pack P>
struct Narrow {
    using T = Layout_;
    static constexpr int groups = Groups, threads = Threads, blocks = Blocks;
    static constexpr bool prefetch = Prefetch;
    static constexpr Pack pack = P;
    /* The most inputs whose counts the packing bears. */
    static constexpr int inputs =
        P == Pack::permute || T::counts_fit_bytes ? T::inputs : 255 / T::w;
};

constexpr size_t narrow_inputs = 32, narrow_outputs = 4;
using NarrowJob = Job<narrow_inputs, narrow_outputs>;

template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void narrow(const __grid_constant__ NarrowJob job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    const uint64_t warps = (uint64_t)gridDim.x * (K::threads / 32);
    const uint64_t units = (job.count + T::cells - 1) / T::cells;
    uint64_t unit = thread / 32;
    if (job.cut_head + job.cut_tail)
        cut_cells<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);
    if (unit >= units)
        return;

    const uint8_t *in[T::slots];
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        in[s] = job.in[s * T::lanes + share] + 16 * job.first;
    /* Beyond the last whole cell a lane loads that one again, and does not store. */
    auto load = [&](uint64_t u, uint32_t(&x)[T::slots][4]) {
        const uint64_t cell = u * T::cells + lane / T::lanes;
        const uint64_t at = 16 * (cell < job.count ? cell : job.count - 1);
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_whole<true>(in[s] + at, x[s]);
    };
    uint32_t x[T::slots][4];
    load(unit, x);
    uint32_t b[K::groups][4][T::pair_registers];
#pragma unroll
    for (int j = 0; j < K::groups; j++)
#pragma unroll
        for (int pair = 0; pair < 4; pair++)
            load_pair<T>(job.matrix + j * (T::group_registers * 32), pair, lane, b[j][pair]);

    for (;;) {
        uint32_t a[T::symbols][T::steps];
        arrange<T>(x, a);
        const uint64_t next = unit + warps;
        if (K::prefetch && next < units)
            load(next, x);
        const uint64_t cell = unit * T::cells + lane / T::lanes;
#pragma unroll
        for (int j = 0; j < K::groups; j++) {
            uint32_t words[T::words];
#pragma unroll
            for (int word = 0; word < T::words; word++) {
                words[word] = 0;
#pragma unroll
                for (int pair = 0; pair < 4; pair++) {
                    uint32_t c[2][4];
                    count<T>(a, b[j][pair], word, c);
                    words[word] = merge<T, K::pack>(words[word], c, pair);
                }
            }
            exchange<T>(words, lane);
            const unsigned output = T::w == 32 ? j : j * T::outputs + share;
            if (output < job.rows && cell < job.count) {
                const unsigned part = T::w == 32 ? 4 * (lane % 4) : 0;
                store_words<true>(job.out[output] + 16 * (job.first + cell) + part, words,
                                  job.accumulate);
            }
        }
        unit = next;
        if (unit >= units)
            return;
        if (!K::prefetch)
            load(unit, x);
    }
}

/* A wide kernel's choices. Units: that a warp takes at a time, for each matrix operand it loads. */
template <class Layout_, int Units, int Threads, int Blocks, bool Aligned>
struct Wide {
    using T = Layout_;
    static constexpr int units = Units, threads = Threads, blocks = Blocks;
    static constexpr bool aligned = Aligned;
    static constexpr Pack pack = T::counts_fit_bytes ? Pack::mixed : Pack::permute;
    /* w = 32: a k256 MMA wants two words of a cell beside two of the next input's. */
    static constexpr Load load = T::w == 32 ? Load::halves : Load::once;
};

constexpr size_t wide_inputs = 512, wide_outputs = 512;
using WideJob = Job<wide_inputs, wide_outputs>;

template <class K>
__global__ __launch_bounds__(K::threads, K::blocks) void wide(const __grid_constant__ WideJob job) {
    using T = typename K::T;
    constexpr unsigned cells = T::cells * K::units;
    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    const uint64_t warps = (uint64_t)gridDim.x * (K::threads / 32);
    if (job.cut_head + job.cut_tail)
        cut_cells<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    for (uint64_t unit = thread / 32; unit * cells < job.count; unit += warps) {
        const uint64_t first = unit * cells + lane / T::lanes;
        for (unsigned pass = 0; pass < job.passes; pass++) {
            uint32_t a[K::units][T::symbols][T::steps];
#pragma unroll
            for (int u = 0; u < K::units; u++) {
                uint64_t cell = first + u * T::cells;
                cell = job.first + (cell < job.count ? cell : job.count - 1);
                uint32_t x[T::slots][4];
#pragma unroll
                for (int s = 0; s < T::slots; s++)
                    load_whole<K::aligned, K::load>(
                        job.in[pass * T::inputs + s * T::lanes + share] + 16 * cell, x[s]);
                arrange<T>(x, a[u]);
            }
            const uint32_t *group = job.matrix + pass * job.pass_words;
            const bool accumulate = job.accumulate || pass != 0;
#pragma unroll 1
            for (unsigned j = 0; j < job.groups; j++, group += T::group_registers * 32) {
                uint32_t words[K::units][T::words] = {};
#pragma unroll
                for (int pair = 0; pair < 4; pair++) {
                    uint32_t b[T::pair_registers];
                    load_pair<T>(group, pair, lane, b);
#pragma unroll
                    for (int u = 0; u < K::units; u++)
#pragma unroll
                        for (int word = 0; word < T::words; word++) {
                            uint32_t c[2][4];
                            count<T>(a[u], b, word, c);
                            words[u][word] = merge<T, K::pack>(words[u][word], c, pair);
                        }
                }
                const unsigned output = T::w == 32 ? j : j * T::outputs + share;
#pragma unroll
                for (int u = 0; u < K::units; u++) {
                    exchange<T>(words[u], lane);
                    const uint64_t cell = first + u * T::cells;
                    if (output < job.rows && cell < job.count) {
                        const unsigned part = T::w == 32 ? 4 * (lane % 4) : 0;
                        store_words<K::aligned>(job.out[output] + 16 * (job.first + cell) + part,
                                                words[u], accumulate);
                    }
                }
            }
        }
    }
}

} // namespace bmma
} // namespace gfk
