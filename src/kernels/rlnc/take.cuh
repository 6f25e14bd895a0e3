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

template <class K>
struct Round {
    uint16_t of_slot[K::rows];    /* the candidate that a free slot gets, or no_pivot */
    uint16_t candidates[K::rows]; /* in their order */
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

template <class K>
__device__ void take_packets(const TakeJob &job, Round<K> &round, uint8_t *memory) {
    using T = typename K::T;
    const gfk_rlnc_segment segment = job.segments[blockIdx.x];
    const unsigned n = job.n, warp = threadIdx.x / 32, warps = blockDim.x / 32, t = threadIdx.x;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const uint32_t tables = (shared + T::align - 1) / T::align * T::align;
    const uint32_t columns = tables + matrix::matrix_bytes<K>(warps);
    const matrix::Layout layout = {T::words, 1};
    const matrix::Place<T> place(t % 32, layout);
    matrix::Exchange<T> state(job.polynomial, place, n);
    const matrix::WarpInverse<T::w> inverse(job.inverter, job.polynomial);
    const unsigned first_row = warp * T::warp_rows + place.sub;
    const unsigned row_words = (n * T::symbol_bytes + 3) / 4;
    uint8_t *const table = job.tables + (size_t)segment.generation * n * job.pitch;
    uint32_t *const pivots = job.pivots + (size_t)segment.generation * n;
    gfk_rlnc_record record = job.records[segment.generation];

    if (t < n)
        store_shared_u16(columns + 2 * t, pivots[t]); /* GFK_MATRIX_DEPENDENT becomes no_pivot */
    __syncthreads();
    if (record.rank != 0)
        for (unsigned r = 0; r < n; r++)
            state.mark_used(load_shared_symbol<16>(columns + 2 * r), place);

    for (uint32_t next = segment.begin; next != segment.end;) {
        const uint32_t left = segment.end - next, count = left < n ? left : n;
        for (unsigned j = warp; j < count; j += warps) {
            const uint8_t *const vector = job.vectors + job.order[next + j] * job.vector_pitch;
            const unsigned kind = reduce<K>(job, vector, table, record.rank, place, state.unused,
                                            columns, tables + j * T::row_bytes);
            if (t % 32 == 0)
                round.kinds[j] = (uint8_t)kind;
        }
        __syncthreads();

        /* Thread j has packet j, and slot j. */
        const bool is_candidate = t < count && round.kinds[t] == candidate;
        const auto candidates = matrix::count_before<K::warps>(is_candidate, round.counts);
        if (is_candidate) {
            round.candidates[candidates.before] = (uint16_t)t;
            round.slots[t] = no_pivot;
        }
        const bool is_free = t < n && load_shared_symbol<16>(columns + 2 * t) == no_pivot;
        const auto free = matrix::count_before<K::warps>(is_free, round.counts);
        if (t < n)
            round.of_slot[t] = is_free && free.before < candidates.all
                                   ? round.candidates[free.before]
                                   : (uint16_t)no_pivot;
        const uint32_t taken = candidates.all > free.all ? round.candidates[free.all] : count;
        __syncthreads();

        if (candidates.all != 0) {
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
                        if (place.first_word + v < row_words)
                            state.m[k][v] =
                                ((const uint32_t *)(table + row * job.pitch))[place.first_word + v];
            }
            __syncthreads();
            unsigned buffer = 0;
            for (unsigned r = 0; r < n; r++) {
                if (round.of_slot[r] == no_pivot)
                    continue;
                const bool owner = r / T::warp_rows == warp;
                const uint32_t at = tables + buffer * T::table_bytes;
                buffer = buffer + 1 == K::buffers ? 0 : buffer + 1;
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
                if (row >= n || load_shared_symbol<16>(columns + 2 * row) == no_pivot)
                    continue;
#pragma unroll
                for (int v = 0; v < T::vector; v++)
                    if (place.first_word + v < row_words)
                        ((uint32_t *)(table + row * job.pitch))[place.first_word + v] =
                            state.m[k][v];
            }
            if (t < n && round.of_slot[t] != no_pivot) {
                const uint32_t c = load_shared_symbol<16>(columns + 2 * t);
                if (c != no_pivot) {
                    round.slots[round.of_slot[t]] = (uint16_t)t;
                    pivots[t] = c;
                    job.used[(size_t)segment.generation * n + c] = 1;
                }
            }
        }
        __syncthreads();

        const unsigned kind = t < taken ? round.kinds[t] : (unsigned)zero_vector;
        const bool is_innovative = kind == candidate && round.slots[t] != no_pivot;
        const bool is_dependent = kind != zero_vector && !is_innovative;
        const auto innovative = matrix::count_before<K::warps>(is_innovative, round.counts);
        const auto extra = matrix::count_before<K::warps>(is_dependent, round.counts);
        const uint32_t room = job.spare - record.kept;
        if (t < taken) {
            gfk_rlnc_destination to = {GFK_MATRIX_DEPENDENT, GFK_RLNC_REFUSED};
            if (is_innovative)
                to = {segment.generation * n + round.slots[t], GFK_RLNC_INNOVATIVE};
            else if (is_dependent && extra.before < room)
                to = {segment.generation * job.spare + record.kept + extra.before,
                      GFK_RLNC_DEPENDENT};
            else if (is_dependent)
                to.outcome = GFK_RLNC_DROPPED;
            job.destinations[next + t] = to;
            if (job.outcomes != NULL)
                job.outcomes[job.order[next + t]] = (uint8_t)to.outcome;
        }
        const uint32_t stay = extra.all < room ? extra.all : room;
        record.rank += innovative.all;
        record.kept += stay;
        record.dropped += extra.all - stay;
        record.refused += taken - innovative.all - extra.all;
        next += taken;
        __syncthreads(); /* the next round reads the table, and writes over `round` */
    }
    if (t == 0) {
        if (record.rank == n && record.status == GFK_STATUS_SINGULAR)
            record.status = GFK_STATUS_SUCCESS;
        job.records[segment.generation] = record;
    }
}

} // namespace rlnc
} // namespace gfk
