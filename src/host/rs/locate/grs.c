/* SPDX-License-Identifier: BSD-3-Clause */
/* A code with known points as a generalized Reed-Solomon code: distinct points p_i and nonzero
 * multipliers v_i such that the sum over i of v_i p_i^r c_i is 0 for r < m and every codeword c. */
#include <string.h>

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
 * is still a generalized Reed-Solomon code. The map divides the sum of two points by x + c of both
 * points, which is 1 for the point at infinity. The scales compensate for these factors. */
static void move_infinity(gfk_rs_t code, uint32_t *points, uint32_t *scales) {
    const gfk_arithmetic *f = &code->arithmetic;
    const size_t k = code->info.k, n = k + code->info.m, infinity = code->points.infinity;
    /* one of the numbers 0 to n - 1 is not among the n - 1 finite points */
    uint32_t c = (uint32_t)(n - 1);
    while (is_point(c, n, points, infinity))
        c--;
    for (size_t i = 0; i < n; i++) {
        const uint32_t divisor = i == infinity ? 1 : points[i] ^ c;
        points[i] = i == infinity ? 0 : gfk_inverse(f, divisor);
        scales[i] = i < k ? gfk_quotient(f, scales[i], divisor) : gfk_times(f, scales[i], divisor);
    }
}

/* Returns the product of x + q over the points q of parity except x. */
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
 * M_ji is s_i / ((p_i + q_j) s_j), so v_i = s_i / Q(p_i) and v_(k+j) = s_j / Q'(q_j). */
bool gfk_grs_find(gfk_rs_t code, uint32_t *points, uint32_t *multipliers) {
    const size_t k = code->info.k, m = code->info.m;
    if (code->points.points == NULL)
        return false;
    memcpy(points, code->points.points, (k + m) * sizeof *points);
    memcpy(multipliers, code->points.scales, (k + m) * sizeof *multipliers);
    if (code->points.infinity < k + m)
        move_infinity(code, points, multipliers);
    for (size_t i = 0; i < k + m; i++)
        multipliers[i] = gfk_quotient(&code->arithmetic, multipliers[i],
                                      distance(&code->arithmetic, points[i], m, points + k));
    return true;
}
