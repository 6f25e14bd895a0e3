/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on mma.sync: any shape. A warp keeps a pass of inputs in registers and goes through
 * all panels of outputs, whose matrix operands come through L1. Further passes add to the
 * outputs. */
#pragma once

#include <type_traits>

#include "fragment.cuh"
#include "problem.cuh"

namespace gfk {
namespace bmma {

/* Unaligned regions, and checks by several passes, are rare: one launch takes more of them. */
template <class K>
using StreamedJob = std::conditional_t<K::aligned, ManyJob, UnalignedJob>;

/* Loads the data operand of a warp's tiles and one pass. */
template <class K>
__device__ inline void gather(const uint8_t *const *in, uint64_t at, uint64_t end, unsigned pass,
                              unsigned lane, uint32_t (&a)[K::tiles][K::T::symbols][K::T::steps]) {
    using T = typename K::T;
#pragma unroll
    for (int u = 0; u < K::tiles; u++) {
        uint64_t vector = at + u * (16 * T::vectors) + lane / T::lanes * 16;
        vector = vector < end ? vector : end - 16;
        uint32_t x[T::slots][4];
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            load_vector<K::aligned, T::w == 32 ? Load::pairs : Load::once>(
                in[pass * T::inputs + s * T::lanes + lane % T::lanes] + vector, x[s]);
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
        load_pair<T>(pair < 3 ? panel : following, (pair + 1) % 4, lane, b[(pair + 1) % 2]);
#pragma unroll
        for (int word = 0; word < T::words; word += K::abreast) {
            uint32_t c[K::tiles][K::abreast][2][4];
            count<T>(a, b[pair % 2], word, c);
#pragma unroll
            for (int u = 0; u < K::tiles; u++)
#pragma unroll
                for (int n = 0; n < K::abreast; n++)
                    words[u][word + n] = merge<T>(words[u][word + n], c[u][n], pair);
        }
    }
}

/* Writes, or compares, the words of a panel. */
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
            epilogue.store<K::aligned, true>(job.regions.out[output] + vector, words[u],
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
            gather<K>(job.regions.in, at, end, pass, lane, a);
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
    if (job.epilogue.skips())
        return;
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, thread, (uint64_t)gridDim.x * K::threads);

    const uint64_t end = 16 * (job.first + job.count);
    const uint64_t at = 16 * job.first + thread / 32 * step_bytes;
    if (at >= end)
        return;
    if (!K::aligned && job.epilogue.mismatch_map && job.passes > 1) {
        check_passes<K>(job, at, end, lane);
        return;
    }
    for (unsigned pass = 0; pass < job.passes; pass++) {
        uint32_t a[K::tiles][T::symbols][T::steps];
        gather<K>(job.regions.in, at, end, pass, lane, a);
        Epilogue epilogue = job.epilogue;
        epilogue.accumulate |= pass != 0;
        const uint32_t *panel = job.matrix + pass * job.pass_words;
        uint32_t b[2][T::pair_registers];
        load_pair<T>(panel, 0, lane, b[0]);
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
}

} // namespace bmma
} // namespace gfk
