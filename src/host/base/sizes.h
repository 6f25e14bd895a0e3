/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes in whole units, and ranges of addresses. */
#ifndef GFK_HOST_SIZES_H
#define GFK_HOST_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t gfk_divide_up(size_t n, size_t unit) {
    return n / unit + (n % unit != 0);
}

static inline size_t gfk_round_up(size_t n, size_t unit) {
    return gfk_divide_up(n, unit) * unit;
}

/* Does the range reach the last byte of the address space, or beyond? */
static inline bool gfk_wraps(const void *start, size_t bytes) {
    return bytes > UINTPTR_MAX - (uintptr_t)start;
}

/* Do two ranges, of at least one byte each, share a byte? */
static inline bool gfk_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y ? y - x < a_bytes : x - y < b_bytes;
}

typedef struct gfk_span {
    const void *start;
    size_t bytes;
} gfk_span;

/* Do two of the spans share a byte? */
static inline bool gfk_spans_overlap(const gfk_span *spans, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (spans[i].bytes != 0 && spans[j].bytes != 0 &&
                gfk_overlap(spans[i].start, spans[i].bytes, spans[j].start, spans[j].bytes))
                return true;
    return false;
}

#endif
