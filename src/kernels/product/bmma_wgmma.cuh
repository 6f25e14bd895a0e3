/* SPDX-License-Identifier: BSD-3-Clause */
/* The wide kernel of the BMMA engine on warpgroup MMAs. bmma_wgmma_layout.h says who holds what.
 *
 * One persistent block per multiprocessor, with the matrix operand of all its outputs in shared
 * memory. A warpgroup keeps all inputs of its unit in registers and goes through the tiles of
 * outputs. There are enough warpgroups that the others keep the tensor cores busy while one waits
 * for its data or takes parities. */
#pragma once

#include "bmma.cuh"
#include "bmma_wgmma_layout.h"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Its choices. */
template <class Layout_, int Warpgroups>
struct Grouped {
    using T = Layout_;
    static constexpr int warpgroups = Warpgroups, threads = 128 * Warpgroups;
};

/* 4 or 8 bytes that L1 need not keep. */
template <int N>
__device__ inline void load_part(const uint8_t *p, uint32_t (&x)[N]) {
    static_assert(N == 1 || N == 2, "");
    if constexpr (N == 1)
        asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(x[0]) : "l"(p));
    else
        asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                     : "=r"(x[0]), "=r"(x[1])
                     : "l"(p));
}

/* The data operand of a unit. */
template <class T>
__device__ inline void gather(const WideJob &job, uint64_t cell, unsigned share,
                              uint32_t (&a)[T::symbols][T::steps]) {
    uint32_t x[T::slots][T::cell_words];
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        load_part(job.in[s * T::lanes + share] + cell, x[s]);
    arrange<T>(x, a);
    /* Or the last permutations would be done again for every tile. */
#pragma unroll
    for (int i = 0; i < T::symbols; i++)
        wgmma::expect(a[i]);
}

/* The words of a tile's outputs, for a unit. b: the tile's descriptor. */
template <class T>
__device__ inline void multiply_tile(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                     uint32_t (&words)[T::tile_groups][T::cell_words]) {
    uint32_t bytes[2][T::tile_groups];
#pragma unroll
    for (int chain = 0; chain < T::chains; chain++) {
        const uint32_t(&p)[T::steps] = a[2 * chain], (&q)[T::steps] = a[2 * chain + 1];
        uint32_t c[T::accumulators];
        wgmma::arrive();
        wgmma::multiply(c, p[0], q[0], p[1], q[1], b);
#pragma unroll
        for (int s = 1; s < T::mmas; s++)
            wgmma::multiply_add(c, p[2 * s], q[2 * s], p[2 * s + 1], q[2 * s + 1],
                                b + s * (T::step_bytes / 16));
        wgmma::commit();
        wgmma::wait();
        wgmma::expect(c);
#pragma unroll
        for (int group = 0; group < T::tile_groups; group++) {
            bytes[chain % 2][group] = parities(c, group);
            if (chain % 2)
                words[group][chain / 2] = join_chains(bytes[0][group], bytes[1][group]);
        }
    }
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void grouped(const __grid_constant__ WideJob job) {
    using T = typename K::T;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.cut_head + job.cut_tail)
        cut_cells<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    /* What the last tile's missing groups are multiplied by does not matter. */
    extern __shared__ __align__(128) uint4 table[];
    for (unsigned i = threadIdx.x; i < job.groups * (T::group_registers * 8); i += K::threads)
        table[i] = __ldg((const uint4 *)job.matrix + i);
    wgmma::publish();
    __syncthreads();
    const uint64_t first_tile = descriptor<T>((uint32_t)__cvta_generic_to_shared(table));

    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    const unsigned mine = (warp % 4 * T::cells + lane / T::lanes) * T::cell_bytes;
    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * K::warpgroups * T::unit_bytes;
    /* Few units go to as many multiprocessors as there are. */
    const uint64_t first_unit = (uint64_t)(warp / 4) * gridDim.x + blockIdx.x;
    for (uint64_t at = 16 * job.first + first_unit * T::unit_bytes; at < end; at += stride) {
        /* Beyond the last cell a lane loads that one again, and does not store. */
        const uint64_t cell = at + mine;
        uint32_t a[T::symbols][T::steps];
        gather<T>(job, cell < end ? cell : end - T::cell_bytes, share, a);
        uint64_t b = first_tile;
#pragma unroll 1
        for (unsigned first = 0; first < job.rows; first += T::tile_outputs) {
            uint32_t words[T::tile_groups][T::cell_words];
            multiply_tile<T>(a, b, words);
            b += T::tile_bytes / 16;
#pragma unroll
            for (int group = 0; group < T::tile_groups; group++) {
                const unsigned output = first + group * T::outputs + share;
                if (output < job.rows && cell < end)
                    store_words<true, true>(job.out[output] + cell, words[group], job.sink,
                                            cell - job.phase);
            }
        }
    }
}

} // namespace bmma
} // namespace gfk
