/* SPDX-License-Identifier: BSD-3-Clause */
/* What no guess explains is decoded: a thread takes a position. */
#pragma once

#include "locate_guess.cuh"
#include "locate_planes.cuh"

namespace gfk {
namespace locate {

/* A search takes long: it shall not cost the other ways registers. */
template <int W>
__device__ __noinline__ uint32_t search_errors(gfk_locate_code code, gfk_locate_state state) {
    gfk_locate_code c = with_width<W>(code);
    c.carryless = W != 8;
    return gfk_locate_by_search(&c, state);
}

/* For a few positions of a tile. */
template <int W>
__device__ __noinline__ uint32_t decode_recurrence(gfk_locate_code code, gfk_locate_state state,
                                                   bool valued) {
    gfk_locate_code c = with_width<W>(code);
    c.carryless = W != 8;
    return gfk_locate_by_recurrence(&c, state, valued);
}

/* Decodes what is left, one position after the other. Formulas: t has them. */
template <int W, bool Formulas>
__device__ inline void decode_positions(const TileJob &job, const gfk_locate_code &c,
                                        Shared &shared, uint64_t tile, const States &states) {
    if (threadIdx.x >= states.count)
        return;
    const gfk_locate_state state = states.at(threadIdx.x);
    const uint8_t *left = (const uint8_t *)shared.left;
    const bool points = c.points != nullptr;
    uint32_t unexplained = 0;
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / (W / 8); symbol += states.count) {
        if (left[symbol] == 0)
            continue;
        load_words<W>(points ? shared.slab.sums : shared.slab.rows, c.m, symbol, state,
                      points ? c.m : 0);
        const uint32_t errors = !points    ? search_errors<W>(c, state)
                                : Formulas ? gfk_locate_by_formulas(&c, state, job.repair)
                                           : decode_recurrence<W>(c, state, job.repair);
        unexplained += !use_errors(job, c, tile + symbol * (W / 8), state, errors,
                                   [&](uint32_t which) { atomicAdd(&shared.named[which], 1u); });
    }
    if (unexplained != 0)
        atomicAdd(&shared.found.unexplained, (Count)unexplained);
}

/* Finds the recurrence of each position that is left. `left` gets the byte of the position, the rows
 * of the S_r get the recurrence, and what the values need. */
template <int W>
__device__ inline void find_recurrences(const TileJob &job, const gfk_locate_code &c,
                                        Shared &shared, const States &states) {
    if (threadIdx.x >= states.count)
        return;
    const gfk_locate_state state = states.at(threadIdx.x);
    uint8_t *left = (uint8_t *)shared.left;
    uint32_t unexplained = 0;
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / (W / 8); symbol += states.count) {
        if (left[symbol] == 0)
            continue;
        load_words<W>(shared.slab.sums, c.m, symbol, state, c.m);
        left[symbol] = (uint8_t)gfk_locate_recurrence(&c, state, job.repair);
        unexplained += left[symbol] == 0;
        for (uint32_t l = 0; l < (job.repair ? 2 * c.t : c.t); l++)
            store_bytes(shared.slab.sums + l * tile_bytes + symbol * (W / 8), W / 8,
                        *gfk_word(state, l));
    }
    if (unexplained != 0)
        atomicAdd(&shared.found.unexplained, (Count)unexplained);
}

/* Stores which positions of a tile have the point of region `output` as a root. */
template <class T>
struct StoreRoots {
    const gfk_locate_code &code;
    uint8_t *roots;
    __device__ void operator()(unsigned output, uint64_t vector, const uint32_t (&words)[T::words],
                               bool) const {
        constexpr uint32_t ones = T::w == 8 ? 0x01010101 : T::w == 16 ? 0x00010001 : 1;
        const bool is_output = output < code.k + code.m;
        const uint32_t power = is_output ? ones * code.powers[output] : 0;
        uint8_t *row = roots + output * (tile_bytes / T::w);
        if constexpr (T::w == 32) {
            const uint32_t bits = __ballot_sync(0xffffffff, words[0] == power);
            if (is_output && threadIdx.x % 32 == 0)
                *(uint32_t *)(row + vector / T::w) = bits;
        } else {
            constexpr int symbols = 32 / T::w; /* of a word */
            uint32_t bits = 0;
#pragma unroll
            for (int n = 0; n < T::words * symbols; n++)
                bits |= (uint32_t)(((words[n / symbols] ^ power) >> (n % symbols * T::w) &
                                    (0xffffffffu >> (32 - T::w))) == 0)
                        << n;
            if (is_output)
                store_bytes(row + vector / T::w, 16 / T::w, bits);
        }
    }
};

/* The tile's roots: which thread's positions are explained, and by which regions? A thread has 16
 * bytes of positions. */
template <int W>
__device__ __noinline__ void use_roots(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                       uint64_t tile, const States &states) {
    constexpr unsigned size = W / 8, mine = 16 / size, row = tile_bytes / W;
    const uint32_t n = c.k + c.m;
    uint8_t *left = (uint8_t *)shared.left, *my = left + mine * threadIdx.x;
    const uint8_t *roots = shared.slab.roots;
    uint32_t zeros = 0, explained = 0, unexplained = 0;
#pragma unroll
    for (unsigned x = 0; x < mine; x++)
        zeros |= (my[x] & GFK_LOCATE_ZERO_ROOT ? 1u : 0u) << x;
    const auto roots_of = [&](uint32_t i) -> uint32_t {
        if (c.points[i] == 0)
            return zeros;
        if constexpr (W == 32)
            return roots[i * row + threadIdx.x / 2] >> (threadIdx.x % 2 * 4) & 0xf;
        else
            return load_bytes(roots + i * row + threadIdx.x * (mine / 8), mine / 8);
    };
    uint32_t found[mine / 4] = {}; /* a byte for each position */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = roots_of(i);
#pragma unroll
        for (unsigned q = 0; q < mine / 4; q++)
            found[q] += (bits >> (4 * q) & 0xf) * 0x00204081 & 0x01010101;
    }
#pragma unroll
    for (unsigned x = 0; x < mine; x++) {
        const uint32_t length = my[x] & GFK_LOCATE_LENGTH;
        const bool all = length != 0 && (found[x / 4] >> (8 * (x % 4)) & 0xff) == length;
        explained |= (uint32_t)all << x;
        unexplained += length != 0 && !all;
        if (!all)
            my[x] = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        add_from_warp(&shared.named[i], (uint32_t)__popc(roots_of(i) & explained));
    add_from_warp(&shared.found.unexplained, unexplained);
    if (!job.repair)
        return;
    __syncthreads();
    if (threadIdx.x >= states.count)
        return;
    const gfk_locate_state state = states.at(threadIdx.x);
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / size; symbol += states.count) {
        const uint32_t length = left[symbol] & GFK_LOCATE_LENGTH;
        if (length == 0)
            continue;
        load_words<W>(shared.slab.sums, 2 * c.t, symbol, state, 0);
        for (uint32_t i = 0; i < n; i++)
            if (c.points[i] == 0 ? (left[symbol] & GFK_LOCATE_ZERO_ROOT) != 0
                                 : roots[i * row + symbol / 8] >> symbol % 8 & 1)
                store_bytes(job.in[i] + tile + symbol * size, size,
                            gfk_locate_value(&c, state, length, i), true);
    }
}

/* Decodes the positions that are left of a tile. */
template <class K, bool Formulas>
__device__ inline void decode_left(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, const States &states, uint32_t left) {
    using T = typename K::T;
    const Slab &slab = shared.slab;
    if (c.points != nullptr) {
        multiply_tile<K>(Rows{{slab.rows, c.m}}, job.sum, 0, tile_bytes,
                         StoreRows<T>{slab.sums, c.m, 0, tile_bytes});
        __syncthreads();
    }
    if (Formulas || job.roots.rows == 0 || left < tile_bytes / (T::w / 8) / 16) {
        decode_positions<T::w, Formulas>(job, c, shared, tile, states);
        return;
    }
    if constexpr (!Formulas) {
        if constexpr (T::w == 8)
            find_recurrences_by_planes(job.code, shared, job.repair);
        else
            find_recurrences<T::w>(job, c, shared, states);
        __syncthreads();
        multiply_tile<K>(Rows{{slab.sums, c.t}}, job.roots, 0, tile_bytes,
                         StoreRoots<T>{c, slab.roots});
        __syncthreads();
        use_roots<T::w>(job, c, shared, tile, states);
    }
}

} // namespace locate
} // namespace gfk
