/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of generated matrices. The host and the kernels use the same functions. */
#ifndef GFK_HOST_GENERATE_H
#define GFK_HOST_GENERATE_H

#include <gfk/matmul.h>

#include "host/base/arithmetic.h"

/* Philox4x32-10: replaces the counter by the result. */
GFK_HOST_DEVICE void gfk_philox(uint32_t counter[4], uint64_t key) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)counter[0] * 0xd2511f53, b = (uint64_t)counter[2] * 0xcd9e8d57;
        counter[0] = (uint32_t)(b >> 32) ^ counter[1] ^ k0;
        counter[1] = (uint32_t)b;
        counter[2] = (uint32_t)(a >> 32) ^ counter[3] ^ k1;
        counter[3] = (uint32_t)a;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
}

/* Bytes 16 * block to 16 * block + 15 of a row of GFK_MATRIX_RANDOM. */
GFK_HOST_DEVICE void gfk_random_bytes(uint64_t seed, uint64_t row, uint64_t block,
                                      uint32_t words[4]) {
    words[0] = (uint32_t)block;
    words[1] = (uint32_t)(block >> 32);
    words[2] = (uint32_t)row;
    words[3] = (uint32_t)(row >> 32);
    gfk_philox(words, seed);
}

/* A generated matrix that has been checked. It is a value; the points still belong to the
 * caller. */
typedef struct gfk_generator {
    gfk_field field;
    gfk_matrix matrix;
    gfk_inverter inverter; /* for CAUCHY */
} gfk_generator;

#ifdef __cplusplus
extern "C" {
#endif
/* Checks a generated matrix in a field that has been proven, without allocation. The statuses are
 * those of gfk_matrix_fill. */
gfk_status gfk_generator_init(gfk_generator *g, const gfk_field *field, const gfk_matrix *matrix);
/* Writes points [first, first + count) of the columns of CAUCHY, VANDERMONDE (with col_points) and
 * PAR2, and of the rows of CAUCHY and VANDERMONDE (with row_points). */
void gfk_generator_col_points(const gfk_generator *g, size_t first, size_t count, uint32_t *points);
void gfk_generator_row_points(const gfk_generator *g, size_t first, size_t count, uint32_t *points);
/* Writes the elements of rows [row, row + rows) and columns [col, col + cols). A row of `out` is
 * `stride` words after the row before. */
void gfk_generator_fill(const gfk_generator *g, size_t row, size_t rows, size_t col, size_t cols,
                        uint32_t *out, size_t stride);
#ifdef __cplusplus
}
#endif
#endif
