/* SPDX-License-Identifier: BSD-3-Clause */
#include "oracle_jerasure.h"

#include <jerasure/cauchy.h>
#include <jerasure/reed_sol.h>
#include <stdlib.h>
#include <string.h>

static int take(int *from, int k, int m, uint32_t *matrix) {
    if (from == NULL)
        return 0;
    memcpy(matrix, from, (size_t)k * (size_t)m * sizeof *matrix);
    free(from);
    return 1;
}

int oracle_reed_sol_van(int k, int m, int w, uint32_t *matrix) {
    return take(reed_sol_vandermonde_coding_matrix(k, m, w), k, m, matrix);
}

int oracle_cauchy_good(int k, int m, int w, uint32_t *matrix) {
    return take(cauchy_good_general_coding_matrix(k, m, w), k, m, matrix);
}
