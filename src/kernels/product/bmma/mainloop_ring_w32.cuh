/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of the BMMA engine of w = 32 on warpgroup MMAs. fragment_wgmma_w32.h says who holds
 * what.
 *
 * One persistent block per multiprocessor, with the matrix operand in shared memory. A stage has the
 * block's tile of every input. The last warp fills stages as soon as the warpgroups have released
 * them. So enough data are under way, whatever the warpgroups do, and the data take none of their
 * registers. */
#pragma once

#include "kernels/common/copy_async.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Shared memory: the matrix operand, the ring's barriers, stages. */
struct Ring {
    uint32_t stages, stage_bytes;
    uint32_t zero; /* 0; a parameter, so that the compiler does not know the value */
};

/* The counts of two rows, whose words are x, and of one instruction's columns. */
template <class T>
__device__ inline void count_columns(const uint32_t (&x)[T::slots][2], uint64_t b,
                                     uint32_t (&c)[T::accumulators]) {
    wgmma::arrive();
#pragma unroll
    for (int s = 0; s < T::slots; s += 2) {
        /* What stands for a missing slot is multiplied by zero. */
        const uint32_t(&p)[2] = x[s], (&q)[2] = x[s + 1 < T::slots ? s + 1 : s];
        if (s == 0)
            wgmma::multiply_into(c, p[0], p[1], q[0], q[1], b);
        else
            wgmma::multiply_add(c, p[0], p[1], q[0], q[1], b + s / 2 * (T::step_bytes / 16));
    }
    wgmma::commit();
    wgmma::wait<0>();
    wgmma::expect(c);
}

/* A warp's share of a stage. vectors[s]: where the lane's vector of slot s is. `release` is called
 * when the warp has read all of the stage. */
template <class T, class F>
__device__ inline void multiply_stage(const uint32_t (&vectors)[T::slots], uint64_t b,
                                      uint32_t zero, uint32_t (&y)[4], F release) {
#pragma unroll
    for (int row = 0; row < 4; row += 2) {
        uint32_t x[T::slots][2];
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_shared(vectors[s] + 4 * row, x[s]);
        y[row] = y[row + 1] = 0;
#pragma unroll
        for (int i = 0; i < T::instructions; i++) {
            /* ptxas would start these products while counts of the last ones still wait for their
             * parities, and has no registers for both: let them depend on these parities. */
            const int before = i > 0 ? row : row - 2;
            if (before >= 0) {
                x[0][0] ^= y[before] & zero;
                x[0][1] ^= y[before + 1] & zero;
            }
            uint32_t c[T::accumulators];
            count_columns<T>(x, b + i * (T::instruction_bytes / 16), c);
            if (row == 2 && i == 0)
                release();
            parities<T>(c, i, y[row], y[row + 1]);
        }
    }
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void wgmma_w32(const __grid_constant__ FewJob job,
                                                           const Ring ring) {
    using T = typename K::T;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    extern __shared__ __align__(128) uint4 table[];
    for (unsigned i = threadIdx.x; i < K::table_bytes / 16; i += K::threads)
        table[i] = __ldg((const uint4 *)job.matrix + i);
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(table);
    const bulk::RingBarriers barriers = {shared + K::table_bytes};
    const uint32_t stages = barriers.filled(ring.stages); /* behind the barriers */
    if (threadIdx.x == 0) {
        barriers.init(ring.stages, K::warps);
        bulk::publish_barriers();
    }
    wgmma::publish();
    __syncthreads();

    const unsigned lane = threadIdx.x % 32, share = lane % 4;
    const unsigned warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * K::tile_bytes;
    uint64_t at = 16 * job.first + (uint64_t)blockIdx.x * K::tile_bytes;
    bulk::RingPosition position;
    if (warp == K::warps) {
        if (lane != 0)
            return;
        for (; at < end; at += stride, position.next(ring.stages)) {
            const uint32_t filled = barriers.filled(position.stage);
            const uint32_t to = stages + position.stage * ring.stage_bytes;
            const uint32_t bytes = end - at < K::tile_bytes ? (uint32_t)(end - at) : K::tile_bytes;
            bulk::wait(barriers.released(position.stage), position.parity ^ 1);
            bulk::arrive_with(filled, bytes * job.cols);
#pragma unroll 1
            for (unsigned i = 0; i < job.cols; i++)
                bulk::copy(to + i * K::tile_stride, job.in[i] + at, bytes, filled);
        }
        return;
    }

    const uint64_t b = descriptor<T>(shared);
    const unsigned mine = warp * T::warp_bytes + lane / 4 * 16;
    for (; at < end; at += stride, position.next(ring.stages)) {
        uint32_t vectors[T::slots], y[4];
        /* A missing input stands for one of the first four: its columns are zero. */
#pragma unroll
        for (unsigned s = 0; s < T::slots; s++) {
            const unsigned i = 4 * s + share < job.cols ? 4 * s + share : share;
            vectors[s] = stages + position.stage * ring.stage_bytes + i * K::tile_stride + mine;
        }
        bulk::wait(barriers.filled(position.stage), position.parity);
        multiply_stage<T>(vectors, b, ring.zero, y, [&] {
            __syncwarp();
            if (lane == 0)
                bulk::arrive(barriers.released(position.stage));
        });
        const uint64_t vector = at + mine;
        if (share < job.rows && vector < end)
            job.epilogue.store<true, true>(job.out[share] + vector, y, vector - job.phase);
    }
}

} // namespace bmma
} // namespace gfk
