/* SPDX-License-Identifier: BSD-3-Clause */
/* Jerasure's matrices, for the default polynomials of w = 8, 16 and 32. */
#ifndef GFK_TESTS_ORACLE_JERASURE_H
#define GFK_TESTS_ORACLE_JERASURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m * k elements, row by row. 0 if Jerasure refuses. */
int oracle_reed_sol_van(int k, int m, int w, uint32_t *matrix);
int oracle_cauchy_good(int k, int m, int w, uint32_t *matrix);

#ifdef __cplusplus
}
#endif
#endif
