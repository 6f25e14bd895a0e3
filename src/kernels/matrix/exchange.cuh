/* SPDX-License-Identifier: BSD-3-Clause */
/* Gauss-Jordan elimination in place, in registers.
 *
 * Step r takes row r, which the earlier steps have reduced. Its pivot p = M[r][c] is the first
 * non-zero element in a column that has no pivot yet. The step exchanges row r and column c:
 *     M += (column c of M + e_r) * (row r of M + e_c) / p,
 * one product of a column by a row, without special cases. A row without a pivot depends on the
 * rows before it, and its step is left out. After n steps, inverse[c(i)][j] = M[i][c(j)], where
 * c(r) is the pivot column of row r.
 *
 * A step writes the multiples of the row (row r + e_c) / p by all values of each nibble to tables
 * in shared memory. Every other row adds one entry of each table. All lanes of a warp read entries
 * at different banks. */
#pragma once

#include <stddef.h>

#include "host/base/arithmetic.h"
#include "kernels/common/copy_async.cuh"
#include "kernels/common/symbol.cuh"

namespace gfk {
namespace matrix {

enum : uint32_t { no_pivot = 0xffff };

/* The rows that a warp holds: each lane has `Rows` rows of `LaneWords` neighbouring words. The
 * lanes that hold one row of the tile have `Words` words together: one or more matrices. */
template <int W, int Words, int LaneWords, int Rows>
struct Tile {
    static constexpr int w = W, words = Words, lane_words = LaneWords, rows = Rows;
    static constexpr int symbol_bytes = W / 8, word_symbols = 32 / W;
    static constexpr int lanes = Words / LaneWords, subrows = 32 / lanes;
    static constexpr int warp_rows = Rows * subrows;
    static constexpr int spread = Words / 32;     /* words of a lane where a warp holds one row */
    static constexpr int factors = Rows * W / 32; /* words of a lane's factors */
    static_assert(subrows == 1 ? spread == LaneWords : spread == 1, "");

    /* A table has 16 entries of a row. Entries that follow each other are `pitch` bytes apart, so
     * that a nibble is part of an address; narrow tables lie in between each other. */
    static constexpr unsigned row_bytes = 4 * Words;
    static constexpr unsigned pitch = row_bytes <= 256 ? 256 : 512;
    static constexpr unsigned interleaved = pitch / row_bytes;
    static constexpr unsigned align = 16 * pitch;
    static constexpr unsigned table_bytes = 16 * row_bytes * (W / 4);
    __host__ __device__ static constexpr unsigned table(int nibble) {
        return nibble / interleaved * align + nibble % interleaved * row_bytes;
    }
    static constexpr unsigned column_bytes = 2 * Words * word_symbols; /* of a group */
};

/* The matrices in a tile, one after the other in a row. */
struct Layout {
    uint32_t words, matrices; /* words of a row of a matrix, a multiple of T::lane_words */
};
template <class T>
Layout make_layout(unsigned n) {
    const unsigned least = divide_up<32>(n * T::w);
    const unsigned words = T::subrows == 1 ? T::words : round_up<T::lane_words>(least);
    return {words, T::words / words};
}

/* A lane's place in its warp's tile, and in a row that the whole warp holds. */
template <class T>
struct LanePlace {
    unsigned lane, sub;           /* of the rows that a warp holds at once */
    unsigned matrix, matrix_lane; /* in the tile: the lanes of `matrix` begin at matrix_lane */
    unsigned first_word;          /* of the lane, in a row of the matrix */
    bool is_first;                /* lane of the matrix */
    unsigned row_matrix, row_lane, row_lanes, row_word; /* the same in a row, and its lanes */

    __device__ LanePlace(unsigned lane_, const Layout &layout) : lane(lane_) {
        const unsigned at = lane % T::lanes, each = layout.words / T::lane_words;
        sub = lane / T::lanes;
        matrix = at / each;
        first_word = at % each * T::lane_words;
        matrix_lane = sub * T::lanes + matrix * each;
        is_first = lane == matrix * each;
        row_lanes = T::subrows == 1 ? 32 : layout.words;
        row_matrix = lane / row_lanes;
        row_lane = row_matrix * row_lanes;
        row_word = lane % row_lanes * T::spread;
    }
};

struct Pivot {
    uint32_t value, column; /* no_pivot */
};

/* 1 / p, the same p in all lanes of a warp: gfk_invert's steps, with one redux for each linear map
 * of the bits, and two or three for a product. A lane holds the images of x^lane and of
 * x^(W + lane). */
template <int W>
struct WarpInverse {
    const gfk_inverter &t;
    uint32_t conjugate_16, conjugate_8, number, above;
    unsigned lane;

    __device__ WarpInverse(const gfk_inverter &inverter, uint32_t polynomial)
        : t(inverter), lane(threadIdx.x % 32) {
        if constexpr (W != 8) {
            const auto column = [&](const gfk_nibbles &map) {
                return map.entry[lane / 4][1 << lane % 4];
            };
            conjugate_16 = W == 32 ? column(t.conjugate_16) : 0;
            conjugate_8 = column(t.conjugate_8);
            number = column(t.number);
            above = polynomial;
            for (unsigned i = 0; i < lane; i++)
                above = double_xor<W>(above, polynomial, 0);
        }
    }
    __device__ uint32_t map(uint32_t columns, uint32_t a) const {
        return __reduce_xor_sync(0xffffffff, a >> lane & 1 ? columns : 0);
    }
    __device__ uint32_t times(uint32_t a, uint32_t b) const {
        const uint32_t low = map(a << lane, b); /* the upper half of it too, for W = 16 */
        return W == 16 ? low % (1u << 16) ^ map(above, low >> 16)
                       : low ^ map(above, map(a >> 1 >> (31 - lane), b));
    }
    __device__ uint32_t operator()(uint32_t p) const {
        if constexpr (W == 8)
            return t.inverses[p];
        const uint32_t factor = W == 32 ? map(conjugate_16, p) : 1;
        const uint32_t a = W == 32 ? times(p, factor) : p, conjugate = map(conjugate_8, a);
        const uint32_t inverse = t.inverses[map(number, times(a, conjugate))];
        return times(W == 32 ? times(conjugate, factor) : conjugate, inverse);
    }
};

/* The elimination of a group of warps. */
template <class T>
struct Exchange {
    static constexpr int W = T::w;
    uint32_t m[T::rows][T::lane_words];
    uint32_t unused[T::spread]; /* ones in columns without a pivot; of a row that the warp holds */
    uint32_t polynomial;

    __device__ Exchange(uint32_t polynomial_, const LanePlace<T> &place, unsigned n)
        : polynomial(polynomial_) {
#pragma unroll
        for (int e = 0; e < T::spread; e++) {
            const unsigned first = (place.row_word + e) * T::word_symbols;
            unused[e] = 0;
#pragma unroll
            for (int s = 0; s < T::word_symbols; s++)
                if (first + s < n)
                    unused[e] |= symbol_mask<W> << s * W % 32;
        }
    }

    /* Row r, of which this warp is the owner, as a row that the warp holds. */
    __device__ void take_row(unsigned r, const LanePlace<T> &place,
                             uint32_t (&g)[T::spread]) const {
        const unsigned k = r % T::warp_rows / T::subrows;
        uint32_t x[T::lane_words];
        switch (k) { /* a jump; selecting takes an instruction for each word */
#define GFK_ROW(i)                                                                                 \
    case i:                                                                                        \
        for (int v = 0; v < T::lane_words; v++)                                                    \
            x[v] = m[i < T::rows ? i : 0][v];                                                      \
        break;
            GFK_ROW(1)
            GFK_ROW(2)
            GFK_ROW(3)
            GFK_ROW(4)
            GFK_ROW(5)
            GFK_ROW(6)
            GFK_ROW(7)
            GFK_ROW(8)
            GFK_ROW(9)
            GFK_ROW(10)
            GFK_ROW(11)
            GFK_ROW(12)
            GFK_ROW(13)
            GFK_ROW(14)
            GFK_ROW(15)
#undef GFK_ROW
        default:
            for (int v = 0; v < T::lane_words; v++)
                x[v] = m[0][v];
        }
        if constexpr (T::subrows == 1) {
#pragma unroll
            for (int e = 0; e < T::spread; e++)
                g[e] = x[e];
        } else {
            const unsigned from = r % T::subrows * T::lanes + place.lane / T::lane_words;
#pragma unroll
            for (int v = 0; v < T::lane_words; v++) {
                const uint32_t y = __shfl_sync(0xffffffff, x[v], from);
                if (v == 0 || place.lane % T::lane_words == (unsigned)v)
                    g[0] = y;
            }
        }
    }

    /* Finds the pivot of a row, and adds 1 to it. */
    __device__ Pivot find_pivot(const LanePlace<T> &place, uint32_t (&g)[T::spread]) const {
        uint32_t candidate = 0;
        unsigned element = 0;
#pragma unroll
        for (int e = T::spread - 1; e >= 0; e--)
            if (g[e] & unused[e]) {
                candidate = g[e] & unused[e];
                element = e;
            }
        const uint32_t lanes = __ballot_sync(0xffffffff, candidate != 0);
        const uint32_t mine = lanes >> place.row_lane & (0xffffffffu >> (32 - place.row_lanes));
        const unsigned from = place.row_lane + (__ffs(mine) - 1) % 32;
        const unsigned shift = (31 & (__ffs(candidate) - 1)) / W * W;
        const uint32_t value = W == 32 ? candidate : candidate >> shift & (1u << W % 32) - 1;
        Pivot pivot;
        pivot.value = __shfl_sync(0xffffffff, value, from);
        const unsigned at = __shfl_sync(0xffffffff, element * 32 + shift, from);
        pivot.column = mine != 0 ? ((from - place.row_lane) * T::spread * 32 + at) / W : no_pivot;
        if (place.lane == from)
#pragma unroll
            for (int e = 0; e < T::spread; e++)
                if (at / 32 == (unsigned)e)
                    g[e] ^= 1u << at % 32;
        return pivot;
    }

    /* The owner of row r: finds the pivot, writes the column and the tables. */
    __device__ void prepare(unsigned r, const LanePlace<T> &place, const WarpInverse<W> &inverse,
                            unsigned matrices, unsigned n, uint32_t columns, uint32_t tables) {
        uint32_t g[T::spread], h[T::spread] = {};
        take_row(r, place, g);
        const Pivot pivot = find_pivot(place, g);
        if (place.lane == place.row_lane && place.row_matrix < matrices)
            store_shared_u16(columns + 2 * (place.row_matrix * n + r), pivot.column);
        uint32_t scale = 0;
        if constexpr (W == 8)
            scale = inverse(pivot.value);
        else
            for (unsigned i = 0; i < (T::subrows == 1 ? 1 : matrices); i++) {
                const uint32_t x =
                    inverse(__shfl_sync(0xffffffff, pivot.value, i * place.row_lanes));
                scale = place.row_matrix == i ? x : scale;
            }
        if (pivot.column == no_pivot)
            scale = 0;
#pragma unroll
        for (int e = 0; e < T::spread; e++)
            h[e] = g[e];
        this->scale(scale, h);
        write_tables(h, tables + 4 * T::spread * place.lane);
    }

    /* Multiplies words by one element. */
    template <int N>
    __device__ void scale(uint32_t element, uint32_t (&x)[N]) const {
        uint32_t sum[N] = {};
#pragma unroll
        for (int t = W - 1; t >= 0; t--) {
            const uint32_t mask = (uint32_t)((int32_t)(element << (31 - t)) >> 31);
#pragma unroll
            for (int i = 0; i < N; i++)
                sum[i] = double_xor<W>(sum[i], replicate<W>(polynomial), mask & x[i]);
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = sum[i];
    }

    __device__ void write_tables(uint32_t (&h)[T::spread], uint32_t to) {
#pragma unroll
        for (int nibble = 0; nibble < W / 4; nibble++) {
            uint32_t basis[4][T::spread], sum[T::spread] = {};
#pragma unroll
            for (int b = 0; b < 4; b++)
#pragma unroll
                for (int e = 0; e < T::spread; e++) {
                    basis[b][e] = h[e];
                    if (nibble * 4 + b + 1 < W)
                        h[e] = double_xor<W>(h[e], replicate<W>(polynomial), 0);
                }
            /* in the order of a Gray code */
            store_shared(to + T::table(nibble), sum);
#pragma unroll
            for (int i = 1; i < 16; i++) {
                const int b = i & 1 ? 0 : i & 2 ? 1 : i & 4 ? 2 : 3;
#pragma unroll
                for (int e = 0; e < T::spread; e++)
                    sum[e] ^= basis[b][e];
                store_shared(to + T::table(nibble) + (i ^ i >> 1) * T::pitch, sum);
            }
        }
    }

    __device__ void mark_used(uint32_t column, const LanePlace<T> &place) {
#pragma unroll
        for (int e = 0; e < T::spread; e++) {
            const uint32_t s = column - (place.row_word + e) * T::word_symbols;
            if (s < T::word_symbols)
                unused[e] &= ~(symbol_mask<W> << s * W % 32);
        }
    }

    /* The elements of column c; the owner of row r adds 1 to that row's. */
    __device__ void take_factors(unsigned r, bool owner, uint32_t c, const LanePlace<T> &place,
                                 uint32_t (&f)[T::factors]) const {
        const unsigned word = c / T::word_symbols, byte = c % T::word_symbols * T::symbol_bytes;
        const unsigned from = place.matrix_lane + word / T::lane_words, part = word % T::lane_words;
#pragma unroll
        for (int i = 0; i < T::factors; i++) {
            uint32_t x[T::word_symbols];
#pragma unroll
            for (int s = 0; s < T::word_symbols; s++) {
                const uint32_t(&row)[T::lane_words] = m[i * T::word_symbols + s];
                x[s] = row[0];
#pragma unroll
                for (int v = 1; v < T::lane_words; v++)
                    if (part == (unsigned)v)
                        x[s] = row[v];
            }
            if constexpr (W == 8) {
                const uint32_t two = byte | (byte + 4) << 4;
                f[i] = prmt(prmt(x[0], x[1], two), prmt(x[2], x[3], two), 0x5410);
            } else if constexpr (W == 16) {
                f[i] = prmt(x[0], x[1], byte ? 0x7632 : 0x5410);
            } else {
                f[i] = x[0];
            }
        }
#pragma unroll
        for (int i = 0; i < T::factors; i++)
            f[i] = __shfl_sync(0xffffffff, f[i], from);
        if (owner) {
            const unsigned k = r % T::warp_rows / T::subrows;
            const uint32_t one =
                r % T::subrows == place.sub ? 1u << k % T::word_symbols * W % 32 : 0;
#pragma unroll
            for (int i = 0; i < T::factors; i++)
                if (k / T::word_symbols == (unsigned)i)
                    f[i] ^= one;
        }
    }

    /* Adds a multiple of the pivot's row to each row. */
    __device__ void add_multiples(const uint32_t (&f)[T::factors], const LanePlace<T> &place,
                                  uint32_t tables) {
        /* Byte 1 of an address has the nibble, its other bits are the same for all. */
        constexpr int up = T::pitch == 512;
        constexpr uint32_t nibbles = 0x0f0f0f0f << up;
        const uint32_t base = tables + place.lane % T::lanes * T::lane_words * 4;
        const uint32_t fixed = prmt(base, 0, 0x1111) & ~nibbles;
#pragma unroll
        for (int i = 0; i < T::factors; i++) {
            const uint32_t low = f[i] << up & nibbles | fixed;
            const uint32_t high = f[i] >> (4 - up) & nibbles | fixed;
#pragma unroll
            for (int b = 0; b < 4; b++) {
                uint32_t(&row)[T::lane_words] = m[i * T::word_symbols + b / T::symbol_bytes];
                const int nibble = 2 * (b % T::symbol_bytes);
                uint32_t y[T::lane_words], z[T::lane_words];
                load_shared(prmt(low, base, 0x7604 | b << 4) + T::table(nibble), y);
                load_shared(prmt(high, base, 0x7604 | b << 4) + T::table(nibble + 1), z);
#pragma unroll
                for (int v = 0; v < T::lane_words; v++)
                    row[v] ^= y[v] ^ z[v];
            }
        }
    }

    /* Every warp: the step, with tables that the owner has prepared. Returns the column. */
    __device__ uint32_t update(unsigned r, bool owner, const LanePlace<T> &place, unsigned n,
                               uint32_t columns, uint32_t tables) {
        const uint32_t c = load_shared_symbol<16>(columns + 2 * (place.matrix * n + r));
        mark_used(
            T::subrows == 1 ? c : load_shared_symbol<16>(columns + 2 * (place.row_matrix * n + r)),
            place);
        uint32_t f[T::factors];
        take_factors(r, owner, c, place, f);
        add_multiples(f, place, tables);
        return c;
    }
};

} // namespace matrix
} // namespace gfk
