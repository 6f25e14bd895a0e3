/* SPDX-License-Identifier: BSD-3-Clause */
/* The named matrices, by their formulas; docs/rs/matrices.md explains them. */
#include <stdlib.h>

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

/* Returns the product of point ^ l over all l < count except l = except. */
static uint32_t distance(const gfk_arithmetic *f, uint32_t point, size_t count, size_t except) {
    uint32_t product = 1;
    for (size_t l = 0; l < count; l++)
        if (l != except)
            product = gfk_times(f, product, point ^ (uint32_t)l);
    return product;
}

/* Fills in the rows r^0, r^1, ... times the inverse of the first k rows. Row j has the values of
 * the Lagrange polynomials of the points 0 to k - 1 at r = k + j. */
static void fill_vandermonde(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix) {
    for (size_t i = 0; i < k; i++) /* the first row, computed last, holds the denominators */
        matrix[i] = gfk_inverse(f, distance(f, (uint32_t)i, k, i));
    for (size_t j = m; j-- > 0;) {
        const uint32_t point = (uint32_t)(k + j), all = distance(f, point, k, k);
        for (size_t i = 0; i < k; i++)
            matrix[j * k + i] = gfk_times(f, matrix[i], gfk_quotient(f, all, point ^ (uint32_t)i));
    }
}

/* Fills in the Vandermonde matrix with the row of the point at infinity, 0 ... 0 1, as its last
 * row, times the inverse of the first k rows. Then columns are scaled so that the first parity row
 * has only ones, and the other rows so that the first column has only ones. The Lagrange quotients
 * become (k ^ i) / k * r / (r ^ i) for j > 0; the last two factors are 1 at infinity. */
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

/* Row j has the powers of 2^j. */
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

/* ---- the Cauchy matrix with few ones in its bit matrix -------------------------------------- */

/* A multiplication by c is a w x w matrix over GF(2) with the columns c, c * x, c * x^2, ...; a
 * coder that works on bit matrices needs fewer XORs if the matrix has fewer ones (J. S. Plank and
 * L. Xu, "Optimizing Cauchy Reed-Solomon Codes for Fault-Tolerant Network Storage Applications",
 * NCA 2006). The engines of this library do not profit from it: the matrix is here to decode data
 * that was encoded with it. */

/* The number of ones in each element's bit matrix. */
typedef struct ones_table {
    const gfk_arithmetic *f;
    uint16_t *known; /* for each element; 0: not counted yet; NULL for w = 32 */
} ones_table;

static uint32_t count_ones(const gfk_arithmetic *f, uint32_t c) {
    uint32_t ones = 0;
    for (unsigned i = 0; i < f->w; i++) {
        ones += (uint32_t)__builtin_popcount(c);
        c = gfk_times(f, c, 2);
    }
    return ones;
}

static uint32_t ones_of(const ones_table *table, uint32_t c) {
    if (table->known == NULL)
        return count_ones(table->f, c);
    if (table->known[c] == 0)
        table->known[c] = (uint16_t)count_ones(table->f, c);
    return table->known[c];
}

/* m = 2 and w = 8: a row of ones, then the k elements with the fewest ones, in ascending order. */
static void fill_best(const ones_table *table, size_t k, uint32_t *matrix) {
    size_t i = 0;
    for (uint32_t ones = 1; i < k; ones++)
        for (uint32_t c = 1; c < 256 && i < k; c++)
            if (ones_of(table, c) == ones) {
                matrix[i] = 1;
                matrix[k + i++] = c;
            }
}

static uint64_t ones_of_row(const ones_table *table, size_t k, const uint32_t *row,
                            uint32_t factor) {
    uint64_t ones = 0;
    for (size_t i = 0; i < k; i++)
        ones += ones_of(table, gfk_times(table->f, row[i], factor));
    return ones;
}

/* Divides the row by the element that leaves the fewest ones. Of equal elements the first is used.
 * If no element improves the row, the row stays as it is. */
static void improve_row(const ones_table *table, size_t k, uint32_t *row) {
    uint32_t best = 1;
    uint64_t fewest = ones_of_row(table, k, row, 1);
    for (size_t i = 0; i < k; i++) {
        const uint32_t factor = gfk_inverse(table->f, row[i]);
        const uint64_t ones = ones_of_row(table, k, row, factor);
        if (ones < fewest) {
            fewest = ones;
            best = factor;
        }
    }
    for (size_t i = 0; i < k; i++)
        row[i] = gfk_times(table->f, row[i], best);
}

static gfk_status fill_cauchy_good(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix) {
    ones_table table = {.f = f};
    if (f->w != 32 && (table.known = calloc((size_t)1 << f->w, sizeof *table.known)) == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    if (f->w == 8 && m == 2) {
        fill_best(&table, k, matrix);
    } else {
        /* 1 / (j ^ (m + i)), with every column divided by its element in row 0, 1 / (m + i). */
        for (size_t j = 0; j < m; j++) {
            for (size_t i = 0; i < k; i++)
                matrix[j * k + i] = gfk_quotient(f, (uint32_t)(m + i), (uint32_t)(j ^ (m + i)));
            if (j > 0)
                improve_row(&table, k, matrix + j * k);
        }
    }
    free(table.known);
    return GFK_STATUS_SUCCESS;
}

/* ---- the call ------------------------------------------------------------------------------- */

static gfk_status fill_computed(const gfk_field *field, gfk_rs_matrix which, size_t k, size_t m,
                                uint32_t *matrix) {
    gfk_arithmetic f;
    RETURN_IF_ERROR(gfk_arithmetic_create(&f, field));
    gfk_status status = GFK_STATUS_SUCCESS;
    if (which == GFK_RS_VANDERMONDE)
        fill_vandermonde(&f, k, m, matrix);
    else if (which == GFK_RS_REED_SOL_VAN)
        fill_reed_sol_van(&f, k, m, matrix);
    else if (which == GFK_RS_GEN_RS)
        fill_gen_rs(&f, k, m, matrix);
    else
        status = fill_cauchy_good(&f, k, m, matrix);
    gfk_arithmetic_destroy(&f);
    return status;
}

gfk_status gfk_rs_fill_matrix_proven(const gfk_field *field, gfk_rs_matrix which, size_t k,
                                     size_t m, uint32_t *matrix) {
    if (matrix == NULL || (unsigned)which >= GFK_RS_CUSTOM)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_rs_check_shape(field, k, m));
    const bool jerasure = which == GFK_RS_REED_SOL_VAN || which == GFK_RS_CAUCHY_GOOD;
    const bool isal = which == GFK_RS_GEN_RS || which == GFK_RS_GEN_CAUCHY1;
    if ((jerasure && field->polynomial != gfk_usual_polynomial(field->w)) ||
        (isal && field->polynomial != GFK_POLYNOMIAL_W8))
        return GFK_STATUS_NOT_SUPPORTED;
    if (which == GFK_RS_CAUCHY || which == GFK_RS_GEN_CAUCHY1) /* the same matrix */
        return gfk_cauchy_matrix(field, k, m, matrix);
    return fill_computed(field, which, k, m, matrix);
}

gfk_status gfk_rs_fill_matrix(const gfk_field *field, gfk_rs_matrix which, size_t k, size_t m,
                              uint32_t *matrix) {
    return gfk_field_is_valid(field) ? gfk_rs_fill_matrix_proven(field, which, k, m, matrix)
                                     : GFK_STATUS_INVALID_ARGUMENT;
}
