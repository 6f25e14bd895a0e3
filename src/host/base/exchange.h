/* SPDX-License-Identifier: BSD-3-Clause */
/* Elimination on the host by exchange steps: independent rows are added one after the other, and
 * the matrix is kept reduced. A column stands for an unknown until the column becomes a pivot. From
 * then on the column stands for the row whose pivot it is. So row r expresses the unknown pivots[r]
 * as a sum over the columns, and the columns that are pivots hold an inverse. */
#ifndef GFK_HOST_EXCHANGE_H
#define GFK_HOST_EXCHANGE_H

#include <stdbool.h>

#include "arithmetic.h"
#include "poly.h"

/* A constant that rows are multiplied by. */
typedef struct gfk_factor {
    uint32_t c;
    gfk_nibbles nibbles; /* used if w = 32 and c > 1 */
} gfk_factor;

void gfk_factor_set(const gfk_arithmetic *f, gfk_factor *x, uint32_t c);
/* Computes to[i] += x * from[i] or, with an index, to[i] += x * from[index[i]]. */
void gfk_factor_add(const gfk_arithmetic *f, const gfk_factor *x, uint32_t *to,
                    const uint32_t *from, const size_t *index, size_t count);

typedef struct gfk_exchange {
    const gfk_arithmetic *f;
    size_t cols, taken;      /* columns; rows so far */
    uint32_t *rows;          /* room for the rows */
    uint32_t *parts;         /* cols elements of the row that is being taken; changed */
    unsigned char *is_pivot; /* one byte for each column, zeros at first */
    size_t *pivots;          /* the pivot of each row that was taken */
} gfk_exchange;

/* Takes the row in s->parts, and returns true. If the row depends on the rows before, the function
 * does not take it, and returns false. */
bool gfk_exchange_take(gfk_exchange *s);

#endif
