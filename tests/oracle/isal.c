/* SPDX-License-Identifier: BSD-3-Clause */
#include <isa-l.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

enum { MOST = 256 * 256 }; /* elements of the largest matrix */

/* All k + m rows: k rows of the unit matrix first. */
static void generate(int cauchy, int k, int m, unsigned char *rows) {
    (cauchy ? gf_gen_cauchy1_matrix : gf_gen_rs_matrix)(rows, k + m, k);
}

void oracle_isal_matrix(int cauchy, int k, int m, uint32_t *matrix) {
    unsigned char rows[MOST];
    generate(cauchy, k, m, rows);
    for (int i = 0; i < m * k; i++)
        matrix[i] = rows[k * k + i];
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
    unsigned char rows[MOST];
    generate(cauchy, k, m, rows);
    return multiply(k, m, rows + k * k, regions, regions + k, bytes);
}

int oracle_isal_decode(int cauchy, int k, int m, const char *lost, unsigned char **regions,
                       size_t bytes) {
    unsigned char rows[MOST], square[MOST], inverse[MOST], *in[256];
    generate(cauchy, k, m, rows);
    for (int i = 0, n = 0; i < k + m && n < k; i++)
        if (!lost[i]) {
            memcpy(square + n * k, rows + i * k, (size_t)k);
            in[n++] = regions[i];
        }
    int done = gf_invert_matrix(square, inverse, k) == 0;
    for (int i = 0; i < k + m; i++) /* the data first, then parity from all data */
        if (done && lost[i])
            done = i < k ? multiply(k, 1, inverse + i * k, in, regions + i, bytes)
                         : multiply(k, 1, rows + i * k, regions, regions + i, bytes);
    return done;
}
