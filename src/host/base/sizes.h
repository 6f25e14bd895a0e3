/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes in whole units. */
#ifndef GFK_HOST_SIZES_H
#define GFK_HOST_SIZES_H

#include <stddef.h>

static inline size_t gfk_divide_up(size_t n, size_t unit) {
    return n / unit + (n % unit != 0);
}

static inline size_t gfk_round_up(size_t n, size_t unit) {
    return gfk_divide_up(n, unit) * unit;
}

#endif
