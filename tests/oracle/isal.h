/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA-L's matrices and coder, for w = 8. */
#ifndef GFK_TESTS_ORACLE_ISAL_H
#define GFK_TESTS_ORACLE_ISAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m * k elements, row by row. 0 if there is no memory. */
int oracle_gen_rs(int k, int m, uint32_t *matrix);
int oracle_gen_cauchy1(int k, int m, uint32_t *matrix);

/* With gen_cauchy1's matrix (cauchy != 0) or gen_rs's: k + m regions. lost: k + m flags. 0: no
 * memory, or a matrix without inverse. */
int oracle_isal_encode(int cauchy, int k, int m, unsigned char **regions, size_t bytes);
int oracle_isal_decode(int cauchy, int k, int m, const char *lost, unsigned char **regions,
                       size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
