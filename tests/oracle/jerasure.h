/* SPDX-License-Identifier: BSD-3-Clause */
/* Jerasure's matrices and coder, for the default polynomials of w = 8, 16 and 32. */
#ifndef GFK_TESTS_ORACLE_JERASURE_H
#define GFK_TESTS_ORACLE_JERASURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m * k elements, row by row. 0 if Jerasure refuses. */
int oracle_reed_sol_van(int k, int m, int w, uint32_t *matrix);
int oracle_cauchy_good(int k, int m, int w, uint32_t *matrix);

/* With cauchy_good's matrix (good != 0) or reed_sol_van's: k data and m parity regions of a
 * multiple of 16 bytes. lost: indices, data before parity from 0 to k + m - 1, ended by -1. 0:
 * refused. */
int oracle_jerasure_encode(int good, int k, int m, int w, char **data, char **parity, size_t bytes);
int oracle_jerasure_decode(int good, int k, int m, int w, int *lost, char **data, char **parity,
                           size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
