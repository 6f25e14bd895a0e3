/* SPDX-License-Identifier: BSD-3-Clause */
/* A block takes the packets of one generation. The block's warps have the table in registers
 * (exchange.cuh).
 *
 * The packets come in rounds of at most n. A round has these parts:
 * 1. A warp takes a packet's vector. The elements in the columns of pivots, times the rows of the
 *    table, are added to the other elements. If no other element is left the packet is dependent.
 * 2. The other packets, candidates, get the free slots in their order. The round ends before the
 *    first packet that finds no free slot.
 * 3. Each candidate takes one exchange step. A candidate that has no pivot depends on those before
 *    it, and its slot stays free.
 * 4. The packets get their destinations and outcomes. */
#pragma once

#include "take.h"

#include "kernels/matrix/batch.cuh"
#include "kernels/matrix/panel.cuh"

namespace gfk {
namespace rlnc {

using matrix::no_pivot;

/* The kinds of a round's packets, after part 1. */
enum : uint8_t { zero_vector, dependent, candidate };

/* The state of a round is in shared memory, because the steps leave no registers. */
template <class K>
struct Round {
    gfk_rlnc_record record; /* the generation's record, before this round */
    gfk_rlnc_segment left;
    uint32_t taken, steps;
    uint16_t of_slot[K::rows];    /* the candidate that a free slot gets, or no_pivot */
    uint16_t candidates[K::rows]; /* the candidates' packets, in their order */
    uint16_t stepped[K::rows];    /* slots that have steps, in their order */
    uint16_t slots[K::rows];      /* a packet's slot; no_pivot: it is not innovative */
    uint8_t kinds[K::rows];
    uint32_t counts[K::warps];
};

/* A warp reduces one packet, and writes the reduced vector to `line` in shared memory. */
template <class K>
__device__ inline unsigned reduce(const TakeJob &job, const uint8_t *vector, const uint8_t *table,
                                  uint32_t rank, const matrix::LanePlace<typename K::T> &place,
                                  const uint32_t (&unused)[K::T::spread], uint32_t columns,
                                  uint32_t line) {
    using T = typename K::T;
    const unsigned row_bytes = job.n * T::symbol_bytes;
    uint32_t x[T::spread], any = 0;
#pragma unroll
    for (int e = 0; e < T::spread; e++) {
        x[e] = matrix::load_row_word(vector, 4 * (place.row_word + e), row_bytes);
        any |= x[e];
    }
    if (!__any_sync(0xffffffff, any))
        return zero_vector;
    if (rank == job.n)
        return dependent;
    store_shared(line + 4 * place.row_word, x);
    if (rank != 0) {
        __syncwarp();
#pragma unroll
        for (int e = 0; e < T::spread; e++) {
            matrix::Sum<T::w> sum;
            const bool has_word = 4 * (place.row_word + e) < row_bytes;
            const uint8_t *const column = table + (has_word ? 4 * (place.row_word + e) : 0);
            for (unsigned first = 0; first < job.n; first += 32) {
                const unsigned mine = first + place.lane;
                const uint32_t c =
                    mine < job.n ? load_shared_symbol<16>(columns + 2 * mine) : (uint32_t)no_pivot;
                const uint32_t factor =
                    c == no_pivot ? 0 : load_shared_symbol<T::w>(line + c * T::symbol_bytes);
                if (!__any_sync(0xffffffff, factor))
                    continue;
#pragma unroll 8
                for (unsigned i = 0; i < 32; i++) {
                    const unsigned row = first + i < job.n ? first + i : 0;
                    sum.add(__shfl_sync(0xffffffff, factor, i),
                            *(const uint32_t *)(column + row * job.pitch));
                }
            }
            const uint32_t y = sum.reduce(replicate<T::w>(job.polynomial));
            x[e] = has_word ? (x[e] & unused[e]) ^ y : 0;
        }
        __syncwarp();
        store_shared(line + 4 * place.row_word, x);
    }
    any = 0;
#pragma unroll
    for (int e = 0; e < T::spread; e++)
        any |= x[e] & unused[e];
    return __any_sync(0xffffffff, any) ? candidate : dependent;
}

/* Part 2 chooses the candidates' slots and the number of packets that this round decides. Thread j
 * has packet j, and slot j. */
template <class K>
__device__ inline void give_slots(Round<K> &round, unsigned n, unsigned count, uint32_t columns) {
    const unsigned t = threadIdx.x;
    const bool is_candidate = t < count && round.kinds[t] == candidate;
    const bool is_free = t < n && load_shared_symbol<16>(columns + 2 * t) == no_pivot;
    const auto candidates = matrix::count_before(is_candidate, round.counts);
    if (is_candidate) {
        round.candidates[candidates.before] = (uint16_t)t;
        round.slots[t] = no_pivot;
    }
    const auto free = matrix::count_before(is_free, round.counts);
    const bool gets_one = is_free && free.before < candidates.all;
    if (t < n)
        round.of_slot[t] = gets_one ? round.candidates[free.before] : (uint16_t)no_pivot;
    if (gets_one)
        round.stepped[free.before] = (uint16_t)t;
    if (t == 0) {
        round.taken = candidates.all > free.all ? round.candidates[free.all] : count;
        round.steps = candidates.all < free.all ? candidates.all : free.all;
    }
}

/* Part 4 writes the outcomes and counts them. Thread j has packet j. */
template <class K>
__device__ inline void write_outcomes(const TakeJob &job, Round<K> &round) {
    const unsigned t = threadIdx.x, n = job.n;
    const gfk_rlnc_segment left = round.left;
    gfk_rlnc_record record = round.record;
    const uint32_t taken = round.taken, room = job.spare - record.kept;
    const unsigned kind = t < taken ? round.kinds[t] : (unsigned)zero_vector;
    const bool is_innovative = kind == candidate && round.slots[t] != no_pivot;
    const bool is_dependent = kind != zero_vector && !is_innovative;
    const auto innovative = matrix::count_before(is_innovative, round.counts);
    const auto extra = matrix::count_before(is_dependent, round.counts);
    if (t < taken) {
        const gfk_rlnc_destination to =
            gfk_rlnc_destination_of(is_innovative  ? GFK_RLNC_HAS_PIVOT
                                    : is_dependent ? GFK_RLNC_NO_PIVOT
                                                   : GFK_RLNC_ZERO_VECTOR,
                                    {.slot = left.generation * n + round.slots[t],
                                     .first_kept = left.generation * job.spare + record.kept,
                                     .room = room,
                                     .before = extra.before});
        job.destinations[left.begin + t] = to;
        if (job.outcomes != NULL)
            job.outcomes[job.arrivals[left.begin + t].source] = (uint8_t)to.outcome;
    }
    if (t != 0)
        return;
    gfk_rlnc_count(&record, {.innovative = innovative.all, .dependent = extra.all, .all = taken},
                   room);
    round.record = record;
    round.left.begin += taken;
}

/* The parts of a round, as one thread sees them. */
template <class K>
struct Taker {
    using T = typename K::T;
    const TakeJob &job;
    Round<K> &round;
    const matrix::LanePlace<T> &place;
    unsigned n, thread, warp, warps;
    unsigned first_row; /* the lane's first row */
    uint32_t tables;    /* in shared memory; reduced vectors, and then the tables of steps */
    uint32_t columns;   /* in shared memory: the pivot of each slot, 16 bits, or no_pivot */

    /* The generation's first slot among those of all generations. */
    __device__ __forceinline__ size_t first_slot() const {
        return (size_t)round.left.generation * n;
    }

    /* Word v of the lane's words in a row of the table; NULL after the row's end. */
    __device__ __forceinline__ uint32_t *word(unsigned row, int v) const {
        const unsigned at = place.first_word + v;
        uint8_t *const p = job.tables + (first_slot() + row) * job.pitch + 4 * at;
        return 4 * at < n * T::symbol_bytes ? (uint32_t *)p : NULL;
    }

    /* Part 1: the warps reduce `count` packets. */
    __device__ __forceinline__ void reduce_packets(const uint32_t (&unused)[T::spread],
                                                   uint32_t count) const {
        for (unsigned j = warp; j < count; j += warps) {
            const uint32_t at = round.left.begin + j;
            const unsigned kind = reduce<K>(
                job, job.vectors + (job.given ? job.arrivals[at].source : at) * job.vector_pitch,
                job.tables + first_slot() * job.pitch, round.record.rank, place, unused, columns,
                tables + j * T::row_bytes);
            if (thread % 32 == 0)
                round.kinds[j] = (uint8_t)kind;
        }
    }

    /* Loads the lane's rows: the reduced vector in a slot that a candidate gets, the table's row in
     * another slot with a pivot, and zeros in a slot that stays free. */
    __device__ __forceinline__ void load_rows(matrix::Exchange<T> &state) const {
#pragma unroll
        for (int k = 0; k < T::rows; k++) {
            const unsigned row = first_row + k * T::subrows;
            const uint32_t from = row < n ? round.of_slot[row] : (uint32_t)no_pivot;
#pragma unroll
            for (int v = 0; v < T::lane_words; v++)
                state.m[k][v] = 0;
            if (from != no_pivot)
                load_shared(tables + from * T::row_bytes + 4 * place.first_word, state.m[k]);
            else if (row < n && load_shared_symbol<16>(columns + 2 * row) != no_pivot)
#pragma unroll
                for (int v = 0; v < T::lane_words; v++)
                    if (const uint32_t *const p = word(row, v))
                        state.m[k][v] = *p;
        }
    }

    /* Part 3: one exchange step for each slot that a candidate gets. */
    __device__ __forceinline__ void exchange(matrix::Exchange<T> &state,
                                             const matrix::WarpInverse<T::w> &inverse) const {
        const unsigned steps = round.steps;
        for (unsigned step = 0; step < steps; step++) {
            const unsigned r = round.stepped[step];
            const bool owner = r / T::warp_rows == warp;
            const uint32_t at = tables + step % K::buffers * T::table_bytes;
            if (owner)
                state.prepare(r, place, inverse, 1, n, columns, at);
            __syncthreads();
            state.update(r, owner, place, n, columns, at);
            if constexpr (K::buffers == 1)
                __syncthreads();
        }
    }

    /* Stores the lane's rows that have pivots. */
    __device__ __forceinline__ void store_rows(const matrix::Exchange<T> &state) const {
#pragma unroll
        for (int k = 0; k < T::rows; k++) {
            const unsigned row = first_row + k * T::subrows;
            if (row < n && load_shared_symbol<16>(columns + 2 * row) != no_pivot)
#pragma unroll
                for (int v = 0; v < T::lane_words; v++)
                    if (uint32_t *const p = word(row, v))
                        *p = state.m[k][v];
        }
    }

    /* Stores the pivots that the steps have found. Thread j has slot j. */
    __device__ __forceinline__ void store_pivots() const {
        const uint32_t c =
            thread < n ? load_shared_symbol<16>(columns + 2 * thread) : (uint32_t)no_pivot;
        if (c != no_pivot && round.of_slot[thread] != no_pivot) {
            round.slots[round.of_slot[thread]] = (uint16_t)thread;
            job.pivots[first_slot() + thread] = c;
            job.used[first_slot() + c] = 1;
        }
    }
};

template <class K>
__device__ void take_packets(const TakeJob &job, Round<K> &round, uint8_t *memory) {
    using T = typename K::T;
    const unsigned n = job.n, warp = threadIdx.x / 32, warps = blockDim.x / 32, t = threadIdx.x;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const uint32_t tables = round_up<T::align>(shared);
    const uint32_t columns = tables + matrix::matrix_bytes<K>(warps);
    const matrix::Layout layout = {T::words, 1};
    const matrix::LanePlace<T> place(t % 32, layout);
    matrix::Exchange<T> state(job.polynomial, place, n);
    const matrix::WarpInverse<T::w> inverse(job.inverter, job.polynomial);
    const Taker<K> taker = {.job = job,
                            .round = round,
                            .place = place,
                            .n = n,
                            .thread = t,
                            .warp = warp,
                            .warps = warps,
                            .first_row = warp * T::warp_rows + place.sub,
                            .tables = tables,
                            .columns = columns};

    if (t == 0) {
        round.left = job.segments[blockIdx.x];
        round.record = job.records[round.left.generation];
    }
    __syncthreads();
    if (t < n) /* GFK_MATRIX_DEPENDENT becomes no_pivot */
        store_shared_u16(columns + 2 * t, job.pivots[taker.first_slot() + t]);
    __syncthreads();
    if (round.record.rank != 0)
        for (unsigned r = 0; r < n; r++)
            state.mark_used(load_shared_symbol<16>(columns + 2 * r), place);

    while (round.left.begin != round.left.end) {
        const uint32_t all = round.left.end - round.left.begin, count = all < n ? all : n;
        taker.reduce_packets(state.unused, count);
        __syncthreads();
        give_slots(round, n, count, columns);
        __syncthreads();
        if (round.steps != 0) {
            taker.load_rows(state);
            __syncthreads();
            taker.exchange(state, inverse);
            __syncthreads();
            taker.store_rows(state);
            taker.store_pivots();
        }
        __syncthreads();
        write_outcomes(job, round);
        __syncthreads(); /* the next round reads the table, and writes over `round` */
    }
    if (t == 0) {
        gfk_rlnc_record record = round.record;
        gfk_rlnc_note_rank(&record, n);
        job.records[round.left.generation] = record;
    }
}

} // namespace rlnc
} // namespace gfk
