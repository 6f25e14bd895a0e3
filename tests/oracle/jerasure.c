/* SPDX-License-Identifier: BSD-3-Clause */
#include <jerasure.h>
#include <jerasure/cauchy.h>
#include <jerasure/reed_sol.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static int *make_matrix(int good, int k, int m, int w) {
    return good ? cauchy_good_general_coding_matrix(k, m, w)
                : reed_sol_vandermonde_coding_matrix(k, m, w);
}

int oracle_jerasure_matrix(int good, int k, int m, int w, uint32_t *matrix) {
    int *made = make_matrix(good, k, m, w);
    if (made == NULL)
        return 0;
    memcpy(matrix, made, (size_t)k * (size_t)m * sizeof *matrix);
    free(made);
    return 1;
}

int oracle_jerasure_encode(int good, int k, int m, int w, char **data, char **parity,
                           size_t bytes) {
    int *matrix = make_matrix(good, k, m, w);
    if (matrix == NULL)
        return 0;
    jerasure_matrix_encode(k, m, w, matrix, data, parity, (int)bytes);
    free(matrix);
    return 1;
}

int oracle_jerasure_decode(int good, int k, int m, int w, int *lost, char **data, char **parity,
                           size_t bytes) {
    int *matrix = make_matrix(good, k, m, w);
    if (matrix == NULL)
        return 0;
    /* Rows of ones, as reed_sol_van's first, are decoded by plain sums. */
    const int done = jerasure_matrix_decode(k, m, w, matrix, !good, lost, data, parity, (int)bytes);
    free(matrix);
    return done == 0;
}
