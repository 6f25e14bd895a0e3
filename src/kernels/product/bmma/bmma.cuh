/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the BMMA engines. bmma_layout.h says who holds what.
 *
 * narrow: all inputs in one pass, all outputs in a few groups: the matrix operand stays in
 * registers. Aligned regions only.
 * wide: any shape; a warp keeps a pass of inputs in registers and goes through all groups of
 * outputs, whose matrix operands come through L1, or from shared memory if all fit. Further passes
 * add to the outputs.
 * wide_check: the same for any number of passes, comparing instead of writing. */
#pragma once

#include "bmma_layout.h"
#include "kernels/product/extent.cuh"

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

/* The counts of one bit pair for N output words of U units. b[tile * steps + step]. The MMAs of
 * different chains alternate: one that adds to the one just before would wait for it. */
template <class T, int U, int N>
__device__ inline void count(const uint32_t (&a)[U][T::symbols][T::steps],
                             const uint32_t (&b)[T::pair_registers], int word,
                             uint32_t (&c)[U][N][2][4]) {
#pragma unroll
    for (int s = 0; s < T::steps; s += 2)
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int chain = 0; chain < 2; chain++) {
                    const int at = first_symbol<T>(word + n, chain);
                    const uint32_t(&p)[T::steps] = a[u][at], (&q)[T::steps] = a[u][at + 1];
                    const uint32_t *m = &b[tile_of<T>(chain) * T::steps];
                    if (s == 0)
#pragma unroll
                        for (int i = 0; i < 4; i++)
                            c[u][n][chain][i] = 0;
                    if (s + 1 < T::steps)
                        mma(c[u][n][chain], p[s], q[s], p[s + 1], q[s + 1], m[s], m[s + 1]);
                    else
                        mma(c[u][n][chain], p[s], q[s], m[s]);
                }
}

/* Words that no one writes, in global or in shared memory. */
template <bool Shared, class V>
__device__ inline V read_only(const V *p) {
    if constexpr (Shared)
        return *p;
    else
        return __ldg(p);
}

/* The matrix operand of one bit pair, from a group's table. */
template <class T, bool Shared = false>
__device__ inline void load_pair(const uint32_t *group, int pair, unsigned lane,
                                 uint32_t (&b)[T::pair_registers]) {
#pragma unroll
    for (int r = 0; r < T::pair_registers; r += T::vector) {
        const uint32_t *p = group + T::index(pair, r, 0) + lane * T::vector;
        if constexpr (T::vector == 4) {
            const uint4 v = read_only<Shared>((const uint4 *)p);
            b[r] = v.x;
            b[r + 1] = v.y;
            b[r + 2] = v.z;
            b[r + 3] = v.w;
        } else if constexpr (T::vector == 2) {
            const uint2 v = read_only<Shared>((const uint2 *)p);
            b[r] = v.x;
            b[r + 1] = v.y;
        } else {
            b[r] = read_only<Shared>(p);
        }
    }
}

/* What a lane has of one group, whose matrix operand is in registers. */
template <class T, Pack P>
__device__ inline void multiply_group(const uint32_t (&a)[1][T::symbols][T::steps],
                                      const uint32_t (&b)[T::pairs][T::pair_registers],
                                      uint32_t (&words)[T::words]) {
#pragma unroll
    for (int word = 0; word < T::words; word++)
        words[word] = 0;
#pragma unroll
    for (int word = 0; word < T::words; word++)
#pragma unroll
        for (int pair = 0; pair < T::pairs; pair++) {
            uint32_t c[1][1][2][4];
            count<T>(a, b[pair], word, c);
            words[word] = merge<T, P>(words[word], c[0][0], pair);
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
    if constexpr (T::three) {
#pragma unroll
        for (int word = 0; word < T::words; word++)
            words[word] = join_last_pair(
                words[word], __shfl_sync(0xffffffff, words[word], (int)(lane | 3)), (int)lane);
    }
}

/* Where all regions are. */
template <size_t Inputs, size_t Outputs>
struct Job : Extent {
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

/* How many units a warp takes, and when it loads the next one's data. */
enum class Trips {
    once,    /* one unit; the blocks that come and go overlap loads with computing */
    loop,    /* many, each loaded when the one before is done */
    prefetch /* many, each loaded while the one before is computed */
};

/* A narrow kernel's choices. Groups: of outputs, all in one pass. Blocks: per multiprocessor, which
 * the registers must allow. */
template <class Layout_, int Groups, int Threads, int Blocks, Trips Trips_, Pack P>
struct Narrow {
    using T = Layout_;
    static constexpr int groups = Groups, threads = Threads, blocks = Blocks;
    static constexpr Trips trips = Trips_;
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
    constexpr unsigned unit_bytes = 16 * T::cells;
    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned mine = lane / T::lanes * 16;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * (K::threads / 32) * unit_bytes;
    uint64_t at = 16 * job.first + thread / 32 * unit_bytes; /* of the warp's unit */
    if (at >= end)
        return;

    const uint8_t *in[T::slots];
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        in[s] = job.in[s * T::lanes + share];
    /* Beyond the last whole cell a lane loads that one again, and does not store. */
    auto load = [&](uint64_t unit, uint32_t(&x)[T::slots][4]) {
        const uint64_t cell = unit + mine < end ? unit + mine : end - 16;
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_vector<true>(in[s] + cell, x[s]);
    };
    uint32_t x[T::slots][4];
    load(at, x);
    uint32_t b[K::groups][T::pairs][T::pair_registers];
#pragma unroll
    for (int j = 0; j < K::groups; j++)
#pragma unroll
        for (int pair = 0; pair < T::pairs; pair++)
            load_pair<T>(job.matrix + j * (T::group_registers * 32), pair, lane, b[j][pair]);

    for (;;) {
        uint32_t a[1][T::symbols][T::steps];
        arrange<T>(x, a[0]);
        if (K::trips == Trips::prefetch && at + stride < end)
            load(at + stride, x);
#pragma unroll
        for (int j = 0; j < K::groups; j++) {
            uint32_t words[T::words];
            multiply_group<T, K::pack>(a, b[j], words);
            exchange<T>(words, lane);
            const unsigned output = T::w == 32 ? j : j * T::outputs + share;
            if (output < job.rows && at + mine < end) {
                const uint64_t cell = at + mine + (T::w == 32 ? 4 * (lane % 4) : 0);
                job.epilogue.store<true, true>(job.out[output] + cell, words, cell - job.phase);
            }
        }
        at += stride;
        if (K::trips == Trips::once || at >= end)
            return;
        if (K::trips == Trips::loop)
            load(at, x);
    }
}

/* A wide kernel's choices. Units: that a warp takes at a time, for each matrix operand it loads.
 * Table: 0, or the most groups whose matrix operands are in shared memory; then all inputs are in
 * one pass. */
template <class Layout_, int Units, int Threads, int Blocks, Trips Trips_, bool Aligned,
          int Table = 0>
struct Wide {
    using T = Layout_;
    static_assert(!T::three, "a lane without an output would write another group's");
    static_assert(Trips_ != Trips::prefetch, "");
    static constexpr int table = Table;
    static constexpr int units = Units, threads = Threads, blocks = Blocks;
    static constexpr Trips trips = Trips_;
    static constexpr bool aligned = Aligned;
    /* w = 32: a k256 MMA wants two words of a cell beside two of the next input's. */
    static constexpr Load load = T::w == 32 ? Load::halves : Load::once;
    /* Output words at a time: enough chains that their MMAs need not wait for each other. */
    static constexpr int abreast = T::words > 1 && T::mmas > 1 ? 2 : 1;
};

constexpr size_t wide_inputs = 512, wide_outputs = 512, check_inputs = 2048;
using WideJob = Job<wide_inputs, wide_outputs>;
using CheckJob = Job<check_inputs, wide_outputs>;

/* The data operand of a warp's units and one pass. */
template <class K, class J>
__device__ inline void gather(const J &job, uint64_t at, uint64_t end, unsigned pass, unsigned lane,
                              uint32_t (&a)[K::units][K::T::symbols][K::T::steps]) {
    using T = typename K::T;
#pragma unroll
    for (int u = 0; u < K::units; u++) {
        uint64_t cell = at + u * (16 * T::cells) + lane / T::lanes * 16;
        cell = cell < end ? cell : end - 16;
        uint32_t x[T::slots][4];
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_vector<K::aligned, K::load>(
                job.in[pass * T::inputs + s * T::lanes + lane % T::lanes] + cell, x[s]);
        arrange<T>(x, a[u]);
    }
}

/* Adds one pass of inputs to the words of one group. b[0] holds the group's first bit pair, and in
 * the end the first one of `following`: operands are loaded one pair ahead. */
template <class K>
__device__ inline void add_group(const uint32_t (&a)[K::units][K::T::symbols][K::T::steps],
                                 const uint32_t *group, const uint32_t *following, unsigned lane,
                                 uint32_t (&b)[2][K::T::pair_registers],
                                 uint32_t (&words)[K::units][K::T::words]) {
    using T = typename K::T;
#pragma unroll
    for (int pair = 0; pair < T::pairs; pair++) {
        load_pair<T, K::table != 0>(pair < 3 ? group : following, (pair + 1) % 4, lane,
                                    b[(pair + 1) % 2]);
#pragma unroll
        for (int word = 0; word < T::words; word += K::abreast) {
            uint32_t c[K::units][K::abreast][2][4];
            count<T>(a, b[pair % 2], word, c);
#pragma unroll
            for (int u = 0; u < K::units; u++)
#pragma unroll
                for (int n = 0; n < K::abreast; n++)
                    words[u][word + n] = merge<T, Pack::permute>(words[u][word + n], c[u][n], pair);
        }
    }
}

/* Writes, or compares, what a group has become. */
template <class K, class J>
__device__ inline void finish_group(const J &job, uint64_t at, uint64_t end, unsigned group,
                                    unsigned lane, const Epilogue &epilogue,
                                    uint32_t (&words)[K::units][K::T::words]) {
    using T = typename K::T;
    const unsigned output = T::w == 32 ? group : group * T::outputs + lane % T::lanes;
#pragma unroll
    for (int u = 0; u < K::units; u++) {
        exchange<T>(words[u], lane);
        uint64_t cell = at + u * (16 * T::cells) + lane / T::lanes * 16;
        if (output < job.rows && cell < end) {
            cell += T::w == 32 ? 4 * (lane % 4) : 0;
            epilogue.store<K::aligned, true>(job.out[output] + cell, words[u], cell - job.phase);
        }
    }
}

template <class K>
__global__ __launch_bounds__(K::threads, K::blocks) void wide(const __grid_constant__ WideJob job) {
    using T = typename K::T;
    constexpr unsigned step_bytes = 16 * T::cells * K::units;
    const unsigned lane = threadIdx.x % 32;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    const uint32_t *matrix = job.matrix;
    if constexpr (K::table != 0) {
        extern __shared__ uint4 table[];
        for (unsigned i = threadIdx.x; i < job.groups * (T::group_registers * 8); i += K::threads)
            table[i] = __ldg((const uint4 *)job.matrix + i);
        __syncthreads();
        matrix = (const uint32_t *)table;
    }

    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * (K::threads / 32) * step_bytes;
    for (uint64_t at = 16 * job.first + thread / 32 * step_bytes; at < end; at += stride) {
        for (unsigned pass = 0; pass < (K::table ? 1 : job.passes); pass++) {
            uint32_t a[K::units][T::symbols][T::steps];
            gather<K>(job, at, end, pass, lane, a);
            Epilogue epilogue = job.epilogue;
            epilogue.accumulate |= pass != 0;
            const uint32_t *group = matrix + (K::table ? 0 : pass * job.pass_words);
            uint32_t b[2][T::pair_registers];
            load_pair<T, K::table != 0>(group, 0, lane, b[0]);
#pragma unroll 1
            for (unsigned j = 0; j < job.groups; j++) {
                const uint32_t *following =
                    j + 1 < job.groups ? group + T::group_registers * 32 : group;
                uint32_t words[K::units][T::words] = {};
                add_group<K>(a, group, following, lane, b, words);
                finish_group<K>(job, at, end, j, lane, epilogue, words);
                group = following;
            }
        }
        if (K::trips == Trips::once)
            return;
    }
}

/* Outputs that take several passes of inputs are compared when the last one is in: the inputs are
 * read again for every group, from the caches mostly. */
template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void wide_check(const __grid_constant__ CheckJob job) {
    using T = typename K::T;
    constexpr unsigned step_bytes = 16 * T::cells * K::units;
    const unsigned lane = threadIdx.x % 32;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);
    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * (K::threads / 32) * step_bytes;
    for (uint64_t at = 16 * job.first + thread / 32 * step_bytes; at < end; at += stride)
        for (unsigned j = 0; j < job.groups; j++) {
            uint32_t words[K::units][T::words] = {};
            for (unsigned pass = 0; pass < job.passes; pass++) {
                const uint32_t *group =
                    job.matrix + pass * job.pass_words + j * (T::group_registers * 32);
                uint32_t a[K::units][T::symbols][T::steps], b[2][T::pair_registers];
                gather<K>(job, at, end, pass, lane, a);
                load_pair<T>(group, 0, lane, b[0]);
                add_group<K>(a, group, group, lane, b, words);
            }
            finish_group<K>(job, at, end, j, lane, job.epilogue, words);
        }
}

} // namespace bmma
} // namespace gfk
