/* SPDX-License-Identifier: BSD-3-Clause */
/* The Cauchy matrix with few ones in its bit matrix. */
#ifndef GFK_HOST_RS_CAUCHY_GOOD_H
#define GFK_HOST_RS_CAUCHY_GOOD_H

#include <stddef.h>

#include "host/base/arithmetic.h"

/* GFK_RS_CAUCHY_GOOD, for k + m <= 2^w. SUCCESS or OUT_OF_MEMORY, and then nothing is written. */
gfk_status gfk_fill_cauchy_good(const gfk_arithmetic *f, size_t k, size_t m, uint32_t *matrix);

#endif
