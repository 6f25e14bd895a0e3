/* SPDX-License-Identifier: BSD-3-Clause */
/* The recurrences of many positions at once, for w = 8. Eight words, the planes, hold one symbol of
 * 32 positions: plane b has their bits b. So 64 instructions multiply 32 pairs of symbols. All
 * positions take the same steps, and masks say which of them change.
 *
 * It is gfk_berlekamp_massey without divisions: C and B are multiples of the polynomials there, and
 * C becomes b C + d x^shift B for the discrepancies d of now and b of the last change of L. Instead
 * of L a position has the planes of r - 2 L, in two's complement: it grows by 1 with r, and a change
 * of L inverts all its bits. */
#pragma once

#include "locate_tiles.cuh"

namespace gfk {
namespace locate {

using Planes = uint32_t[8];

constexpr unsigned sharing = 4; /* lanes have 32 positions together */

/* The field, and what it takes to multiply. */
struct PlaneField {
    uint32_t taps[8]; /* all ones where the polynomial has a term */

    __device__ explicit PlaneField(uint32_t polynomial) {
#pragma unroll
        for (int i = 0; i < 8; i++)
            taps[i] = 0u - (polynomial >> i & 1);
    }
    __device__ static void add_product(uint32_t (&sum)[15], const Planes &a, const Planes &b) {
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum[i + j] ^= a[i] & b[j];
    }
    __device__ void reduce(uint32_t (&sum)[15], Planes &x) const {
#pragma unroll
        for (int high = 14; high >= 8; high--)
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum[high - 8 + i] ^= sum[high] & taps[i];
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = sum[i];
    }
    __device__ void multiply(Planes &a, const Planes &b) const {
        uint32_t sum[15] = {};
        add_product(sum, a, b);
        reduce(sum, a);
    }
    /* a^254 */
    __device__ void invert(Planes &a) const {
        Planes x;
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = a[i];
#pragma unroll 1
        for (int step = 0; step < 7; step++) {
            uint32_t square[15] = {};
#pragma unroll
            for (int i = 0; i < 8; i++)
                square[2 * i] = x[i];
            reduce(square, x);
            if (step < 6)
                multiply(x, a);
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            a[i] = x[i];
    }
};

/* From the 32 bytes of a group to planes, and back: transposes 8 x 8 bits four times. */
__device__ inline void transpose_bits(Planes &x) {
    const auto swap = [&](int a, int b, int shift, uint32_t mask) {
        const uint32_t different = (x[a] >> shift ^ x[b]) & mask;
        x[b] ^= different;
        x[a] ^= different << shift;
    };
#pragma unroll
    for (int i = 0; i < 4; i++)
        swap(i, i + 4, 4, 0x0f0f0f0f);
#pragma unroll
    for (int i = 0; i < 8; i++)
        if ((i & 2) == 0)
            swap(i, i + 2, 2, 0x33333333);
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        swap(i, i + 1, 1, 0x55555555);
}

__device__ inline void load_planes(const uint4 *p, unsigned apart, Planes &x) {
    const uint4 low = p[0], high = p[apart];
    unpack(low, x);
    unpack(high, x + 4);
}
__device__ inline void store_planes(uint4 *p, unsigned apart, const Planes &x) {
    p[0] = make_uint4(x[0], x[1], x[2], x[3]);
    p[apart] = make_uint4(x[4], x[5], x[6], x[7]);
}

/* Adds up what the lanes of a group bring. */
template <class Add>
__device__ inline uint32_t merge_lanes(uint32_t x, const Add &add) {
#pragma unroll
    for (unsigned other = 32 / sharing; other < 32; other *= 2)
        x = add(x, __shfl_xor_sync(0xffffffff, x, other));
    return x;
}

/* The words of shared memory that a warp's groups take: C, then B, t + 1 coefficients each. And how
 * many warps work. */
__host__ __device__ inline uint32_t plane_words(uint32_t t) {
    return 2 * (t + 1) * 8 * (32 / sharing);
}
__host__ __device__ inline uint32_t plane_warps(uint32_t t) {
    const uint32_t fits = state_bytes / (4 * plane_words(t));
    return fits < threads / 32 ? fits : threads / 32;
}

/* A group of 32 positions, shared by the lanes that are the same modulo 8. Lane `part` of 4 has the
 * coefficients part, part + 4, ... */
struct PlaneGroup {
    const PlaneField field;
    const unsigned part, number; /* the lane's, and the group's in the tile */
    const uint32_t m, t;
    uint4 *const c, *const b; /* coefficients in shared memory, 16 words apart */
    uint8_t *const rows;      /* of the S_r, first bytes, then planes */
    uint32_t turn = 0;        /* of B: coefficient l is in place (l + turn) mod (t + 1) */

    __device__ PlaneGroup(const gfk_locate_code &code, uint32_t *words, uint8_t *rows,
                          unsigned number)
        : field(code.field.polynomial), part(threadIdx.x % 32 / (32 / sharing)), number(number),
          m(code.m), t(code.t), c((uint4 *)words + number % (32 / sharing)),
          b(c + (t + 1) * (2 * 32 / sharing)), rows(rows + 32 * number) {}

    static constexpr unsigned half = 32 / sharing; /* from the planes 0 to 3 to the others */
    __device__ uint4 *coefficient(uint32_t l) const { return c + 2 * half * l; }
    __device__ uint4 *old_coefficient(uint32_t l) const {
        l += turn;
        return b + 2 * half * (l > t ? l - t - 1 : l);
    }
    __device__ uint4 *row(uint32_t r) const { return (uint4 *)(rows + r * tile_bytes); }

    /* The lane's part of C_0 S_r + C_1 S_(r-1) + ... + C_last S_(r-last). */
    __device__ void convolve(uint32_t r, uint32_t first, uint32_t step, uint32_t last,
                             Planes &d) const {
        uint32_t sum[15] = {};
#pragma unroll 1
        for (uint32_t l = first; l <= last; l += step) {
            Planes x, y;
            load_planes(row(r - l), 1, x);
            load_planes(coefficient(l), half, y);
            PlaneField::add_product(sum, x, y);
        }
        field.reduce(sum, d);
    }

    __device__ void begin() const {
        for (uint32_t l = part; l <= t; l += sharing) {
            const uint32_t ones = ~0u;
            store_planes(coefficient(l), half, {l == 0 ? ones : 0});
            store_planes(old_coefficient(l), half, {l == 1 ? ones : 0});
        }
        for (uint32_t r = part; r < m; r += sharing) {
            Planes x;
            load_planes(row(r), 1, x);
            transpose_bits(x);
            store_planes(row(r), 1, x);
        }
    }

    /* The steps of the algorithm. Returns the planes of m - 2 L. */
    __device__ void find(uint32_t (&k)[7]) {
        Planes scale = {~0u}; /* b */
        uint32_t longest = 0; /* the largest L of the warp */
#pragma unroll
        for (int i = 0; i < 7; i++)
            k[i] = 0;
#pragma unroll 1
        for (uint32_t r = 0; r < m; r++) {
            __syncwarp();
            Planes d;
            convolve(r, part, sharing, longest < r ? longest : r, d);
            uint32_t any = 0;
#pragma unroll
            for (int i = 0; i < 8; i++)
                any |= d[i] = merge_lanes(d[i], [](uint32_t x, uint32_t y) { return x ^ y; });
            const uint32_t grows = any & ~k[6];
            uint32_t most = grows, excess = 0; /* of r - 2 L where L grows, to r + 1 - L */
#pragma unroll
            for (int i = 5; i >= 0; i--) {
                const uint32_t set = most & k[i];
                if (__any_sync(0xffffffff, set != 0)) {
                    most = set;
                    excess |= 1u << i;
                }
            }
            if (__any_sync(0xffffffff, grows != 0))
                longest = max(longest, min((r + excess) / 2 + 1, t));
            uint32_t carry = ~grows;
#pragma unroll
            for (int i = 0; i < 7; i++) {
                const uint32_t old = k[i];
                k[i] ^= carry | grows;
                carry &= old;
            }
#pragma unroll 1
            for (uint32_t l = part; l <= longest; l += sharing) {
                Planes x, y = {};
                uint32_t sum[15] = {};
                load_planes(coefficient(l), half, x);
                if (l != 0)
                    load_planes(old_coefficient(l), half, y);
                PlaneField::add_product(sum, x, scale);
                PlaneField::add_product(sum, y, d);
#pragma unroll
                for (int i = 0; i < 8; i++)
                    y[i] = (x[i] & grows) | (y[i] & ~grows);
                store_planes(old_coefficient(l), half, y);
                field.reduce(sum, x);
                store_planes(coefficient(l), half, x);
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
                scale[i] = (d[i] & grows) | (scale[i] & ~grows);
            turn = turn == 0 ? t : turn - 1;
        }
        __syncwarp();
    }

    /* Divides C by C_0; then B gets the numerator, as gfk_locate_numerator has it. */
    __device__ void normalize(bool valued) const {
        Planes inverse;
        load_planes(coefficient(0), half, inverse);
        field.invert(inverse);
        __syncwarp();
        for (uint32_t l = part; l <= t; l += sharing) {
            Planes x;
            load_planes(coefficient(l), half, x);
            field.multiply(x, inverse);
            store_planes(coefficient(l), half, x);
        }
        __syncwarp();
        for (uint32_t d = part; d < t && valued; d += sharing) {
            Planes x;
            convolve(d, 0, 1, d, x);
            store_planes(old_coefficient(d), half, x);
        }
        __syncwarp();
    }

    /* The bytes of the positions, as gfk_locate_recurrence has them, in planes. */
    __device__ void describe(const uint32_t (&k)[7], Planes &found) const {
#pragma unroll
        for (int i = 0; i < 8; i++)
            found[i] = 0;
        for (uint32_t l = part; l <= t; l += sharing) {
            if (l == 0)
                continue;
            Planes x;
            load_planes(coefficient(l), half, x);
            uint32_t equal = ~0u, any = 0;
#pragma unroll
            for (int i = 0; i < 7; i++)
                equal &= ~(k[i] ^ (0u - ((m - 2 * l) >> i & 1)));
#pragma unroll
            for (int i = 0; i < 8; i++)
                any |= x[i];
#pragma unroll
            for (int i = 0; i < 6; i++)
                found[i] |= equal & (0u - (l >> i & 1));
            found[6] |= equal & ~any;
        }
#pragma unroll
        for (int i = 0; i < 7; i++)
            found[i] = merge_lanes(found[i], [](uint32_t x, uint32_t y) { return x | y; });
    }

    /* Stores C, and the numerator behind it, as bytes. */
    __device__ void store(bool valued) const {
        for (uint32_t l = part; l < (valued ? 2 * t : t); l += sharing) {
            Planes x;
            load_planes(l < t ? coefficient(l + 1) : old_coefficient(l - t), half, x);
            transpose_bits(x);
            store_planes(row(l), 1, x);
        }
    }
};

/* As find_recurrences of locate_decode.cuh. */
static __device__ __noinline__ void find_recurrences_by_planes(const gfk_locate_code &code,
                                                               Shared &shared, bool valued) {
    extern __shared__ uint32_t words[];
    constexpr unsigned groups = 32 / sharing; /* of a warp */
    static_assert(GFK_LOCATE_LENGTH == 0x3f && GFK_LOCATE_ZERO_ROOT == 0x40, "");
    const unsigned warp = threadIdx.x / 32, warps = plane_warps(code.t);
    uint32_t *mine = words + states_at(code) + warp * plane_words(code.t);
    uint32_t unexplained = 0;
    for (unsigned first = warp * groups; warp < warps && first < tile_bytes / 32;
         first += warps * groups) {
        PlaneGroup group(code, mine, shared.slab.sums, first + threadIdx.x % groups);
        uint32_t k[7];
        Planes found;
        group.begin();
        group.find(k);
        group.normalize(valued);
        group.describe(k, found);
        group.store(valued);
        transpose_bits(found);
        uint32_t *left = shared.left + 8 * group.number;
        if (group.part == 0)
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const uint32_t asked = top_bit_mask<8>(left[i]);
                left[i] = found[i] & asked;
                unexplained += (uint32_t)__popc(~nonzero_bytes(found[i]) & asked & 0x80808080);
            }
        __syncwarp();
    }
    add_from_warp(&shared.found.unexplained, unexplained);
}

} // namespace locate
} // namespace gfk
