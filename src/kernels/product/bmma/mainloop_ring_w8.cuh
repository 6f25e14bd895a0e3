/* SPDX-License-Identifier: BSD-3-Clause */
/* The wide kernel of the BMMA engine on warpgroup MMAs. fragment_wgmma_w8.h says who holds what.
 *
 * One persistent block per multiprocessor, with the matrix operand of all its outputs in shared
 * memory. A warpgroup keeps all inputs of its unit in registers and goes through the tiles of
 * outputs; meanwhile its next unit comes to shared memory. There are enough warpgroups that the
 * others keep the tensor cores busy while one takes parities. */
#pragma once

#include "kernels/common/copy_async.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Shared memory: the tiles, a unit of every warpgroup, the addresses of inputs and outputs. In a
 * unit the inputs of a lane that shares a vector are one behind the other, and those of the next
 * such lane begin 32 bytes further modulo 128: what lanes load at once is in different banks. */
template <class K>
struct UnitStage {
    using T = typename K::T;
    static constexpr unsigned share_bytes = T::slots * T::unit_bytes + 32;
    static constexpr unsigned bytes = T::lanes * share_bytes;
    static constexpr size_t fixed_bytes = K::warpgroups * (size_t)bytes + 8 * T::inputs;
    static constexpr size_t bytes_of_tiles(size_t tiles) {
        return fixed_bytes + tiles * (T::tile_bytes + 8 * T::tile_outputs);
    }
    /* Of a launch. */
    static constexpr size_t most_tiles() {
        const size_t fit = (most_shared - fixed_bytes) / (T::tile_bytes + 8 * T::tile_outputs);
        const size_t most = ManyJob::most_outputs / T::tile_outputs;
        return fit < most ? fit : most;
    }
};

/* Addresses in shared memory, of a thread. */
struct SharedPlace {
    uint32_t stage;     /* its warpgroup's unit */
    uint32_t ins, outs; /* addresses of regions: constant memory serves lanes one by one */
    unsigned warpgroup;
};

/* A barrier of the warpgroup's threads. */
__device__ inline void sync_warpgroup(unsigned warpgroup) {
    asm volatile("bar.sync %0, 128;" : : "r"(warpgroup + 1) : "memory");
}

/* Starts copying `bytes` bytes of every input, from byte `at` on. What missing inputs hold does not
 * matter. */
template <class K>
__device__ inline void start_copy(const SharedPlace &place, unsigned inputs, uint64_t at,
                                  unsigned bytes) {
    using T = typename K::T;
    constexpr unsigned parts = T::unit_bytes / 16;
    const unsigned part = threadIdx.x % parts * 16;
    if (part >= bytes)
        return;
#pragma unroll 4
    for (unsigned i = threadIdx.x % 128 / parts; i < inputs; i += 128 / parts)
        copy_16(place.stage + i % T::lanes * UnitStage<K>::share_bytes +
                    i / T::lanes * T::unit_bytes + part,
                shared_pointer(place.ins + 8 * i) + at + part);
}

/* The lane's words of the unit that was fetched, whose place is then free; `mine` is where the
 * lane's vector begins in it. */
template <class K>
__device__ inline void receive(const SharedPlace &place, unsigned mine,
                               uint32_t (&x)[K::T::slots][K::T::lane_words]) {
    using T = typename K::T;
    copies_wait();
    sync_warpgroup(place.warpgroup);
    const uint32_t from = place.stage + threadIdx.x % T::lanes * UnitStage<K>::share_bytes + mine;
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        load_shared(from + s * T::unit_bytes, x[s]);
    sync_warpgroup(place.warpgroup);
}

/* Starts counting for symbols 2 * chain and the next one, and a tile. b: its descriptor. */
template <class T>
__device__ inline void start_chain(const uint32_t (&a)[T::symbols][T::steps], int chain, uint64_t b,
                                   uint32_t (&c)[T::accumulators]) {
    const uint32_t(&p)[T::steps] = a[2 * chain], (&q)[T::steps] = a[2 * chain + 1];
    wgmma::arrive();
    wgmma::multiply(c, p[0], q[0], p[1], q[1], b);
#pragma unroll
    for (int s = 1; s < T::mmas; s++)
        wgmma::multiply_add(c, p[2 * s], q[2 * s], p[2 * s + 1], q[2 * s + 1],
                            b + s * (T::step_bytes / 16));
    wgmma::commit();
}

/* The words of a tile's outputs, for a unit. Two chains make a word; while the second one is
 * counted, the first one's counts are joined. */
template <class T>
__device__ inline void multiply_tile(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                     uint32_t (&c)[2][T::accumulators],
                                     uint32_t (&words)[T::tile_panels][T::lane_words]) {
#pragma unroll
    for (int word = 0; word < T::lane_words; word++) {
        uint32_t first[T::tile_panels][8], second[8];
        start_chain<T>(a, 2 * word, b, c[0]);
        start_chain<T>(a, 2 * word + 1, b, c[1]);
        wgmma::wait<1>();
        wgmma::expect(c[0]);
#pragma unroll
        for (int panel = 0; panel < T::tile_panels; panel++)
            join_rows(c[0], panel, first[panel]);
        wgmma::wait<0>();
        wgmma::expect(c[1]);
#pragma unroll
        for (int panel = 0; panel < T::tile_panels; panel++) {
            join_rows(c[1], panel, second);
            words[panel][word] = parities(first[panel], second);
        }
    }
}

/* Words of an output are set, or added to what was there, or compared with it. */
template <class K, int N>
__device__ inline void finish(const Epilogue &epilogue, uint8_t *p, uint64_t offset,
                              uint32_t (&words)[N], const uint32_t (&old)[N]) {
    if constexpr (K::reads) {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            any |= words[i] ^= old[i];
        if (epilogue.mismatch_map) {
            if (any)
                epilogue.report(offset, 4 * N);
            return;
        }
    }
    epilogue.store<true, false>(p, words, offset);
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void wgmma_unit(const __grid_constant__ ManyJob job) {
    using T = typename K::T;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    extern __shared__ __align__(128) uint4 table[];
    const uint32_t tiles = (uint32_t)__cvta_generic_to_shared(table);
    const uint32_t stages =
        tiles + (job.rows + T::tile_outputs - 1) / T::tile_outputs * T::tile_bytes;
    const unsigned warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    SharedPlace place;
    place.warpgroup = warp / 4;
    place.stage = stages + place.warpgroup * UnitStage<K>::bytes;
    place.ins = stages + K::warpgroups * UnitStage<K>::bytes;
    place.outs = place.ins + 8 * T::inputs;
    for (unsigned i = threadIdx.x; i < job.cols; i += K::threads)
        store_pointer(place.ins + 8 * i, job.in[i]);
    for (unsigned j = threadIdx.x; j < job.rows; j += K::threads)
        store_pointer(place.outs + 8 * j, job.out[j]);
    __syncthreads();

    /* Few units go to as many multiprocessors as there are. */
    const unsigned units = (unsigned)((16 * job.count + T::unit_bytes - 1) / T::unit_bytes);
    const unsigned stride = gridDim.x * K::warpgroups;
    unsigned unit = place.warpgroup * gridDim.x + blockIdx.x;
    const auto begin = [&](unsigned u) { return 16 * job.first + (uint64_t)u * T::unit_bytes; };
    const auto bytes = [&](unsigned u) {
        return u + 1 < units ? T::unit_bytes
                             : (unsigned)(16 * job.count - (uint64_t)u * T::unit_bytes);
    };
    if (unit < units)
        start_copy<K>(place, job.cols, begin(unit), bytes(unit));

    /* What the last tile's missing panels are multiplied by does not matter. */
    for (unsigned i = threadIdx.x; i < job.panels * (T::panel_registers * 8); i += K::threads)
        table[i] = __ldg((const uint4 *)job.matrix + i);
    wgmma::publish();
    __syncthreads();
    const uint64_t first_tile = descriptor<T>(tiles);

    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned mine = (warp % 4 * T::vectors + lane / T::lanes) * T::lane_bytes;
    uint32_t c[2][T::accumulators] = {};
    wgmma::expect(c[0]);
    wgmma::expect(c[1]);
    for (; unit < units; unit += stride) {
        uint32_t x[T::slots][T::lane_words], a[T::symbols][T::steps];
        receive<K>(place, mine, x);
        if (unit + stride < units)
            start_copy<K>(place, job.cols, begin(unit + stride), bytes(unit + stride));
        arrange<T>(x, a);
        /* Or the last permutations would be done again for every tile. */
#pragma unroll
        for (int i = 0; i < T::symbols; i++)
            wgmma::expect(a[i]);
        /* Beyond the last vector a lane has garbage, and does not store. */
        const unsigned here = bytes(unit);
        const uint64_t vector = begin(unit) + mine;
        uint64_t b = first_tile;
#pragma unroll 1
        for (unsigned first = 0; first < job.rows; first += T::tile_outputs) {
            const auto has = [&](int panel) {
                return first + panel * T::outputs + share < job.rows && mine < here;
            };
            const auto output = [&](int panel) {
                return shared_pointer(place.outs + 8 * (first + panel * T::outputs + share)) +
                       vector;
            };
            /* What is read comes while the products are computed. */
            uint32_t old[T::tile_panels][T::lane_words];
#pragma unroll
            for (int panel = 0; panel < T::tile_panels; panel++)
                if (K::reads && has(panel))
                    load_vector<true, T::lane_words == 4 ? Load::once : Load::early>(output(panel),
                                                                                     old[panel]);
            uint32_t words[T::tile_panels][T::lane_words];
            multiply_tile<T>(a, b, c, words);
            b += T::tile_bytes / 16;
#pragma unroll
            for (int panel = 0; panel < T::tile_panels; panel++)
                if (has(panel))
                    finish<K>(job.epilogue, output(panel), vector - job.phase, words[panel],
                              old[panel]);
        }
    }
}

} // namespace bmma
} // namespace gfk
