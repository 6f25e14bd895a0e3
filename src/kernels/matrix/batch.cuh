/* SPDX-License-Identifier: BSD-3-Clause */
/* Inversion of many matrices: loads, steps, and the way out. */
#pragma once

#include "exchange.cuh"
#include "host/matrix/batch.h"

namespace gfk {
namespace matrix {

/* Four bytes of a row; zeros behind its end. */
__device__ inline uint32_t load_word(const uint8_t *row, unsigned at, unsigned bytes) {
    if (at + 4 <= bytes && (uintptr_t)(row + at) % 4 == 0)
        return *(const uint32_t *)(row + at);
    uint32_t x = 0;
    for (unsigned i = 0; i < 4; i++)
        if (at + i < bytes)
            x |= (uint32_t)row[at + i] << 8 * i;
    return x;
}
__device__ inline void store_word(uint8_t *row, unsigned at, unsigned bytes, uint32_t x) {
    if (at + 4 <= bytes && (uintptr_t)(row + at) % 4 == 0) {
        *(uint32_t *)(row + at) = x;
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        if (at + i < bytes)
            row[at + i] = (uint8_t)(x >> 8 * i);
}

/* Shared memory of `groups` groups of warps: tables, then the groups' columns. */
template <class T>
constexpr size_t shared_bytes(int buffers, unsigned groups) {
    return T::align - 1 + groups * (buffers * T::table_bytes + T::column_bytes);
}

/* A warp `Alone` has matrices of its own. Otherwise the block's warps share matrices, and the tables
 * have `Buffers` places; with two, a step begins before the last one has ended everywhere. */
template <class T, bool Alone, int Buffers>
__device__ void invert_matrices(const gfk_matrix_batch &job, const Layout &layout,
                                uint8_t *memory) {
    const unsigned warp = threadIdx.x / 32, groups = Alone ? blockDim.x / 32 : 1;
    const unsigned group = Alone ? warp : 0, row_warp = Alone ? 0 : warp;
    const unsigned n = job.n, row_bytes = n * T::symbol_bytes;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const uint32_t all_tables = (shared + T::align - 1) / T::align * T::align;
    const uint32_t tables = all_tables + group * Buffers * T::table_bytes;
    const uint32_t columns =
        all_tables + groups * Buffers * T::table_bytes + group * T::column_bytes;
    Place<T> place(threadIdx.x % 32, layout);
    const size_t index = ((size_t)blockIdx.x * groups + group) * layout.matrices + place.matrix;
    const bool works = place.matrix < layout.matrices && index < job.count;
    if (place.matrix >= layout.matrices)
        place.matrix = 0;

    Exchange<T> state(job.polynomial, job.reciprocals, place, n);
    const unsigned first_row = row_warp * T::warp_rows + place.sub;
    const uint8_t *a = job.a + (works ? index : 0) * job.a_step;
#pragma unroll
    for (int k = 0; k < T::rows; k++) {
        const unsigned row = first_row + k * T::subrows;
#pragma unroll
        for (int v = 0; v < T::vector; v++)
            state.m[k][v] = works && row < n ? load_word(a + (size_t)row * row_bytes,
                                                         4 * (place.first_word + v), row_bytes)
                                             : 0;
    }
    uint32_t rank = 0;
    for (unsigned r = 0; r < n; r++) {
        const bool owner = r / T::warp_rows == row_warp;
        const uint32_t table = tables + r % Buffers * T::table_bytes;
        if (owner)
            state.prepare(r, place, layout.matrices, n, columns, table);
        if constexpr (Alone)
            __syncwarp();
        else
            __syncthreads();
        rank += state.update(r, owner, place, n, columns, table) != no_pivot;
        if constexpr (Alone)
            __syncwarp();
        else if constexpr (Buffers == 1)
            __syncthreads();
    }
    if constexpr (!Alone)
        __syncthreads();

    if (works && place.is_first && row_warp == 0)
        job.records[index] = {(uint32_t)(rank == n ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR),
                              rank};
    if (works && job.pivots != NULL && place.lane % T::lanes == place.matrix_lane % T::lanes)
        for (unsigned row = first_row; row < n && row < (row_warp + 1) * T::warp_rows;
             row += T::subrows) {
            const uint32_t c = load_shared_symbol<16>(columns + 2 * (place.matrix * n + row));
            job.pivots[index * n + row] = c == no_pivot ? GFK_MATRIX_DEPENDENT : c;
        }

    /* inverse[c(i)][j] = M[i][c(j)]: a row at a time through shared memory. */
    const uint32_t line =
        (Alone ? tables : all_tables + warp * 128 * T::vector) + place.sub * T::row_bytes;
    const uint32_t part = line + place.matrix * layout.words * 4;
    uint8_t *to = job.inverses + index * job.inverse_step;
#pragma unroll
    for (int k = 0; k < T::rows; k++) {
        const unsigned row = first_row + k * T::subrows;
        __syncwarp();
        store_shared(line + place.lane % T::lanes * T::vector * 4, state.m[k]);
        __syncwarp();
        if (!works || rank != n || row >= n)
            continue;
        const uint32_t c = load_shared_symbol<16>(columns + 2 * (place.matrix * n + row));
#pragma unroll
        for (int v = 0; v < T::vector; v++) {
            uint32_t x = 0;
#pragma unroll
            for (int s = 0; s < T::word_symbols; s++) {
                const unsigned j = (place.first_word + v) * T::word_symbols + s;
                if (j < n) {
                    const uint32_t at =
                        load_shared_symbol<16>(columns + 2 * (place.matrix * n + j));
                    x |= load_shared_symbol<T::w>(part + at * T::symbol_bytes) << s * T::w % 32;
                }
            }
            if (4 * (place.first_word + v) < row_bytes)
                store_word(to + (size_t)c * row_bytes, 4 * (place.first_word + v), row_bytes, x);
        }
    }
}

} // namespace matrix
} // namespace gfk
