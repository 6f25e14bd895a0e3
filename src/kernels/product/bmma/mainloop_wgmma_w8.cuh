/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of the BMMA engine of w = 8 on warpgroup MMAs. fragment_wgmma_w8.h says which lane
 * holds what.
 *
 * One persistent block per multiprocessor, with the matrix operand of all its outputs in shared
 * memory. A warpgroup keeps all inputs of its tile in registers and goes through the outputs, one
 * instruction's panels after the other; meanwhile its next tile comes to shared memory. There are
 * enough warpgroups that the others keep the tensor cores busy while one takes parities. */
#pragma once

#include "kernels/common/copy_async.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Shared memory: the matrix operand, a tile of every warpgroup, the addresses of outputs. In a tile
 * the inputs of a lane that shares a vector follow each other, and those of the next such lane
 * begin 32 bytes further modulo 128, so that lanes load from different banks at once. */
template <class K>
struct TileStage {
    using T = typename K::T;
    static constexpr unsigned share_bytes = T::slots * T::tile_bytes + 32;
    static constexpr unsigned bytes = T::lanes * share_bytes;
    static constexpr size_t fixed_bytes = K::warpgroups * (size_t)bytes;
    /* Bytes of a launch whose outputs take this many instructions. */
    static constexpr size_t shared_bytes(size_t instructions) {
        return fixed_bytes + instructions * (T::instruction_bytes + 8 * T::instruction_outputs);
    }
    /* The most instructions that a launch has room for. */
    static constexpr size_t most_instructions() {
        const size_t fit =
            (most_shared - fixed_bytes) / (T::instruction_bytes + 8 * T::instruction_outputs);
        const size_t most = ManyJob::Regions::most_outputs / T::instruction_outputs;
        return fit < most ? fit : most;
    }
};

/* The place of the tile of a thread's warpgroup in shared memory. */
struct SharedPlace {
    uint32_t stage;
    unsigned warpgroup;
};

/* Starts copying a tile of every input, from byte `at` on, but nothing from byte `end` on. Missing
 * inputs may hold any bytes. Addresses come from the parameters, all at once: from shared memory
 * each copy would wait for its own. */
template <class K>
__device__ inline void start_copy(const ManyJob &job, const SharedPlace &place, uint64_t at,
                                  uint64_t end) {
    using T = typename K::T;
    constexpr unsigned vectors = T::tile_bytes / 16, abreast = 128 / vectors; /* inputs */
    const unsigned vector = threadIdx.x % vectors * 16, first = threadIdx.x % 128 / vectors;
    const uint32_t to = place.stage + first % T::lanes * TileStage<K>::share_bytes +
                        first / T::lanes * T::tile_bytes + vector;
    at += vector;
    if (at >= end)
        return;
#pragma unroll
    for (unsigned i = 0; i < T::inputs; i += abreast)
        copy_16_if(i < job.cols, to + i / T::lanes * T::tile_bytes, job.regions.in[first + i] + at);
}

/* The lane's words of the tile that was fetched, whose place is then free; `mine` is where the
 * lane's vector begins in it. */
template <class K>
__device__ inline void receive(const SharedPlace &place, unsigned mine,
                               uint32_t (&x)[K::T::slots][K::T::lane_words]) {
    using T = typename K::T;
    copies_wait();
    wgmma::sync_warpgroup(place.warpgroup);
    const uint32_t from = place.stage + threadIdx.x % T::lanes * TileStage<K>::share_bytes + mine;
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        load_shared(from + s * T::tile_bytes, x[s]);
    wgmma::sync_warpgroup(place.warpgroup);
}

/* Starts counting symbols 2 * chain and the next one. b describes the columns. */
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

/* The words of an instruction's panels. Two chains make a word, that of the last symbols first.
 * While counts are joined, the next chain's are computed. */
template <class T>
__device__ inline void multiply_panels(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                       uint32_t (&c)[2][T::accumulators],
                                       uint32_t (&words)[T::instruction_panels][T::lane_words]) {
    uint32_t joined[T::instruction_panels][8];
    start_chain<T>(a, 1, b, c[0]);
#pragma unroll
    for (int n = 0; n < T::chains; n++) {
        if (n + 1 < T::chains) {
            start_chain<T>(a, (n + 1) ^ 1, b, c[(n + 1) % 2]);
            wgmma::wait<1>();
        } else {
            wgmma::wait<0>();
        }
        wgmma::expect(c[n % 2]);
#pragma unroll
        for (int panel = 0; panel < T::instruction_panels; panel++)
            if (n % 2 == 0)
                join_rows<T>(c[n % 2], panel, joined[panel]);
            else
                words[panel][n / 2] = parities<T>(c[n % 2], panel, joined[panel]);
    }
}

/* Stores the words of an output, or their sums with the old words, or compares them with the old
 * words. */
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
__global__ __launch_bounds__(K::threads, 1) void wgmma_w8(const __grid_constant__ ManyJob job) {
    using T = typename K::T;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (K::reads && job.epilogue.skips())
        return;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    extern __shared__ __align__(128) uint4 table[];
    const uint32_t columns = (uint32_t)__cvta_generic_to_shared(table);
    const uint32_t stages =
        columns + divide_up<T::instruction_outputs>(job.rows) * T::instruction_bytes;
    const unsigned warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    SharedPlace place;
    place.warpgroup = warp / 4;
    place.stage = stages + place.warpgroup * TileStage<K>::bytes;
    const uint32_t outs = stages + K::warpgroups * TileStage<K>::bytes;

    /* A few tiles are spread over as many multiprocessors as there are. */
    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * K::warpgroups * T::tile_bytes;
    uint64_t at =
        16 * job.first + (uint64_t)(place.warpgroup * gridDim.x + blockIdx.x) * T::tile_bytes;
    start_copy<K>(job, place, at, end);

    for (unsigned j = threadIdx.x; j < job.rows; j += K::threads)
        store_pointer(outs + 8 * j, job.regions.out[j]);
    /* The last instruction may have missing panels. Their part of the matrix operand may hold any
     * bits. */
    for (unsigned i = threadIdx.x; i < job.panels * (T::panel_registers * 8); i += K::threads)
        table[i] = __ldg((const uint4 *)job.matrix + i);
    wgmma::publish();
    __syncthreads();
    const uint64_t b = descriptor<T>(columns);

    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned mine = (warp % 4 * T::vectors + lane / T::lanes) * T::lane_bytes;
    uint32_t c[2][T::accumulators] = {};
    wgmma::expect(c[0]);
    wgmma::expect(c[1]);
    for (; at < end; at += stride) {
        uint32_t x[T::slots][T::lane_words], a[T::symbols][T::steps];
        receive<K>(place, mine, x);
        start_copy<K>(job, place, at + stride, end);
        arrange<T>(x, a);
        /* Keeps the compiler from repeating the last permutations for every instruction. */
#pragma unroll
        for (int i = 0; i < T::symbols; i++)
            wgmma::expect(a[i]);
        /* Outputs are counted in bytes of their addresses. A lane after the last vector has
         * garbage, and no output. */
        const uint64_t vector = at + mine;
        uint32_t output = outs + 8 * share, first_column = (uint32_t)b;
        uint32_t bound[1] = {vector < end ? outs + 8 * job.rows : 0};
        wgmma::expect(bound);
#pragma unroll 1
        for (uint32_t left = divide_up<T::instruction_outputs>(job.rows); left != 0; left--) {
            /* Outputs that are read arrive while the products are computed. */
            uint32_t old[T::instruction_panels][T::lane_words];
#pragma unroll
            for (int panel = 0; panel < T::instruction_panels; panel++)
                if (K::reads && output + panel * (8 * T::outputs) < bound[0])
                    load_vector<true, T::lane_words == 4 ? Load::once : Load::early>(
                        shared_pointer(output + panel * (8 * T::outputs)) + vector, old[panel]);
            uint32_t words[T::instruction_panels][T::lane_words];
            multiply_panels<T>(a, b >> 32 << 32 | first_column, c, words);
            first_column += T::instruction_bytes / 16;
#pragma unroll
            for (int panel = 0; panel < T::instruction_panels; panel++) {
                if (output < bound[0])
                    finish<K>(job.epilogue, shared_pointer(output) + vector, vector - job.phase,
                              words[panel], old[panel]);
                output += 8 * T::outputs;
            }
        }
    }
}

} // namespace bmma
} // namespace gfk
