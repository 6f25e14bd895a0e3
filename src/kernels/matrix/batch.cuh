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

/* ---- the policies of shapes.def. Blocks: that a multiprocessor should hold -------------------- */

/* A warp alone has a whole matrix, and others beside it. */
template <class Tile_, int Blocks>
struct Warp {
    using T = Tile_;
    static constexpr bool alone = true;
    static constexpr int buffers = 1, warps = 4, blocks = Blocks, rows = T::warp_rows;
};

/* The warps of a block, at most `Warps`, have a matrix together. The tables have `Buffers` places;
 * with two, a step begins before the last one has ended everywhere. */
template <class Tile_, int Buffers, int Warps, int Blocks>
struct Block {
    using T = Tile_;
    static constexpr bool alone = false;
    static constexpr int buffers = Buffers, warps = Warps, blocks = Blocks,
                         rows = Warps * T::warp_rows;
};

/* Shared memory of a group of so many warps: tables or, at the end, the matrix; then columns. */
template <class K>
__host__ __device__ constexpr unsigned matrix_bytes(unsigned warps) {
    const unsigned tables = K::buffers * K::T::table_bytes;
    const unsigned matrix = warps * K::T::warp_rows * K::T::row_bytes;
    return tables > matrix ? tables : matrix;
}
template <class K>
constexpr size_t shared_bytes(unsigned warps) {
    return K::T::align - 1 +
           (K::alone ? warps : 1) * (matrix_bytes<K>(K::alone ? 1 : warps) + K::T::column_bytes);
}

template <class K>
__device__ void invert_matrices(const gfk_matrix_batch &job, const Layout &layout,
                                uint8_t *memory) {
    using T = typename K::T;
    const unsigned warp = threadIdx.x / 32, groups = K::alone ? blockDim.x / 32 : 1;
    const unsigned group = K::alone ? warp : 0, row_warp = K::alone ? 0 : warp;
    const unsigned n = job.n, row_bytes = n * T::symbol_bytes;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const uint32_t all_tables = (shared + T::align - 1) / T::align * T::align;
    const unsigned each = matrix_bytes<K>(K::alone ? 1 : blockDim.x / 32);
    const uint32_t tables = all_tables + group * each;
    const uint32_t columns = all_tables + groups * each + group * T::column_bytes;
    Place<T> place(threadIdx.x % 32, layout);
    const size_t index = ((size_t)blockIdx.x * groups + group) * layout.matrices + place.matrix;
    const bool works = place.matrix < layout.matrices && index < job.count;
    if (place.matrix >= layout.matrices)
        place.matrix = 0;

    Exchange<T> state(job.polynomial, place, n);
    const WarpInverse<T::w> inverse(job.inverter, job.polynomial);
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
        const uint32_t table = tables + r % K::buffers * T::table_bytes;
        if (owner)
            state.prepare(r, place, inverse, layout.matrices, n, columns, table);
        if constexpr (K::alone)
            __syncwarp();
        else
            __syncthreads();
        rank += state.update(r, owner, place, n, columns, table) != no_pivot;
        if constexpr (K::alone)
            __syncwarp();
        else if constexpr (K::buffers == 1)
            __syncthreads();
    }
    if constexpr (!K::alone)
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

    /* inverse[c(i)][j] = M[i][c(j)], from rows that replace the tables in shared memory. */
    uint8_t *to = job.inverses + index * job.inverse_step;
    const uint32_t lines = tables + (row_warp * T::warp_rows + place.sub) * T::row_bytes;
#pragma unroll
    for (int k = 0; k < T::rows; k++)
        store_shared(lines + k * T::subrows * T::row_bytes + place.lane % T::lanes * T::vector * 4,
                     state.m[k]);
    __syncwarp();
    if (!works || rank != n)
        return;
    uint32_t from[T::vector][T::word_symbols];
#pragma unroll
    for (int v = 0; v < T::vector; v++)
#pragma unroll
        for (int s = 0; s < T::word_symbols; s++) {
            const unsigned j = (place.first_word + v) * T::word_symbols + s;
            from[v][s] = place.matrix * layout.words * 4;
            if (j < n)
                from[v][s] +=
                    T::symbol_bytes * load_shared_symbol<16>(columns + 2 * (place.matrix * n + j));
        }
#pragma unroll 1
    for (unsigned k = 0; k < T::rows && first_row + k * T::subrows < n; k++) {
        const uint32_t c =
            load_shared_symbol<16>(columns + 2 * (place.matrix * n + first_row + k * T::subrows));
#pragma unroll
        for (int v = 0; v < T::vector; v++) {
            const unsigned at = 4 * (place.first_word + v);
            uint32_t x = 0;
#pragma unroll
            for (int s = 0; s < T::word_symbols; s++)
                x |= load_shared_symbol<T::w>(lines + k * T::subrows * T::row_bytes + from[v][s])
                     << s * T::w % 32;
            if (at < row_bytes)
                store_word(to + (size_t)c * row_bytes, at, row_bytes, x);
        }
    }
}

} // namespace matrix
} // namespace gfk
