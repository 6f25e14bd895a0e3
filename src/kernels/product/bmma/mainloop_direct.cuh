/* SPDX-License-Identifier: BSD-3-Clause */
/* Mainloops whose lanes load their data from memory themselves.
 *
 * registers: all inputs in one pass, all outputs in a few panels, whose matrix operands stay in
 * registers. The problem is a product of aligned regions, a product of short regions
 * (mainloop_small.cuh), or a batch (src/kernels/rs/batch_direct.cuh).
 * streamed: any shape; a warp keeps a pass of inputs in registers and goes through all panels of
 * outputs, whose matrix operands come through L1, or from shared memory if all fit. Further passes
 * add to the outputs. */
#pragma once

#include <type_traits>

#include "fragment.cuh"
#include "problem.cuh"

namespace gfk {
namespace bmma {

/* Where a warp's tiles are, and how a lane loads and stores its share of a tile. K is the kernel, J
 * the parameters of the problem. In the order of the calls:
 *
 *   more                has the warp a tile?
 *   load_outputs        loads the tile's outputs, if the kernel reads them ahead
 *   begin               loads the first tile's data and the matrix operand
 *   load_next           loads the next tile's data, if there is one, before this tile is computed
 *   has_panel, store    the present tile's outputs
 *   next_panels         loads the matrix operand of further outputs, if there are any
 *   next                goes on to the next tile, if there is one
 *   finish              comes last
 *
 * A kernel of one tile needs neither load_next nor next. The parameters are an argument of each
 * function: as a reference in the object, ptxas 13.0 adds up to 3 % to the loop. */
template <class K, class J>
class Walk;

/* What most problems do. */
struct WalkDefaults {
    template <class J>
    __device__ void load_outputs(const J &) const {}
    __device__ bool has_panel(int) const { return true; }
    template <class J, class B>
    __device__ bool next_panels(const J &, const B &) const {
        return false;
    }
    template <class J>
    __device__ void finish(const J &) const {}
};

/* The matrix operand of all panels, in registers. */
template <class K>
using Operand = uint32_t[K::panels][K::T::pairs][K::T::pair_registers];

/* A product. Neighbouring warps have neighbouring tiles; a warp's next tile is one grid further. */
template <class K>
class Walk<K, FewJob> : public WalkDefaults {
    using T = typename K::T;
    static constexpr unsigned tile_bytes = 16 * T::vectors;
    const unsigned lane, share, mine; /* of the tile: the lane's inputs, and its vector */
    uint64_t at, end, stride;
    const uint8_t *in[T::slots];
    uint32_t old[K::panels][T::words]; /* of the tile's outputs */

    /* Beyond the last whole vector a lane loads that one again, and does not store. */
    __device__ void load(uint64_t tile, uint32_t (&x)[K::tiles][T::slots][4]) const {
        const uint64_t vector = tile + mine < end ? tile + mine : end - 16;
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_vector<true>(in[s] + vector, x[0][s]);
    }

  public:
    __device__ Walk(const FewJob &job, unsigned lane)
        : lane(lane), share(lane % T::lanes), mine(lane / T::lanes * 16) {
        const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
        if (job.partial_head + job.partial_tail)
            multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);
        end = 16 * (job.first + job.count);
        stride = (uint64_t)gridDim.x * (K::threads / 32) * tile_bytes;
        at = 16 * job.first + thread / 32 * tile_bytes;
    }
    __device__ bool more(const FewJob &job) const { return at < end && !job.epilogue.unwanted(); }
    __device__ void begin(const FewJob &job, uint32_t (&x)[K::tiles][T::slots][4], Operand<K> &b) {
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            in[s] = job.in[s * T::lanes + share];
        load(at, x);
#pragma unroll
        for (int j = 0; j < K::panels; j++)
            load_panel<T>(job.matrix + j * (T::panel_registers * 32), lane, b[j]);
    }
    __device__ void load_next(const FewJob &, uint32_t (&x)[K::tiles][T::slots][4]) const {
        if (at + stride < end)
            load(at + stride, x);
    }
    __device__ void load_outputs(const FewJob &job) {
#pragma unroll
        for (int j = 0; j < K::panels; j++) {
            const unsigned output = j * T::outputs + share;
            if (K::reads_ahead && output < job.rows && at + mine < end)
                load_vector<true, Load::early>(job.out[output] + at + mine, old[j]);
        }
    }
    __device__ void store(const FewJob &job, int panel, int,
                          const uint32_t (&words)[T::words]) const {
        const unsigned output = T::w == 32 ? panel : panel * T::outputs + share;
        if (output < job.rows && at + mine < end) {
            const uint64_t vector = at + mine + (T::w == 32 ? 4 * (lane % 4) : 0);
            if constexpr (K::reads_ahead)
                job.epilogue.finish(job.out[output] + vector, words, old[panel],
                                    vector - job.phase);
            else
                job.epilogue.store<true, K::reads>(job.out[output] + vector, words,
                                                   vector - job.phase);
        }
    }
    __device__ bool next(const FewJob &, Operand<K> &) {
        at += stride;
        return at < end;
    }
};

template <class K, class J>
__global__ __launch_bounds__(K::threads, K::blocks) void registers(const __grid_constant__ J job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32;
    Walk<K, J> walk(job, lane);
    if (walk.more(job)) {
        uint32_t x[K::tiles][T::slots][T::lane_words];
        Operand<K> b;
        walk.load_outputs(job);
        walk.begin(job, x, b);
        for (;;) {
            uint32_t a[K::tiles][T::symbols][T::steps];
#pragma unroll
            for (int u = 0; u < K::tiles; u++)
                arrange<T>(x[u], a[u]);
            if constexpr (K::schedule == Schedule::persistent_prefetch)
                walk.load_next(job, x);
            do {
#pragma unroll
                for (int j = 0; j < K::panels && walk.has_panel(j); j++) {
                    uint32_t words[K::tiles][T::words];
                    multiply_panel<T, K::pack>(a, b[j], words);
#pragma unroll
                    for (int u = 0; u < K::tiles; u++) {
                        exchange<T>(words[u], lane);
                        walk.store(job, j, u, words[u]);
                    }
                }
            } while (walk.next_panels(job, b));
            if constexpr (K::schedule == Schedule::one_tile)
                break;
            else if (!walk.next(job, b))
                break;
            walk.load_outputs(job);
        }
    }
    walk.finish(job);
}

/* Unaligned regions, and checks by several passes, are rare: one launch takes more of them. */
template <class K>
using StreamedJob = std::conditional_t<K::aligned, ManyJob, UnalignedJob>;

/* The data operand of a warp's tiles and one pass. */
template <class K, class J>
__device__ inline void gather(const J &job, uint64_t at, uint64_t end, unsigned pass, unsigned lane,
                              uint32_t (&a)[K::tiles][K::T::symbols][K::T::steps]) {
    using T = typename K::T;
#pragma unroll
    for (int u = 0; u < K::tiles; u++) {
        uint64_t vector = at + u * (16 * T::vectors) + lane / T::lanes * 16;
        vector = vector < end ? vector : end - 16;
        uint32_t x[T::slots][4];
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_vector<K::aligned, T::w == 32 ? Load::halves : Load::once>(
                job.in[pass * T::inputs + s * T::lanes + lane % T::lanes] + vector, x[s]);
        arrange<T>(x, a[u]);
    }
}

/* Adds one pass of inputs to the words of one panel. b[0] holds the panel's first bit pair, and in
 * the end the first one of `following`: operands are loaded one pair ahead. */
template <class K>
__device__ inline void add_panel(const uint32_t (&a)[K::tiles][K::T::symbols][K::T::steps],
                                 const uint32_t *panel, const uint32_t *following, unsigned lane,
                                 uint32_t (&b)[2][K::T::pair_registers],
                                 uint32_t (&words)[K::tiles][K::T::words]) {
    using T = typename K::T;
#pragma unroll
    for (int pair = 0; pair < T::pairs; pair++) {
        load_pair<T, K::table != 0>(pair < 3 ? panel : following, (pair + 1) % 4, lane,
                                    b[(pair + 1) % 2]);
#pragma unroll
        for (int word = 0; word < T::words; word += K::abreast) {
            uint32_t c[K::tiles][K::abreast][2][4];
            count<T>(a, b[pair % 2], word, c);
#pragma unroll
            for (int u = 0; u < K::tiles; u++)
#pragma unroll
                for (int n = 0; n < K::abreast; n++)
                    words[u][word + n] = merge<T, Pack::permute>(words[u][word + n], c[u][n], pair);
        }
    }
}

/* Writes, or compares, what a panel has become. */
template <class K, class J>
__device__ inline void finish_panel(const J &job, uint64_t at, uint64_t end, unsigned panel,
                                    unsigned lane, const Epilogue &epilogue,
                                    uint32_t (&words)[K::tiles][K::T::words]) {
    using T = typename K::T;
    const unsigned output = T::w == 32 ? panel : panel * T::outputs + lane % T::lanes;
#pragma unroll
    for (int u = 0; u < K::tiles; u++) {
        exchange<T>(words[u], lane);
        uint64_t vector = at + u * (16 * T::vectors) + lane / T::lanes * 16;
        if (output < job.rows && vector < end) {
            vector += T::w == 32 ? 4 * (lane % 4) : 0;
            epilogue.store<K::aligned, true>(job.out[output] + vector, words[u],
                                             vector - job.phase);
        }
    }
}

/* Outputs that take several passes of inputs are compared when the last one is in: the inputs are
 * read again for every panel, from the caches mostly. */
template <class K, class J>
__device__ inline void check_passes(const J &job, uint64_t at, uint64_t end, unsigned lane) {
    using T = typename K::T;
    for (unsigned j = 0; j < job.panels; j++) {
        uint32_t words[K::tiles][T::words] = {};
        for (unsigned pass = 0; pass < job.passes; pass++) {
            const uint32_t *panel =
                job.matrix + pass * job.pass_words + j * (T::panel_registers * 32);
            uint32_t a[K::tiles][T::symbols][T::steps], b[2][T::pair_registers];
            gather<K>(job, at, end, pass, lane, a);
            load_pair<T>(panel, 0, lane, b[0]);
            add_panel<K>(a, panel, panel, lane, b, words);
        }
        finish_panel<K>(job, at, end, j, lane, job.epilogue, words);
    }
}

template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void streamed(const __grid_constant__ StreamedJob<K> job) {
    using T = typename K::T;
    constexpr unsigned step_bytes = 16 * T::vectors * K::tiles;
    const unsigned lane = threadIdx.x % 32;
    const uint64_t thread = (uint64_t)blockIdx.x * K::threads + threadIdx.x;
    if (job.epilogue.unwanted())
        return;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    const uint32_t *matrix = job.matrix;
    if constexpr (K::table != 0) {
        extern __shared__ uint4 table[];
        for (unsigned i = threadIdx.x; i < job.panels * (T::panel_registers * 8); i += K::threads)
            table[i] = __ldg((const uint4 *)job.matrix + i);
        __syncthreads();
        matrix = (const uint32_t *)table;
    }

    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t stride = (uint64_t)gridDim.x * (K::threads / 32) * step_bytes;
    for (uint64_t at = 16 * job.first + thread / 32 * step_bytes; at < end; at += stride) {
        if (!K::aligned && job.epilogue.mismatch_map && job.passes > 1)
            check_passes<K>(job, at, end, lane);
        else
            for (unsigned pass = 0; pass < (K::table ? 1 : job.passes); pass++) {
                uint32_t a[K::tiles][T::symbols][T::steps];
                gather<K>(job, at, end, pass, lane, a);
                Epilogue epilogue = job.epilogue;
                epilogue.accumulate |= pass != 0;
                const uint32_t *panel = matrix + (K::table ? 0 : pass * job.pass_words);
                uint32_t b[2][T::pair_registers];
                load_pair<T, K::table != 0>(panel, 0, lane, b[0]);
#pragma unroll 1
                for (unsigned j = 0; j < job.panels; j++) {
                    const uint32_t *following =
                        j + 1 < job.panels ? panel + T::panel_registers * 32 : panel;
                    uint32_t words[K::tiles][T::words] = {};
                    add_panel<K>(a, panel, following, lane, b, words);
                    finish_panel<K>(job, at, end, j, lane, epilogue, words);
                    panel = following;
                }
            }
        if (K::schedule == Schedule::one_tile)
            return;
    }
}

} // namespace bmma
} // namespace gfk
