/* SPDX-License-Identifier: BSD-3-Clause */
#include "isal.h"

#include <isa-l.h>
#include <stdlib.h>
#include <string.h>

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

/* All k + m rows. */
static void generate(int cauchy, int k, int m, unsigned char *rows) {
    if (cauchy)
        gf_gen_cauchy1_matrix(rows, k + m, k);
    else
        gf_gen_rs_matrix(rows, k + m, k);
}

/* `count` outputs from k inputs. */
static int multiply(int k, int count, unsigned char *rows, unsigned char **in, unsigned char **out,
                    size_t bytes) {
    unsigned char *tables = malloc((size_t)k * (size_t)count * 32);
    if (tables == NULL)
        return 0;
    ec_init_tables(k, count, rows, tables);
    ec_encode_data((int)bytes, k, count, tables, in, out);
    free(tables);
    return 1;
}

int oracle_isal_encode(int cauchy, int k, int m, unsigned char **regions, size_t bytes) {
    unsigned char rows[256 * 256];
    generate(cauchy, k, m, rows);
    return multiply(k, m, rows + k * k, regions, regions + k, bytes);
}

int oracle_isal_decode(int cauchy, int k, int m, const char *lost, unsigned char **regions,
                       size_t bytes) {
    unsigned char rows[256 * 256], square[256 * 256], inverse[256 * 256], *in[256];
    generate(cauchy, k, m, rows);
    for (int i = 0, n = 0; i < k + m && n < k; i++)
        if (!lost[i]) {
            memcpy(square + n * k, rows + i * k, (size_t)k);
            in[n++] = regions[i];
        }
    if (gf_invert_matrix(square, inverse, k) != 0)
        return 0;
    for (int i = 0; i < k; i++) /* the data first, then parity from all data */
        if (lost[i] && !multiply(k, 1, inverse + i * k, in, regions + i, bytes))
            return 0;
    for (int i = k; i < k + m; i++)
        if (lost[i] && !multiply(k, 1, rows + i * k, regions, regions + i, bytes))
            return 0;
    return 1;
}
