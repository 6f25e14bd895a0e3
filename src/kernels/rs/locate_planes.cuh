/* SPDX-License-Identifier: BSD-3-Clause */
/* The recurrences of many positions at once, for w = 8, as in host/rs/locate/planes.c: a plane has
 * 32 positions, and four lanes share the coefficients of their recurrences. */
#pragma once

#include "host/rs/locate/planes.h"
#include "locate_tiles.cuh"

namespace gfk {
namespace locate {

constexpr unsigned sharing = 4, groups = 32 / sharing; /* lanes of a group, and groups of a warp */

__device__ inline void load_planes(const uint4 *p, unsigned apart, gfk_plane *x) {
    unpack(p[0], x);
    unpack(p[apart], x + 4);
}
__device__ inline void store_planes(uint4 *p, unsigned apart, const gfk_plane *x) {
    p[0] = make_uint4(x[0], x[1], x[2], x[3]);
    p[apart] = make_uint4(x[4], x[5], x[6], x[7]);
}

/* Adds up what the lanes of a group bring. */
template <class Add>
__device__ inline gfk_plane merge_lanes(gfk_plane x, const Add &add) {
#pragma unroll
    for (unsigned other = groups; other < 32; other *= 2)
        x = add(x, __shfl_xor_sync(0xffffffff, x, other));
    return x;
}

/* The words of shared memory that a warp's groups take: C, then B, t + 1 coefficients each. And how
 * many warps work. */
__host__ __device__ inline uint32_t plane_words(uint32_t t) {
    return 2 * (t + 1) * 8 * groups;
}
__host__ __device__ inline uint32_t plane_warps(uint32_t t) {
    const uint32_t fits = state_bytes / (4 * plane_words(t));
    return fits < threads / 32 ? fits : threads / 32;
}

/* Lane `part` of 4 has the coefficients part, part + 4, ... The coefficients of a warp's groups lie
 * side by side, the planes 4 to 7 behind the planes 0 to 3. */
struct PlaneGroup {
    const unsigned part;
    const uint32_t m, t;
    uint4 *const c, *const b; /* in shared memory */
    uint8_t *const rows;      /* of the S_r, first bytes, then planes */
    uint32_t turn = 0;        /* coefficient l of B is in place (l + turn) mod (t + 1) */
    gfk_plane taps[8], excess[GFK_EXCESS_BITS] = {};

    __device__ PlaneGroup(const gfk_locate_code &code, uint32_t *words, uint8_t *rows)
        : part(threadIdx.x % 32 / groups), m(code.m), t(code.t),
          c((uint4 *)words + threadIdx.x % groups), b(c + (t + 1) * 2 * groups), rows(rows) {
        gfk_planes_taps(code.field.polynomial, taps);
    }

    __device__ uint4 *coefficient(uint32_t l) const { return c + 2 * groups * l; }
    __device__ uint4 *old_coefficient(uint32_t l) const {
        l += turn;
        return b + 2 * groups * (l > t ? l - t - 1 : l);
    }
    __device__ uint4 *row(uint32_t r) const { return (uint4 *)(rows + r * tile_bytes); }

    /* The terms first, first + step, ... of C_0 S_r + C_1 S_(r-1) + ... + C_last S_(r-last). */
    __device__ void convolve(uint32_t r, uint32_t first, uint32_t step, uint32_t last,
                             gfk_plane *d) const {
        gfk_plane sum[GFK_DEGREES], x[8], y[8];
        gfk_planes_clear(sum);
#pragma unroll 1
        for (uint32_t l = first; l <= last; l += step) {
            load_planes(row(r - l), 1, x);
            load_planes(coefficient(l), groups, y);
            gfk_planes_add_product(sum, x, y);
        }
        gfk_planes_reduce(taps, sum, d);
    }

    __device__ void begin() const {
        for (uint32_t l = part; l <= t; l += sharing) {
            const gfk_plane c0[8] = {l == 0 ? ~0u : 0}, b1[8] = {l == 1 ? ~0u : 0};
            store_planes(coefficient(l), groups, c0);
            store_planes(old_coefficient(l), groups, b1);
        }
        for (uint32_t r = part; r < m; r += sharing) {
            gfk_plane x[8];
            load_planes(row(r), 1, x);
            gfk_planes_transpose(x);
            store_planes(row(r), 1, x);
        }
    }

    __device__ void find() {
        gfk_plane scale[8] = {~0u}, d[8];
        uint32_t longest = 0; /* the largest L of the warp */
#pragma unroll 1
        for (uint32_t r = 0; r < m; r++) {
            __syncwarp();
            convolve(r, part, sharing, longest < r ? longest : r, d);
            gfk_plane grows = 0;
#pragma unroll
            for (int i = 0; i < 8; i++)
                grows |= d[i] = merge_lanes(d[i], [](uint32_t x, uint32_t y) { return x ^ y; });
            grows &= ~excess[GFK_EXCESS_BITS - 1];
            if (__any_sync(0xffffffff, grows != 0)) {
                uint32_t most = grows, bits = 0; /* where r - 2 L is largest, to become r + 1 - L */
#pragma unroll
                for (int i = GFK_EXCESS_BITS - 2; i >= 0; i--) {
                    const uint32_t set = most & excess[i];
                    if (__any_sync(0xffffffff, set != 0)) {
                        most = set;
                        bits |= 1u << i;
                    }
                }
                longest = max(longest, min((r + bits) / 2 + 1, t));
            }
            gfk_planes_step(excess, &grows);
#pragma unroll 1
            for (uint32_t l = part; l <= longest; l += sharing) {
                gfk_plane x[8], y[8] = {};
                load_planes(coefficient(l), groups, x);
                if (l != 0)
                    load_planes(old_coefficient(l), groups, y);
                gfk_planes_update(taps, x, y, scale, d, &grows);
                store_planes(coefficient(l), groups, x);
                store_planes(old_coefficient(l), groups, y);
            }
            gfk_planes_choose(scale, d, &grows);
            turn = turn == 0 ? t : turn - 1;
        }
        __syncwarp();
    }

    /* Stores C / C_0, then the numerator of that, as bytes in the rows; and the positions' bytes. */
    __device__ void finish(bool valued, gfk_plane *bytes) const {
        gfk_plane inverse[8], x[8];
        load_planes(coefficient(0), groups, inverse);
        gfk_planes_invert(taps, inverse);
#pragma unroll
        for (int i = 0; i < 8; i++)
            bytes[i] = 0;
        __syncwarp();
        for (uint32_t l = part; l <= t; l += sharing) {
            load_planes(coefficient(l), groups, x);
            gfk_planes_multiply(taps, x, inverse);
            store_planes(coefficient(l), groups, x);
            if (l != 0)
                gfk_planes_describe(excess, m, l, x, bytes);
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            bytes[i] = merge_lanes(bytes[i], [](uint32_t x, uint32_t y) { return x | y; });
        gfk_planes_transpose(bytes);
        __syncwarp();
        for (uint32_t d = part; d < t && valued; d += sharing) {
            convolve(d, 0, 1, d, x);
            store_planes(old_coefficient(d), groups, x);
        }
        __syncwarp();
        for (uint32_t l = part; l < (valued ? 2 * t : t); l += sharing) {
            load_planes(l < t ? coefficient(l + 1) : old_coefficient(l - t), groups, x);
            gfk_planes_transpose(x);
            store_planes(row(l), 1, x);
        }
    }
};

/* As find_recurrences of locate_decode.cuh. */
static __device__ __noinline__ void find_recurrences_by_planes(const gfk_locate_code &code,
                                                               Shared &shared, bool valued) {
    extern __shared__ uint32_t words[];
    const unsigned warp = threadIdx.x / 32, warps = plane_warps(code.t);
    uint32_t unexplained = 0;
    for (unsigned first = warp * groups; warp < warps && first < tile_bytes / 32;
         first += warps * groups) {
        const unsigned number = first + threadIdx.x % groups;
        PlaneGroup group(code, words + states_at(code) + warp * plane_words(code.t),
                         shared.slab.sums + 32 * number);
        gfk_plane bytes[8];
        group.begin();
        group.find();
        group.finish(valued, bytes);
        uint32_t *left = shared.left + 8 * number;
        if (group.part == 0)
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const uint32_t asked = top_bit_mask<8>(left[i]);
                left[i] = bytes[i] & asked;
                unexplained += (uint32_t)__popc(~nonzero_bytes(bytes[i]) & asked & 0x80808080);
            }
        __syncwarp();
    }
    add_from_warp(&shared.found.unexplained, unexplained);
}

} // namespace locate
} // namespace gfk
