/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel on warpgroup MMAs for up to 32 inputs; fragment_ring.h says which lane holds what.
 *
 * One persistent block runs on each multiprocessor, with the matrix operand in shared memory. The
 * last warp copies data: a tile of every input, into stages that the warpgroups have released. So
 * copies are always in flight, whatever the warpgroups do, and take none of the warpgroups'
 * registers. Inputs stay in their stage for all panels of outputs. */
#pragma once

#include "kernels/common/copy_async.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Shared memory: the matrix operand, the ring's barriers, stages. */
struct Stages {
    uint32_t table_bytes, stages, stage_bytes;
    uint32_t zero; /* 0; a parameter, so that the compiler does not know the value */
};

/* The counts of the chains, whose rows are a, with the columns that b describes. */
template <class T>
__device__ inline void count(const uint32_t (&a)[T::chains][T::steps][2], uint64_t b,
                             uint32_t (&c)[T::chains][T::accumulators]) {
    wgmma::arrive();
#pragma unroll
    for (int s = 0; s < T::steps; s += 2)
#pragma unroll
        for (int i = 0; i < T::chains; i++) {
            const uint32_t(&p)[2] = a[i][s], (&q)[2] = a[i][s + 1];
            if (s == 0)
                wgmma::multiply_into(c[i], p[0], p[1], q[0], q[1], b);
            else
                wgmma::multiply_add(c[i], p[0], p[1], q[0], q[1], b + s / 2 * (T::step_bytes / 16));
        }
    wgmma::commit();
    wgmma::wait<0>();
#pragma unroll
    for (int i = 0; i < T::chains; i++)
        wgmma::expect(c[i]);
}

/* A warp's share of a stage: y is what it makes of `Panels` panels of outputs. vectors[s]: where
 * the lane's vector of slot s is. `release` is called when the warp has read all of the stage. */
template <class T, int Panels, class F>
__device__ inline void multiply_stage(const uint32_t (&vectors)[T::slots], uint64_t b,
                                      uint32_t zero, uint32_t (&y)[Panels][4], F release) {
    uint32_t before[2] = {}; /* the last words that were finished */
#pragma unroll
    for (int word = 0; word < 4; word += 2) {
        uint32_t x[T::slots][2], words[Panels][2] = {};
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_shared(vectors[s] + 4 * word, x[s]);
#pragma unroll
        for (int turn = 0; turn < 2; turn++) {
            uint32_t a[T::chains][T::steps][2], c[T::chains][T::accumulators];
            rows_of<T>(x, turn, a);
#pragma unroll
            for (int p = 0; p < Panels; p++) {
                /* ptxas would start these products while counts of the last ones still wait for
                 * their parities, and has no registers for both: let the products depend on these
                 * parities. */
                a[0][0][0] ^= before[0] & zero;
                a[0][0][1] ^= before[1] & zero;
                count<T>(a, b + (p * T::panel_bytes + turn * T::turn_bytes) / 16, c);
                /* Registers of a load arrive together, so the second turn has its words too. */
                if (word == 2 && turn == 0 && p == 0)
                    release();
                add_parities<T>(c, turn, words[p]);
                before[0] = words[p][T::w == 32 ? 0 : turn];
                before[1] = T::w == 32 ? words[p][1] : 0;
            }
        }
#pragma unroll
        for (int p = 0; p < Panels; p++) {
            y[p][word] = words[p][0];
            y[p][word + 1] = words[p][1];
        }
    }
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void wgmma_ring(const __grid_constant__ RingJob job,
                                                            const Stages ring) {
    using T = typename K::T;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (K::reads && job.epilogue.unwanted())
        return;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    extern __shared__ __align__(128) uint4 table[];
    for (unsigned i = threadIdx.x; i < ring.table_bytes / 16; i += K::threads)
        table[i] =
            i < job.panels * T::panel_bytes / 16 ? __ldg((const uint4 *)job.matrix + i) : uint4{};
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(table);
    const bulk::RingBarriers barriers = {shared + ring.table_bytes};
    const uint32_t stages = barriers.filled(ring.stages); /* behind the barriers */
    if (threadIdx.x == 0) {
        barriers.init(ring.stages, K::warps);
        bulk::publish_barriers();
    }
    wgmma::publish();
    __syncthreads();

    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
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
            if (K::reads && (job.epilogue.accumulate || job.epilogue.mismatch_map))
#pragma unroll 1
                for (unsigned j = 0; j < job.rows; j++)
                    bulk::prefetch(job.out[j] + at, bytes);
        }
        return;
    }

    const uint64_t b = descriptor<T>(shared);
    const unsigned mine = warp * T::warp_bytes + lane / T::lanes * 16;
    for (; at < end; at += stride, position.next(ring.stages)) {
        uint32_t vectors[T::slots];
        /* A missing input may hold any bytes: its columns are zero. */
#pragma unroll
        for (unsigned s = 0; s < T::slots; s++) {
            const unsigned wanted = T::lanes * s + share, i = wanted < job.cols ? wanted : share;
            vectors[s] = stages + position.stage * ring.stage_bytes + i * K::tile_stride + mine;
        }
        bulk::wait(barriers.filled(position.stage), position.parity);
#pragma unroll 1
        for (unsigned panel = 0; panel == 0 || (K::loops && panel < job.panels);
             panel += K::abreast) {
            uint32_t y[K::abreast][4];
            multiply_stage<T>(vectors, b + panel * (T::panel_bytes / 16), ring.zero, y, [&] {
                if (K::loops && panel + K::abreast < job.panels)
                    return;
                __syncwarp();
                if (lane == 0)
                    bulk::arrive(barriers.released(position.stage));
            });
            const uint64_t vector = at + mine;
#pragma unroll
            for (int p = 0; p < K::abreast; p++) {
                const unsigned output = (panel + p) * T::outputs + share;
                if (output < job.rows && vector < end)
                    job.epilogue.store<true, K::reads>(job.out[output] + vector, y[p],
                                                       vector - job.phase);
            }
        }
    }
}

} // namespace bmma
} // namespace gfk
