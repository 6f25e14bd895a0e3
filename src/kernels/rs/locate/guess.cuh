/* SPDX-License-Identifier: BSD-3-Clause */
/* A guess of the damaged regions, which explains most of a tile in bulk: how a block makes it from
 * one position, and tries it at all positions. */
#pragma once

#include "tiles.cuh"

namespace gfk {
namespace locate {

/* Adds the counts of the guess's regions to the call's; then the guess may change. */
__device__ inline void flush_counts(const TileJob &job, Shared &shared) {
    const gfk_locate_guess &g = shared.slab.guess;
    if (threadIdx.x < g.count && shared.counts[threadIdx.x] != 0) {
        atomicAdd((Count *)&job.counts[g.regions[threadIdx.x]], shared.counts[threadIdx.x]);
        shared.counts[threadIdx.x] = 0;
    }
}

/* Finds the regions of a position's errors; returns their number, 0 if they are more than t. All
 * threads of the block call it together. */
template <int W>
__device__ inline uint32_t find_regions(const gfk_locate_code &c, Shared &shared, unsigned symbol,
                                        gfk_locate_state s) {
    const bool points = c.points != nullptr, formulas = points && gfk_locate_has_formulas(c.t);
    if (threadIdx.x == 0) {
        load_words<W>(shared.slab, c.m, symbol, s, points ? c.m : 0);
        shared.errors = !points    ? gfk_locate_by_search(&c, s)
                        : formulas ? gfk_locate_by_formulas(&c, s, false)
                                   : gfk_berlekamp_massey(&c, s);
        shared.roots = 0;
    }
    __syncthreads();
    const uint32_t length = shared.errors;
    if (!points || formulas || length == 0)
        return length;
    for (uint32_t i = threadIdx.x; i < c.k + c.m; i += threads) {
        uint32_t value = 1;
        for (uint32_t l = 0; l < length; l++)
            value = gfk_locate_times(&c, value, c.points[i]) ^ *gfk_word(s, l);
        if (value == 0)
            *gfk_error_region(&c, s, atomicAdd(&shared.roots, 1u)) = i;
    }
    __syncthreads();
    return shared.roots == length ? length : 0;
}

/* Makes a guess from a position of the tile. All threads of the block call it together; it is rare,
 * and shall not cost others registers. */
template <int W>
__device__ __noinline__ void make_guess(const TileJob &job, Shared &shared, unsigned symbol,
                                        States states) {
    const gfk_locate_code c = with_width<W>(job.code);
    const gfk_locate_state state = states.at(0);
    gfk_locate_guess &g = shared.slab.guess;
    flush_counts(job, shared);
    __syncthreads();
    const uint32_t errors = find_regions<W>(c, shared, symbol, state);
    if (threadIdx.x == 0) {
        shared.guessed = errors != 0 && errors <= gfk_most_guessed(&c);
        g.count = shared.guessed ? errors : 0;
        for (uint32_t e = 0; e < g.count; e++)
            g.regions[e] = *gfk_error_region(&c, state, e);
    }
    __syncthreads();
    for (uint32_t x = threadIdx.x; x < c.m; x += threads)
        gfk_guess_fill_row(&c, &g, x);
    for (uint32_t p = 0; p < g.count; p++) {
        const uint32_t pivot = c.m - g.count + p;
        __syncthreads();
        if (threadIdx.x == 0)
            gfk_guess_pivot(&c, &g, p);
        __syncthreads();
        for (uint32_t x = threadIdx.x; x < c.m; x += threads)
            if (x != pivot)
                gfk_guess_exchange(&c, &g, p, x);
        __syncthreads();
        if (threadIdx.x == 0)
            gfk_guess_exchange(&c, &g, p, pivot);
    }
    __syncthreads();
}

/* Adds errors to the thread's vector `at` of a region. */
__device__ inline void repair_vector(const TileJob &job, uint32_t region, uint64_t at,
                                     const uint32_t (&errors)[4]) {
    uint8_t *p = job.region(region) + at;
    if (job.is_whole(at)) {
        store_vector<true>(p, errors, true);
        return;
    }
#pragma unroll
    for (int i = 0; i < 16; i++) /* none is beyond the region's ends */
        if ((errors[i / 4] >> (8 * (i % 4)) & 0xff) != 0)
            p[i] ^= (uint8_t)(errors[i / 4] >> (8 * (i % 4)));
}

/* Takes away what a guess explains of the positions that are left, and counts and repairs it if
 * `commit`. All threads call it together. Returns how many positions are left. `again`: the tile
 * has seen another guess. */
template <int W, int Outputs>
__device__ inline uint32_t try_guess(const TileJob &job, Shared &shared, const gfk_locate_guess &g,
                                     Shared::Tally &tally, uint64_t tile, bool again, bool commit) {
    const Slab &slab = shared.slab;
    const uint32_t m = job.code.m, checks = m - g.count;
    const uint64_t at = tile + 16 * threadIdx.x;
    uint32_t wrong[4], left[4], any[4] = {};
    if (again) {
        __syncthreads(); /* all threads have read what thread 0 resets */
        if (threadIdx.x == 0) {
            tally.left = 0;
            tally.first_left = ~0u;
        }
        __syncthreads();
    }
#pragma unroll
    for (int n = 0; n < 4; n++)
        wrong[n] = shared.left[4 * threadIdx.x + n];
    multiply<W, Outputs>(
        job.code.barrett, commit ? m : checks, g.count, g.map, g.right,
        [&](uint32_t p, uint32_t(&x)[4]) {
            load_vector<true>(my_row(slab, g.rows[checks + p]), x);
        },
        [&](uint32_t x, uint32_t(&y)[4]) {
            if (x < checks) {
                uint32_t syndrome[4];
                load_vector<true>(my_row(slab, g.rows[x]), syndrome);
#pragma unroll
                for (int n = 0; n < 4; n++)
                    any[n] |= y[n] ^ syndrome[n];
                return;
            }
            uint32_t masks[4];
#pragma unroll
            for (int n = 0; n < 4; n++) {
                y[n] &= wrong[n] & ~nonzero_mask<W>(any[n]);
                masks[n] = nonzero_mask<W>(y[n]);
            }
            const uint32_t count = count_symbols<W>(masks);
            add_from_warp(&shared.counts[x - checks], count);
            if (job.repair && count != 0)
                repair_vector(job, g.regions[x - checks], at, y);
        });
#pragma unroll
    for (int n = 0; n < 4; n++)
        shared.left[4 * threadIdx.x + n] = left[n] = wrong[n] & nonzero_mask<W>(any[n]);
    const uint32_t first = first_symbol<W>(left);
    if (first != ~0u)
        atomicMin(&tally.first_left, first);
    add_from_warp(&tally.left, count_symbols<W>(left));
    __syncthreads();
    return tally.left;
}

} // namespace locate
} // namespace gfk
