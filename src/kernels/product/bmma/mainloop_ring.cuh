/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel on warpgroup MMAs for up to 40 inputs; fragment_ring.h says which lane holds what.
 *
 * One persistent block runs on each multiprocessor, with the matrix operand in shared memory. A warp
 * copies data: a tile of every input, into stages that the warpgroups have released. So copies are
 * always in flight, whatever the warpgroups do, and take none of the warpgroups' registers. The
 * copying warp has a warpgroup of its own, because a warpgroup alone can pass registers on.
 *
 * In long regions another warp keeps the block near the others of the launch (pace.cuh): it has to
 * release each stage, too. The copying warp cannot do this: with another loop inside, its loop takes
 * more than twice as many instructions for a copy.
 *
 * Kernels for short regions have several blocks on a multiprocessor. Lanes load a block's first tile
 * themselves, which takes less time than a copy and a barrier. A launch begins while the last one ends
 * (launch.cuh): it fetches its matrix operand, and its first tiles into the L2 cache.
 *
 * A kernel that only checks has the outputs as further inputs, with the identity as their matrix: all
 * counts must be even. So outputs arrive as early as inputs, and no count is packed. */
#pragma once

#include "kernels/common/copy_async.cuh"
#include "kernels/common/pace.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

namespace gfk {
namespace bmma {

/* Shared memory: the matrix operand, the ring's barriers, stages. */
struct Stages {
    uint32_t table_bytes, stages, stage_bytes;
    uint32_t zero;       /* 0; a parameter, so that the compiler does not know the value */
    uint32_t whole;      /* panels; the others are halves */
    uint32_t regions;    /* that a check copies */
    uint32_t tile_bytes; /* of a region; tiles of one piece: K::tile_bytes */
    uint32_t paced;      /* 1: a warp keeps the block near the others of the launch; 0: none */
    uint32_t tiles;      /* of a block */
    uint32_t *pace;      /* the counter of tiles */
    Factors factors[8];  /* of the turns of a panel, and of a half panel: all equal */
};

template <class T>
__device__ inline void arrange_rows(const uint32_t (&x)[T::slots][T::lane_words],
                                    uint32_t (&a)[T::symbols][T::steps]) {
    arrange<T>(x, a);
    /* Keeps the compiler from repeating the last permutations for every panel. */
#pragma unroll
    for (int i = 0; i < T::symbols; i++)
        wgmma::expect(a[i]);
}

/* The lane's rows: its vectors of the inputs, of which slot 0 is at `at`. Returns what depends on every
 * load. */
template <class T>
__device__ inline uint32_t load_rows(uint32_t at, uint32_t slot_bytes,
                                     uint32_t (&a)[T::symbols][T::steps]) {
    constexpr int inputs = T::slots / T::copies;
    uint32_t x[T::slots][T::lane_words], loaded = 0;
#pragma unroll
    for (int s = 0; s < (T::word_rows ? T::slots : inputs); s++)
        if constexpr (T::word_rows) { /* words 0 and 1 go to other products than 2 and 3 */
            uint32_t half[2];
#pragma unroll
            for (int i = 0; i < T::lane_words; i += 2) {
                const uint32_t from = at + s % inputs * slot_bytes + 4 * i;
                if (s < inputs)
                    load_shared(from, half);
                else /* ptxas would copy registers for every product */
                    load_shared_again(from, half);
                x[s][i] = half[0];
                x[s][i + 1] = half[1];
                loaded ^= half[0];
            }
        } else {
            load_shared(at + s * slot_bytes, x[s]);
            loaded ^= x[s][0];
        }
    arrange_rows<T>(x, a);
    return loaded;
}

/* The lane's vectors of the inputs, from memory. */
template <class T>
__device__ inline void load_inputs(const RingJob &job, uint64_t vector, unsigned share,
                                   uint32_t (&x)[T::slots][4]) {
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        load_vector<true, T::w == 32 ? Load::halves : Load::early>(
            job.in[s * T::lanes + share] + vector, x[s]);
}

/* Starts to count c of turn Turn, of the chains from First on. b describes the panel's columns.
 * Over: c holds older counts, which are not added, because `zero` is 0. */
template <class T, int Turn, int First = 0, bool Over = false, int Chains>
__device__ inline void start_count(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                   uint32_t (&c)[Chains][T::accumulators], uint32_t zero = 0) {
    wgmma::arrive();
#pragma unroll
    for (int n = 0; n < T::instructions; n++)
#pragma unroll
        for (int chain = 0; chain < Chains; chain++) {
            uint32_t x[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = T::row(Turn, First + chain, n, i);
                x[i] = row < T::symbols ? a[row][T::step(n, i)] : wgmma::anything();
            }
            const uint64_t columns = b + T::offset(Turn, First + chain, n) / 16;
            if (n != 0)
                wgmma::multiply_add(c[chain], x[0], x[1], x[2], x[3], columns);
            else if constexpr (Over)
                wgmma::multiply_add(c[chain], x[0], x[1], x[2], x[3], columns, zero);
            else
                wgmma::multiply_into(c[chain], x[0], x[1], x[2], x[3], columns);
        }
    wgmma::commit();
}
/* Waits for counts, until those of `Later` other turns are on their way. */
template <int Later, int Chains, int N>
__device__ inline void finish_count(uint32_t (&c)[Chains][N]) {
    wgmma::wait<Later>();
#pragma unroll
    for (int chain = 0; chain < Chains; chain++)
        wgmma::expect(c[chain]);
}
template <class T, int Turn, int First = 0, bool Over = false, int Chains>
__device__ inline void count(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                             uint32_t (&c)[Chains][T::accumulators], uint32_t zero = 0) {
    start_count<T, Turn, First, Over>(a, b, c, zero);
    finish_count<0>(c);
}

/* The counts of a panel that a lane holds at once. */
template <class T>
struct Counts {
    uint32_t c[T::one_by_one ? 1 : T::chains][T::accumulators] = {};
};

/* The turns from Turn on of a panel, whose vectors are y. ptxas would start the next products while
 * counts of the last ones wait for their parities, and has no registers for both. K::over: all products
 * write the same registers, so they begin when the last counts are packed, and the words are put
 * together meanwhile. Else the products depend on the last parities. */
template <class K, int Turn = 0, class T = typename K::T>
__device__ inline void multiply_panel(uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                      const Stages &ring, Counts<T> &counts,
                                      uint32_t (&y)[T::lane_words]) {
    auto &c = counts.c;
    if constexpr (Turn > 0 && !K::over) {
        constexpr int last = T::first_word(Turn - 1);
        a[T::first_row(Turn, 0)][0] ^= y[last] & ring.zero;
        if (T::word_rows)
            a[T::first_row(Turn, 0) + 1][0] ^= y[last + 1] & ring.zero;
    }
    if constexpr (T::one_by_one) {
        uint32_t packed[8];
        count<T, Turn, 1, K::over>(a, b, c, ring.zero);
        pack_second(c[0], packed, ring.factors[Turn]);
        wgmma::expect(packed);
        count<T, Turn, 0, K::over>(a, b, c, ring.zero);
        y[Turn] = join_first(c[0], packed);
    } else {
        count<T, Turn, 0, K::over>(a, b, c, ring.zero);
        if constexpr (K::over)
            add_parities<T, Turn>(c, y, ring.factors[Turn]);
        else
            add_parities<T, Turn>(c, y);
    }
    if constexpr (K::over)
#pragma unroll
        for (int i = 0; i <= T::word_rows; i++)
            wgmma::expect(y[T::first_word(Turn) + i]);
    if constexpr (Turn < T::turns - 1)
        multiply_panel<K, Turn + 1>(a, b, ring, counts, y);
}

/* Tiles of several pieces, of which each is two words of a lane; those of a warp are neighbours. What
 * a piece needs is in few registers, which the next piece increments. */
template <class K>
__device__ inline void multiply_pieces(const RingJob &job, const Stages &ring,
                                       const bulk::RingBarriers barriers, uint32_t stages,
                                       unsigned warp, unsigned lane, uint64_t b, uint64_t at,
                                       uint64_t end) {
    static_assert(!K::reads, "_read kernels take whole vectors");
    using T = typename K::T;
    const unsigned share = lane % T::lanes;
    const uint32_t pieces = ring.tile_bytes / (K::warps * T::warp_bytes);
    const uint32_t first = warp * pieces * T::warp_bytes + lane / T::lanes * 8;
    const uint32_t stride = ring.tile_bytes + K::tile_gap;
    uint32_t from[1] = {stages + share * stride + first}, shift[1] = {last_bits_shift(lane)};
    /* A lane without an output is behind the end. */
    uint32_t place[1] = {share < job.rows ? first : K::tile_bytes};
    uint8_t *output[1] = {job.out[share] + first};
    if constexpr (T::three)
        wgmma::expect(shift);
    wgmma::expect(from);
    wgmma::expect(place);
    wgmma::expect(output);
    Counts<T> counts;
    bulk::RingPosition position;
    for (; at < end; at += (uint64_t)gridDim.x * ring.tile_bytes, position.next(ring.stages)) {
        const uint32_t bytes = end - at < ring.tile_bytes ? (uint32_t)(end - at) : ring.tile_bytes;
        uint32_t spot[3] = {place[0], from[0] + position.stage * ring.stage_bytes, bytes};
        uint8_t *to[1] = {output[0] + at};
        bulk::wait(barriers.filled(position.stage), position.parity);
        wgmma::expect(spot);
        wgmma::expect(to);
#pragma unroll 1
        for (uint32_t left = pieces; left != 0; left--) {
            uint32_t a[T::symbols][T::steps], y[2];
            load_rows<T>(spot[1], T::lanes * stride, a);
            if constexpr (K::counts_ahead) {
                uint32_t c[2][T::chains][T::accumulators];
                start_count<T, 0>(a, b, c[0]);
                start_count<T, 1>(a, b, c[1]);
                finish_count<1>(c[0]);
                add_parities<T, 0>(c[0], y);
                finish_count<0>(c[1]);
                add_parities<T, 1>(c[1], y);
            } else {
                multiply_panel<K>(a, b, ring, counts, y);
            }
            if constexpr (T::three)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    y[i] = join_last_bits(y[i], __shfl_sync(0xffffffff, y[i], 3, 4), shift[0]);
            __builtin_assume(__isGlobal(to[0]));
            if (spot[0] < spot[2])
                job.epilogue.store<true, false>(to[0], y, 0);
            spot[0] += T::warp_bytes;
            spot[1] += T::warp_bytes;
            to[0] += T::warp_bytes;
        }
        __syncwarp();
        if (lane == 0)
            bulk::arrive(barriers.released(position.stage));
    }
}

/* The lane's rows of the next tile, which begin at `from` of a stage. Releases the stage. */
template <class K, class T = typename K::T>
__device__ inline void take_rows(const Stages &ring, const bulk::RingBarriers barriers,
                                 unsigned lane, uint32_t from, bulk::RingPosition &position,
                                 uint32_t (&a)[T::symbols][T::steps]) {
    bulk::wait(barriers.filled(position.stage), position.parity);
    /* A missing input may hold any bytes: its columns are zero. */
    const uint32_t loaded = load_rows<T>(from + position.stage * ring.stage_bytes,
                                         T::lanes * (K::tile_bytes + K::tile_gap), a);
    /* An arrival does not wait for loads that are on their way, so its address depends on them. A fence
     * would wait for the stores of the last tile, too. */
    __syncwarp();
    if (lane == 0)
        bulk::arrive(barriers.released(position.stage) | (loaded & ring.zero));
    position.next(ring.stages);
}

/* Tiles of one panel of outputs. The loop has few instructions besides the panel's: it counts tiles, and
 * the output's address goes on by a stride. K::early: `first` is what the lane has loaded. */
template <class K, class T = typename K::T>
__device__ inline void
multiply_tiles(const RingJob &job, const Stages &ring, const bulk::RingBarriers barriers,
               uint32_t from, unsigned mine, unsigned lane, bool reads, uint64_t b, uint64_t at,
               uint64_t end, const uint32_t (&first)[T::slots][4]) {
    const unsigned share = lane % T::lanes;
    const uint64_t stride = (uint64_t)gridDim.x * K::tile_bytes;
    uint32_t left = ring.tiles - (at + (ring.tiles - 1) * stride >= end);
    const uint64_t last = at + mine + (uint64_t)(left - 1) * stride;
    /* A lane stores while more tiles are left than so many: the last one may be cut. */
    uint32_t unstored[1] = {share >= job.rows ? left : last < end ? 0 : 1};
    uint8_t *to[1] = {job.out[share] + at + mine};
    wgmma::expect(unstored);
    wgmma::expect(to);
    Counts<T> counts;
    bulk::RingPosition position;
#pragma unroll 1 /* factors differ within a tile, not from tile to tile */
    for (bool loaded_by_lanes = K::early; left != 0;
         left--, to[0] += stride, loaded_by_lanes = false) {
        uint32_t a[T::symbols][T::steps], y[4];
        if (loaded_by_lanes)
            arrange_rows<T>(first, a);
        else
            take_rows<K>(ring, barriers, lane, from, position, a);
        multiply_panel<K>(a, b, ring, counts, y);
        if constexpr (T::three)
#pragma unroll
            for (int i = 0; i < 4; i++)
                y[i] = join_last_bits(y[i], __shfl_sync(0xffffffff, y[i], (int)(lane | 3)),
                                      last_bits_shift(lane));
        const bool wanted = left > unstored[0];
        __builtin_assume(__isGlobal(to[0]));
        if (wanted && !reads)
            job.epilogue.store<true, false>(to[0], y, 0);
        if (K::reads && reads && wanted)
            job.epilogue.store<true, true>(to[0], y, last - (left - 1) * stride - job.phase);
    }
}

/* A turn of a half panel, in half of the registers. */
template <class T, int Turn>
__device__ inline uint32_t half_turn(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                     const Stages &ring, Counts<T> &counts) {
    constexpr int half = T::accumulators / 2;
    uint32_t c[1][half];
#pragma unroll
    for (int i = 0; i < half; i++)
        c[0][i] = counts.c[0][i];
    count<HalfPanel<T>, Turn, 0, true>(a, b, c, ring.zero);
#pragma unroll
    for (int i = 0; i < half; i++)
        counts.c[0][i] = c[0][i];
    uint32_t word = half_parities<T>(c[0], ring.factors[T::turns + Turn]);
    wgmma::expect(word);
    return word;
}

/* The words 0 and 1 of a half panel's output, or 2 and 3: half_words. */
template <class T>
__device__ inline void multiply_half(const uint32_t (&a)[T::symbols][T::steps], uint64_t b,
                                     const Stages &ring, Counts<T> &counts, unsigned lane,
                                     uint32_t (&y)[2]) {
    uint32_t words[4];
    words[0] = half_turn<T, 0>(a, b, ring, counts);
    words[2] = half_turn<T, 2>(a, b, ring, counts);
    words[1] = half_turn<T, 1>(a, b, ring, counts);
    words[3] = half_turn<T, 3>(a, b, ring, counts);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t own = half_words(words[i], words[i + 2]);
        y[i] = join_half_words(own, __shfl_xor_sync(0xffffffff, own, 2), lane);
    }
}

/* Which counts of the turns from Turn on are odd, put together. */
template <class T, int Turn>
__device__ inline void find_odd(uint32_t (&a)[T::symbols][T::steps], uint64_t b, uint32_t zero,
                                uint32_t &odd) {
    if constexpr (Turn > 0) /* as in multiply_panel */
        a[T::first_row(Turn, 0)][0] ^= odd & zero;
    uint32_t c[T::chains][T::accumulators];
    count<T, Turn>(a, b, c);
#pragma unroll
    for (int i = 0; i < T::counts; i++)
        odd |= c[i / T::accumulators][i % T::accumulators];
    if constexpr (Turn < 3)
        find_odd<T, Turn + 1>(a, b, zero, odd);
    else
        wgmma::expect(odd); /* otherwise the last turn's counts are tested one by one */
}

/* Releases stages for the tiles behind the first ones, when the block may begin them. There may be one
 * tile less than `ring.tiles`. */
__device__ inline void keep_pace(const Stages &ring, const bulk::RingBarriers barriers) {
    Pace pace(ring.pace);
    bulk::RingPosition position; /* of the tile before in the same stage */
#pragma unroll 1
    for (uint32_t left = ring.tiles; left > ring.stages; left--, position.next(ring.stages)) {
        bulk::wait(barriers.filled(position.stage), position.parity);
        pace.next_tile();
        bulk::arrive(barriers.released(position.stage));
    }
}

template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void wgmma_ring(const Stages ring,
                                                        const __grid_constant__ RingJob job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    const unsigned mine = warp * T::warp_bytes + lane / T::lanes * 16;
    const uint64_t end = 16 * (job.first + job.count);
    const uint32_t tile_bytes = K::pieces == 1 ? K::tile_bytes : ring.tile_bytes;
    const uint64_t stride = (uint64_t)gridDim.x * tile_bytes;
    uint64_t at = 16 * job.first + (uint64_t)blockIdx.x * tile_bytes;
    extern __shared__ __align__(128) uint4 table[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(table);
    /* Stages at a multiple of 32 bytes: otherwise copies to them are 10 % slower. */
    const uint32_t stages = shared + ring.table_bytes;
    const bulk::RingBarriers barriers = {stages + (ring.stages - 1) * ring.stage_bytes +
                                         T::inputs * (tile_bytes + K::tile_gap)};
    const uint32_t table_there = barriers.filled(ring.stages); /* a barrier behind the ring's */
    const bool copies = threadIdx.x == 32 * K::warps && at < end;
    if (copies) {
        bulk::init_barrier(table_there, 1);
        barriers.init(ring.stages, K::warps + ring.paced);
        bulk::publish_barriers();
        /* No work on a stream writes the matrix operand, so it comes while the launch in front ends. */
        bulk::arrive_with(table_there, ring.table_bytes);
        bulk::copy(shared, job.matrix, ring.table_bytes, table_there);
    }
    /* So do the first tiles, as far as the L2 cache, where all that the launch in front writes goes, too.
     * With the other tiles, 1 MiB and more took longer. */
    if (K::early && warp == K::warps && lane < job.cols && at < end)
        bulk::prefetch(job.in[lane] + at,
                       end - at < tile_bytes ? (uint32_t)(end - at) : tile_bytes);
    uint32_t first[T::slots][4];
    if (K::early)
        begin_early();
    if (K::early && warp < K::warps && at < end)
        load_inputs<T>(job, at + mine < end ? at + mine : end - 16, share, first);
    if (K::reads && job.epilogue.unwanted()) {
        if (copies)
            bulk::wait(table_there, 0); /* a block must not end while a copy is on its way */
        return;
    }
    if (job.partial_head + job.partial_tail)
        multiply_partial<T::w>(job, (uint64_t)blockIdx.x * K::threads + threadIdx.x,
                               (uint64_t)gridDim.x * K::threads);
    __syncthreads();

    bulk::RingPosition position;
    if (warp >= K::warps) {
        wgmma::give_registers<K::producer_registers>();
        if (lane != 0 || warp > K::warps + ring.paced)
            return;
        if (!K::early && warp > K::warps) {
            keep_pace(ring, barriers);
            return;
        }
        for (at += K::early ? stride : 0; at < end; at += stride, position.next(ring.stages)) {
            const uint32_t filled = barriers.filled(position.stage);
            const uint32_t to = stages + position.stage * ring.stage_bytes;
            const uint32_t bytes = end - at < tile_bytes ? (uint32_t)(end - at) : tile_bytes;
            bulk::wait(barriers.released(position.stage), position.parity ^ 1);
            bulk::arrive_with(filled, bytes * (K::checks ? ring.regions : job.cols));
#pragma unroll 1
            for (unsigned i = 0; i < (K::checks ? ring.regions : job.cols); i++)
                bulk::copy(to + i * (tile_bytes + K::tile_gap), job.in[i] + at, bytes, filled);
            if (K::reads && !K::checks && (job.epilogue.accumulate || job.epilogue.mismatch_map))
#pragma unroll 1
                for (unsigned j = 0; j < job.rows; j++)
                    bulk::prefetch(job.out[j] + at, bytes);
        }
        return;
    }

    wgmma::take_registers<K::registers>();
    /* Known in advance, so that no panel waits for parameters. */
    const bool reads = K::reads && __shfl_sync(0xffffffff, job.epilogue.reads(), 0);
    uint64_t b = descriptor<T>(shared);
    uint32_t columns[1] = {(uint32_t)b}; /* otherwise each tile computes them again */
    wgmma::expect(columns);
    b = b >> 32 << 32 | columns[0];
    if (at >= end)
        return;
    bulk::wait(table_there, 0);
    const uint32_t from = stages + share * (K::tile_bytes + K::tile_gap) + mine;
    if constexpr (K::pieces > 1) {
        multiply_pieces<K>(job, ring, barriers, stages, warp, lane, b, at, end);
    } else if constexpr (!K::loops && !K::checks) {
        multiply_tiles<K>(job, ring, barriers, from, mine, lane, reads, b, at, end, first);
    } else {
        Counts<T> counts;
#pragma unroll 1
        for (; at < end; at += stride) {
            uint32_t a[T::symbols][T::steps];
            take_rows<K>(ring, barriers, lane, from, position, a);
            const uint64_t vector = at + mine;
            if constexpr (K::checks) {
                uint32_t odd = 0;
                find_odd<T, 0>(a, b, ring.zero, odd);
                if ((odd & 1) && vector < end)
                    job.epilogue.report(vector - job.phase, 16);
            } else {
                /* The loop over panels has few instructions besides the products' own: outputs are counted in
                 * bytes of job.out, and the lane's bound is not computed again. */
                uint32_t bound[1] = {vector < end ? 8 * job.rows : 0};
                wgmma::expect(bound);
                uint32_t output = 8 * share, panel = (uint32_t)b, left = ring.whole;
                const auto output_at = [&](uint32_t offset) {
                    return *(uint8_t *const *)((const char *)job.out + offset) + vector;
                };
                if (!K::halves || left != 0)
#pragma unroll 1
                    do {
                        uint32_t y[4];
                        multiply_panel<K>(a, b >> 32 << 32 | panel, ring, counts, y);
                        const bool wanted = output < bound[0];
                        if (wanted && !reads)
                            job.epilogue.store<true, false>(output_at(output), y, 0);
                        if (K::reads && reads && wanted)
                            job.epilogue.store<true, true>(output_at(output), y,
                                                           vector - job.phase);
                        panel += T::panel_bytes / 16;
                        output += 8 * T::outputs;
                    } while (--left != 0);
                if constexpr (K::halves)
                    if (ring.whole < job.panels) {
                        uint32_t y[2];
                        multiply_half<T>(a, b >> 32 << 32 | panel, ring, counts, lane, y);
                        output -= 8 * (share & 2);
                        if (output < bound[0])
                            job.epilogue.store<true, false>(output_at(output) + 4 * (share & 2), y,
                                                            0);
                    }
            }
        }
    }
}

} // namespace bmma
} // namespace gfk
