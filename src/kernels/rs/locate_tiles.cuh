/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating tile by tile. A block has the binary tensor cores compute the syndromes of a tile into
 * its part of the workspace. A guess of the damaged regions explains most of a tile in bulk; what
 * the guess does not explain is decoded position by position. A block keeps its guess from tile to
 * tile.
 *
 * Offsets are counted from where vector 0 of a region begins (kernels/product/extent.cuh). */
#pragma once

#include "host/rs/locate/locate.h"
#include "kernels/common/split_332.cuh"
#include "kernels/common/vector_io.cuh"
#include "kernels/product/bmma/mainloop_direct.cuh"

namespace gfk {
namespace locate {

constexpr unsigned threads = 128, tile_bytes = 16 * threads; /* a vector for each thread */
constexpr unsigned piece_shift = 13; /* a block takes 8 KiB of every region at a time */
constexpr unsigned state_bytes = 32 << 10;
constexpr uint32_t most_rows = 64; /* of codes that are located in tiles */
constexpr uint32_t few = 16;       /* so many positions are decoded without a guess */
constexpr unsigned most_guesses = 2, most_skipped = 64; /* for a tile; tiles */

using Count = unsigned long long; /* as atomicAdd wants it */
static_assert(sizeof(Count) == sizeof(uint64_t), "");

/* What a block found, before it is added to the verdict. */
struct Found {
    Count corrupt, unexplained, first;
};

/* The lookup tables of a coefficient and a pair of bytes, one of the input and one of the output:
 * entries by bits 0 to 2, by bits 3 to 5, by bits 6 and 7. */
struct Tables {
    uint32_t low[2], middle[2], high, unused;
};

/* The block's part of the workspace. */
struct Slab {
    uint8_t *rows;  /* m * tile_bytes: the syndromes */
    uint8_t *sums;  /* m * tile_bytes: the S_r of a code with points, then recurrences */
    uint8_t *roots; /* a bit for each region and position: is the region's point a root? */
    gfk_locate_guess guess;
    Tables *tables; /* for each element of the guess's map (w / 8)^2: [input byte][output byte] */
};

__host__ __device__ inline uint64_t slab_words(const gfk_locate_code &c) {
    const uint32_t most = gfk_most_guessed(&c), planes = c.field.w / 8;
    return (uint64_t)c.m * (tile_bytes / 2 + 1 + most) + c.t +
           (uint64_t)(c.k + c.m) * (tile_bytes / c.field.w / 4) +
           (uint64_t)c.m * most * planes * planes * (sizeof(Tables) / 4) + 64;
}
__host__ __device__ inline uint64_t slab_bytes(const gfk_locate_code &c) {
    return (slab_words(c) * 4 + 255) / 256 * 256;
}
__device__ inline Slab slab_at(const gfk_locate_code &c, uint8_t *p) {
    const uint32_t most = gfk_most_guessed(&c), planes = c.field.w / 8;
    Slab slab;
    slab.rows = p;
    p += (uint64_t)c.m * tile_bytes;
    slab.sums = p;
    p += (uint64_t)c.m * tile_bytes;
    slab.roots = p;
    p += (uint64_t)(c.k + c.m) * (tile_bytes / c.field.w);
    slab.tables = (Tables *)p;
    p += (uint64_t)c.m * most * planes * planes * sizeof(Tables);
    slab.guess.map = (uint32_t *)p;
    slab.guess.rows = slab.guess.map + (uint64_t)c.m * most;
    slab.guess.regions = slab.guess.rows + c.m;
    slab.guess.data = slab.guess.parity = 0;
    return slab;
}

/* What the threads of a block share. Positions of a tile have a byte each in `left`, whose top bit
 * is set if the position is not explained yet. */
struct Shared {
    Found found;
    Slab slab;
    Count counts[GFK_LOCATE_MOST_GUESSED]; /* of the guessed regions, since the guess was made */
    uint32_t left[tile_bytes / 4];
    struct Tally {
        uint32_t corrupt, first_corrupt; /* positions of a tile, and the lowest one */
        uint32_t left, first_left;       /* those that a guess leaves */
    } tallies[2];                        /* for this tile and for the next one */
    uint32_t guessed;                    /* 0 or 1 */
    uint32_t skip, skipped;
    uint32_t *named; /* k + m: how often decoding named each region */
};
constexpr Shared::Tally no_tally = {0, ~0u, 0, ~0u};

/* Adds what a block found to the verdict. */
template <class J>
__device__ inline void report(const J &job, const Found &found) {
    if (found.corrupt == 0)
        return;
    atomicAdd((Count *)&job.verdict->corrupt, found.corrupt);
    atomicAdd((Count *)&job.verdict->located, found.corrupt - found.unexplained);
    atomicAdd((Count *)&job.verdict->unexplained, found.unexplained);
    atomicMin((Count *)&job.verdict->first_corrupt, found.first);
}

/* The top bit of every byte that is not 0. */
__device__ inline uint32_t nonzero_bytes(uint32_t x) {
    return (((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x) & 0x80808080;
}

/* Adds to a word of shared memory what all lanes of a warp bring. */
template <class T>
__device__ inline void add_from_warp(T *to, uint32_t x) {
    const uint32_t sum = __reduce_add_sync(0xffffffff, x);
    if (threadIdx.x % 32 == 0 && sum != 0)
        atomicAdd(to, (T)sum);
}

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

/* ---- a tile --------------------------------------------------------------------------------- */

/* What a sample of the regions says, in device memory. */
struct Sample {
    enum Verdict : uint32_t {
        sound,   /* little is wrong: the check finds out where */
        damaged, /* much is wrong: every chunk is searched, without a check */
        guessed  /* most of that is explained by one guess, which goes over all regions first */
    } verdict;
    Slab slab; /* the guess and its tables */
};

/* A matrix operand of the tensor cores. */
struct Matrix {
    const uint32_t *operand;
    uint64_t pass_words;
    uint32_t passes, panels, rows;
};

/* The parameters of a launch. */
struct TileJob {
    gfk_locate_code code;
    uint64_t bytes;      /* of a region */
    uint64_t begin, end; /* of the whole vectors */
    uint32_t phase;      /* bytes of vector 0 before the region */
    uint32_t *mismatch_map;
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    bool repair;
    uint8_t *slabs;
    Matrix encode;  /* from the data to the parity */
    Matrix sum;     /* from the syndromes to the S_r */
    Matrix roots;   /* from recurrences to their values at all points; no rows: there is none */
    Sample *sample; /* NULL: none was taken */
    uint8_t *sample_slab;
    uint64_t whole_begin, whole_end; /* of the whole tiles, which the sample's guess explains */
    uint32_t *explain; /* the matrix operand of the sample's guess; NULL: there is no guess */
    /* All regions less the phase, then any addresses up to a whole pass. */
    uint8_t *in[GFK_LOCATE_MOST_DEVICE_POINTERS + 32];

    __device__ uint8_t *region(uint32_t i) const { return in[i]; }
    __device__ bool is_whole(uint64_t at) const { return at >= begin && at < end; }
    __device__ bool is_inside(uint64_t at) const { return at >= phase && at - phase < bytes; }
    __device__ bool sampled(Sample::Verdict verdict) const {
        return sample != nullptr && sample->verdict == verdict;
    }
};

/* All threads of a block call it first. `named`: k + m words of shared memory. */
__device__ inline void begin_block(const TileJob &job, Shared &shared, uint8_t *slab,
                                   uint32_t *named) {
    for (unsigned i = threadIdx.x; i < job.code.k + job.code.m; i += threads)
        named[i] = 0;
    if (threadIdx.x == 0) {
        shared.named = named;
        shared.found = {0, 0, ~Count(0)};
        shared.slab = slab_at(job.code, slab);
        shared.guessed = shared.skip = shared.skipped = 0;
        shared.tallies[0] = shared.tallies[1] = no_tally;
    }
    if (threadIdx.x < GFK_LOCATE_MOST_GUESSED)
        shared.counts[threadIdx.x] = 0;
    __syncthreads();
}

/* The rows of a slab as the inputs of a product. */
struct Rows {
    struct In {
        const uint8_t *rows;
        uint32_t count;
        __device__ const uint8_t *operator[](unsigned i) const {
            return rows + (i < count ? i : 0) * tile_bytes;
        }
    } in;
};

/* A warp's step of a tile, [at, at + 16 * vectors * tiles), up to `end`: products of whole vectors;
 * the matrix's panels from `first` on, up to `last`. All lanes call store(output, the lane's vector,
 * its words, has a pass before stored this output?) together, also beyond the last output. */
template <class K, class J, class F>
__device__ inline void multiply_step(const J &job, const Matrix &matrix, uint32_t first,
                                     uint32_t last, uint64_t at, uint64_t end, const F &store) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32;
    for (unsigned pass = 0; pass < matrix.passes; pass++) {
        uint32_t a[K::tiles][T::symbols][T::steps], b[2][T::pair_registers];
        bmma::gather<K>(job, at, end, pass, lane, a);
        const uint32_t *panel =
            matrix.operand + pass * matrix.pass_words + first * (T::panel_registers * 32);
        bmma::load_pair<T>(panel, 0, lane, b[0]);
#pragma unroll 1
        for (unsigned j = first; j < last; j++) {
            const uint32_t *following = j + 1 < last ? panel + T::panel_registers * 32 : panel;
            uint32_t words[K::tiles][T::words] = {};
            bmma::add_panel<K>(a, panel, following, lane, b, words);
            const unsigned output = T::w == 32 ? j : j * T::outputs + lane % T::lanes;
#pragma unroll
            for (int u = 0; u < K::tiles; u++) {
                bmma::exchange<T>(words[u], lane);
                store(output, at + u * (16 * T::vectors) + lane / T::lanes * 16, words[u],
                      pass != 0);
            }
            panel = following;
        }
    }
}

/* Stores `count` outputs of [.., end) in rows that begin where the tile does. */
template <class T>
struct StoreRows {
    uint8_t *rows;
    uint32_t count;
    uint64_t tile, end;
    __device__ void operator()(unsigned output, uint64_t vector, const uint32_t (&words)[T::words],
                               bool again) const {
        if (output < count && vector < end)
            store_vector<true>(rows + output * tile_bytes + (vector - tile) +
                                   (T::w == 32 ? 4 * (threadIdx.x % 4) : 0),
                               words, again);
    }
};

/* The products of the vectors [at, end) of a tile, by all warps of the block. */
template <class K, class J, class F>
__device__ inline void multiply_tile(const J &job, const Matrix &matrix, uint64_t at, uint64_t end,
                                     const F &store) {
    constexpr unsigned step_bytes = 16 * K::T::vectors * K::tiles;
    for (at += threadIdx.x / 32 * step_bytes; at < end; at += threads / 32 * step_bytes)
        multiply_step<K>(job, matrix, 0, matrix.panels, at, end, store);
}

/* One row's syndrome of the symbol at an offset, by scalar arithmetic. */
template <int W>
__device__ inline uint32_t syndrome(const TileJob &job, uint32_t j, uint64_t at) {
    const gfk_locate_code &c = job.code;
    uint32_t sum = load_bytes(job.in[c.k + j] + at, W / 8);
    for (uint32_t i = 0; i < c.k; i++)
        sum ^=
            gfk_times(&c.field, c.matrix[(size_t)j * c.k + i], load_bytes(job.in[i] + at, W / 8));
    return sum;
}

/* The syndromes of the partial vectors of a tile. What lies outside of the regions becomes 0. */
template <int W>
__device__ __noinline__ void partial_syndromes(const TileJob &job, Slab &slab, uint64_t tile) {
    constexpr unsigned size = W / 8, symbols = 16 / size;
    for (unsigned item = threadIdx.x; item < threads * symbols * job.code.m; item += threads) {
        const unsigned offset = item % (threads * symbols) * size, j = item / (threads * symbols);
        const uint64_t at = tile + offset;
        if (job.is_whole(at / 16 * 16))
            continue;
        const uint32_t sum = job.is_inside(at) ? syndrome<W>(job, j, at) : 0;
        store_bytes(slab.rows + j * tile_bytes + offset, size, sum);
    }
}

/* A byte for each symbol of a vector: its top bit is set if the symbol is not 0. */
template <int W>
__device__ inline void nonzero_symbols(const uint32_t (&x)[4], uint32_t *flags) {
    if constexpr (W == 8)
#pragma unroll
        for (int i = 0; i < 4; i++)
            flags[i] = nonzero_bytes(x[i]);
    else if constexpr (W == 16)
#pragma unroll
        for (int i = 0; i < 2; i++)
            flags[i] = nonzero_bytes(prmt(x[2 * i], x[2 * i + 1], 0x6420) |
                                     prmt(x[2 * i], x[2 * i + 1], 0x7531));
    else
        flags[0] = (x[0] ? 0x80u : 0) | (x[1] ? 0x8000u : 0) | (x[2] ? 0x800000u : 0) |
                   (x[3] ? 0x80000000u : 0);
}

/* Makes syndromes of the products by adding the parity, and finds the corrupt positions. A thread
 * has a vector, the one at `mine`. */
template <int W, bool Aligned>
__device__ inline void find_corrupt(const TileJob &job, Shared &shared, Shared::Tally &tally,
                                    uint64_t tile, uint64_t mine) {
    constexpr unsigned size = W / 8, words = 4 / size; /* of flags */
    const gfk_locate_code &c = job.code;
    const bool whole = job.is_whole(mine);
    uint8_t *row = shared.slab.rows + 16 * threadIdx.x;
    uint32_t any[4] = {}, flags[words];
    for (uint32_t j = 0; j < c.m; j++, row += tile_bytes) {
        uint32_t x[4], y[4] = {};
        load_vector<true>(row, x);
        if (whole)
            load_vector<Aligned>(job.in[c.k + j] + mine, y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] ^= y[i];
            any[i] |= x[i];
        }
        if (whole)
            store_vector<true>(row, x);
    }
    nonzero_symbols<W>(any, flags);
    uint32_t corrupt = 0, first = ~0u;
#pragma unroll
    for (unsigned i = words; i-- > 0;) {
        shared.left[words * threadIdx.x + i] = flags[i];
        corrupt += (uint32_t)__popc(flags[i]);
        if (flags[i] != 0)
            first = 4 * (words * threadIdx.x + i) + (unsigned)(__ffs((int)flags[i]) - 1) / 8;
    }
    first = __reduce_min_sync(0xffffffff, first);
    if (threadIdx.x % 32 == 0 && first != ~0u) {
        atomicMin(&tally.first_corrupt, first);
        atomicMin(&shared.found.first, (Count)(tile + first * size - job.phase));
    }
    add_from_warp(&tally.corrupt, corrupt);
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

/* Loads m symbols of a position, one from each row. */
template <int W>
__device__ inline void load_words(const uint8_t *rows, uint32_t m, unsigned symbol,
                                  gfk_locate_state state, uint32_t first) {
    for (uint32_t j = 0; j < m; j++)
        *gfk_word(state, first + j) = load_bytes(rows + j * tile_bytes + symbol * (W / 8), W / 8);
}

/* Makes a guess from a position of the tile. All threads of the block call it together. */
template <int W>
__device__ inline void make_guess(const TileJob &job, Shared &shared, unsigned symbol,
                                  gfk_locate_state state) {
    const gfk_locate_code &c = job.code;
    gfk_locate_guess &g = shared.slab.guess;
    flush_counts(job, shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        load_words<W>(shared.slab.rows, c.m, symbol, state, 0);
        const uint32_t errors = gfk_locate_errors(&c, state);
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

/* ---- position by position ------------------------------------------------------------------- */

/* Counts and repairs the errors that a position's state has. Returns whether there are any. */
template <class J, class F>
__device__ inline bool use_errors(const J &job, const gfk_locate_code &c, uint64_t at,
                                  gfk_locate_state state, uint32_t errors, const F &count) {
    for (uint32_t e = 0; e < errors; e++) {
        const uint32_t which = *gfk_error_region(&c, state, e);
        count(which);
        if (job.repair)
            store_bytes(job.region(which) + at, c.field.w / 8, *gfk_error_value(&c, state, e),
                        true);
    }
    return errors != 0;
}

/* Decodes what is left, one position after the other. `deciders`: threads that have a state. */
template <int W>
__device__ inline void decode_positions(const TileJob &job, const gfk_locate_code &c,
                                        Shared &shared, uint64_t tile, gfk_locate_state state,
                                        unsigned deciders) {
    const uint8_t *left = (const uint8_t *)shared.left;
    const bool points = c.points != nullptr;
    uint32_t unexplained = 0;
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / (W / 8); symbol += deciders) {
        if (left[symbol] == 0)
            continue;
        load_words<W>(points ? shared.slab.sums : shared.slab.rows, c.m, symbol, state,
                      points ? c.m : 0);
        const uint32_t errors =
            points ? gfk_locate_by_sums(&c, state, job.repair) : gfk_locate_by_search(&c, state);
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
                                        Shared &shared, gfk_locate_state state, unsigned deciders) {
    uint8_t *left = (uint8_t *)shared.left;
    uint32_t unexplained = 0;
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / (W / 8); symbol += deciders) {
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
                                       uint64_t tile, gfk_locate_state state, unsigned deciders) {
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
    for (unsigned symbol = threadIdx.x; threadIdx.x < deciders && symbol < tile_bytes / size;
         symbol += deciders) {
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
template <class K>
__device__ inline void decode_left(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, gfk_locate_state state, unsigned deciders,
                                   uint32_t left) {
    using T = typename K::T;
    const Slab &slab = shared.slab;
    const bool decides = threadIdx.x < deciders;
    if (c.points != nullptr) {
        multiply_tile<K>(Rows{{slab.rows, c.m}}, job.sum, 0, tile_bytes,
                         StoreRows<T>{slab.sums, c.m, 0, tile_bytes});
        __syncthreads();
    }
    if (job.roots.rows == 0 || left < tile_bytes / (T::w / 8) / 16) {
        if (decides)
            decode_positions<T::w>(job, c, shared, tile, state, deciders);
        return;
    }
    if (decides)
        find_recurrences<T::w>(job, c, shared, state, deciders);
    __syncthreads();
    multiply_tile<K>(Rows{{slab.sums, c.t}}, job.roots, 0, tile_bytes,
                     StoreRoots<T>{c, slab.roots});
    __syncthreads();
    use_roots<T::w>(job, c, shared, tile, state, deciders);
}

/* Explains a tile whose products are in the slab. All threads call it together; `turn` is 0 and 1
 * in turns. `c`: the code, with the field as decoding wants it. */
template <class K>
__device__ inline void locate_tile(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, gfk_locate_state state, unsigned deciders,
                                   unsigned turn) {
    constexpr int W = K::T::w;
    Shared::Tally &tally = shared.tallies[turn];
    if (tile < job.begin || tile + tile_bytes > job.end)
        partial_syndromes<W>(job, shared.slab, tile);
    __syncthreads(); /* products and partial syndromes are there; no thread is in the last tile */
    if (threadIdx.x == 0)
        shared.tallies[1 - turn] = no_tally;
    const bool skips = shared.skip != 0; /* thread 0 writes it behind the next barrier */
    find_corrupt<W, K::aligned>(job, shared, tally, tile, tile + 16 * threadIdx.x);
    __syncthreads();
    uint32_t corrupt = tally.corrupt;
    bool used = false;
    if (corrupt != 0 && job.sampled(Sample::guessed) && tile >= job.whole_begin &&
        tile < job.whole_end) {
        /* These positions are counted, and repaired, already. */
        Slab slab = job.sample->slab;
        slab.rows = shared.slab.rows;
        corrupt = try_guess<W>(job, shared, slab, tally, tile, false, false);
        used = true;
    }
    if (corrupt == 0)
        return;
    uint32_t left = corrupt;
    for (unsigned guess = shared.guessed ? 0 : 1; guess <= most_guesses && left > few && !skips;
         guess++) {
        if (guess != 0)
            make_guess<W>(job, shared, used ? tally.first_left : tally.first_corrupt, state);
        if (!shared.guessed)
            break;
        left = try_guess<W>(job, shared, shared.slab, tally, tile, used, true);
        used = true;
    }
    if (left != 0) {
        decode_left<K>(job, c, shared, tile, state, deciders, left);
        __syncthreads(); /* the next tile takes the place of this one */
    }
    if (threadIdx.x != 0)
        return;
    shared.found.corrupt += corrupt;
    if (!skips && corrupt > few) {
        const uint32_t more = 2 * shared.skipped + 1;
        shared.skipped = left <= corrupt / 2 ? 0 : more < most_skipped ? more : most_skipped;
        shared.skip = shared.skipped;
    } else if (skips) {
        shared.skip--;
    }
}

} // namespace locate
} // namespace gfk
