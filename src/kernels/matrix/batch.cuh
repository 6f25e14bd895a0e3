/* SPDX-License-Identifier: BSD-3-Clause */
/* Inversion of many matrices. */
#pragma once

#include "exchange.cuh"
#include "host/matrix/batch.h"

namespace gfk {
namespace matrix {

/* load_word of vector_io.cuh without a loop, and the store of such a word. */
__device__ inline uint32_t load_row_word(const uint8_t *row, unsigned at, unsigned bytes) {
    if (at + 4 <= bytes && (uintptr_t)(row + at) % 4 == 0)
        return *(const uint32_t *)(row + at);
    uint32_t x = 0;
    for (unsigned i = 0; i < 4; i++)
        if (at + i < bytes)
            x |= (uint32_t)row[at + i] << 8 * i;
    return x;
}
__device__ inline void store_row_word(uint8_t *row, unsigned at, unsigned bytes, uint32_t x) {
    if (at + 4 <= bytes && (uintptr_t)(row + at) % 4 == 0) {
        *(uint32_t *)(row + at) = x;
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        if (at + i < bytes)
            row[at + i] = (uint8_t)(x >> 8 * i);
}

/* ---- the policies of shapes.def; Blocks: that a multiprocessor should hold ------------------- */

/* A warp has one or more whole matrices. */
template <class Tile_, int Blocks>
struct Warp {
    using T = Tile_;
    static constexpr bool warp_has_matrix = true;
    static constexpr int buffers = 1, warps = 4, blocks = Blocks, rows = T::warp_rows;
};

/* The warps of a block, at most `Warps`, have a matrix together. With two `Buffers` for tables, a
 * step begins before the last one has ended in all warps. */
template <class Tile_, int Buffers, int Warps, int Blocks>
struct Block {
    using T = Tile_;
    static constexpr bool warp_has_matrix = false;
    static constexpr int buffers = Buffers, warps = Warps, blocks = Blocks,
                         rows = Warps * T::warp_rows;
};

/* The type of a row: a policy with the row's name, so that the name is in the kernel's symbol. */
#define GFK_ELIMINATION_TYPE(owner, kernel, width, BUILD, fields, ...)                             \
    struct owner##_##kernel : __VA_ARGS__ {                                                        \
        static constexpr gfk_compiled_kernel_info info =                                           \
            GFK_KERNEL_INFO(owner, kernel, width, fields);                                         \
        static_assert(T::w == width && info.inputs.max <= rows &&                                  \
                          info.inputs.max <= T::words * T::word_symbols,                           \
                      "the kernel does not take so much");                                         \
    };

/* The shared memory of a group of warps holds tables or, at the end, the matrix; columns follow. */
template <class K>
__host__ __device__ constexpr unsigned matrix_bytes(unsigned warps) {
    const unsigned tables = K::buffers * K::T::table_bytes;
    const unsigned matrix = warps * K::T::warp_rows * K::T::row_bytes;
    return tables > matrix ? tables : matrix;
}
template <class K>
constexpr size_t shared_bytes(unsigned warps) {
    return K::T::align - 1 +
           (K::warp_has_matrix ? warps : 1) *
               (matrix_bytes<K>(K::warp_has_matrix ? 1 : warps) + K::T::column_bytes);
}

/* A matrix, as a thread of the group that has the matrix sees it. */
template <class K>
struct Inversion {
    using T = typename K::T;
    const gfk_matrix_batch &job;
    const Layout &layout;
    const LanePlace<T> &place;
    size_t index; /* the matrix's number */
    bool works;   /* is there a matrix for this thread? */
    unsigned n, row_bytes;
    unsigned row_warp;        /* the warp's number in the group */
    unsigned first_row;       /* of the lane */
    uint32_t tables, columns; /* in shared memory */

    __device__ __forceinline__ void load(Exchange<T> &state) const {
        const uint8_t *a = job.a + (works ? index : 0) * job.a_step;
#pragma unroll
        for (int k = 0; k < T::rows; k++) {
            const unsigned row = first_row + k * T::subrows;
#pragma unroll
            for (int v = 0; v < T::lane_words; v++)
                state.m[k][v] = works && row < n
                                    ? load_row_word(a + (size_t)row * row_bytes,
                                                    4 * (place.first_word + v), row_bytes)
                                    : 0;
        }
    }

    /* Takes all steps. Returns the rank. */
    __device__ __forceinline__ uint32_t eliminate(Exchange<T> &state,
                                                  const WarpInverse<T::w> &inverse) const {
        uint32_t rank = 0;
        for (unsigned r = 0; r < n; r++) {
            const bool owner = r / T::warp_rows == row_warp;
            const uint32_t table = tables + r % K::buffers * T::table_bytes;
            if (owner)
                state.prepare(r, place, inverse, layout.matrices, n, columns, table);
            if constexpr (K::warp_has_matrix)
                __syncwarp();
            else
                __syncthreads();
            rank += state.update(r, owner, place, n, columns, table) != no_pivot;
            if constexpr (K::warp_has_matrix)
                __syncwarp();
            else if constexpr (K::buffers == 1)
                __syncthreads();
        }
        if constexpr (!K::warp_has_matrix)
            __syncthreads();
        return rank;
    }

    __device__ __forceinline__ void write_record(uint32_t rank) const {
        if (works && place.is_first && row_warp == 0)
            job.records[index] = {(uint32_t)(rank == n ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR),
                                  rank};
    }

    __device__ __forceinline__ void write_pivots() const {
        if (works && job.pivots != NULL && place.lane % T::lanes == place.matrix_lane % T::lanes)
            for (unsigned row = first_row; row < n && row < (row_warp + 1) * T::warp_rows;
                 row += T::subrows) {
                const uint32_t c = load_shared_symbol<16>(columns + 2 * (place.matrix * n + row));
                job.pivots[index * n + row] = c == no_pivot ? GFK_MATRIX_DEPENDENT : c;
            }
    }

    /* Writes the lane's rows to shared memory, where they replace the tables. Returns the address
     * of the first row. */
    __device__ __forceinline__ uint32_t share_rows(const Exchange<T> &state) const {
        const uint32_t lines = tables + (row_warp * T::warp_rows + place.sub) * T::row_bytes;
#pragma unroll
        for (int k = 0; k < T::rows; k++)
            store_shared(lines + k * T::subrows * T::row_bytes +
                             place.lane % T::lanes * T::lane_words * 4,
                         state.m[k]);
        __syncwarp();
        return lines;
    }

    /* inverse[c(i)][j] = M[i][c(j)], from the rows in shared memory. */
    __device__ __forceinline__ void write_inverse(uint32_t lines, uint8_t *to) const {
        uint32_t from[T::lane_words][T::word_symbols];
#pragma unroll
        for (int v = 0; v < T::lane_words; v++)
#pragma unroll
            for (int s = 0; s < T::word_symbols; s++) {
                const unsigned j = (place.first_word + v) * T::word_symbols + s;
                from[v][s] = place.matrix * layout.words * 4;
                if (j < n)
                    from[v][s] += T::symbol_bytes *
                                  load_shared_symbol<16>(columns + 2 * (place.matrix * n + j));
            }
#pragma unroll 1
        for (unsigned k = 0; k < T::rows && first_row + k * T::subrows < n; k++) {
            const uint32_t c = load_shared_symbol<16>(
                columns + 2 * (place.matrix * n + first_row + k * T::subrows));
#pragma unroll
            for (int v = 0; v < T::lane_words; v++) {
                const unsigned at = 4 * (place.first_word + v);
                uint32_t x = 0;
#pragma unroll
                for (int s = 0; s < T::word_symbols; s++)
                    x |=
                        load_shared_symbol<T::w>(lines + k * T::subrows * T::row_bytes + from[v][s])
                        << s * T::w % 32;
                if (at < row_bytes)
                    store_row_word(to + (size_t)c * row_bytes, at, row_bytes, x);
            }
        }
    }
};

template <class K>
__device__ void invert_matrices(const gfk_matrix_batch &job, const Layout &layout,
                                uint8_t *memory) {
    using T = typename K::T;
    const unsigned warp = threadIdx.x / 32, groups = K::warp_has_matrix ? blockDim.x / 32 : 1;
    const unsigned group = K::warp_has_matrix ? warp : 0, row_warp = K::warp_has_matrix ? 0 : warp;
    const unsigned n = job.n, row_bytes = n * T::symbol_bytes;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const uint32_t all_tables = round_up<T::align>(shared);
    const unsigned each = matrix_bytes<K>(K::warp_has_matrix ? 1 : blockDim.x / 32);
    const uint32_t tables = all_tables + group * each;
    const uint32_t columns = all_tables + groups * each + group * T::column_bytes;
    LanePlace<T> place(threadIdx.x % 32, layout);
    const size_t index = ((size_t)blockIdx.x * groups + group) * layout.matrices + place.matrix;
    const bool works = place.matrix < layout.matrices && index < job.count;
    if (place.matrix >= layout.matrices)
        place.matrix = 0;

    Exchange<T> state(job.polynomial, place, n);
    const WarpInverse<T::w> inverse(job.inverter, job.polynomial);
    const Inversion<K> matrix = {.job = job,
                                 .layout = layout,
                                 .place = place,
                                 .index = index,
                                 .works = works,
                                 .n = n,
                                 .row_bytes = row_bytes,
                                 .row_warp = row_warp,
                                 .first_row = row_warp * T::warp_rows + place.sub,
                                 .tables = tables,
                                 .columns = columns};
    matrix.load(state);
    const uint32_t rank = matrix.eliminate(state, inverse);
    matrix.write_record(rank);
    matrix.write_pivots();
    uint8_t *const to = job.inverses + index * job.inverse_step;
    const uint32_t lines = matrix.share_rows(state);
    if (works && rank == n)
        matrix.write_inverse(lines, to);
}

} // namespace matrix
} // namespace gfk
