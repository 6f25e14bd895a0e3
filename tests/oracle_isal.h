/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA-L's matrices, for w = 8. */
#ifndef GFK_TESTS_ORACLE_ISAL_H
#define GFK_TESTS_ORACLE_ISAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m * k elements, row by row. 0 if there is no memory. */
int oracle_gen_rs(int k, int m, uint32_t *matrix);
int oracle_gen_cauchy1(int k, int m, uint32_t *matrix);

#ifdef __cplusplus
}
#endif
#endif
