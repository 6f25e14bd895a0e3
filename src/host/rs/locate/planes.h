/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of GF(2^8) on 256 symbols at once. Plane b of eight planes has bit b of every symbol.
 * 64 ANDs and XORs multiply one pair of symbols for each bit of a plane. */
#ifndef GFK_HOST_RS_LOCATE_PLANES_H
#define GFK_HOST_RS_LOCATE_PLANES_H

#include <stdint.h>

#define GFK_PLANE(byte)                                                                            \
    ((gfk_plane){(byte) * UINT64_C(0x0101010101010101), (byte) * UINT64_C(0x0101010101010101),     \
                 (byte) * UINT64_C(0x0101010101010101), (byte) * UINT64_C(0x0101010101010101)})
typedef uint64_t gfk_plane __attribute__((vector_size(32), may_alias));

/* Planes stay in registers if all loops over them are unrolled. */
#ifdef __clang__
#define EACH_PLANE
#else
#define EACH_PLANE _Pragma("GCC unroll 16")
#endif

enum { GFK_DEGREES = 15 }; /* terms of a product before the reduction */

/* Returns all ones if the polynomial has the term. */
static inline void gfk_planes_taps(uint32_t polynomial, gfk_plane *taps) {
    EACH_PLANE
    for (int i = 0; i < 8; i++)
        taps[i] = polynomial >> i & 1 ? GFK_PLANE(0xff) : GFK_PLANE(0);
}

static inline void gfk_planes_copy(gfk_plane *to, const gfk_plane *from) {
    EACH_PLANE
    for (int i = 0; i < 8; i++)
        to[i] = from[i];
}

/* Sets `to` to `from` where the mask is set. */
static inline void gfk_planes_choose(gfk_plane *to, const gfk_plane *from, const gfk_plane *mask) {
    EACH_PLANE
    for (int i = 0; i < 8; i++)
        to[i] = (from[i] & *mask) | (to[i] & ~*mask);
}

/* Begins a sum of products. */
static inline void gfk_planes_clear(gfk_plane *sum) {
    EACH_PLANE
    for (int i = 0; i < GFK_DEGREES; i++)
        sum[i] = GFK_PLANE(0);
}
static inline void gfk_planes_add_product(gfk_plane *sum, const gfk_plane *a, const gfk_plane *b) {
    EACH_PLANE
    for (int i = 0; i < 8; i++) {
        EACH_PLANE
        for (int j = 0; j < 8; j++)
            sum[i + j] ^= a[i] & b[j];
    }
}
static inline void gfk_planes_reduce(const gfk_plane *taps, gfk_plane *sum, gfk_plane *x) {
    EACH_PLANE
    for (int high = GFK_DEGREES - 1; high >= 8; high--) {
        EACH_PLANE
        for (int i = 0; i < 8; i++)
            sum[high - 8 + i] ^= sum[high] & taps[i];
    }
    gfk_planes_copy(x, sum);
}

/* a *= b */
static inline void gfk_planes_multiply(const gfk_plane *taps, gfk_plane *a, const gfk_plane *b) {
    gfk_plane sum[GFK_DEGREES];
    gfk_planes_clear(sum);
    gfk_planes_add_product(sum, a, b);
    gfk_planes_reduce(taps, sum, a);
}

/* Computes a^254 by squares and products in turn. */
static inline void gfk_planes_invert(const gfk_plane *taps, gfk_plane *a) {
    gfk_plane x[8], square[GFK_DEGREES];
    gfk_planes_copy(x, a);
    for (int step = 0; step < 7; step++) {
        gfk_planes_clear(square);
        EACH_PLANE
        for (int i = 0; i < 8; i++)
            square[2 * i] = x[i];
        gfk_planes_reduce(taps, square, x);
        if (step < 6)
            gfk_planes_multiply(taps, x, a);
    }
    gfk_planes_copy(a, x);
}

/* Converts bytes in a row to planes, and planes to bytes: both transpose 8 x 8 bits everywhere. */
static inline void gfk_planes_transpose(gfk_plane *x) {
    EACH_PLANE
    for (int level = 0; level < 3; level++) {
        const int apart = 4 >> level;
        const gfk_plane mask = apart == 4   ? GFK_PLANE(0x0f)
                               : apart == 2 ? GFK_PLANE(0x33)
                                            : GFK_PLANE(0x55);
        EACH_PLANE
        for (int i = 0; i < 8; i++) {
            if ((i & apart) != 0)
                continue;
            const gfk_plane different = (x[i] >> apart ^ x[i + apart]) & mask;
            x[i + apart] ^= different;
            x[i] ^= different << apart;
        }
    }
}

/* ---- recurrences ---------------------------------------------------------------------------- */

/* The algorithm of Berlekamp and Massey as in gfk_berlekamp_massey, but all positions make the same
 * steps, and no step divides. C and B are multiples of the polynomials of gfk_berlekamp_massey. C
 * becomes b C + d x^shift B, where d is the present discrepancy and b the discrepancy at the last
 * change of L. A position stores r - 2 L instead of L, in two's complement: the number grows by 1
 * with r, and a change of L inverts all its bits. */
enum { GFK_EXCESS_BITS = 7 };

/* `grows`: the positions where L changes. */
static inline void gfk_planes_step(gfk_plane *excess, const gfk_plane *grows) {
    gfk_plane carry = ~*grows;
    EACH_PLANE
    for (int i = 0; i < GFK_EXCESS_BITS; i++) {
        const gfk_plane old = excess[i];
        excess[i] ^= carry | *grows;
        carry &= old;
    }
}

/* Updates coefficient l of C and B, and makes one more step; x^shift B has no coefficient 0. */
static inline void gfk_planes_update(const gfk_plane *taps, gfk_plane *c, gfk_plane *b,
                                     const gfk_plane *scale, const gfk_plane *d,
                                     const gfk_plane *grows) {
    gfk_plane sum[GFK_DEGREES];
    gfk_planes_clear(sum);
    gfk_planes_add_product(sum, c, scale);
    gfk_planes_add_product(sum, b, d);
    gfk_planes_choose(b, c, grows);
    gfk_planes_reduce(taps, sum, c);
}

/* Adds to the bytes of the positions, as defined by gfk_locate_recurrence, those with L = l, whose
 * C_l is given. */
static inline void gfk_planes_describe(const gfk_plane *excess, uint32_t m, uint32_t l,
                                       const gfk_plane *c, gfk_plane *bytes) {
    gfk_plane equal = GFK_PLANE(0xff), any = GFK_PLANE(0);
    EACH_PLANE
    for (int i = 0; i < GFK_EXCESS_BITS; i++)
        equal &= (m - 2 * l) >> i & 1 ? excess[i] : ~excess[i];
    EACH_PLANE
    for (int i = 0; i < 8; i++)
        any |= c[i];
    EACH_PLANE
    for (int i = 0; i < 6; i++)
        bytes[i] |= l >> i & 1 ? equal : GFK_PLANE(0);
    bytes[6] |= equal & ~any;
}

#undef EACH_PLANE
#endif
