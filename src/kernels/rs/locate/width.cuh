/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating tile by tile, for one width: the kernel, its policies and the launches. A block keeps
 * its guess from tile to tile. */
#pragma once

#include <algorithm>

#include "decode.cuh"
#include "kernels/common/launch.cuh"
#include "sample.cuh"

namespace gfk {
namespace locate {

/* From this many bytes of all regions on, a sample takes less time than the check. */
constexpr uint64_t sampled_bytes = 128 << 20;

constexpr unsigned most_prefetched = 24; /* regions: 2 KiB of each for each block */

/* Has the L2 cache fetch all regions' whole vectors of a tile, while the block is at another
 * one, if the cache holds the tiles of all blocks. */
__device__ inline void prefetch_tile(const TileJob &job, uint64_t tile) {
    constexpr unsigned line = 128, lines = tile_bytes / line;
    if (job.code.k + job.code.m > most_prefetched)
        return;
    for (unsigned i = threadIdx.x; i < (job.code.k + job.code.m) * lines; i += threads) {
        const uint64_t at = tile + i % lines * line;
        if (at >= job.begin && at < job.end)
            asm volatile("prefetch.global.L2 [%0];" : : "l"(job.region(i / lines) + at));
    }
}

/* A piece is searched if its chunk has a mark, if the sample's guess did not see one of its tiles,
 * and always if the sample is damaged. */
__device__ inline bool marked(const TileJob &job, uint64_t piece) {
    const uint64_t begin = piece << piece_shift;
    const uint64_t end = min(begin + (1u << piece_shift), job.phase + job.bytes);
    if (job.sampled(Sample::guessed) && (begin < job.whole_begin || end > job.whole_end))
        return true;
    const uint64_t first = begin < job.phase ? 0 : begin - job.phase, last = end - job.phase - 1;
    return job.sampled(Sample::damaged) || (job.mismatch_map[first >> GFK_LOCATE_CHUNK_SHIFT] |
                                            job.mismatch_map[last >> GFK_LOCATE_CHUNK_SHIFT]) != 0;
}

/* Calls f(piece) for the marked ones of a block's pieces, by all threads together. Mostly nothing
 * is wrong, so each thread looks at the mark of one piece first. */
template <class F>
__device__ inline void for_marked(const TileJob &job, uint64_t pieces, const F &f) {
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

/* The policy of a kernel. Formulas: t <= 2, so that 4 outputs at a time suffice. `blocks` is the
 * number on a multiprocessor. */
template <int W, bool Formulas>
struct Policy {
    static constexpr int w = W, outputs = Formulas ? 4 : 8, blocks = Formulas ? 5 : 4;
    static constexpr bool formulas = Formulas;
};

/* Explains a tile. All threads call it together; `turn` is 0 and 1 in turns. */
template <class K>
__device__ inline void locate_tile(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, const States &states, unsigned turn) {
    constexpr int W = K::w;
    Shared::Tally &tally = shared.tallies[turn];
    uint32_t any[4] = {};
    find_tile_syndromes<W, K::outputs>(job, shared.slab, tile, any);
    if (threadIdx.x == 0)
        shared.tallies[1 - turn] = no_tally;
    const bool skips = shared.skip != 0; /* thread 0 writes it after the next barrier */
    find_corrupt<W>(job, shared, tally, tile, any);
    __syncthreads();
    uint32_t corrupt = tally.corrupt;
    bool used = false;
    if (corrupt != 0 && job.sampled(Sample::guessed) && tile >= job.whole_begin &&
        tile < job.whole_end) {
        /* `explain` has counted and repaired these. */
        corrupt =
            try_guess<W, K::outputs>(job, shared, job.sample->guess, tally, tile, false, false);
        used = true;
    }
    if (corrupt == 0)
        return;
    uint32_t left = corrupt;
    for (unsigned guess = shared.guessed ? 0 : 1; guess <= most_guesses && left > few && !skips;
         guess++) {
        if (guess != 0)
            make_guess<W>(job, shared, used ? tally.first_left : tally.first_corrupt, states);
        if (!shared.guessed)
            break;
        left = try_guess<W, K::outputs>(job, shared, shared.slab.guess, tally, tile, used, true);
        used = true;
    }
    if (left != 0) {
        decode_left<W, K::outputs, K::formulas>(job, c, shared, tile, states);
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

template <class K>
__global__ void __launch_bounds__(threads, K::blocks)
    locate_tiles(const __grid_constant__ TileJob job, unsigned deciders) {
    extern __shared__ uint32_t words[];
    __shared__ Shared shared;
    begin_block(job, shared, job.slabs + blockIdx.x * slab_bytes(job.code), words);
    const gfk_locate_code code = with_width<K::w>(job.code);
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
            locate_tile<K>(job, code, shared, tile, states, turn);
            turn = 1 - turn;
        }
    });
    __syncthreads();
    flush_counts(job, shared);
    for (unsigned i = threadIdx.x; i < code.k + code.m && shared.named != nullptr; i += threads)
        if (shared.named[i] != 0)
            atomicAdd((Count *)&job.counts[i], (Count)shared.named[i]);
    if (threadIdx.x == 0)
        report(job, shared.found);
}

/* ---- policies ------------------------------------------------------------------------------- */

/* Returns f(the policy of a code). */
template <int W, class F>
auto with_policy(const gfk_locate_code &c, const F &f) {
    return gfk_locate_has_formulas(c.t) ? f(Policy<W, true>()) : f(Policy<W, false>());
}

/* The policy of the product of a guess, which has all regions as inputs, in one pass. */
template <int W, int Slots, int Blocks>
using Explainer =
    bmma::Streamed<bmma::Layout<W, Slots>, W == 8 ? 1 : 2, (int)threads, Blocks, true>;

/* Returns f(the policy for a code), or `none` if the device or the number of regions has no
 * policy. */
template <int W, class F, class R>
R with_explainer(const gfk_rs_locator *locator, R none, const F &f) {
    const size_t regions = (size_t)locator->code.k + locator->code.m;
    if (!locator->explains)
        return none;
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

/* ---- the workspace -------------------------------------------------------------------------- */

constexpr uint64_t most_slab_bytes = 128 << 20; /* of all slabs; one block may have more */

/* The workspace after the map: a slab for every block and for the sample, then the sample's
 * verdict, then the matrix operand of the sample's guess. */
struct Room {
    uint64_t blocks, slab, sample, explain, bytes;
};
template <int W>
Room room_of(const gfk_rs_locator *locator, uint64_t bytes) {
    const gfk_locate_code &c = locator->code;
    Room r = {};
    if (bytes == 0)
        return r;
    r.slab = slab_bytes(c);
    r.blocks = with_policy<W>(
        c, [&](auto policy) { return locator->processors * (size_t) decltype(policy)::blocks; });
    r.blocks = std::min(
        {r.blocks, (bytes >> piece_shift) + 2, std::max(most_slab_bytes / r.slab, UINT64_C(1))});
    r.sample = r.bytes = r.blocks * r.slab;
    if ((c.k + c.m) * bytes < sampled_bytes || bytes < 64 * tile_bytes)
        return r;
    r.sample += r.slab;
    r.explain = r.sample + 256;
    static_assert(sizeof(Sample) <= 256, "");
    r.bytes =
        r.explain + 4 * with_explainer<W>(locator, size_t{0}, [&](auto policy) {
                        return bmma::matrix_words<typename decltype(policy)::T>(c.m, c.k + c.m);
                    });
    return r;
}
template <int W>
size_t Width<W>::workspace(const gfk_rs_locator *locator, uint64_t bytes) {
    return room_of<W>(locator, bytes).bytes;
}

/* ---- launches ------------------------------------------------------------------------------- */

inline Vectors vectors_of(const gfk_locate_call *call) {
    const gfk_locate_code &c = call->locator->code;
    return gfk::vectors_of(call->data, c.k, call->parity, c.m, c.field.w, call->bytes);
}

template <int W>
TileJob tile_job(const gfk_locate_call *call) {
    const gfk_locate_code &c = call->locator->code;
    const size_t regions = (size_t)c.k + c.m;
    const Vectors vectors = vectors_of(call);
    const Room room = room_of<W>(call->locator, call->bytes);
    TileJob job = {};
    job.code = c;
    job.bytes = call->bytes;
    job.phase = vectors.phase;
    if (vectors.aligned && vectors.whole_end > vectors.whole_begin) {
        job.begin = 16 * vectors.whole_begin;
        job.end = 16 * vectors.whole_end;
    }
    job.mismatch_map = call->mismatch_map;
    job.verdict = call->verdict;
    job.counts = call->counts;
    job.repair = call->repair;
    job.slabs = call->slabs;
    if (room.explain != 0 && vectors.aligned) {
        job.sample = (Sample *)(call->slabs + room.sample);
        job.sample_slab = call->slabs + room.sample - room.slab;
        job.whole_begin = gfk_round_up(job.begin, tile_bytes);
        job.whole_end = job.end / tile_bytes * tile_bytes;
        job.explain = room.explain < room.bytes ? (uint32_t *)(call->slabs + room.explain) : NULL;
    }
    const auto address = [&](size_t i) {
        return (i < c.k ? gfk_region_address(call->data, i)
                        : gfk_region_address(call->parity, i - c.k)) -
               vectors.phase;
    };
    job.spaced = regions > GFK_LOCATE_MOST_DEVICE_POINTERS;
    if (job.spaced) {
        job.in[0] = address(0);
        job.in[1] = address(c.k);
        job.data_stride = call->data->stride;
        job.parity_stride = call->parity->stride;
        return job;
    }
    for (size_t n = 0; n < regions + 128 && n < sizeof job.in / sizeof job.in[0]; n++)
        job.in[n] = address(bmma::stand_in(n, regions, 4));
    return job;
}

template <int W>
gfk_status Width<W>::sample(const gfk_locate_call *call, const uint32_t **verdict) {
    const TileJob job = tile_job<W>(call);
    *verdict = (const uint32_t *)job.sample;
    if (job.sample == NULL)
        return GFK_STATUS_SUCCESS;
    return with_policy<W>(job.code, [&](auto policy) {
        constexpr int outputs = decltype(policy)::outputs;
        const gfk_status status =
            launch(multiply_sample<W>, gfk_divide_up(job.code.m, sample_outputs), threads, 0,
                   call->stream, job);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        return launch(take_sample<W, outputs>, 1, threads,
                      (states_at(job.code) + gfk_locate_words(&job.code)) * sizeof(uint32_t),
                      call->stream, job);
    });
}

template <class K>
gfk_status launch_explain(const gfk_locate_call *call, const TileJob &job) {
    using T = typename K::T;
    const gfk_locate_code &c = job.code;
    const uint32_t panels = (uint32_t)gfk_divide_up(c.m, T::outputs);
    const gfk_status status = launch(expand_guess<T>, 64, threads, 0, call->stream, job, panels);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const uint32_t with_errors = gfk_most_guessed(&c) / T::outputs + 2;
    return launch(explain<K>, call->locator->processors * K::blocks, K::threads,
                  with_errors * K::threads * sizeof(uint32_t), call->stream, job, panels);
}

template <int W>
gfk_status Width<W>::run(const gfk_locate_call *call) {
    const TileJob job = tile_job<W>(call);
    if (job.explain != NULL) {
        const gfk_status status =
            with_explainer<W>(call->locator, GFK_STATUS_INTERNAL, [&](auto explainer) {
                return launch_explain<decltype(explainer)>(call, job);
            });
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    const uint32_t words =
        std::max(gfk_locate_words(&job.code), Recurrence<W>::state_words(job.code));
    const size_t state = words * sizeof(uint32_t);
    unsigned deciders = threads;
    while (deciders > 1 && deciders * state > state_bytes)
        deciders /= 2;
    return with_policy<W>(job.code, [&](auto policy) {
        return launch(locate_tiles<decltype(policy)>, room_of<W>(call->locator, call->bytes).blocks,
                      threads, states_at(job.code) * sizeof(uint32_t) + deciders * state,
                      call->stream, job, deciders);
    });
}

} // namespace locate
} // namespace gfk
