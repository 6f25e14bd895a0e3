/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel on warpgroup MMAs for up to 40 inputs; fragment_ring.h says which lane holds what.
 *
 * One persistent block runs on each multiprocessor, with the matrix operand in shared memory. The
 * producer, one warp, copies a tile of every input into stages that the consumers, the other
 * warpgroups, have released. So copies are always in flight, whatever the consumers do, and take
 * none of the consumers' registers. The producer has a warpgroup of its own, because only whole
 * warpgroups can give registers to others. */
#pragma once

#include "kernels/common/copy_async.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Shared memory: the matrix operand, stages, the ring's barriers. */
struct Stages {
    uint32_t table_bytes, stages, stage_bytes;
    uint32_t zero;      /* 0; a parameter, so that the compiler does not know the value */
    Factors factors[4]; /* of the turns of a panel: all equal */
};

/* Loads the lane's rows: its vectors of the inputs, of which slot 0 is at `at`. Returns a value
 * that depends on every load. */
template <class T>
__device__ inline uint32_t load_rows(uint32_t at, uint32_t slot_bytes,
                                     uint32_t (&a)[T::symbols][T::steps]) {
    uint32_t x[T::slots][T::lane_words], loaded = 0;
#pragma unroll
    for (int s = 0; s < T::slots; s++) {
        load_shared(at + s * slot_bytes, x[s]);
        loaded ^= x[s][0];
    }
    arrange<T>(x, a);
    /* Keeps the compiler from repeating the last permutations for every panel. */
#pragma unroll
    for (int i = 0; i < T::symbols; i++)
        wgmma::expect(a[i]);
    return loaded;
}

/* The counts of turn Turn, of the chains from First on. b describes the panel's columns. Reuse: c
 * holds older counts, which are not added, because `zero` is 0. */
template <class T, int Turn, int First, bool Reuse, int Chains>
__device__ inline void count(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                             uint32_t (&c)[Chains][T::accumulators], uint32_t zero) {
    wgmma::arrive();
#pragma unroll
    for (int n = 0; n < T::instructions; n++)
#pragma unroll
        for (int chain = 0; chain < Chains; chain++) {
            uint32_t x[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] = a[T::row(Turn, First + chain, n, i)][T::step(n, i)];
            const uint64_t columns = b + T::offset(Turn, First + chain, n) / 16;
            if (n != 0)
                wgmma::multiply_add(c[chain], x[0], x[1], x[2], x[3], columns);
            else if constexpr (Reuse)
                wgmma::multiply_add(c[chain], x[0], x[1], x[2], x[3], columns, zero);
            else
                wgmma::multiply_into(c[chain], x[0], x[1], x[2], x[3], columns);
        }
    wgmma::commit();
    wgmma::wait<0>();
#pragma unroll
    for (int chain = 0; chain < Chains; chain++)
        wgmma::expect(c[chain]);
}

/* The counts of a panel that a lane holds at once. */
template <class T>
struct Counts {
    uint32_t c[T::one_by_one ? 1 : T::chains][T::accumulators] = {};
};

/* The turns from Turn on of a panel, whose vectors are y. ptxas would start the next products while
 * counts of the last ones wait for their parities, and has no registers for both.
 * K::reuse_accumulators: all products write the same registers, so they begin when the last counts
 * are packed, and the words are put together meanwhile. Else the products depend on the last
 * parities. */
template <class K, int Turn = 0, class T = typename K::T>
__device__ inline void multiply_panel(uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                      const Stages &ring, Counts<T> &counts,
                                      uint32_t (&y)[T::lane_words]) {
    auto &c = counts.c;
    if constexpr (Turn > 0 && !K::reuse_accumulators)
        a[T::first_row(Turn, 0)][0] ^= y[Turn - 1] & ring.zero;
    if constexpr (T::one_by_one) {
        uint32_t packed[8];
        count<T, Turn, 1, K::reuse_accumulators>(a, b, c, ring.zero);
        pack_second(c[0], packed, ring.factors[Turn]);
        wgmma::expect(packed);
        count<T, Turn, 0, K::reuse_accumulators>(a, b, c, ring.zero);
        y[Turn] = join_first(c[0], packed);
    } else {
        count<T, Turn, 0, K::reuse_accumulators>(a, b, c, ring.zero);
        if constexpr (K::reuse_accumulators)
            y[Turn] = parities_of<T>(c, ring.factors[Turn]);
        else
            y[Turn] = parities_of<T>(c);
    }
    if constexpr (K::reuse_accumulators)
        wgmma::expect(y[Turn]);
    if constexpr (Turn < T::turns - 1)
        multiply_panel<K, Turn + 1>(a, b, ring, counts, y);
}

/* Loads the lane's rows of the next tile, which begin at `from` of a stage, and releases the
 * stage. */
template <class K, class T = typename K::T>
__device__ inline void take_rows(const Stages &ring, const bulk::RingBarriers barriers,
                                 unsigned lane, uint32_t from, bulk::RingPosition &position,
                                 uint32_t (&a)[T::symbols][T::steps]) {
    bulk::wait(barriers.filled(position.stage), position.parity);
    /* A missing input may hold any bytes: its columns are zero. */
    const uint32_t loaded = load_rows<T>(from + position.stage * ring.stage_bytes,
                                         T::lanes * (K::tile_bytes + K::tile_gap), a);
    /* An arrival does not wait for loads that are on their way, so its address depends on them. A
     * fence would wait for the stores of the last tile, too. */
    __syncwarp();
    if (lane == 0)
        bulk::arrive(barriers.released(position.stage) | (loaded & ring.zero));
    position.next(ring.stages);
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void wgmma_ring(const Stages ring,
                                                            const __grid_constant__ RingJob job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    const unsigned mine = warp * T::warp_bytes + lane / T::lanes * 16;
    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * K::tile_bytes;
    uint64_t at = 16 * job.first + (uint64_t)blockIdx.x * K::tile_bytes;
    extern __shared__ __align__(128) uint4 table[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(table);
    /* Stages begin at a multiple of 32 bytes: otherwise copies to them are 10 % slower. */
    const uint32_t stages = shared + ring.table_bytes;
    const bulk::RingBarriers barriers = {stages + (ring.stages - 1) * ring.stage_bytes +
                                         T::inputs * (K::tile_bytes + K::tile_gap)};
    const uint32_t table_there = barriers.filled(ring.stages); /* after the ring's barriers */
    if (K::reads && job.epilogue.skips())
        return;
    if (threadIdx.x == 32 * K::warps && at < end) {
        bulk::init_barrier(table_there, 1);
        barriers.init(ring.stages, K::warps);
        bulk::publish_barriers();
        bulk::arrive_with(table_there, ring.table_bytes);
        bulk::copy(shared, job.matrix, ring.table_bytes, table_there);
    }
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, (uint64_t)blockIdx.x * K::threads + threadIdx.x,
                               (uint64_t)gridDim.x * K::threads);
    __syncthreads();

    bulk::RingPosition position;
    if (warp >= K::warps) {
        wgmma::give_registers<K::producer_registers>();
        if (lane != 0 || warp > K::warps)
            return;
        for (; at < end; at += stride, position.next(ring.stages)) {
            const uint32_t filled = barriers.filled(position.stage);
            const uint32_t to = stages + position.stage * ring.stage_bytes;
            const uint32_t bytes = end - at < K::tile_bytes ? (uint32_t)(end - at) : K::tile_bytes;
            bulk::wait(barriers.released(position.stage), position.parity ^ 1);
            bulk::arrive_with(filled, bytes * job.cols);
#pragma unroll 1
            for (unsigned i = 0; i < job.cols; i++)
                bulk::copy(to + i * (K::tile_bytes + K::tile_gap), job.regions.in[i] + at, bytes,
                           filled);
            if (K::reads && job.epilogue.reads())
#pragma unroll 1
                for (unsigned j = 0; j < job.rows; j++)
                    bulk::prefetch(job.regions.out[j] + at, bytes);
        }
        return;
    }

    wgmma::take_registers<K::registers>();
    /* Each lane knows this in advance, so that no panel waits for parameters. */
    const bool reads = K::reads && __shfl_sync(0xffffffff, job.epilogue.reads(), 0);
    uint64_t b = descriptor<T>(shared);
    uint32_t columns[1] = {(uint32_t)b}; /* otherwise each tile computes them again */
    wgmma::expect(columns);
    b = b >> 32 << 32 | columns[0];
    if (at >= end)
        return;
    bulk::wait(table_there, 0);
    const uint32_t from = stages + share * (K::tile_bytes + K::tile_gap) + mine;
    Counts<T> counts;
#pragma unroll 1
    for (; at < end; at += stride) {
        uint32_t a[T::symbols][T::steps];
        take_rows<K>(ring, barriers, lane, from, position, a);
        const uint64_t vector = at + mine;
        /* The loop over panels has few instructions besides the products' own: outputs are counted
         * in bytes of job.regions.out, and the lane's bound is not computed again. */
        uint32_t bound[1] = {vector < end ? 8 * job.rows : 0};
        wgmma::expect(bound);
        uint32_t output = 8 * share, panel = (uint32_t)b, left = job.panels;
#pragma unroll 1
        do {
            uint32_t y[4];
            multiply_panel<K>(a, b >> 32 << 32 | panel, ring, counts, y);
            uint8_t *const to =
                *(uint8_t *const *)((const char *)job.regions.out + output) + vector;
            const bool wanted = output < bound[0];
            if (wanted && !reads)
                job.epilogue.store<true, false>(to, y, 0);
            if (K::reads && reads && wanted)
                job.epilogue.store<true, true>(to, y, vector - job.phase);
            panel += T::panel_bytes / 16;
            output += 8 * T::outputs;
        } while (--left != 0);
    }
}

} // namespace bmma
} // namespace gfk
