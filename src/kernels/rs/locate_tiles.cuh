/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating tile by tile: what a block has in the workspace and in shared memory, and the syndromes
 * of a tile, by the binary tensor cores.
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
constexpr unsigned state_bytes = 34 << 10;
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
    uint32_t errors, roots;              /* of the position that a guess is made from */
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

/* Calls f(piece) for the marked ones of a block's pieces, by all threads together. Mostly nothing
 * is wrong, so each thread looks at the mark of one piece first. */
template <class J, class F>
__device__ void for_marked(const J &job, uint64_t pieces, const F &f) {
    const uint64_t stride = gridDim.x;
    for (uint64_t first = blockIdx.x; first < pieces; first += stride * blockDim.x) {
        const uint64_t mine = first + threadIdx.x * stride;
        if (!__syncthreads_or(mine < pieces && marked(job, mine)))
            continue;
        for (uint64_t i = 0, piece = first; i < blockDim.x && piece < pieces; i++, piece += stride)
            if (marked(job, piece))
                f(piece);
    }
}

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

/* The code with what the compiler shall know of a width: otherwise each product brings the loops and
 * the tables of the other widths, and of the host. */
template <int W>
__device__ inline gfk_locate_code with_width(const gfk_locate_code &c) {
    gfk_locate_code code = c;
    code.field.w = W;
    code.products = nullptr;
    code.norms = nullptr;
    if constexpr (W == 32)
        code.field.log = nullptr;
    else
        __builtin_assume(code.field.log != nullptr);
    return code;
}

/* One row's syndrome of the symbol at an offset, by scalar arithmetic. */
template <int W>
__device__ inline uint32_t syndrome(const TileJob &job, uint32_t j, uint64_t at) {
    const gfk_locate_code c = with_width<W>(job.code);
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

/* A block's dynamic shared memory has the counts of the regions, then, from this word on, the states
 * of positions. */
__host__ __device__ inline uint32_t states_at(const gfk_locate_code &c) {
    return (c.k + c.m + 3) / 4 * 4;
}

/* Scratch words for `count` positions at once, those of one position `count` words apart. */
struct States {
    uint32_t *words;
    unsigned count;
    __device__ gfk_locate_state at(unsigned i) const { return {words + i, count}; }
};

/* The code as decoding wants it. w = 8 has its logarithms in shared memory. Those of w = 16 have no
 * room there: they make inverses, and products of integers are products of polynomials, which tables
 * in shared memory reduce. */
template <int W>
__device__ inline gfk_locate_code decoding_code(const gfk_locate_code &c) {
    gfk_locate_code code = with_width<W>(c);
    code.carryless = W != 8;
    if constexpr (W == 8) {
        __shared__ uint16_t logs[256 + 2 * 255];
        for (unsigned i = threadIdx.x; i < sizeof logs / sizeof logs[0]; i += threads)
            logs[i] = i < 256 ? c.field.log[i] : c.field.antilog[i - 256];
        code.field.log = logs;
        code.field.antilog = logs + 256;
    } else {
        __shared__ uint32_t reduced[W / 8 * 256];
        for (unsigned i = threadIdx.x; i < W / 8 * 256; i += threads)
            reduced[i] = c.reduced[i];
        code.reduced = reduced;
    }
    __syncthreads();
    return code;
}

/* Loads m symbols of a position, one from each row. */
template <int W>
__device__ inline void load_words(const uint8_t *rows, uint32_t m, unsigned symbol,
                                  gfk_locate_state state, uint32_t first) {
    for (uint32_t j = 0; j < m; j++)
        *gfk_word(state, first + j) = load_bytes(rows + j * tile_bytes + symbol * (W / 8), W / 8);
}

/* ---- the parts ------------------------------------------------------------------------------ */

/* What is compiled for each width, in a file of its own (locate_width.cuh). */
template <int W>
struct Width {
    static size_t operand_words(size_t k, size_t m);
    static void build_operand(const gfk_rs_info &info, const uint32_t *matrix, const uint32_t *sums,
                              const uint32_t *roots, uint32_t *words);
    static size_t blocks(size_t k); /* on a multiprocessor */
    static size_t workspace(const gfk_rs_locator *locator, uint64_t bytes);
    /* The kernels of a call whose regions have these vectors, which are aligned. */
    static gfk_status sample(const gfk_locate_call *call, const Vectors &vectors,
                             const uint32_t **verdict);
    static gfk_status run(const gfk_locate_call *call, const Vectors &vectors);
};

} // namespace locate
} // namespace gfk
