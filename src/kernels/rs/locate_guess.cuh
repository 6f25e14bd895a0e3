/* SPDX-License-Identifier: BSD-3-Clause */
/* A guess of the damaged regions, which explains most of a tile in bulk: how a block makes it from
 * one position, and tries it at all positions by PRMT lookups. */
#pragma once

#include "locate_tiles.cuh"

namespace gfk {
namespace locate {

/* ---- the arithmetic of a unit --------------------------------------------------------------- */

/* A unit is 8 symbols of a row. Plane b has their bytes b, so that one table serves all bytes of a
 * plane. */
template <int W>
struct Unit {
    static constexpr int planes = W / 8, bytes = 8 * planes;
    static constexpr unsigned count = tile_bytes / bytes; /* in a tile */
    uint32_t x[planes][2];

    __device__ void load(const uint8_t *row, unsigned unit) {
        uint32_t w[2 * planes];
        const uint2 *p = (const uint2 *)(row + unit * bytes);
#pragma unroll
        for (int i = 0; i < planes; i++) {
            const uint2 v = p[i];
            w[2 * i] = v.x;
            w[2 * i + 1] = v.y;
        }
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int b = 0; b < planes; b++) {
                if constexpr (W == 8)
                    x[b][h] = w[h];
                else if constexpr (W == 16)
                    x[b][h] = prmt(w[2 * h], w[2 * h + 1], b == 0 ? 0x6420 : 0x7531);
                else
                    x[b][h] = prmt(prmt(w[4 * h], w[4 * h + 1], (unsigned)(b | (4 + b) << 4)),
                                   prmt(w[4 * h + 2], w[4 * h + 3], (unsigned)(b | (4 + b) << 4)),
                                   0x5410);
            }
    }
    __device__ void add(const Unit &other) {
#pragma unroll
        for (int b = 0; b < planes; b++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                x[b][h] ^= other.x[b][h];
    }
    /* The bits of symbols 4h to 4h + 3, all planes together: a byte is 0 if its symbol is. */
    __device__ uint32_t any(int h) const {
        uint32_t sum = x[0][h];
#pragma unroll
        for (int b = 1; b < planes; b++)
            sum |= x[b][h];
        return sum;
    }
    __device__ uint32_t symbol(int i) const {
        uint32_t value = 0;
#pragma unroll
        for (int b = 0; b < planes; b++)
            value |= (x[b][i / 4] >> (8 * (i % 4)) & 0xff) << (8 * b);
        return value;
    }
};

/* f(x, unit x of the guess's product) for rows x from begin on. Rows are computed together, as far
 * as registers allow, because an input's indices serve all of them. */
template <int W, class F>
__device__ inline void map_rows(const Slab &slab, unsigned unit, uint32_t begin, uint32_t end,
                                const F &f) {
    constexpr int planes = W / 8, together = W == 32 ? 2 : 4;
    const gfk_locate_guess &g = slab.guess;
    for (uint32_t first = begin; first < end; first += together) {
        Unit<W> sums[together] = {};
        for (uint32_t i = 0; i < g.data; i++) {
            Unit<W> in;
            in.load(slab.rows + g.rows[i] * tile_bytes, unit);
            Indices332 indices[planes];
#pragma unroll
            for (int b = 0; b < planes; b++)
                indices[b].set(in.x[b][0], in.x[b][1]);
#pragma unroll
            for (int r = 0; r < together; r++) {
                if (first + r >= end)
                    continue;
                const Tables *t = slab.tables + ((first + r) * g.data + i) * (planes * planes);
#pragma unroll
                for (int b = 0; b < planes; b++)
#pragma unroll
                    for (int o = 0; o < planes; o++) {
                        const Tables &table = t[b * planes + o];
#pragma unroll
                        for (int h = 0; h < 2; h++)
                            sums[r].x[o][h] ^=
                                prmt(table.low[0], table.low[1], indices[b].low >> (16 * h)) ^
                                prmt(table.middle[0], table.middle[1],
                                     indices[b].middle >> (16 * h)) ^
                                prmt(table.high, 0, indices[b].high >> (16 * h));
                    }
            }
        }
#pragma unroll
        for (int r = 0; r < together; r++) {
            if (first + r >= end)
                continue;
            Unit<W> y;
#pragma unroll
            for (int o = 0; o < planes; o++)
                sort_interleaved(sums[r].x[o], y.x[o]);
            f(first + r, y);
        }
    }
}

/* ---- guesses -------------------------------------------------------------------------------- */

/* Block b of the workspace counts for the guess's regions; then the guess may change. */
__device__ inline void flush_counts(const TileJob &job, Shared &shared) {
    const gfk_locate_guess &g = shared.slab.guess;
    if (threadIdx.x < g.data + g.parity && shared.counts[threadIdx.x] != 0) {
        atomicAdd((Count *)&job.counts[g.regions[threadIdx.x]], shared.counts[threadIdx.x]);
        shared.counts[threadIdx.x] = 0;
    }
}

/* Fills the tables of one coefficient. */
template <int W>
__device__ inline void fill_tables(const gfk_arithmetic &f, uint32_t c, Tables *tables) {
    constexpr int planes = W / 8;
    uint32_t basis[8];
    for (int b = 0; b < planes; b++) {
        for (int bit = 0; bit < 8; bit++) {
            basis[bit] = c;
            c = (c << 1 ^ (c >> (W - 1) & 1 ? f.polynomial : 0)) & (0xffffffffu >> (32 - W));
        }
        for (int o = 0; o < planes; o++) {
            Tables &t = tables[b * planes + o];
            /* Byte o of the product of the bits of v, the first of which is `bit`. */
            const auto entry = [&](int bit, int bits, uint32_t v) {
                uint32_t sum = 0;
                for (int i = 0; i < bits; i++)
                    sum ^= v >> i & 1 ? basis[bit + i] : 0;
                return sum >> (8 * o) & 0xff;
            };
            t.low[0] = t.low[1] = t.middle[0] = t.middle[1] = t.high = 0;
            for (uint32_t v = 0; v < 4; v++) {
                t.low[0] |= entry(0, 3, v) << (8 * v);
                t.low[1] |= entry(0, 3, v + 4) << (8 * v);
                t.middle[0] |= entry(3, 3, v) << (8 * v);
                t.middle[1] |= entry(3, 3, v + 4) << (8 * v);
                t.high |= entry(6, 2, v) << (8 * v);
            }
        }
    }
}

/* Finds the regions of a position's errors, as gfk_locate_errors does; returns their number. All
 * threads of the block call it together. */
template <int W>
__device__ inline uint32_t find_regions(const gfk_locate_code &c, Shared &shared, unsigned symbol,
                                        gfk_locate_state s) {
    const unsigned thread = threadIdx.x;
    if (c.points == nullptr) {
        if (thread == 0) {
            load_words<W>(shared.slab.rows, c.m, symbol, s, 0);
            shared.errors = gfk_locate_by_search(&c, s);
        }
        __syncthreads();
        return shared.errors;
    }
    static_assert(most_rows <= threads, "");
    const uint32_t point = thread < c.m ? c.points[c.k + thread] : 0;
    uint32_t term = 0;
    if (thread < c.m) {
        term = load_bytes(shared.slab.rows + thread * tile_bytes + symbol * (W / 8), W / 8);
        term = gfk_locate_times(&c, term, c.v_parity[thread]);
        *gfk_word(s, c.m + thread) = 0;
    }
    __syncthreads();
    for (uint32_t r = 0; r < c.m; r++) { /* S_r */
        const uint32_t sum = __reduce_xor_sync(0xffffffff, term);
        if (thread % 32 == 0 && sum != 0)
            atomicXor(gfk_word(s, c.m + r), sum);
        term = gfk_locate_times(&c, term, point);
    }
    __syncthreads();
    if (thread == 0)
        shared.errors = gfk_locate_has_formulas(c.t) ? gfk_locate_by_formulas(&c, s, false)
                                                     : gfk_berlekamp_massey(&c, s);
    if (threadIdx.x == 0)
        shared.roots = 0;
    __syncthreads();
    if (gfk_locate_has_formulas(c.t))
        return shared.errors;
    const uint32_t length = shared.errors;
    for (uint32_t i = thread; i < c.k + c.m && length != 0; i += threads) {
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
__device__ __noinline__ void make_guess(const TileJob &job, gfk_locate_code code, Shared &shared,
                                        unsigned symbol, States states) {
    gfk_locate_code c = with_width<W>(code);
    c.carryless = W != 8;
    const gfk_locate_state state = states.at(0);
    gfk_locate_guess &g = shared.slab.guess;
    flush_counts(job, shared);
    __syncthreads();
    const uint32_t errors = find_regions<W>(c, shared, symbol, state);
    if (threadIdx.x == 0) {
        shared.guessed = errors != 0 && gfk_guess_regions(&c, state, errors, &g);
        if (!shared.guessed)
            g.data = g.parity = 0;
    }
    __syncthreads();
    if (!shared.guessed || g.data == 0)
        return;
    for (uint32_t x = threadIdx.x; x < c.m; x += threads)
        gfk_guess_fill_row(&c, &g, x);
    for (uint32_t p = 0; p < g.data; p++) {
        __syncthreads();
        for (uint32_t x = threadIdx.x; x < c.m; x += threads)
            if (x != p)
                gfk_guess_exchange(&c, &g, p, x);
        __syncthreads();
        if (threadIdx.x == 0)
            gfk_guess_exchange(&c, &g, p, p);
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < c.m * g.data; e += threads)
        fill_tables<W>(c.field, g.map[e], shared.slab.tables + e * (W / 8) * (W / 8));
    __syncthreads();
}

/* Takes away what the guess of a slab explains of the positions that are left, and counts and
 * repairs it if `commit`. */
template <int W>
__device__ inline void use_guess(const TileJob &job, Shared &shared, const Slab &slab,
                                 Shared::Tally &tally, uint64_t tile, bool commit) {
    constexpr unsigned size = W / 8;
    const gfk_locate_guess &g = slab.guess;
    const uint32_t m = job.code.m;
    for (unsigned base = 0; base < Unit<W>::count; base += threads) {
        const unsigned unit = base + threadIdx.x;
        const bool mine = unit < Unit<W>::count;
        uint32_t bad[2] = {}, left[2] = {};
        if (mine) {
            left[0] = shared.left[2 * unit];
            left[1] = shared.left[2 * unit + 1];
            map_rows<W>(slab, unit, g.data, m - g.parity, [&](uint32_t x, Unit<W> &y) {
                Unit<W> syndromes;
                syndromes.load(slab.rows + g.rows[x] * tile_bytes, unit);
                y.add(syndromes);
                bad[0] |= y.any(0);
                bad[1] |= y.any(1);
            });
            bad[0] = nonzero_bytes(bad[0]) & left[0];
            bad[1] = nonzero_bytes(bad[1]) & left[1];
            shared.left[2 * unit] = bad[0];
            shared.left[2 * unit + 1] = bad[1];
            if ((bad[0] | bad[1]) != 0)
                atomicMin(&tally.first_left,
                          8 * unit + (bad[0] != 0 ? (__ffs((int)bad[0]) - 1) / 8
                                                  : 4 + (__ffs((int)bad[1]) - 1) / 8));
        }
        add_from_warp(&tally.left, (uint32_t)(__popc(bad[0]) + __popc(bad[1])));
        if (!commit)
            continue;
        left[0] ^= bad[0]; /* now: what the guess explains */
        left[1] ^= bad[1];
        const auto count = [&](uint32_t x, Unit<W> &y) {
            const uint32_t e = x < g.data ? x : x - (m - g.parity) + g.data;
            const uint32_t wrong[2] = {nonzero_bytes(y.any(0)) & left[0],
                                       nonzero_bytes(y.any(1)) & left[1]};
            add_from_warp(&shared.counts[e], (uint32_t)(__popc(wrong[0]) + __popc(wrong[1])));
            if (!job.repair || !mine)
                return;
            uint8_t *region = job.in[g.regions[e]] + tile + unit * Unit<W>::bytes;
            for (unsigned i = 0; i < 8; i++)
                if (wrong[i / 4] >> (8 * (i % 4)) & 0x80)
                    store_bytes(region + i * size, size, y.symbol((int)i), true);
        };
        const unsigned any_unit =
            mine ? unit : 0; /* idle lanes follow their warp, without effect */
        map_rows<W>(slab, any_unit, 0, g.data, count);
        map_rows<W>(slab, any_unit, m - g.parity, m, [&](uint32_t x, Unit<W> &y) {
            Unit<W> syndromes;
            syndromes.load(slab.rows + g.rows[x] * tile_bytes, any_unit);
            y.add(syndromes);
            count(x, y);
        });
    }
}

/* All threads call it together. Returns how many positions are left. `again`: the tile has seen
 * another guess. */
template <int W>
__device__ inline uint32_t try_guess(const TileJob &job, Shared &shared, const Slab &slab,
                                     Shared::Tally &tally, uint64_t tile, bool again, bool commit) {
    if (again) {
        __syncthreads(); /* all threads have read what thread 0 resets */
        if (threadIdx.x == 0) {
            tally.left = 0;
            tally.first_left = ~0u;
        }
        __syncthreads();
    }
    use_guess<W>(job, shared, slab, tally, tile, commit);
    __syncthreads();
    return tally.left;
}

} // namespace locate
} // namespace gfk
