/* SPDX-License-Identifier: BSD-3-Clause */
/* Is every square submatrix of a matrix regular? */
#include <stdlib.h>

#include "host/base/arithmetic.h"
#include "host/rs/code.h"

enum { MOST_MINORS = 1000000 };

bool gfk_rs_few_subsets(uint64_t n, uint64_t r, uint64_t most) {
    uint64_t count = 1;
    for (uint64_t i = 0; i < r; i++) {
        /* every further factor at least doubles the product, because r <= n / 2 */
        if (n - i > most)
            return false;
        count = count * (n - i) / (i + 1); /* C(n, i + 1) */
        if (count > most)
            return false;
    }
    return true;
}

/* Every square submatrix of an r x c matrix A is regular iff any r columns of (A | 1) are
 * independent. The search chooses columns from left to right. Each choice eliminates a row in all
 * columns to its right, and all further choices share this elimination. part: the remaining rows x
 * cols elements of the columns that may still be chosen, followed by room for the parts of further
 * choices. */
static bool independent(const gfk_arithmetic *f, size_t rows, size_t cols, uint32_t *part) {
    uint32_t *next = part + rows * cols;
    for (size_t c = 0; c + rows <= cols; c++) {
        size_t pivot = 0;
        while (pivot < rows && part[pivot * cols + c] == 0)
            pivot++;
        if (pivot == rows)
            return false;
        if (rows == 1)
            continue;
        const size_t left = cols - c - 1;
        const uint32_t *from = part + pivot * cols + c + 1;
        const uint32_t inverse = gfk_inverse(f, part[pivot * cols + c]);
        uint32_t *to = next;
        for (size_t i = 0; i < rows; i++) {
            if (i == pivot)
                continue;
            const uint32_t *row = part + i * cols + c;
            const uint32_t factor = gfk_times(f, row[0], inverse);
            for (size_t l = 0; l < left; l++)
                to[l] = row[1 + l] ^ gfk_times(f, from[l], factor);
            to += left;
        }
        if (!independent(f, rows - 1, left, next))
            return false;
    }
    return true;
}

gfk_status gfk_rs_check_mds(const gfk_field *field, size_t k, size_t m, const uint32_t *matrix,
                            gfk_rs_mds *mds) {
    /* A matrix and its transpose have the same minors, so the shorter side is eliminated. */
    const size_t rows = k < m ? k : m, cols = k + m;
    if (!gfk_rs_few_subsets(cols, rows, MOST_MINORS)) {
        *mds = GFK_RS_MDS_UNKNOWN;
        return GFK_STATUS_SUCCESS;
    }
    gfk_arithmetic f;
    RETURN_IF_ERROR(gfk_arithmetic_create(&f, field));
    uint32_t *parts = malloc(rows * (rows + 1) / 2 * cols * sizeof *parts);
    if (parts == NULL) {
        gfk_arithmetic_destroy(&f);
        return GFK_STATUS_OUT_OF_MEMORY;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            parts[r * cols + c] = c >= cols - rows ? c - (cols - rows) == r
                                  : k < m          ? matrix[c * k + r]
                                                   : matrix[r * k + c];
    *mds = independent(&f, rows, cols, parts) ? GFK_RS_MDS_YES : GFK_RS_MDS_NO;
    free(parts);
    gfk_arithmetic_destroy(&f);
    return GFK_STATUS_SUCCESS;
}
