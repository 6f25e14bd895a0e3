/* SPDX-License-Identifier: BSD-3-Clause */
/* The elimination of a panel in a window of as many columns, by one block, for which a step's
 * latency is all that counts. The warp that has the pivot's row writes the row, divided by the
 * pivot, times 1, x, x^2, ...; all warps write the tables from these multiples. */
#pragma once

#include "exchange.cuh"
#include "kernels/common/symbol.cuh"

namespace gfk {
namespace matrix {

/* 1024 bits of a row of the window, 32 words; 16 warps. */
template <int W>
struct Window {
    static constexpr int warps = 16, threads = 32 * warps;
    static constexpr int rows = 1024 / W;
    using T = Tile<W, 32, 2, rows / warps / 2>;
    static_assert(T::warp_rows * warps == rows, "");
    /* Shared memory: tables, the multiples of the pivot's row, columns, the column of a step. */
    static constexpr unsigned basis_at = T::table_bytes, columns_at = basis_at + W * 128,
                              pivot_at = columns_at + T::column_bytes, bytes = pivot_at + 16;
};

template <int Threads>
__device__ inline void sync_window() {
    asm volatile("bar.sync 1, %0;" : : "n"(Threads) : "memory");
}

/* Writes a warp's share of the tables. */
template <int W>
__device__ inline void write_share(unsigned warp, uint32_t from, uint32_t to) {
    using T = typename Window<W>::T;
    constexpr int share = W / 4; /* entries */
    const unsigned nibble = warp * share / 16, first = warp * share % 16;
    uint32_t basis[4], start = 0;
#pragma unroll
    for (int b = 0; b < 4; b++) {
        uint32_t x[1];
        load_shared(from + (4 * nibble + b) * 128, x);
        basis[b] = x[0];
        start ^= first >> b & 1 ? x[0] : 0;
    }
    to += nibble / T::interleaved * T::align + nibble % T::interleaved * T::row_bytes +
          first * T::pitch;
#pragma unroll
    for (int i = 0; i < share; i++) {
        uint32_t x[1] = {start};
#pragma unroll
        for (int b = 0; b < 3; b++)
            x[0] ^= i >> b & 1 ? basis[b] : 0;
        store_shared(to + i * T::pitch, x);
    }
}

/* A panel's rows in the window: element (i, j) of the window is element columns[j] of row i of
 * `matrix`. */
template <int W>
struct WindowRows {
    using K = Window<W>;
    using T = typename K::T;
    const uint8_t *matrix;
    size_t pitch;
    unsigned rows;
    const uint32_t *columns;
    unsigned count; /* of columns */
    unsigned warp, lane, first_row;
    const LanePlace<T> &place;
    uint32_t tables, found_at; /* in shared memory; found_at: the pivots' columns in the window */

    __device__ __forceinline__ void load(Exchange<T> &state) const {
#pragma unroll
        for (int k = 0; k < T::rows; k++) {
            const unsigned row = first_row + k * T::subrows;
#pragma unroll
            for (int v = 0; v < T::lane_words; v++) {
                uint32_t x = 0;
#pragma unroll
                for (int s = 0; s < T::word_symbols; s++) {
                    const unsigned j = (place.first_word + v) * T::word_symbols + s;
                    if (row < rows && j < count) {
                        const uint8_t *p =
                            matrix + row * pitch + (size_t)columns[j] * T::symbol_bytes;
                        x |= load_symbol<W>(p) << s * W % 32;
                    }
                }
                state.m[k][v] = x;
            }
        }
    }

    /* The warp that owns row r writes the row's pivot, and the multiples of the row. */
    __device__ __forceinline__ void write_multiples(const Exchange<T> &state, unsigned r,
                                                    const WarpInverse<W> &inverse) const {
        uint32_t g[1];
        state.take_row(r, place, g);
        const Pivot pivot = state.find_pivot(place, g);
        state.scale(pivot.column == no_pivot ? 0 : inverse(pivot.value), g);
#pragma unroll
        for (int t = 0; t < W; t++) {
            store_shared(tables + K::basis_at + 128 * t + 4 * lane, g);
            g[0] = double_xor<W>(g[0], replicate<W>(state.polynomial), 0);
        }
        const uint32_t column[1] = {pivot.column};
        if (lane == 0) {
            store_shared(tables + K::pivot_at, column);
            store_shared_u16(found_at + 2 * r, pivot.column);
        }
    }

    /* Begins the step of row r. Returns the pivot's column in the window, or no_pivot. */
    __device__ __forceinline__ uint32_t begin_step(const Exchange<T> &state, unsigned r,
                                                   const WarpInverse<W> &inverse) const {
        if (r / T::warp_rows == warp)
            write_multiples(state, r, inverse);
        sync_window<K::threads>();
        uint32_t column[1];
        load_shared(tables + K::pivot_at, column);
        return column[0];
    }

    /* Ends the step: all rows get multiples of row r. */
    __device__ __forceinline__ void end_step(Exchange<T> &state, unsigned r,
                                             uint32_t column) const {
        uint32_t f[T::factors];
        write_share<W>(warp, tables + K::basis_at + 4 * lane, tables + 4 * lane);
        state.mark_used(column, place);
        state.take_factors(r, r / T::warp_rows == warp, column, place, f);
        sync_window<K::threads>();
        state.add_multiples(f, place, tables);
    }

    /* The transform's columns are the columns of the pivots, in the order of rows. */
    __device__ __forceinline__ void write_transform(const Exchange<T> &state,
                                                    uint32_t *transform) const {
        const uint32_t line = tables + warp * 256 + place.sub * T::row_bytes;
#pragma unroll
        for (int k = 0; k < T::rows; k++) {
            const unsigned row = first_row + k * T::subrows;
            __syncwarp();
            store_shared(line + place.first_word * 4, state.m[k]);
            __syncwarp();
#pragma unroll
            for (int v = 0; v < T::lane_words; v++) {
                uint32_t x = 0;
#pragma unroll
                for (int s = 0; s < T::word_symbols; s++) {
                    const unsigned j = (place.first_word + v) * T::word_symbols + s;
                    if (j < rows && row < rows)
                        x |= load_shared_symbol<W>(line + load_shared_symbol<16>(found_at + 2 * j) *
                                                              T::symbol_bytes)
                             << s * W % 32;
                }
                transform[row * 32 + place.first_word + v] = x;
            }
        }
    }
};

/* Reduces `rows` rows whose columns are in the window. Writes the transform and, to shared memory,
 * the pivots. False: a row has no pivot in the window, and nothing has been written. `shared`:
 * Window::bytes and T::align - 1 more. All threads of the block, Window::threads. */
template <int W>
__device__ bool reduce_window(const uint8_t *matrix, size_t pitch, unsigned rows,
                              const uint32_t *columns, unsigned count, uint32_t polynomial,
                              const gfk_inverter &inverter, uint32_t *transform, uint32_t *pivots,
                              uint32_t shared) {
    using K = Window<W>;
    using T = typename K::T;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t tables = round_up<T::align>(shared);
    const Layout layout = {32, 1};
    const LanePlace<T> place(lane, layout);
    Exchange<T> state(polynomial, place, count < K::rows ? count : K::rows);
    const WarpInverse<W> inverse(inverter, polynomial);
    const WindowRows<W> window = {.matrix = matrix,
                                  .pitch = pitch,
                                  .rows = rows,
                                  .columns = columns,
                                  .count = count,
                                  .warp = warp,
                                  .lane = lane,
                                  .first_row = warp * T::warp_rows + place.sub,
                                  .place = place,
                                  .tables = tables,
                                  .found_at = tables + K::columns_at};
    window.load(state);
    bool complete = true;
    for (unsigned r = 0; r < rows; r++) {
        const uint32_t column = window.begin_step(state, r, inverse);
        complete = complete && column != no_pivot;
        window.end_step(state, r, column);
    }
    if (!complete)
        return false;
    sync_window<K::threads>();
    window.write_transform(state, transform);
    if (threadIdx.x < rows)
        pivots[threadIdx.x] = columns[load_shared_symbol<16>(window.found_at + 2 * threadIdx.x)];
    return true;
}

} // namespace matrix
} // namespace gfk
