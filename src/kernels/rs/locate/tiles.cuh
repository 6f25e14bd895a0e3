/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating tile by tile: what a block has in the workspace and in shared memory, and the syndromes
 * of a tile. A thread has a vector of every region and row; warps share syndromes of many checks.
 *
 * Offsets are counted from where vector 0 of a region begins (kernels/product/extent.cuh). */
#pragma once

#include "kernels/common/clmad.cuh"
#include "kernels/common/vector_io.cuh"
#include "kernels/product/extent.cuh"

#include "host/rs/locate/locate.h"

namespace gfk {
namespace locate {

constexpr unsigned threads = 128, tile_bytes = 16 * threads;
constexpr unsigned piece_shift = 13; /* a block takes 8 KiB of every region at a time */
constexpr unsigned state_bytes = 34 << 10;
constexpr uint32_t few = 16; /* positions of a tile that are decoded without a guess */
constexpr unsigned most_guesses = 2, most_skipped = 64; /* new ones of a tile; tiles */
constexpr uint32_t most_named = 1024; /* regions whose counts are in shared memory */
static_assert((2 * GFK_LOCATE_MOST_ROWS + 2) * sizeof(uint32_t) <= state_bytes, "");

using Count = unsigned long long; /* as atomicAdd wants it */
static_assert(sizeof(Count) == sizeof(uint64_t), "");

/* The counts of a block, which are added to the verdict in the end. */
struct Found {
    Count corrupt, unexplained, first;
};

/* The block's part of the workspace. */
struct Slab {
    uint8_t *rows; /* m * tile_bytes: the syndromes, then the recurrences */
    /* A word for each region and thread: the positions with the region's point as a root. */
    uint16_t *roots;
    gfk_locate_guess guess;
};

__host__ __device__ inline uint64_t slab_bytes(const gfk_locate_code &c) {
    const uint64_t words = (uint64_t)c.m * (tile_bytes / 4 + 1) + c.t +
                           (uint64_t)(c.k + c.m) * (threads / 2) +
                           (uint64_t)c.pitch * gfk_most_guessed(&c);
    return round_up<256>(words * 4);
}
__device__ inline Slab slab_at(const gfk_locate_code &c, uint8_t *p) {
    Slab slab;
    slab.rows = p;
    slab.roots = (uint16_t *)(p + (uint64_t)c.m * tile_bytes);
    slab.guess.map = (uint32_t *)(slab.roots + (uint64_t)(c.k + c.m) * threads);
    slab.guess.down = 1;
    slab.guess.right = c.pitch;
    slab.guess.rows = slab.guess.map + (uint64_t)c.pitch * gfk_most_guessed(&c);
    slab.guess.regions = slab.guess.rows + c.m;
    slab.guess.count = 0;
    return slab;
}

/* The shared memory of a block. `left` is a mask, all ones in each position that is still
 * to be explained. Decoding replaces a position's mask by the length of its recurrence. */
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
    uint32_t *named; /* k + m: how often decoding named each region; NULL: they are too many */
};
constexpr Shared::Tally no_tally = {0, ~0u, 0, ~0u};

/* Adds the counts of a block to the verdict. */
template <class J>
__device__ inline void report(const J &job, const Found &found) {
    if (found.corrupt == 0)
        return;
    atomicAdd((Count *)&job.verdict->corrupt, found.corrupt);
    atomicAdd((Count *)&job.verdict->located, found.corrupt - found.unexplained);
    atomicAdd((Count *)&job.verdict->unexplained, found.unexplained);
    atomicMin((Count *)&job.verdict->first_corrupt, found.first);
}

/* Adds the sum of x over all lanes of a warp to a word of shared memory. */
template <class T>
__device__ inline void add_from_warp(T *to, uint32_t x) {
    const uint32_t sum = __reduce_add_sync(0xffffffff, x);
    if (threadIdx.x % 32 == 0 && sum != 0)
        atomicAdd(to, (T)sum);
}

/* ---- a tile --------------------------------------------------------------------------------- */

/* The result of a sample of the regions, in device memory. */
struct Sample {
    enum Verdict : uint32_t {
        sound,   /* little is wrong: the check finds out where */
        damaged, /* half is wrong: every chunk is searched, without a check */
        guessed  /* one guess explains half of what is wrong; it goes over all regions first */
    } verdict;
    gfk_locate_guess guess;
};

/* The parameters of a launch. */
struct TileJob {
    gfk_locate_code code;
    uint64_t bytes;      /* of a region */
    uint64_t begin, end; /* of the whole vectors that are aligned in memory */
    uint32_t phase;      /* bytes of vector 0 before the region */
    uint32_t *mismatch_map;
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    bool repair, spaced;
    uint8_t *slabs;
    Sample *sample; /* NULL: none was taken */
    uint8_t *sample_slab;
    uint64_t whole_begin, whole_end; /* of the whole tiles, which the sample's guess explains */
    uint32_t *explain; /* the matrix operand of the sample's guess; NULL: there is no guess */
    /* The begin of vector 0 of each region, then readable addresses up to a whole pass of
     * `explain`. Spaced: the first data and the first parity, which the others follow. */
    size_t data_stride, parity_stride;
    uint8_t *in[GFK_LOCATE_MOST_DEVICE_POINTERS + 32];

    __device__ uint8_t *region(uint32_t i) const {
        if (!spaced)
            return in[i];
        return i < code.k ? in[0] + i * data_stride : in[1] + (i - code.k) * parity_stride;
    }
    __device__ bool is_whole(uint64_t at) const { return at >= begin && at < end; }
    __device__ bool sampled(Sample::Verdict verdict) const {
        return sample != nullptr && sample->verdict == verdict;
    }
};

/* All threads of a block call begin_block first. `named`: k + m words of shared memory. */
__device__ inline void begin_block(const TileJob &job, Shared &shared, uint8_t *slab,
                                   uint32_t *named) {
    const uint32_t regions = job.code.k + job.code.m;
    for (unsigned i = threadIdx.x; i < regions && regions <= most_named; i += threads)
        named[i] = 0;
    if (threadIdx.x == 0) {
        shared.named = regions <= most_named ? named : nullptr;
        shared.found = {0, 0, ~Count(0)};
        shared.slab = slab_at(job.code, slab);
        shared.guessed = shared.skip = shared.skipped = 0;
        shared.tallies[0] = shared.tallies[1] = no_tally;
    }
    if (threadIdx.x < GFK_LOCATE_MOST_GUESSED)
        shared.counts[threadIdx.x] = 0;
    __syncthreads();
}

/* Adds to the number of times that a region was named. */
__device__ inline void count_named(const TileJob &job, Shared &shared, uint32_t i, uint32_t count) {
    if (shared.named != nullptr)
        atomicAdd(&shared.named[i], count);
    else
        atomicAdd((Count *)&job.counts[i], (Count)count);
}

/* Returns the code with a width that the compiler knows. */
template <int W>
__device__ inline gfk_locate_code with_width(const gfk_locate_code &c) {
    gfk_locate_code code = c;
    code.field.w = W;
    return code;
}

/* The address of a vector in a tile's row, and that of the thread's own. */
__device__ inline uint8_t *row_vector(const Slab &slab, uint32_t j, unsigned vector) {
    return slab.rows + (uint64_t)j * tile_bytes + 16 * vector;
}
__device__ inline uint8_t *my_row(const Slab &slab, uint32_t j) {
    return row_vector(slab, j, threadIdx.x);
}

/* nonzero_symbols returns the top bit of every symbol that is not 0, nonzero_mask all bits of these
 * symbols. */
template <int W>
__device__ inline uint32_t nonzero_symbols(uint32_t x) {
    constexpr uint32_t top = replicate<W>(1u << (W - 1));
    return (((x & ~top) + ~top) | x) & top;
}
template <int W>
__device__ inline uint32_t nonzero_mask(uint32_t x) {
    return top_bit_mask<W>(nonzero_symbols<W>(x));
}
template <int W>
__device__ inline uint32_t count_symbols(const uint32_t (&masks)[4]) {
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        count += (uint32_t)__popc(masks[i]);
    return count / W;
}
/* Returns the lowest symbol of the thread's vector with a mask, counted from the tile's first
 * one. */
template <int W>
__device__ inline uint32_t first_symbol(const uint32_t (&masks)[4]) {
    uint32_t first = ~0u;
#pragma unroll
    for (int i = 4; i-- > 0;)
        if (masks[i] != 0)
            first = (128 * threadIdx.x + 32 * i + (uint32_t)__ffs((int)masks[i]) - 1) / W;
    return first;
}

/* The products of a matrix with `inputs` vectors of the thread: Outputs rows of the matrix at a
 * time. Abreast vectors are loaded before the first of them is multiplied, so a warp waits once
 * for all. load(i, x) loads vector i, use(j, y) gets output j. Element j of column i is
 * columns[i * pitch + j], where the pitch is a multiple of 8. */
template <int W, int Outputs, int Abreast = 4, class Load, class Use>
__device__ inline void multiply(const gfk_barrett &barrett, uint32_t outputs, uint32_t inputs,
                                const uint32_t *columns, int64_t pitch, const Load &load,
                                const Use &use) {
    static_assert(Outputs == 4 || Outputs == 8, "");
#pragma unroll 1
    for (uint32_t first = 0; first < outputs; first += Outputs) {
        uint64_t sums[Outputs][4] = {};
        const uint32_t *column = columns + first;
#pragma unroll 1
        for (uint32_t group = 0; group < inputs; group += Abreast) {
            uint32_t x[Abreast][4];
#pragma unroll
            for (int i = 0; i < Abreast; i++)
                if (group + i < inputs)
                    load(group + i, x[i]);
#pragma unroll
            for (int i = 0; i < Abreast; i++, column += pitch) {
                if (group + i >= inputs)
                    break;
                uint32_t c[Outputs];
#pragma unroll
                for (int j = 0; j < Outputs; j += 4)
                    unpack(*(const uint4 *)(column + j), c + j);
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    const uint64_t symbols = spread_symbols<W>(x[i][n]);
#pragma unroll
                    for (int j = 0; j < Outputs; j++)
                        sums[j][n] = clmad(symbols, c[j], sums[j][n]);
                }
            }
        }
#pragma unroll
        for (int j = 0; j < Outputs; j++) {
            if (first + j >= outputs)
                continue;
            uint32_t y[4];
#pragma unroll
            for (int n = 0; n < 4; n++)
                y[n] = reduce_sums<W>(sums[j][n], barrett);
            use(first + j, y);
        }
    }
}

/* Stores syndromes [first, last) of a vector, which is at offset `at`, and collects their bits. */
template <int W, int Outputs, bool Whole, int Abreast = 4>
__device__ inline void find_syndromes(const TileJob &job, const Slab &slab, uint64_t at,
                                      unsigned vector, uint32_t first, uint32_t last,
                                      uint32_t (&any)[4]) {
    const gfk_locate_code &c = job.code;
    const uint64_t end = job.phase + job.bytes;
    const unsigned from = at < job.phase ? (unsigned)(job.phase - at) : 0;
    const unsigned to = at >= end ? 0 : end - at < 16 ? (unsigned)(end - at) : 16;
    multiply<W, Outputs, Abreast>(
        c.barrett, last - first, c.k + c.m, c.checks + first, c.pitch,
        [&](uint32_t i, uint32_t(&x)[4]) {
            if constexpr (Whole)
                load_vector<true>(job.region(i) + at, x);
            else
                load_partial(job.region(i) + at, from, to, x);
        },
        [&](uint32_t j, const uint32_t(&y)[4]) {
            store_vector<true>(row_vector(slab, first + j, vector), y);
#pragma unroll
            for (int n = 0; n < 4; n++)
                any[n] |= y[n];
        });
}
template <int W, int Outputs>
__device__ __noinline__ void find_partial_syndromes(const TileJob &job, const Slab &slab,
                                                    uint64_t at, unsigned vector, uint32_t first,
                                                    uint32_t last, uint32_t (&any)[4]) {
    find_syndromes<W, Outputs, false>(job, slab, at, vector, first, last, any);
}

/* Collects the bits of all syndromes of the thread's vector. */
__device__ inline void collect_syndromes(const TileJob &job, const Slab &slab, uint32_t (&any)[4]) {
#pragma unroll 8
    for (uint32_t j = 0; j < job.code.m; j++) {
        uint32_t x[4];
        load_vector<true>(my_row(slab, j), x);
#pragma unroll
        for (int n = 0; n < 4; n++)
            any[n] |= x[n];
    }
}

/* Stores the syndromes of a tile, and collects the bits of those of the thread's vector. A warp
 * takes 32 vectors and some rows. Warps that take the same vectors and other rows run at the
 * same time, so that each region is read from memory once: the L2 cache does not hold the tiles
 * of all blocks. All threads call the function together, and no thread is in the last tile when
 * the function returns. */
template <int W, int Outputs>
__device__ inline void find_tile_syndromes(const TileJob &job, const Slab &slab, uint64_t tile,
                                           uint32_t (&any)[4]) {
    const uint32_t m = job.code.m, groups = divide_up<(uint32_t)Outputs>(m);
    if (groups > 1)
        __syncthreads(); /* no thread reads the last tile's rows */
#pragma unroll 1
    for (uint32_t n = threadIdx.x / 32; n < threads / 32 * groups; n += threads / 32) {
        const unsigned vector = n / groups * 32 + threadIdx.x % 32;
        const uint32_t first = n % groups * Outputs, last = min(first + Outputs, m);
        const uint64_t at = tile + 16 * vector;
        if (job.is_whole(at))
            find_syndromes<W, Outputs, true>(job, slab, at, vector, first, last, any);
        else
            find_partial_syndromes<W, Outputs>(job, slab, at, vector, first, last, any);
    }
    __syncthreads();
    if (groups == 1)
        return;
    any[0] = any[1] = any[2] = any[3] = 0;
    collect_syndromes(job, slab, any);
}

/* Marks the symbols of `any` as corrupt positions, and counts them. `tile`: where the tile
 * begins. */
template <int W>
__device__ inline void find_corrupt(const TileJob &job, Shared &shared, Shared::Tally &tally,
                                    uint64_t tile, const uint32_t (&any)[4]) {
    uint32_t masks[4];
#pragma unroll
    for (int n = 0; n < 4; n++)
        shared.left[4 * threadIdx.x + n] = masks[n] = nonzero_mask<W>(any[n]);
    const uint32_t first = __reduce_min_sync(0xffffffff, first_symbol<W>(masks));
    if (threadIdx.x % 32 == 0 && first != ~0u) {
        atomicMin(&tally.first_corrupt, first);
        atomicMin(&shared.found.first, (Count)(tile + first * (W / 8) - job.phase));
    }
    add_from_warp(&tally.corrupt, count_symbols<W>(masks));
}

/* A block's dynamic shared memory has the counts of the regions, then, from this word on, the
 * states of positions. */
__host__ __device__ inline uint32_t states_at(const gfk_locate_code &c) {
    return c.k + c.m <= most_named ? round_up<4>(c.k + c.m) : 0;
}

/* Scratch words for `count` positions at once, those of one position `count` words apart. */
struct States {
    uint32_t *words;
    unsigned count;
    __device__ gfk_locate_state at(unsigned i) const { return {words + i, count}; }
};

/* Loads `rows` symbols of a position, one from each row. */
template <int W>
__device__ inline void load_words(const Slab &slab, uint32_t rows, unsigned symbol,
                                  gfk_locate_state state, uint32_t first) {
    for (uint32_t j = 0; j < rows; j++)
        *gfk_word(state, first + j) =
            load_bytes(slab.rows + (uint64_t)j * tile_bytes + symbol * (W / 8), W / 8);
}

/* ---- the parts ------------------------------------------------------------------------------ */

/* The functions of a width, which a file of its own compiles (width.cuh). */
template <int W>
struct Width {
    static size_t workspace(const gfk_rs_locator *locator, uint64_t bytes);
    static gfk_status sample(const gfk_locate_call *call, const uint32_t **verdict);
    static gfk_status run(const gfk_locate_call *call);
};

} // namespace locate
} // namespace gfk
