/* SPDX-License-Identifier: BSD-3-Clause */
#include "oracle_isal.h"

#include <isa-l.h>
#include <stdlib.h>

/* The library writes k rows of the unit matrix first. */
static int take(void (*generate)(unsigned char *, int, int), int k, int m, uint32_t *matrix) {
    unsigned char *all = malloc((size_t)(k + m) * (size_t)k);
    if (all == NULL)
        return 0;
    generate(all, k + m, k);
    for (int i = 0; i < m * k; i++)
        matrix[i] = all[k * k + i];
    free(all);
    return 1;
}

int oracle_gen_rs(int k, int m, uint32_t *matrix) {
    return take(gf_gen_rs_matrix, k, m, matrix);
}

int oracle_gen_cauchy1(int k, int m, uint32_t *matrix) {
    return take(gf_gen_cauchy1_matrix, k, m, matrix);
}
