/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of PRMT, w = 8: SPLIT in parts of 3, 3 and 2 bits for every coefficient, with the
 * tables in the kernel's parameters and so in the constant bank. The indices of an input word are
 * computed once for all outputs. */
#pragma once

#include <type_traits>

#include "kernels/product/extent.cuh"

namespace gfk {
namespace prmt_w8 {

/* The tables of a coefficient; byte i of a table is entry i. Bits 0 to 2 of the symbol are the
 * index of `low`, bits 4, 5 and 3 that of `middle`, bits 6 and 7 that of `high`, which has four
 * entries. */
struct Tables {
    uint32_t low[2], middle[2], high;
};
/* Factors for shifts to the right, 2^32 / 2^n, and for subtractions on the FMA pipe: as constants
 * of the program they would become shifts again, on the pipe that the lookups fill. */
struct Factors {
    uint32_t shift1, shift2, shift4, shift16, minus;
};
constexpr Factors factors = {1u << 31, 1u << 30, 1u << 28, 1u << 16, ~0u};

/* a where the mask is set, else b. The compiler makes two operations of this. */
__device__ inline uint32_t select(uint32_t mask, uint32_t a, uint32_t b) {
    uint32_t d;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(d) : "r"(mask), "r"(a), "r"(b));
    return d;
}

/* (a * b >> 32) + c */
__device__ inline uint32_t multiply_add_high(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d;
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* The indices of eight symbols of words a and b, as selectors of PRMT: [0] for the symbols
 * a0 b0 a1 b1, [1] for a2 b2 a3 b3. Four operations on the ALU pipe: what is cut off a nibble is
 * subtracted from it on the other one. */
struct Indices {
    uint32_t low[2], middle[2], high[2];

    __device__ Indices(uint32_t a, uint32_t b, const Factors &f) {
        const uint32_t lower = select(0x0f0f0f0f, a, b << 4);
        const uint32_t upper = select(0x0f0f0f0f, __umulhi(a, f.shift4), b);
        const uint32_t bit3 = lower & 0x88888888, top = upper & 0xcccccccc;
        low[0] = bit3 * f.minus + lower;
        middle[0] = multiply_add_high(bit3, f.shift1, top * f.minus + upper);
        high[0] = __umulhi(top, f.shift2);
        low[1] = __umulhi(low[0], f.shift16);
        middle[1] = __umulhi(middle[0], f.shift16);
        high[1] = __umulhi(high[0], f.shift16);
    }
    __device__ uint32_t product(const Tables &t, int half) const {
        return prmt(t.low[0], t.low[1], low[half]) ^ prmt(t.middle[0], t.middle[1], middle[half]) ^
               prmt(t.high, 0, high[half]);
    }
};

/* Adds the products of an input's vector to the sums. */
template <int Outputs>
__device__ inline void add(uint32_t (&sums)[Outputs][4], const uint32_t (&x)[4], const Factors &f,
                           const Tables *tables) {
#pragma unroll
    for (int pair = 0; pair < 4; pair += 2) {
        const Indices indices(x[pair], x[pair + 1], f);
#pragma unroll
        for (int j = 0; j < Outputs; j++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                sums[j][pair + half] ^= indices.product(tables[j], half);
    }
}

/* Puts the symbols of an output's vector, which are interleaved, into their order, and stores the
 * vector. */
template <bool Aligned, bool Reads>
__device__ inline void put(uint8_t *p, const uint32_t (&sums)[4], const Epilogue &epilogue,
                           uint64_t offset) {
    uint32_t y[4];
#pragma unroll
    for (int pair = 0; pair < 4; pair += 2) {
        y[pair] = prmt(sums[pair], sums[pair + 1], 0x6420);
        y[pair + 1] = prmt(sums[pair], sums[pair + 1], 0x7531);
    }
    epilogue.store<Aligned, Reads>(p, y, offset);
}

constexpr size_t most_coefficients = 200, most_inputs = 200;
constexpr size_t panel_outputs = 4; /* outputs computed together, at most */

struct Job : Extent {
    uint32_t reads_outputs; /* 0 or 1 */
    Factors f;
    ListedRegions<most_inputs, panel_outputs> regions;
    Tables tables[most_coefficients]; /* input by input */

    __device__ uint32_t coefficient(unsigned j, unsigned i) const {
        return tables[i * rows + j].low[0] >> 8 & 0xff;
    }
};

/* A compiled kernel, which takes the inputs one after the other. Vectors: those of a region that a
 * thread takes. Blocks: the least number that is resident on a multiprocessor. */
template <int Outputs, int Vectors, int Blocks, bool Aligned>
struct Looped {
    static constexpr int max_inputs = most_coefficients / Outputs;
    static constexpr int outputs = Outputs, vectors = Vectors, blocks = Blocks, threads = 128;
    static constexpr int block_vectors = threads * Vectors;
    static constexpr bool aligned = Aligned;
};

template <class K>
__global__ __launch_bounds__(K::threads, K::blocks) void looped(const __grid_constant__ Job job) {
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.reads_outputs && job.epilogue.skips())
        return;
    if (job.partial_head + job.partial_tail)
        multiply_partial<8>(job, thread, (uint64_t)gridDim.x * K::threads);
    if (job.count == 0)
        return;
    const uint64_t first = (uint64_t)blockIdx.x * K::block_vectors + threadIdx.x;
    /* Beyond the last whole vector a thread loads the last one again, and does not store. */
    uint64_t at[K::vectors];
#pragma unroll
    for (int v = 0; v < K::vectors; v++) {
        const uint64_t vector = first + v * K::threads;
        at[v] = 16 * (job.first + (vector < job.count ? vector : job.count - 1));
    }
    if (job.reads_outputs)
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
#pragma unroll
            for (int v = 0; v < K::vectors; v++)
                job.epilogue.prefetch(job.regions.out[j] + at[v]);
    uint32_t sums[K::vectors][K::outputs][4] = {};
#pragma unroll 2
    for (unsigned i = 0; i < job.cols; i++) {
        uint32_t x[K::vectors][4];
#pragma unroll
        for (int v = 0; v < K::vectors; v++)
            load_vector<K::aligned>(job.regions.in[i] + at[v], x[v]);
#pragma unroll
        for (int v = 0; v < K::vectors; v++)
            add(sums[v], x[v], job.f, job.tables + i * K::outputs);
    }
    /* Two epilogues, so that the one that only stores has the registers and the speed that it has
     * alone. */
    const auto store = [&](auto reads) {
#pragma unroll
        for (int v = 0; v < K::vectors; v++)
            if (first + v * K::threads < job.count)
#pragma unroll
                for (int j = 0; j < K::outputs; j++)
                    put<K::aligned, decltype(reads)::value>(job.regions.out[j] + at[v], sums[v][j],
                                                            job.epilogue, at[v] - job.phase);
    };
    if (job.reads_outputs)
        store(std::true_type{});
    else
        store(std::false_type{});
}

} // namespace prmt_w8
} // namespace gfk
