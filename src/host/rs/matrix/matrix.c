/* SPDX-License-Identifier: BSD-3-Clause */
/* The named matrices, by their formulas; docs/rs/matrices.md explains them. */
#include "cauchy_good.h"
#include "host/base/arithmetic.h"
#include "host/base/cauchy.h"
#include "host/base/field.h"
#include "host/rs/code.h"

const char *gfk_rs_matrix_name(gfk_rs_matrix matrix) {
    static const char *const names[] = {[GFK_RS_CAUCHY] = "cauchy",
                                        [GFK_RS_VANDERMONDE] = "vandermonde",
                                        [GFK_RS_REED_SOL_VAN] = "reed_sol_van",
                                        [GFK_RS_CAUCHY_GOOD] = "cauchy_good",
                                        [GFK_RS_GEN_RS] = "gen_rs",
                                        [GFK_RS_GEN_CAUCHY1] = "gen_cauchy1",
                                        [GFK_RS_CUSTOM] = "custom"};
    const size_t i = (size_t)matrix;
    return i < sizeof names / sizeof names[0] ? names[i] : "unknown";
}

/* The product of point ^ l over all l < count except l = except. */
static uint32_t distance(const gfk_arithmetic *f, uint32_t point, size_t count, size_t except) {
    uint32_t product = 1;
    for (size_t l = 0; l < count; l++)
        if (l != except)
            product = gfk_times(f, product, point ^ (uint32_t)l);
    return product;
}

/* The rows r^0, r^1, ... times the inverse of the first k rows. Row j has the values of the
 * Lagrange polynomials of the points 0 to k - 1 at r = k + j. */
static void fill_vandermonde(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix) {
    for (size_t i = 0; i < k;
         i++) /* the first row holds the denominators until it is computed last */
        matrix[i] = gfk_inverse(f, distance(f, (uint32_t)i, k, i));
    for (size_t j = m; j-- > 0;) {
        const uint32_t point = (uint32_t)(k + j), all = distance(f, point, k, k);
        for (size_t i = 0; i < k; i++)
            matrix[j * k + i] = gfk_times(f, matrix[i], gfk_quotient(f, all, point ^ (uint32_t)i));
    }
}

/* The Vandermonde matrix with the row of the point at infinity, 0 ... 0 1, as its last row, times
 * the inverse of the first k rows. Then columns are scaled so that the first parity row has only
 * ones, and the other rows so that the first column has only ones. The Lagrange quotients become (k
 * ^ i) / k * r / (r ^ i) for j > 0; the last two factors are 1 at infinity. */
static void fill_reed_sol_van(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix) {
    for (size_t i = 0; i < k; i++)
        matrix[i] = 1;
    for (size_t j = 1; j < m; j++) {
        const uint32_t point = (uint32_t)(k + j);
        for (size_t i = 0; i < k; i++) {
            uint32_t *x = &matrix[j * k + i];
            *x = gfk_quotient(f, (uint32_t)(k ^ i), (uint32_t)k);
            if (j < m - 1)
                *x = gfk_times(f, *x, gfk_quotient(f, point, point ^ (uint32_t)i));
        }
    }
}

/* Powers of 2^j. */
static void fill_gen_rs(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix) {
    uint32_t base = 1;
    for (size_t j = 0; j < m; j++) {
        uint32_t power = 1;
        for (size_t i = 0; i < k; i++) {
            matrix[j * k + i] = power;
            power = gfk_times(f, power, base);
        }
        base = gfk_times(f, base, 2);
    }
}

static gfk_status fill_computed(const gfk_field *field, gfk_rs_matrix which, size_t k, size_t m,
                                uint32_t *matrix) {
    gfk_arithmetic f;
    gfk_status status = gfk_arithmetic_create(&f, field);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    if (which == GFK_RS_VANDERMONDE)
        fill_vandermonde(&f, k, m, matrix);
    else if (which == GFK_RS_REED_SOL_VAN)
        fill_reed_sol_van(&f, k, m, matrix);
    else if (which == GFK_RS_GEN_RS)
        fill_gen_rs(&f, k, m, matrix);
    else
        status = gfk_fill_cauchy_good(&f, k, m, matrix);
    gfk_arithmetic_destroy(&f);
    return status;
}

gfk_status gfk_rs_fill_matrix(const gfk_field *field, gfk_rs_matrix which, size_t k, size_t m,
                              uint32_t *matrix) {
    if (matrix == NULL || k == 0 || m == 0 || (unsigned)which >= GFK_RS_CUSTOM ||
        !gfk_field_is_valid(field))
        return GFK_STATUS_INVALID_ARGUMENT;
    const uint64_t elements = UINT64_C(1) << field->w;
    if (k > elements || m > elements - k || k > SIZE_MAX / sizeof *matrix / m)
        return GFK_STATUS_INVALID_SIZE;
    const uint64_t usual = field->w == 8    ? GFK_POLYNOMIAL_W8
                           : field->w == 16 ? GFK_POLYNOMIAL_W16
                                            : GFK_POLYNOMIAL_W32;
    const bool jerasure = which == GFK_RS_REED_SOL_VAN || which == GFK_RS_CAUCHY_GOOD;
    const bool isal = which == GFK_RS_GEN_RS || which == GFK_RS_GEN_CAUCHY1;
    if ((jerasure && field->polynomial != usual) ||
        (isal && field->polynomial != GFK_POLYNOMIAL_W8))
        return GFK_STATUS_NOT_SUPPORTED;
    if (which == GFK_RS_CAUCHY || which == GFK_RS_GEN_CAUCHY1) /* the same matrix */
        return gfk_cauchy_matrix(field, k, m, matrix);
    return fill_computed(field, which, k, m, matrix);
}
