/* SPDX-License-Identifier: BSD-3-Clause */
/* The Cauchy matrix with few ones in its bit matrix. A multiplication by c is a w x w matrix over
 * GF(2) with the columns c, c * x, c * x^2, ...; a coder that works on bit matrices needs fewer
 * XORs if the matrix has fewer ones (J. S. Plank and L. Xu, "Optimizing Cauchy Reed-Solomon Codes
 * for Fault-Tolerant Network Storage Applications", NCA 2006). The engines of this library do not
 * profit from it: the matrix is here to decode data that was encoded with it. */
#include <stdlib.h>

#include "cauchy_good.h"

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

/* Divides the row by the element that leaves the fewest ones: the first of equals, and none if no
 * element improves the row. */
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

gfk_status gfk_fill_cauchy_good(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix) {
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
