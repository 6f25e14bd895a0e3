/* SPDX-License-Identifier: BSD-3-Clause */
/* Which codes are generalized Reed-Solomon codes? Those with distinct points p_i and nonzero
 * multipliers v_i such that the sum over i of v_i p_i^r c_i is 0 for r < m and every codeword c. */
#include "host/rs/code.h"
#include "locate.h"

/* Is c one of the finite points? */
static bool is_point(uint32_t c, size_t n, const uint32_t *points, size_t infinity) {
    for (size_t i = 0; i < n; i++)
        if (i != infinity && points[i] == c)
            return true;
    return false;
}

/* Maps each point x to 1 / (x + c), where c is no point. Then all points are finite, and the code
 * is still a generalized Reed-Solomon code. */
static void move_infinity(const gfk_arithmetic *f, size_t n, uint32_t *points, size_t infinity) {
    uint32_t c = (uint32_t)(n - 1); /* one of 0 to n - 1 is none of the n - 1 finite points */
    while (is_point(c, n, points, infinity))
        c--;
    for (size_t i = 0; i < n; i++)
        points[i] = i == infinity ? 0 : gfk_inverse(f, points[i] ^ c);
}

/* The product of x + q over the points q of parity except x. */
static uint32_t distance(const gfk_arithmetic *f, uint32_t x, size_t m, const uint32_t *parity) {
    uint32_t product = 1;
    for (size_t j = 0; j < m; j++)
        if (parity[j] != x)
            product = gfk_times(f, product, x ^ parity[j]);
    return product;
}

/* Let M be the matrix, q_j the points of parity and Q(x) the product of all x + q_j. The equations
 * of the codeword whose only data symbol is c_i = 1, solved by Lagrange's interpolation, are
 *     v_(k+j) M_ji = v_i Q(p_i) / ((p_i + q_j) Q'(q_j)).
 * Set v_0 = 1: column 0 gives the multipliers of parity. The equation with r = 0, which is
 * v_i = sum over j of v_(k+j) M_ji, gives those of data. Then all elements are checked. */
bool gfk_grs_find(const gfk_arithmetic *f, const gfk_rs_info *info, const uint32_t *matrix,
                  uint32_t *points, uint32_t *multipliers) {
    const size_t k = info->k, m = info->m;
    size_t infinity = 0;
    if (!gfk_rs_known_points(info, matrix, points, &infinity))
        return false;
    if (infinity < k + m)
        move_infinity(f, k + m, points, infinity);
    const uint32_t *parity = points + k;
    uint32_t *v = multipliers;
    const uint32_t first = distance(f, points[0], m, parity);
    for (size_t j = 0; j < m; j++) {
        const uint32_t part = gfk_times(f, points[0] ^ parity[j], matrix[j * k]);
        if (part == 0)
            return false;
        v[k + j] = gfk_quotient(f, first, gfk_times(f, part, distance(f, parity[j], m, parity)));
    }
    for (size_t i = 0; i < k; i++) {
        v[i] = 0;
        for (size_t j = 0; j < m; j++)
            v[i] ^= gfk_times(f, v[k + j], matrix[j * k + i]);
        if (v[i] == 0)
            return false;
        /* v_(k+j) Q'(q_j) is first / part; with it the equation needs no division. */
        const uint32_t all = gfk_times(f, v[i], distance(f, points[i], m, parity));
        for (size_t j = 0; j < m; j++) {
            const uint32_t part = gfk_times(f, points[0] ^ parity[j], matrix[j * k]);
            const uint32_t left = gfk_times(f, points[i] ^ parity[j], matrix[j * k + i]);
            if (gfk_times(f, left, first) != gfk_times(f, all, part))
                return false;
        }
    }
    return true;
}
