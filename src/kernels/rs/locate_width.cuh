/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating tile by tile, for one width: the kernel, its policies and the launches. A block keeps its
 * guess from tile to tile. */
#pragma once

#include <algorithm>

#include "kernels/common/launch.cuh"
#include "locate_decode.cuh"
#include "locate_sample.cuh"

namespace gfk {
namespace locate {

constexpr uint64_t sampled_bytes = 128 << 20; /* of all regions; where a sample takes less time than
                                                 the check */

/* Has the L2 cache fetch all regions' whole vectors of a tile, while the block is at another one. */
__device__ inline void prefetch_tile(const TileJob &job, uint64_t tile) {
    constexpr unsigned line = 128, lines = tile_bytes / line;
    for (unsigned i = threadIdx.x; i < (job.code.k + job.code.m) * lines; i += threads) {
        const uint64_t at = tile + i % lines * line;
        if (at >= job.begin && at < job.end)
            asm volatile("prefetch.global.L2 [%0];" : : "l"(job.in[i / lines] + at));
    }
}

__device__ inline bool marked(const TileJob &job, uint64_t piece) {
    const uint64_t begin = piece << piece_shift, end = begin + (1u << piece_shift);
    const uint64_t first = begin < job.phase ? 0 : begin - job.phase;
    const uint64_t last = min(end - job.phase, job.bytes) - 1;
    return job.sampled(Sample::damaged) || (job.mismatch_map[first >> GFK_LOCATE_CHUNK_SHIFT] |
                                            job.mismatch_map[last >> GFK_LOCATE_CHUNK_SHIFT]) != 0;
}

/* Explains a tile whose products are in the slab. All threads call it together; `turn` is 0 and 1
 * in turns. `c`: the code, with the field as decoding wants it. */
template <class K, bool Formulas>
__device__ inline void locate_tile(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, const States &states, unsigned turn) {
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
            make_guess<W>(job, c, shared, used ? tally.first_left : tally.first_corrupt, states);
        if (!shared.guessed)
            break;
        left = try_guess<W>(job, shared, shared.slab, tally, tile, used, true);
        used = true;
    }
    if (left != 0) {
        decode_left<K, Formulas>(job, c, shared, tile, states, left);
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

template <class K, bool Formulas>
__global__ void __launch_bounds__(threads, K::blocks)
    locate_tiles(const __grid_constant__ TileJob job, unsigned deciders) {
    extern __shared__ uint32_t words[];
    __shared__ Shared shared;
    begin_block(job, shared, job.slabs + blockIdx.x * slab_bytes(job.code), words);
    const gfk_locate_code code = decoding_code<K::T::w>(job.code);
    const States states = {words + states_at(code), deciders};
    const uint64_t all = job.bytes + job.phase;
    unsigned turn = 0;
    for_marked(job, (all + (1u << piece_shift) - 1) >> piece_shift, [&](uint64_t piece) {
        const uint64_t begin = piece << piece_shift;
        for (uint64_t tile = begin; tile < begin + (1u << piece_shift) && tile < all;
             tile += tile_bytes) {
            prefetch_tile(job, tile + tile_bytes < begin + (1u << piece_shift)
                                   ? tile + tile_bytes
                                   : (piece + gridDim.x) << piece_shift);
            const uint64_t end = min(tile + tile_bytes, job.end);
            multiply_tile<K>(
                job, job.encode, max(tile, job.begin), end,
                StoreRows<typename K::T>{shared.slab.rows, job.encode.rows, tile, end});
            locate_tile<K, Formulas>(job, code, shared, tile, states, turn);
            turn = 1 - turn;
        }
    });
    __syncthreads();
    flush_counts(job, shared);
    for (unsigned i = threadIdx.x; i < code.k + code.m; i += threads)
        if (shared.named[i] != 0)
            atomicAdd((Count *)&job.counts[i], (Count)shared.named[i]);
    if (threadIdx.x == 0)
        report(job, shared.found);
}

/* ---- policies ------------------------------------------------------------------------------- */

/* Slots: for 16 or 32 inputs a pass. Blocks on a multiprocessor: as for the engine's kernels with
 * the same layout. */
template <int W, int Slots>
using Policy = bmma::Streamed<bmma::Layout<W, 4, Slots>, W == 8 ? 1 : 2, (int)threads,
                              Slots == 4 ? 6 : 4, bmma::Schedule::persistent, true>;

/* f(the policy of a code). */
template <int W, class F>
auto with_policy(size_t k, const F &f) {
    return k <= 16 ? f(Policy<W, 4>()) : f(Policy<W, 8>());
}

/* The policy of the product of a guess, which has all regions as inputs, in one pass. */
template <int W, int Slots, int Blocks>
using Explainer = bmma::Streamed<bmma::Layout<W, 4, Slots>, W == 8 ? 1 : 2, (int)threads, Blocks,
                                 bmma::Schedule::persistent, true>;

/* f(the policy for so many regions); `none` if there is no policy. */
template <int W, class F, class R>
R with_explainer(size_t regions, R none, const F &f) {
    if constexpr (W == 8)
        return regions <= 16    ? f(Explainer<8, 4, 7>())
               : regions <= 32  ? f(Explainer<8, 8, 6>())
               : regions <= 128 ? f(Explainer<8, 32, 2>())
                                : none;
    else
        return regions <= 16   ? f(Explainer<W, 4, 5>())
               : regions <= 32 ? f(Explainer < W, 8, W == 16 ? 3 : 4 > ())
                               : none;
}

/* ---- the workspace and the operands --------------------------------------------------------- */

/* What the workspace has behind the map: a slab for every block and for the sample, then the
 * sample's verdict, then the matrix operand of its guess. */
struct Room {
    uint64_t blocks, slab, sample, explain, bytes;
};
template <int W>
Room room_of(const gfk_rs_locator *locator, uint64_t bytes) {
    const gfk_locate_code &c = locator->code;
    const uint64_t pieces = (bytes >> piece_shift) + 2;
    Room r = {};
    if (locator->operand == NULL || bytes == 0)
        return r;
    r.blocks = pieces < locator->blocks ? pieces : locator->blocks;
    r.slab = slab_bytes(c);
    r.sample = r.bytes = r.blocks * r.slab;
    if ((c.k + c.m) * bytes < sampled_bytes)
        return r;
    r.sample += r.slab;
    r.explain = r.sample + 256;
    static_assert(sizeof(Sample) <= 256, "");
    r.bytes =
        r.explain + 4 * with_explainer<W>(c.k + c.m, size_t{0}, [&](auto policy) {
                        return bmma::matrix_words<typename decltype(policy)::T>(c.m, c.k + c.m);
                    });
    return r;
}
template <int W>
size_t Width<W>::workspace(const gfk_rs_locator *locator, uint64_t bytes) {
    return room_of<W>(locator, bytes).bytes;
}

template <int W>
size_t Width<W>::blocks(size_t k) {
    return with_policy<W>(k, [](auto policy) { return (size_t) decltype(policy)::blocks; });
}

/* The words of the operand that finds roots, in one pass; 0: there are formulas, or more passes. */
template <class T>
size_t roots_words(size_t k, size_t m) {
    return gfk_locate_has_formulas((uint32_t)m / 2) || m / 2 > T::inputs
               ? 0
               : bmma::matrix_words<T>(k + m, m / 2);
}

template <int W>
size_t Width<W>::operand_words(size_t k, size_t m) {
    return with_policy<W>(k, [&](auto policy) {
        using T = typename decltype(policy)::T;
        return bmma::matrix_words<T>(m, k) + bmma::matrix_words<T>(m, m) + roots_words<T>(k, m);
    });
}

template <int W>
void Width<W>::build_operand(const gfk_rs_info &info, const uint32_t *matrix, const uint32_t *sums,
                             const uint32_t *roots, uint32_t *words) {
    const size_t k = info.k, m = info.m;
    with_policy<W>(k, [&](auto policy) {
        using T = typename decltype(policy)::T;
        uint32_t *at = words;
        bmma::build_matrix<T>(at, info.field.polynomial, m, k, matrix);
        at += bmma::matrix_words<T>(m, k);
        bmma::build_matrix<T>(at, info.field.polynomial, m, m, sums);
        at += bmma::matrix_words<T>(m, m);
        if (roots_words<T>(k, m) != 0)
            bmma::build_matrix<T>(at, info.field.polynomial, k + m, m / 2, roots);
        return 0;
    });
}

/* ---- launches ------------------------------------------------------------------------------- */

template <class T>
Matrix matrix_of(const uint32_t *operand, size_t rows, size_t cols) {
    const uint32_t panels = (uint32_t)bmma::divide_up(rows, T::outputs);
    return {operand, panels * bmma::panel_words<T>(), (uint32_t)bmma::divide_up(cols, T::inputs),
            panels, (uint32_t)rows};
}

template <class K>
TileJob tile_job(const gfk_locate_call *call, const Vectors &vectors) {
    using T = typename K::T;
    const gfk_rs_locator *locator = call->locator;
    const gfk_locate_code &c = locator->code;
    const Room room = room_of<T::w>(locator, call->bytes);
    TileJob job = {};
    job.code = c;
    job.bytes = call->bytes;
    job.phase = vectors.phase;
    job.begin = 16 * (vectors.whole_begin < vectors.count ? vectors.whole_begin : vectors.count);
    job.end = 16 * vectors.whole_end > job.begin ? 16 * vectors.whole_end : job.begin;
    job.mismatch_map = call->mismatch_map;
    job.verdict = call->verdict;
    job.counts = call->counts;
    job.repair = call->repair;
    job.slabs = call->slabs;
    job.encode = matrix_of<T>(locator->operand, c.m, c.k);
    const uint32_t *sum = locator->operand + bmma::matrix_words<T>(c.m, c.k);
    job.sum = matrix_of<T>(sum, c.m, c.m);
    if (c.points != NULL && roots_words<T>(c.k, c.m) != 0)
        job.roots = matrix_of<T>(sum + bmma::matrix_words<T>(c.m, c.m), c.k + c.m, c.t);
    if (room.explain != 0) {
        job.sample = (Sample *)(call->slabs + room.sample);
        job.sample_slab = call->slabs + room.sample - room.slab;
        job.whole_begin = (job.begin + tile_bytes - 1) / tile_bytes * tile_bytes;
        job.whole_end = job.end / tile_bytes * tile_bytes;
        job.explain = room.explain < room.bytes ? (uint32_t *)(call->slabs + room.explain) : NULL;
    }
    const size_t regions = (size_t)c.k + c.m;
    for (size_t n = 0; n < regions + 128 && n < sizeof job.in / sizeof job.in[0]; n++) {
        const size_t i = bmma::stand_in(n, regions, T::lanes);
        job.in[n] = (i < c.k ? gfk_region_address(call->data, i)
                             : gfk_region_address(call->parity, i - c.k)) -
                    vectors.phase;
    }
    return job;
}

template <class K>
gfk_status launch_sample(const gfk_locate_call *call, const TileJob &job) {
    const gfk_locate_code &c = job.code;
    const unsigned steps = tile_bytes / (16 * K::T::vectors * K::tiles);
    const gfk_status status =
        launch(multiply_sample<K>, steps * job.encode.panels, 32, 0, call->stream, job);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    return launch(take_sample<K::T::w>, 1, threads,
                  (states_at(c) + gfk_locate_words(&c)) * sizeof(uint32_t), call->stream, job);
}

template <int W>
gfk_status Width<W>::sample(const gfk_locate_call *call, const Vectors &vectors,
                            const uint32_t **verdict) {
    const Room room = room_of<W>(call->locator, call->bytes);
    if (room.explain == 0)
        return GFK_STATUS_SUCCESS;
    *verdict = (const uint32_t *)(call->slabs + room.sample);
    return with_policy<W>(call->locator->code.k, [&](auto policy) {
        using K = decltype(policy);
        return launch_sample<K>(call, tile_job<K>(call, vectors));
    });
}

template <class K>
gfk_status launch_explain(const gfk_locate_call *call, const TileJob &job) {
    using T = typename K::T;
    const gfk_locate_code &c = job.code;
    const uint32_t panels = (uint32_t)bmma::divide_up(c.m, T::outputs);
    const gfk_status status = launch(expand_guess<T>, 64, threads, 0, call->stream, job, panels);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const uint32_t with_errors = gfk_most_guessed(&c) / T::outputs + 2;
    return launch(explain<K>, call->locator->processors * K::blocks, K::threads,
                  with_errors * K::threads * sizeof(uint32_t), call->stream, job, panels);
}

template <class K>
gfk_status launch_tiles(const gfk_locate_call *call, const TileJob &job) {
    const gfk_locate_code &c = job.code;
    const size_t state = gfk_locate_words(&c) * sizeof(uint32_t);
    unsigned deciders = threads;
    while (deciders > 1 && deciders * state > state_bytes)
        deciders /= 2;
    const uint64_t pieces = (call->bytes + job.phase + (1u << piece_shift) - 1) >> piece_shift;
    const uint64_t blocks = pieces < call->locator->blocks ? pieces : call->locator->blocks;
    const bool formulas = gfk_locate_has_formulas(c.t);
    size_t shared = deciders * state;
    if (K::T::w == 8 && job.roots.rows != 0)
        shared = std::max(shared, plane_warps(c.t) * plane_words(c.t) * sizeof(uint32_t));
    return launch(formulas ? locate_tiles<K, true> : locate_tiles<K, false>, blocks, threads,
                  states_at(c) * sizeof(uint32_t) + shared, call->stream, job, deciders);
}

template <int W>
gfk_status Width<W>::run(const gfk_locate_call *call, const Vectors &vectors) {
    return with_policy<W>(call->locator->code.k, [&](auto policy) {
        using K = decltype(policy);
        const TileJob job = tile_job<K>(call, vectors);
        if (job.explain != NULL) {
            const gfk_status status = with_explainer<W>(
                job.code.k + job.code.m, GFK_STATUS_INTERNAL,
                [&](auto explainer) { return launch_explain<decltype(explainer)>(call, job); });
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
        return launch_tiles<K>(call, job);
    });
}

} // namespace locate
} // namespace gfk
