/* SPDX-License-Identifier: BSD-3-Clause */
/* A block takes the packets of one generation. Its warps have the table in registers (exchange.cuh).
 *
 * The packets come in rounds of at most n. A round has these parts:
 * 1. A warp takes a packet's vector. The elements in the columns of pivots, times the rows of the
 *    table, are added to the other elements. If no other element is left the packet is dependent.
 * 2. The other packets, candidates, get the free slots in their order. The round ends before the first
 *    packet that finds no free slot.
 * 3. One exchange step for each candidate. A candidate that has no pivot depends on those before it, and
 *    its slot stays free. */
#pragma once

#include "take.h"

#include "kernels/matrix/batch.cuh"
#include "kernels/matrix/panel.cuh"

namespace gfk {
namespace rlnc {

using matrix::no_pivot;

/* Of the packets of a round, before their outcomes. */
enum : uint8_t { zero_vector, dependent, candidate };

/* In shared memory, because the steps leave no registers. */
template <class K>
struct Round {
    gfk_rlnc_record record; /* of the generation, after the rounds before */
    gfk_rlnc_segment left;
    uint32_t taken, steps;
    uint16_t of_slot[K::rows];    /* the candidate that a free slot gets, or no_pivot */
    uint16_t candidates[K::rows]; /* in their order */
    uint16_t stepped[K::rows];    /* slots that have steps, in their order */
    uint16_t slots[K::rows];      /* of a packet; no_pivot: it is not innovative */
    uint8_t kinds[K::rows];
    uint32_t counts[K::warps];
};

/* Part 1, of one packet, by a warp. `line`: where the reduced vector goes in shared memory. */
template <class K>
__device__ inline unsigned reduce(const TakeJob &job, const uint8_t *vector, const uint8_t *table,
                                  uint32_t rank, const matrix::Place<typename K::T> &place,
                                  const uint32_t (&unused)[K::T::spread], uint32_t columns,
                                  uint32_t line) {
    using T = typename K::T;
    const unsigned row_bytes = job.n * T::symbol_bytes;
    uint32_t x[T::spread], any = 0;
#pragma unroll
    for (int e = 0; e < T::spread; e++) {
        x[e] = matrix::load_word(vector, 4 * (place.row_word + e), row_bytes);
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

/* Part 2: which candidates get which slots, and how many packets are decided in this round. Thread j has
 * packet j, and slot j. */
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

/* After part 3: what has become of the packets. Thread j has packet j. */
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
        gfk_rlnc_destination to = {GFK_MATRIX_DEPENDENT, GFK_RLNC_REFUSED};
        if (is_innovative)
            to = {left.generation * n + round.slots[t], GFK_RLNC_INNOVATIVE};
        else if (is_dependent && extra.before < room)
            to = {left.generation * job.spare + record.kept + extra.before, GFK_RLNC_DEPENDENT};
        else if (is_dependent)
            to.outcome = GFK_RLNC_DROPPED;
        job.destinations[left.begin + t] = to;
        if (job.outcomes != NULL)
            job.outcomes[job.arrivals[left.begin + t].source] = (uint8_t)to.outcome;
    }
    if (t != 0)
        return;
    const uint32_t stay = extra.all < room ? extra.all : room;
    record.rank += innovative.all;
    record.kept += stay;
    record.dropped += extra.all - stay;
    record.refused += taken - innovative.all - extra.all;
    round.record = record;
    round.left.begin += taken;
}

template <class K>
__device__ void take_packets(const TakeJob &job, Round<K> &round, uint8_t *memory) {
    using T = typename K::T;
    const unsigned n = job.n, warp = threadIdx.x / 32, warps = blockDim.x / 32, t = threadIdx.x;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const uint32_t tables = (shared + T::align - 1) / T::align * T::align;
    const uint32_t columns = tables + matrix::matrix_bytes<K>(warps);
    const matrix::Layout layout = {T::words, 1};
    const matrix::Place<T> place(t % 32, layout);
    matrix::Exchange<T> state(job.polynomial, place, n);
    const matrix::WarpInverse<T::w> inverse(job.inverter, job.polynomial);
    const unsigned first_row = warp * T::warp_rows + place.sub;
    const auto generation = [&] { return (size_t)round.left.generation * n; };
    const auto word = [&](unsigned row, int v) -> uint32_t * {
        const unsigned at = place.first_word + v;
        uint8_t *const p = job.tables + (generation() + row) * job.pitch + 4 * at;
        return 4 * at < n * T::symbol_bytes ? (uint32_t *)p : NULL;
    };

    if (t == 0) {
        round.left = job.segments[blockIdx.x];
        round.record = job.records[round.left.generation];
    }
    __syncthreads();
    if (t < n) /* GFK_MATRIX_DEPENDENT becomes no_pivot */
        store_shared_u16(columns + 2 * t, job.pivots[generation() + t]);
    __syncthreads();
    if (round.record.rank != 0)
        for (unsigned r = 0; r < n; r++)
            state.mark_used(load_shared_symbol<16>(columns + 2 * r), place);

    while (round.left.begin != round.left.end) {
        const uint32_t all = round.left.end - round.left.begin, count = all < n ? all : n;
        for (unsigned j = warp; j < count; j += warps) {
            const uint32_t at = round.left.begin + j;
            const unsigned kind = reduce<K>(
                job, job.vectors + (job.given ? job.arrivals[at].source : at) * job.vector_pitch,
                job.tables + generation() * job.pitch, round.record.rank, place, state.unused,
                columns, tables + j * T::row_bytes);
            if (t % 32 == 0)
                round.kinds[j] = (uint8_t)kind;
        }
        __syncthreads();
        give_slots(round, n, count, columns);
        __syncthreads();
        if (round.steps != 0) {
#pragma unroll
            for (int k = 0; k < T::rows; k++) {
                const unsigned row = first_row + k * T::subrows;
                const uint32_t from = row < n ? round.of_slot[row] : (uint32_t)no_pivot;
#pragma unroll
                for (int v = 0; v < T::vector; v++)
                    state.m[k][v] = 0;
                if (from != no_pivot)
                    load_shared(tables + from * T::row_bytes + 4 * place.first_word, state.m[k]);
                else if (row < n && load_shared_symbol<16>(columns + 2 * row) != no_pivot)
#pragma unroll
                    for (int v = 0; v < T::vector; v++)
                        if (const uint32_t *const p = word(row, v))
                            state.m[k][v] = *p;
            }
            __syncthreads();
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
            __syncthreads();
#pragma unroll
            for (int k = 0; k < T::rows; k++) {
                const unsigned row = first_row + k * T::subrows;
                if (row < n && load_shared_symbol<16>(columns + 2 * row) != no_pivot)
#pragma unroll
                    for (int v = 0; v < T::vector; v++)
                        if (uint32_t *const p = word(row, v))
                            *p = state.m[k][v];
            }
            const uint32_t c = t < n ? load_shared_symbol<16>(columns + 2 * t) : (uint32_t)no_pivot;
            if (c != no_pivot && round.of_slot[t] != no_pivot) {
                round.slots[round.of_slot[t]] = (uint16_t)t;
                job.pivots[generation() + t] = c;
                job.used[generation() + c] = 1;
            }
        }
        __syncthreads();
        write_outcomes(job, round);
        __syncthreads(); /* the next round reads the table, and writes over `round` */
    }
    if (t == 0) {
        gfk_rlnc_record record = round.record;
        if (record.rank == n && record.status == GFK_STATUS_SINGULAR)
            record.status = GFK_STATUS_SUCCESS;
        job.records[round.left.generation] = record;
    }
}

} // namespace rlnc
} // namespace gfk
