/* SPDX-License-Identifier: BSD-3-Clause */
/* Which symbols at one position are wrong? The host's loop and the kernels call the same functions,
 * so a test of one also tests the other.
 *
 * The plain syndromes s_j = parity_j + sum of matrix[j][i] * data_i depend only on the errors.
 * docs/rs/locate.md explains how the errors are found from them. */
#ifndef GFK_HOST_RS_LOCATE_POSITION_H
#define GFK_HOST_RS_LOCATE_POSITION_H

#include "host/base/arithmetic.h"

/* The tables of a code that locating needs, in the memory of the device or of the host. */
typedef struct gfk_locate_code {
    gfk_arithmetic field; /* has no logarithms on a device */
    gfk_barrett barrett;
    uint32_t k, m, t;
    const uint32_t *matrix; /* m * k elements; only on the host */
    /* On a device: the m checks that are 0 for a codeword, which are the S_r of a code with points,
     * else (matrix | 1). Coefficient j of region i is checks[i * pitch + j]. */
    const uint32_t *checks;
    uint32_t pitch;
    /* A generalized Reed-Solomon code: for all r < m the sum over i < k + m of v[i] * points[i]^r *
     * c[i] is 0, where c are the symbols at one position. points is NULL if the code is decoded by
     * a search. */
    const uint32_t *points;     /* k + m points, all different */
    const uint32_t *v_parity;   /* v[k] to v[k + m - 1]; only on the host */
    const uint32_t *v_inverses; /* 1 / v[i], k + m elements */
    /* points[i]^e is powers[e * powers_pitch + i], for e = 0 to t. NULL: no product searches
     * roots. */
    const uint32_t *powers;
    uint32_t powers_pitch;
    /* If y^2 + y = c has a solution, one solution is the sum of quadratic[256 * b + byte] over the
     * bytes b of c. The table has w / 8 * 256 words. */
    const uint32_t *quadratic;
    const gfk_inverter *inverter; /* not NULL if `field` has no logarithms */
    const uint32_t *reduced; /* for w = 32 on the host: entry 256 * b + v is v * x^(32 + 8 * b) */
    const uint8_t *products; /* for w = 8 on the host: the products of all pairs */
} gfk_locate_code;

/* Returns the coefficient of region i in check j. */
GFK_HOST_DEVICE uint32_t gfk_check_element(const gfk_locate_code *c, uint32_t j, uint32_t i) {
    if (c->checks != NULL)
        return c->checks[(size_t)i * c->pitch + j];
    return i < c->k ? c->matrix[(size_t)j * c->k + i] : (uint32_t)(i - c->k == j);
}

/* a * b as polynomials of 32 terms over GF(2), by integer products. Factors with every fourth term
 * only have room for the carries: at most 8 terms are added up in the four bits of each. */
static inline uint64_t gfk_carryless_32(uint32_t a, uint32_t b) {
    const uint64_t ones = UINT64_C(0x1111111111111111);
    const uint32_t m = (uint32_t)ones;
    const uint64_t a0 = a & m, a1 = a & m << 1, a2 = a & m << 2, a3 = a & m << 3;
    const uint64_t b0 = b & m, b1 = b & m << 1, b2 = b & m << 2, b3 = b & m << 3;
    return ((a0 * b0 ^ a1 * b3 ^ a2 * b2 ^ a3 * b1) & ones) |
           ((a0 * b1 ^ a1 * b0 ^ a2 * b3 ^ a3 * b2) & ones << 1) |
           ((a0 * b2 ^ a1 * b1 ^ a2 * b0 ^ a3 * b3) & ones << 2) |
           ((a0 * b3 ^ a1 * b2 ^ a2 * b1 ^ a3 * b0) & ones << 3);
}

/* The products of the field. gfk_locate_add adds a product to a sum, and gfk_locate_reduce converts
 * the sum to a symbol. On a device a sum is a sum of carry-less products that are not reduced
 * yet. */
#ifdef __CUDA_ARCH__
static __device__ inline uint64_t gfk_locate_add(const gfk_locate_code *, uint64_t sum, uint32_t a,
                                                 uint32_t b) {
    return gfk::clmad(a, b, sum);
}
static __device__ inline uint32_t gfk_locate_reduce(const gfk_locate_code *c, uint64_t sum) {
    const unsigned w = c->field.w;
    const uint64_t quotient = gfk::clmad(sum >> w, c->barrett.quotient, 0) >> w;
    return (uint32_t)gfk::clmad(quotient, c->barrett.polynomial, sum) & (0xffffffffu >> (32 - w));
}
static __device__ inline uint32_t gfk_locate_times(const gfk_locate_code *c, uint32_t a,
                                                   uint32_t b) {
    return gfk_locate_reduce(c, gfk_locate_add(c, 0, a, b));
}
#else
static inline uint32_t gfk_locate_times(const gfk_locate_code *c, uint32_t a, uint32_t b) {
    if (c->products != NULL)
        return c->products[a << 8 | b];
    if (c->reduced == NULL)
        return gfk_times(&c->field, a, b);
    const uint64_t product = gfk_carryless_32(a, b);
    const uint32_t *r = c->reduced, high = (uint32_t)(product >> 32);
    return (uint32_t)product ^ r[high & 0xff] ^ r[256 + (high >> 8 & 0xff)] ^
           r[512 + (high >> 16 & 0xff)] ^ r[768 + (high >> 24)];
}
static inline uint64_t gfk_locate_add(const gfk_locate_code *c, uint64_t sum, uint32_t a,
                                      uint32_t b) {
    return sum ^ gfk_locate_times(c, a, b);
}
static inline uint32_t gfk_locate_reduce(const gfk_locate_code *c, uint64_t sum) {
    (void)c;
    return (uint32_t)sum;
}
#endif

/* Returns 1 / a for a != 0: gfk_invert with the products above. */
GFK_HOST_DEVICE uint32_t gfk_locate_inverse(const gfk_locate_code *c, uint32_t a) {
    const unsigned w = c->field.w;
    const gfk_inverter *t = c->inverter;
    if (t == NULL)
        return gfk_inverse(&c->field, a);
    if (w == 8)
        return t->inverses[a];
    uint32_t factor = 1;
    if (w == 32) {
        factor = gfk_nibbles_times(&t->conjugate_16, w, a);
        a = gfk_locate_times(c, a, factor);
    }
    const uint32_t conjugate = gfk_nibbles_times(&t->conjugate_8, w, a);
    const uint32_t norm = gfk_locate_times(c, a, conjugate);
    const uint32_t inverse = t->inverses[gfk_nibbles_times(&t->number, w, norm)];
    const uint32_t quotient = gfk_locate_times(c, conjugate, inverse);
    return w == 32 ? gfk_locate_times(c, quotient, factor) : quotient;
}

GFK_HOST_DEVICE uint32_t gfk_locate_quotient(const gfk_locate_code *c, uint32_t a, uint32_t b) {
    return gfk_locate_times(c, a, gfk_locate_inverse(c, b)); /* b != 0 */
}

/* The scratch words of one position: the m syndromes, then the result. Words are `stride` words
 * apart, so that threads can interleave their words. */
typedef struct gfk_locate_state {
    uint32_t *words;
    uint32_t stride;
} gfk_locate_state;

GFK_HOST_DEVICE uint32_t *gfk_word(gfk_locate_state s, uint32_t i) {
    return s.words + (size_t)i * s.stride;
}

/* Sets error e of the result: the region, and the value to add to its symbol. */
GFK_HOST_DEVICE uint32_t *gfk_error_region(const gfk_locate_code *c, gfk_locate_state s,
                                           uint32_t e) {
    return gfk_word(s, c->m + 2 * e);
}
GFK_HOST_DEVICE uint32_t *gfk_error_value(const gfk_locate_code *c, gfk_locate_state s,
                                          uint32_t e) {
    return gfk_word(s, c->m + 2 * e + 1);
}

/* ---- generalized Reed-Solomon codes --------------------------------------------------------- */

/* Computes S_r = sum over the errors e of v * p^r * e from the plain syndromes, into words m to
 * 2m - 1. */
static inline void gfk_locate_syndromes(const gfk_locate_code *c, gfk_locate_state s) {
    for (uint32_t j = 0; j < c->m; j++)
        *gfk_word(s, j) = gfk_locate_times(c, *gfk_word(s, j), c->v_parity[j]);
    for (uint32_t r = 0; r < c->m; r++) {
        uint32_t sum = 0;
        for (uint32_t j = 0; j < c->m; j++) {
            uint32_t *term = gfk_word(s, j);
            sum ^= *term;
            *term = gfk_locate_times(c, *term, c->points[c->k + j]);
        }
        *gfk_word(s, c->m + r) = sum;
    }
}

/* Finds the shortest recurrence S_r = C_1 S_(r-1) + ... + C_L S_(r-L), by the algorithm of
 * Berlekamp and Massey. Returns L, or 0 if L exceeds t. C_l is word l - 1. Words t to 2t - 1 are B,
 * the polynomial C before the last change of L; the constant term of both is 1. A point 0 makes C_L
 * zero, but counts in L. */
GFK_HOST_DEVICE uint32_t gfk_berlekamp_massey(const gfk_locate_code *c, gfk_locate_state s) {
    /* inverse: of the discrepancy at the last change of L */
    uint32_t length = 0, shift = 1, inverse = 1;
    for (uint32_t i = 0; i < 2 * c->t; i++)
        *gfk_word(s, i) = 0;
    for (uint32_t r = 0; r < c->m; r++) {
        uint64_t sum = *gfk_word(s, c->m + r);
        for (uint32_t l = 1; l <= length; l++)
            sum = gfk_locate_add(c, sum, *gfk_word(s, l - 1), *gfk_word(s, c->m + r - l));
        const uint32_t discrepancy = gfk_locate_reduce(c, sum);
        if (discrepancy == 0) {
            shift++;
            continue;
        }
        const bool grows = 2 * length <= r;
        if (grows && r + 1 - length > c->t)
            return 0;
        /* C -= discrepancy * inverse * x^shift * B, and B becomes the old C. The loop counts down,
         * because B is read `shift` words below the word that is written. */
        const uint32_t factor = gfk_locate_times(c, discrepancy, inverse);
        for (uint32_t l = grows ? r + 1 - length : length; l >= 1; l--) {
            const uint32_t old = *gfk_word(s, l - 1);
            if (l >= shift)
                *gfk_word(s, l - 1) ^=
                    l == shift ? factor
                               : gfk_locate_times(c, *gfk_word(s, c->t + l - shift - 1), factor);
            if (grows)
                *gfk_word(s, c->t + l - 1) = old;
        }
        if (grows) {
            length = r + 1 - length;
            inverse = gfk_locate_inverse(c, discrepancy);
            shift = 0;
        }
        shift++;
    }
    return length;
}

/* Returns the region with this point, or k + m if there is none. Most matrices have the points 0,
 * 1, 2, ... */
GFK_HOST_DEVICE uint32_t gfk_locate_point(const gfk_locate_code *c, uint32_t point) {
    const uint32_t n = c->k + c->m;
    if (point < n && c->points[point] == point)
        return point;
    uint32_t i = 0;
    while (i < n && c->points[i] != point)
        i++;
    return i;
}

/* Writes a result of one or two errors: the points, and v times the errors, or NULL if the values
 * are not needed. Returns `count`, or 0 if a point belongs to no region. */
GFK_HOST_DEVICE uint32_t gfk_locate_few(const gfk_locate_code *c, gfk_locate_state s,
                                        uint32_t count, const uint32_t *points,
                                        const uint32_t *values) {
    for (uint32_t e = 0; e < count; e++) {
        const uint32_t i = gfk_locate_point(c, points[e]);
        if (i == c->k + c->m)
            return 0;
        *gfk_error_region(c, s, e) = i;
        if (values != NULL)
            *gfk_error_value(c, s, e) = gfk_locate_times(c, values[e], c->v_inverses[i]);
    }
    return count;
}

/* For t = 1 and 2 the recurrence and its roots have formulas. One error at point p: S_r = p
 * S_(r-1). Two errors: S_r = C_1 S_(r-1) + C_2 S_(r-2); r = 2 and r = 3 give two equations whose
 * determinant is not 0. The substitution z = C_1 y gives the quadratic equation y^2 + y = C_2 /
 * C_1^2. */
GFK_HOST_DEVICE uint32_t gfk_locate_by_formulas(const gfk_locate_code *c, gfk_locate_state s,
                                                bool valued) {
    const uint32_t s0 = *gfk_word(s, c->m), s1 = *gfk_word(s, c->m + 1);
    const uint32_t s2 = c->m > 2 ? *gfk_word(s, c->m + 2) : 0;
    const uint32_t s3 = c->m > 3 ? *gfk_word(s, c->m + 3) : 0;
    const uint32_t determinant =
        c->m == 2 ? 0
                  : gfk_locate_times(c, s0, s2) ^
                        gfk_locate_times(c, s1, s1); /* 0 if there is one error */
    if (determinant == 0) {
        if (s0 == 0)
            return 0;
        const uint32_t point = gfk_locate_quotient(c, s1, s0);
        for (uint32_t r = 2; r < c->m; r++)
            if (*gfk_word(s, c->m + r) != gfk_locate_times(c, point, *gfk_word(s, c->m + r - 1)))
                return 0;
        return gfk_locate_few(c, s, 1, &point, valued ? &s0 : NULL);
    }
    const uint32_t first =
        gfk_locate_times(c, s1, s2) ^ gfk_locate_times(c, s0, s3); /* C_1 * determinant */
    if (c->t == 1 || first == 0)
        return 0;
    const uint32_t inverse = gfk_locate_inverse(c, gfk_locate_times(c, determinant, first));
    const uint32_t scale = gfk_locate_times(c, inverse, first); /* 1 / determinant */
    const uint32_t c1 = gfk_locate_times(c, first, scale);
    const uint32_t c2 =
        gfk_locate_times(c, gfk_locate_times(c, s2, s2) ^ gfk_locate_times(c, s1, s3), scale);
    const uint32_t c1_inverse =
        gfk_locate_times(c, gfk_locate_times(c, inverse, determinant), determinant);
    if (c->m == 5 &&
        *gfk_word(s, c->m + 4) != (gfk_locate_times(c, c1, s3) ^ gfk_locate_times(c, c2, s2)))
        return 0;
    const uint32_t right = gfk_locate_times(c, gfk_locate_times(c, c2, c1_inverse), c1_inverse);
    uint32_t y = 0;
    for (uint32_t b = 0; b < c->field.w / 8; b++)
        y ^= c->quadratic[256 * b + (right >> (8 * b) & 0xff)];
    if ((gfk_locate_times(c, y, y) ^ y) != right)
        return 0;
    const uint32_t point = gfk_locate_times(c, c1, y);
    const uint32_t points[] = {point ^ c1, point};
    if (!valued)
        return gfk_locate_few(c, s, 2, points, NULL);
    const uint32_t value = gfk_locate_times(c, s1 ^ gfk_locate_times(c, points[1], s0), c1_inverse);
    const uint32_t values[] = {value, s0 ^ value};
    return gfk_locate_few(c, s, 2, points, values);
}

/* The errors are the partial fractions of sum of S_r z^(-r-1) = N(z) / C'(z), where C'(z) = z^L +
 * C_1 z^(L-1) + ... + C_L has the points of the wrong symbols as its roots. The recurrence holds
 * for all m syndromes, so L different points among the roots explain all syndromes. No error is 0,
 * because otherwise there would be a shorter recurrence: the regions are known without the values.
 *
 * N: word t + d becomes the coefficient of z^(L-1-d), in place of B. */
GFK_HOST_DEVICE void gfk_locate_numerator(const gfk_locate_code *c, gfk_locate_state s,
                                          uint32_t length) {
    for (uint32_t d = 0; d < length; d++) {
        uint64_t sum = *gfk_word(s, c->m + d);
        for (uint32_t a = 1; a <= d; a++)
            sum = gfk_locate_add(c, sum, *gfk_word(s, a - 1), *gfk_word(s, c->m + d - a));
        *gfk_word(s, c->t + d) = gfk_locate_reduce(c, sum);
    }
}

/* Returns the value of the error of region i, whose point is one of the L roots. */
GFK_HOST_DEVICE uint32_t gfk_locate_value(const gfk_locate_code *c, gfk_locate_state s,
                                          uint32_t length, uint32_t i) {
    const uint32_t point = c->points[i];
    uint32_t value = 1, slope = 0, numerator = 0;
    for (uint32_t l = 1; l <= length; l++) {
        slope = gfk_locate_times(c, slope, point) ^ value;
        value = gfk_locate_times(c, value, point) ^ *gfk_word(s, l - 1);
        numerator = gfk_locate_times(c, numerator, point) ^ *gfk_word(s, c->t + l - 1);
    }
    return gfk_locate_times(c, gfk_locate_quotient(c, numerator, slope), c->v_inverses[i]);
}

/* Finds the regions of the roots, and returns the number of regions. C' is divided by z - p for
 * each root p; the quotient is in the words of the values. The last root is the constant term of
 * the last quotient. */
GFK_HOST_DEVICE uint32_t gfk_locate_roots(const gfk_locate_code *c, gfk_locate_state s,
                                          uint32_t length) {
    for (uint32_t l = 0; l < length; l++)
        *gfk_error_value(c, s, l) = *gfk_word(s, l);
    uint32_t found = 0;
    for (uint32_t i = 0; i < c->k + c->m && found < length; i++) {
        const uint32_t point = c->points[i], left = length - found;
        uint32_t value = 1;
        for (uint32_t l = 0; l < left; l++)
            value =
                (left == 1 ? point : gfk_locate_times(c, value, point)) ^ *gfk_error_value(c, s, l);
        if (value != 0)
            continue;
        value = 1;
        for (uint32_t l = 0; l + 1 < left; l++) {
            value = gfk_locate_times(c, value, point) ^ *gfk_error_value(c, s, l);
            *gfk_error_value(c, s, l) = value;
        }
        *gfk_error_region(c, s, found) = i;
        found++;
    }
    return found;
}

/* Decodes a position from the S_r in words m to 2m - 1, for any t. `valued`: also computes the
 * values of the errors. */
GFK_HOST_DEVICE uint32_t gfk_locate_by_recurrence(const gfk_locate_code *c, gfk_locate_state s,
                                                  bool valued) {
    const uint32_t length = gfk_berlekamp_massey(c, s);
    if (valued)
        gfk_locate_numerator(c, s, length);
    const uint32_t found = gfk_locate_roots(c, s, length);
    if (found < length) /* the other roots belong to no region, or are double */
        return 0;
    for (uint32_t e = 0; e < found && valued; e++)
        *gfk_error_value(c, s, e) = gfk_locate_value(c, s, length, *gfk_error_region(c, s, e));
    return found;
}

/* Does the same by formulas, if t has formulas. */
GFK_HOST_DEVICE bool gfk_locate_has_formulas(uint32_t t) {
    return t <= 2;
}
GFK_HOST_DEVICE uint32_t gfk_locate_by_sums(const gfk_locate_code *c, gfk_locate_state s,
                                            bool valued) {
    return gfk_locate_has_formulas(c->t) ? gfk_locate_by_formulas(c, s, valued)
                                         : gfk_locate_by_recurrence(c, s, valued);
}

/* For many positions at once a product finds the roots. z^(t-L) C'(z) - z^t at all points is
 * computed from words 0 to t - 1, times p^(t-1), ..., p, 1 for each region. A point is a root where
 * the value is p^t, and point 0 is a root where C_L = 0. Returns L, with the bit `zero_root` if 0
 * is a root. */
GFK_HOST_DEVICE uint32_t gfk_locate_recurrence(const gfk_locate_code *c, gfk_locate_state s,
                                               bool valued, uint32_t zero_root) {
    const uint32_t length = gfk_berlekamp_massey(c, s);
    if (length == 0)
        return 0;
    if (valued)
        gfk_locate_numerator(c, s, length);
    return length | (*gfk_word(s, length - 1) == 0 ? zero_root : 0);
}

#endif
