/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include <string.h>

void gfk_factor_set(const gfk_arithmetic *f, gfk_factor *x, uint32_t c) {
    x->c = c;
    if (f->w == 32 && c > 1)
        gfk_nibbles_expand(&x->nibbles, 32, f->polynomial, c);
}

void gfk_factor_add(const gfk_arithmetic *f, const gfk_factor *x, uint32_t *to,
                    const uint32_t *from, const size_t *index, size_t count) {
    if (x->c == 0)
        return;
    if (x->c == 1) {
        for (size_t i = 0; i < count; i++)
            to[i] ^= from[index ? index[i] : i];
        return;
    }
    if (f->w == 32) {
        for (size_t i = 0; i < count; i++)
            to[i] ^= gfk_nibbles_times(&x->nibbles, 32, from[index ? index[i] : i]);
        return;
    }
    const uint16_t *antilog = f->antilog + f->log[x->c];
    for (size_t i = 0; i < count; i++) {
        const uint32_t element = from[index ? index[i] : i];
        to[i] ^= element ? antilog[f->log[element]] : 0;
    }
}

bool gfk_exchange_take(gfk_exchange *s) {
    const size_t e = s->cols;
    uint32_t *row = s->rows + s->taken * e;
    gfk_factor x;
    for (size_t i = 0; i < e; i++)
        row[i] = s->is_pivot[i] ? 0 : s->parts[i];
    for (size_t r = 0; r < s->taken; r++) {
        gfk_factor_set(s->f, &x, s->parts[s->pivots[r]]);
        gfk_factor_add(s->f, &x, row, s->rows + r * e, NULL, e);
    }
    size_t pivot = 0;
    while (pivot < e && (s->is_pivot[pivot] || row[pivot] == 0))
        pivot++;
    if (pivot == e)
        return false;
    gfk_factor_set(s->f, &x, gfk_inverse(s->f, row[pivot]));
    memcpy(s->parts, row, e * sizeof *row);
    memset(row, 0, e * sizeof *row);
    s->parts[pivot] = 1; /* the new column of this row */
    gfk_factor_add(s->f, &x, row, s->parts, NULL, e);
    for (size_t r = 0; r < s->taken; r++) {
        uint32_t *other = s->rows + r * e;
        gfk_factor_set(s->f, &x, other[pivot]);
        other[pivot] = 0;
        gfk_factor_add(s->f, &x, other, row, NULL, e);
    }
    s->is_pivot[pivot] = 1;
    s->pivots[s->taken++] = pivot;
    return true;
}
