/* SPDX-License-Identifier: BSD-3-Clause */
/* What no guess explains is decoded position by position. */
#pragma once

#include "locate_guess.cuh"

namespace gfk {
namespace locate {

/* A search takes long: it shall not cost the other ways registers. */
template <int W>
__device__ __noinline__ uint32_t search_errors(const TileJob &job, gfk_locate_state state) {
    const gfk_locate_code c = with_width<W>(job.code);
    return gfk_locate_by_search(&c, state);
}

/* f(symbol, its symbol in `left`, state) for the positions that are left, each by one thread. */
template <int W, class F>
__device__ inline void for_left(Shared &shared, const States &states, const F &f) {
    using Symbol = std::conditional_t<W == 8, uint8_t, std::conditional_t<W == 16, uint16_t, uint32_t>>;
    if (threadIdx.x >= states.count)
        return;
    Symbol *left = (Symbol *)shared.left;
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / sizeof *left; symbol += states.count)
        if (left[symbol] != 0)
            f(symbol, left[symbol], states.at(threadIdx.x));
}

/* By formulas, or for a code without points. */
template <int W, bool Formulas>
__device__ inline void decode_at_once(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                      uint64_t tile, const States &states) {
    const bool points = Formulas && c.points != nullptr;
    uint32_t unexplained = 0;
    for_left<W>(shared, states, [&](unsigned symbol, auto &, gfk_locate_state state) {
        load_words<W>(shared.slab, c.m, symbol, state, points ? c.m : 0);
        const uint32_t errors = points ? gfk_locate_by_formulas(&c, state, job.repair)
                                       : search_errors<W>(job, state);
        unexplained += errors == 0;
        for (uint32_t e = 0; e < errors; e++) {
            const uint32_t which = *gfk_error_region(&c, state, e);
            count_named(job, shared, which, 1);
            if (job.repair)
                store_bytes(job.region(which) + tile + symbol * (W / 8), W / 8,
                            *gfk_error_value(&c, state, e), true);
        }
    });
    if (unexplained != 0)
        atomicAdd(&shared.found.unexplained, (Count)unexplained);
}

/* Finds the recurrence of each position that is left. `left` gets its length and, in the top bit,
 * whether 0 is a root; the rows get the recurrence, and what the values need. */
template <int W>
__device__ inline void find_recurrences(const TileJob &job, const gfk_locate_code &c,
                                        Shared &shared, const States &states) {
    const uint32_t stored = job.repair ? 2 * c.t : c.t;
    uint32_t unexplained = 0;
    for_left<W>(shared, states, [&](unsigned symbol, auto &left, gfk_locate_state state) {
        load_words<W>(shared.slab, c.m, symbol, state, c.m);
        left = gfk_locate_recurrence(&c, state, job.repair, 1u << (W - 1));
        unexplained += left == 0;
        for (uint32_t l = 0; l < stored; l++)
            store_bytes(shared.slab.rows + (uint64_t)l * tile_bytes + symbol * (W / 8), W / 8,
                        *gfk_word(state, l));
    });
    if (unexplained != 0)
        atomicAdd(&shared.found.unexplained, (Count)unexplained);
}

/* A bit for each symbol, from a mask. */
template <int W>
__device__ inline uint32_t bits_of_mask(uint32_t mask) {
    return W == 8    ? (mask & 0x08040201) * 0x01010101 >> 24
           : W == 16 ? (mask & 1) | (mask >> 30 & 2)
                     : mask & 1;
}

/* The roots among all points of the thread's positions, by a product, and the counts of what they
 * explain. What they do not explain becomes 0 in `left`. The warp's polynomials have the degree of
 * the longest one: z^(longest - L) C'(z). */
template <int W, int Outputs>
__device__ inline void find_roots(const TileJob &job, const gfk_locate_code &c, Shared &shared) {
    constexpr uint32_t ones = replicate<W>(1), length_mask = replicate<W>((1u << (W - 1)) - 1);
    uint32_t *left = shared.left + 4 * threadIdx.x;
    uint16_t *roots = shared.slab.roots + threadIdx.x;
    uint32_t lengths[4], zeros[4], found[4] = {}, longest = 0;
#pragma unroll
    for (int n = 0; n < 4; n++) {
        lengths[n] = left[n] & length_mask;
        zeros[n] = top_bit_mask<W>(left[n]);
#pragma unroll
        for (int s = 0; s < 32; s += W)
            longest = max(longest, lengths[n] >> s & (0xffffffffu >> (32 - W)));
    }
    longest = __reduce_max_sync(0xffffffff, longest);
    if (longest == 0)
        return;
    const uint32_t *powers = c.powers + (uint64_t)longest * c.powers_pitch;
    multiply<W, Outputs>(
        c.barrett, c.k + c.m, longest, powers - c.powers_pitch, -(int64_t)c.powers_pitch,
        [&](uint32_t l, uint32_t(&x)[4]) { load_vector<true>(my_row(shared.slab, l), x); },
        [&](uint32_t i, const uint32_t(&y)[4]) {
            const bool is_zero = c.points[i] == 0;
            const uint32_t power = ones * powers[i];
            uint32_t bits = 0;
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const uint32_t root = is_zero ? zeros[n] : ~nonzero_mask<W>(y[n] ^ power);
                found[n] += root & ones;
                bits |= bits_of_mask<W>(root) << (n * (32 / W));
            }
            roots[i * threads] = (uint16_t)bits;
        });
    uint32_t explained = 0, unexplained = 0;
#pragma unroll
    for (int n = 0; n < 4; n++) {
        const uint32_t asked = nonzero_mask<W>(lengths[n]);
        const uint32_t all = asked & ~nonzero_mask<W>(lengths[n] ^ found[n]);
        left[n] &= all;
        explained |= bits_of_mask<W>(all) << (n * (32 / W));
        unexplained += (uint32_t)__popc(asked & ~all) / W;
    }
    add_from_warp(&shared.found.unexplained, unexplained);
    for (uint32_t i = 0; i < c.k + c.m; i++) {
        const uint32_t named =
            __reduce_add_sync(0xffffffff, (uint32_t)__popc(roots[i * threads] & explained));
        if (threadIdx.x % 32 == 0 && named != 0)
            count_named(job, shared, i, named);
    }
}

/* Repairs the positions whose roots explain them. */
template <int W>
__device__ __noinline__ void repair_roots(const TileJob &job, Shared &shared, uint64_t tile,
                                          const States &states) {
    constexpr unsigned size = W / 8, each = 16 / size; /* symbols of a thread */
    const gfk_locate_code c = with_width<W>(job.code);
    for_left<W>(shared, states, [&](unsigned symbol, auto &left, gfk_locate_state state) {
        const uint16_t *roots = shared.slab.roots + symbol / each;
        load_words<W>(shared.slab, 2 * c.t, symbol, state, 0);
        for (uint32_t i = 0; i < c.k + c.m; i++)
            if (roots[i * threads] >> symbol % each & 1)
                store_bytes(job.region(i) + tile + symbol * size, size,
                            gfk_locate_value(&c, state, left & ((1u << (W - 1)) - 1), i), true);
    });
}

/* Decodes the positions that are left of a tile. All threads call it together. */
template <int W, int Outputs, bool Formulas>
__device__ inline void decode_left(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, const States &states) {
    if (Formulas || c.points == nullptr) {
        decode_at_once<W, Formulas>(job, c, shared, tile, states);
        return;
    }
    if constexpr (!Formulas) {
        find_recurrences<W>(job, c, shared, states);
        __syncthreads();
        find_roots<W, Outputs>(job, c, shared);
        __syncthreads();
        if (job.repair)
            repair_roots<W>(job, shared, tile, states);
    }
}

} // namespace locate
} // namespace gfk
