/* SPDX-License-Identifier: BSD-3-Clause */
#include "jerasure.h"

#include <jerasure.h>
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

static int *coding_matrix(int good, int k, int m, int w) {
    return good ? cauchy_good_general_coding_matrix(k, m, w)
                : reed_sol_vandermonde_coding_matrix(k, m, w);
}

int oracle_jerasure_encode(int good, int k, int m, int w, char **data, char **parity,
                           size_t bytes) {
    int *matrix = coding_matrix(good, k, m, w);
    if (matrix == NULL)
        return 0;
    jerasure_matrix_encode(k, m, w, matrix, data, parity, (int)bytes);
    free(matrix);
    return 1;
}

int oracle_jerasure_decode(int good, int k, int m, int w, int *lost, char **data, char **parity,
                           size_t bytes) {
    int *matrix = coding_matrix(good, k, m, w);
    if (matrix == NULL)
        return 0;
    /* Rows of ones, as reed_sol_van's first, are decoded by plain sums. */
    const int done = jerasure_matrix_decode(k, m, w, matrix, !good, lost, data, parity, (int)bytes);
    free(matrix);
    return done == 0;
}
