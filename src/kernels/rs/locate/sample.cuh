/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating long regions by a sample. A tile from places all over the regions is searched first. If
 * half is wrong, the check of all regions is left out. If an eighth is wrong and one guess
 * explains half of that, a product tries the guess at all positions instead. Its first outputs are
 * the check rows, all 0 where the guess explains the position; then come the errors of the guessed
 * regions. Nothing is stored except repairs. Chunks with a position that the guess does not explain
 * are marked, for the kernel that goes from tile to tile. */
#pragma once

#include "guess.cuh"
#include "kernels/product/bmma/mainloop_streamed.cuh"

namespace gfk {
namespace locate {

constexpr unsigned place_bytes = 256, places = tile_bytes / place_bytes;
constexpr unsigned sample_guesses = 3;

/* Returns the offset in a region of byte `offset` of the sample's tile. */
__device__ inline uint64_t place_of(const TileJob &job, unsigned offset) {
    const uint64_t apart = (job.whole_end - job.whole_begin) / places / place_bytes * place_bytes;
    return job.whole_begin + offset / place_bytes * apart + offset % place_bytes;
}

/* Computes the sample's syndromes, four in a block. The time is that of the loads. */
constexpr unsigned sample_outputs = 4;
template <int W>
__global__ void __launch_bounds__(threads) multiply_sample(const __grid_constant__ TileJob job) {
    uint32_t any[4] = {};
    const uint32_t first = blockIdx.x * sample_outputs;
    find_syndromes<W, sample_outputs, true, 16>(job, slab_at(job.code, job.sample_slab),
                                                place_of(job, 16 * threadIdx.x), threadIdx.x, first,
                                                min(first + sample_outputs, job.code.m), any);
}

/* One block judges the sample. */
template <int W, int Outputs>
__global__ void __launch_bounds__(threads) take_sample(const __grid_constant__ TileJob job) {
    constexpr unsigned symbols = tile_bytes / (W / 8);
    extern __shared__ uint32_t words[];
    __shared__ Shared shared;
    begin_block(job, shared, job.sample_slab, words);
    Shared::Tally &tally = shared.tallies[0];
    uint32_t any[4] = {};
    collect_syndromes(job, shared.slab, any);
    find_corrupt<W>(job, shared, tally, 0, any);
    __syncthreads();
    const uint32_t corrupt = tally.corrupt;
    uint32_t left = corrupt;
    Sample::Verdict verdict = 2 * corrupt >= symbols ? Sample::damaged : Sample::sound;
    for (unsigned guess = 0; guess < sample_guesses && job.explain != nullptr &&
                             verdict != Sample::guessed && left >= symbols / places;
         guess++) {
        make_guess<W>(job, shared, guess == 0 ? tally.first_corrupt : tally.first_left,
                      {words + states_at(job.code), 1});
        if (!shared.guessed)
            break;
        const uint32_t before = left;
        left = try_guess<W, Outputs>(job, shared, shared.slab.guess, tally, 0, guess != 0, false);
        if (before - left >= corrupt - corrupt / 2)
            verdict = Sample::guessed;
    }
    if (threadIdx.x == 0) {
        job.sample->guess = shared.slab.guess;
        job.sample->verdict = verdict;
    }
}

/* The coefficient of region i in row x of the guess's map times the pivots' syndromes, plus that of
 * the row's own syndrome, if that must be the same. */
__device__ inline uint32_t guess_coefficient(const gfk_locate_code &c, const gfk_locate_guess &g,
                                             uint32_t x, uint32_t i) {
    const uint32_t checks = c.m - g.count;
    uint64_t sum = x < checks ? gfk_check_element(&c, g.rows[x], i) : 0;
    for (uint32_t p = 0; p < g.count; p++)
        sum = gfk_locate_add(&c, sum, *gfk_guess_element(&g, x, p),
                             gfk_check_element(&c, g.rows[checks + p], i));
    return gfk_locate_reduce(&c, sum);
}

/* Builds the matrix operand of the guess, as build_matrix of bmma/operand.h does, a word for each
 * thread, and clears the mismatch map. */
template <class T>
__global__ void expand_guess(const __grid_constant__ TileJob job, uint32_t panels) {
    if (!job.sampled(Sample::guessed))
        return;
    const gfk_locate_code c = with_width<T::w>(job.code);
    const gfk_locate_guess g = job.sample->guess;
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (uint32_t n = first; n < panels * T::panel_registers * 32; n += step) {
        const uint32_t panel = n / (T::panel_registers * 32),
                       in_panel = n % (T::panel_registers * 32);
        const int lane = (int)(in_panel / T::load_registers % 32);
        const int r = (int)(in_panel / T::load_registers / 32 * T::load_registers +
                            in_panel % T::load_registers);
        const int pair = r / T::pair_registers, fragment = r % T::pair_registers / T::steps;
        const int column = lane / 4, bit = T::column_bit(pair, fragment, column);
        const uint32_t output = panel * T::outputs + T::column_output(column);
        uint32_t word = 0;
        for (int slot = 0; slot < T::in_register && output < c.m; slot++) {
            const uint32_t i = (r % T::steps * T::in_register + slot) * T::lanes + lane % 4;
            if (i >= c.k + c.m || r % T::steps * T::in_register + slot >= T::slots)
                continue;
            uint32_t x = guess_coefficient(c, g, output, i);
            for (int b = 0; b < T::w; b++) {
                word |= (x >> bit & 1) << (T::w * slot + b);
                x = double_symbol<T::w>(x, (uint32_t)c.field.polynomial);
            }
        }
        job.explain[n] = word;
    }
    for (uint64_t chunk = first; chunk << GFK_LOCATE_CHUNK_SHIFT < job.bytes; chunk += step)
        job.mismatch_map[chunk] = 0;
}

/* Goes over all whole tiles with the product of the sample's guess. */
template <class K>
__global__ void __launch_bounds__(K::threads, K::blocks)
    explain(const __grid_constant__ TileJob job, uint32_t panels) {
    using T = typename K::T;
    constexpr int W = T::w;
    constexpr unsigned step_bytes = 16 * T::vectors * K::tiles;
    static_assert(tile_bytes % step_bytes == 0, "");
    extern __shared__ uint32_t tallies[]; /* of every panel with errors and every thread */
    __shared__ Count counts[GFK_LOCATE_MOST_GUESSED];
    __shared__ Found found;
    if (!job.sampled(Sample::guessed))
        return;
    const gfk_locate_guess g = job.sample->guess;
    const uint32_t m = job.code.m, checks = m - g.count;
    const uint32_t first_panel = checks / T::outputs; /* with an error */
    const unsigned lane = threadIdx.x % 32;
    const unsigned mine = lane / T::lanes * 16 + (W == 32 ? 4 * (lane % 4) : 0); /* of a tile */
    for (uint32_t j = first_panel; j < panels; j++)
        tallies[(j - first_panel) * K::threads + threadIdx.x] = 0;
    if (threadIdx.x < GFK_LOCATE_MOST_GUESSED)
        counts[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        found = {0, 0, ~Count(0)};
    __syncthreads();
    uint32_t corrupt = 0;
    uint64_t lowest = ~UINT64_C(0);
    const uint64_t stride = (uint64_t)gridDim.x * (K::threads / 32) * step_bytes;
    for (uint64_t at = job.whole_begin +
                       (blockIdx.x * (K::threads / 32) + threadIdx.x / 32) * (uint64_t)step_bytes;
         at < job.whole_end; at += stride) {
        uint32_t a[K::tiles][T::symbols][T::steps], b[2][T::pair_registers];
        bmma::gather<K>(job.in, at, job.whole_end, 0, lane, a);
        const uint32_t *panel = job.explain;
        bmma::load_pair<T>(panel, 0, lane, b[0]);
        uint32_t hole[K::tiles][T::words] = {}; /* symbols where a check is not 0 */
        uint32_t wrong[K::tiles] = {};          /* a bit for each symbol with an error */
#pragma unroll 1
        for (uint32_t j = 0; j < panels; j++) {
            const uint32_t *following = j + 1 < panels ? panel + T::panel_registers * 32 : panel;
            uint32_t words[K::tiles][T::words] = {};
            bmma::add_panel<K>(a, panel, following, lane, b, words);
            panel = following;
            const uint32_t output = W == 32 ? j : j * T::outputs + lane % T::lanes;
#pragma unroll
            for (int u = 0; u < K::tiles; u++)
                bmma::exchange<T>(words[u], lane);
            if (j * T::outputs < checks) {
                uint32_t any = 0;
#pragma unroll
                for (int u = 0; u < K::tiles; u++)
#pragma unroll
                    for (int i = 0; i < T::words; i++)
                        any |= hole[u][i] |= output < checks ? words[u][i] : 0;
                if ((j + 1) * T::outputs < checks)
                    continue;
                if (__any_sync(0xffffffff, any != 0)) { /* rare */
#pragma unroll
                    for (int u = 0; u < K::tiles; u++) {
                        any = 0;
#pragma unroll
                        for (int i = 0; i < T::words; i++) {
                            uint32_t &x = hole[u][i];
                            if (W != 32)
                                for (int other = 1; other < T::lanes; other *= 2)
                                    x |= __shfl_xor_sync(0xffffffff, x, other);
                            any |= x;
                            x = (nonzero_symbols<W>(x) >> (W - 1)) * symbol_mask<W>;
                        }
                        if (any != 0) {
                            const uint64_t offset = at + u * (16 * T::vectors) + mine - job.phase;
                            job.mismatch_map[offset >> GFK_LOCATE_CHUNK_SHIFT] = 1;
                            job.mismatch_map[(offset + 4 * T::words - 1) >>
                                             GFK_LOCATE_CHUNK_SHIFT] = 1;
                        }
                    }
                }
            }
            if (output >= checks && output < m) {
                uint32_t count = 0;
#pragma unroll
                for (int u = 0; u < K::tiles; u++) {
                    uint32_t flags = 0;
#pragma unroll
                    for (int i = 0; i < T::words; i++) {
                        words[u][i] &= ~hole[u][i];
                        flags |= nonzero_symbols<W>(words[u][i]) >> i;
                    }
                    count += (uint32_t)__popc(flags);
                    wrong[u] |= flags;
                    if (job.repair && flags != 0)
                        store_vector<true>(job.in[g.regions[output - checks]] + at +
                                               u * (16 * T::vectors) + mine,
                                           words[u], true);
                }
                tallies[(j - first_panel) * K::threads + threadIdx.x] += count;
            }
        }
#pragma unroll
        for (int u = 0; u < K::tiles; u++) {
            if (W != 32)
                for (int other = 1; other < T::lanes; other *= 2)
                    wrong[u] |= __shfl_xor_sync(0xffffffff, wrong[u], other);
            corrupt += (uint32_t)__popc(wrong[u]);
        }
        if (lowest == ~UINT64_C(0)) /* tiles and words from the last to the first */
            for (int n = K::tiles * T::words; n-- > 0;) {
                const int u = n / T::words, i = n % T::words;
                const uint32_t flags = wrong[u] << i & nonzero_symbols<W>(~0u);
                if (flags != 0)
                    lowest = at + u * (16 * T::vectors) + mine + 4 * i +
                             (unsigned)(__ffs((int)flags) - 1) / W * (W / 8) - job.phase;
            }
    }
    if (W != 32 && lane % T::lanes != 0)
        corrupt = 0; /* the lanes of a vector have counted the same */
    corrupt = __reduce_add_sync(0xffffffff, corrupt);
    if (lane == 0)
        atomicAdd(&found.corrupt, (Count)corrupt);
    if (lowest != ~UINT64_C(0))
        atomicMin(&found.first, (Count)lowest);
    for (uint32_t j = first_panel; j < panels; j++) {
        const uint32_t output = W == 32 ? j : j * T::outputs + lane % T::lanes;
        if (output >= checks && output < m)
            atomicAdd(&counts[output - checks],
                      (Count)tallies[(j - first_panel) * K::threads + threadIdx.x]);
    }
    __syncthreads();
    if (threadIdx.x < m - checks && counts[threadIdx.x] != 0)
        atomicAdd((Count *)&job.counts[g.regions[threadIdx.x]], counts[threadIdx.x]);
    if (threadIdx.x == 0)
        report(job, found);
}

} // namespace locate
} // namespace gfk
