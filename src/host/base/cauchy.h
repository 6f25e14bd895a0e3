/* SPDX-License-Identifier: BSD-3-Clause */
/* The default matrix of an erasure code. */
#ifndef GFK_HOST_CAUCHY_H
#define GFK_HOST_CAUCHY_H

#include <stddef.h>

#include <gfk/field.h>

/* Fills in the parity rows of a systematic Cauchy code with k data and m parity regions: matrix[j *
 * k + i] = 1 / ((k + j) ^ i). Every square submatrix is regular, because x_j = k + j and y_i = i
 * are all different. INVALID_SIZE: k + m > 2^w. */
gfk_status gfk_cauchy_matrix(const gfk_field *field, size_t k, size_t m, uint32_t *matrix);

#endif
