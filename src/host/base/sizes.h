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

static inline size_t gfk_least(size_t a, size_t b) {
    return a < b ? a : b;
}

static inline size_t gfk_greatest(size_t a, size_t b) {
    return a > b ? a : b;
}

enum { GFK_ALIGNMENT = 256 }; /* alignment of workspaces and of their parts */

/* Takes `count` times `bytes` bytes of memory, of which *used bytes have been taken. If the memory
 * is NULL the function only adds up sizes. *used becomes SIZE_MAX if a size overflows. The function
 * computes in integers, because the check that a workspace ends in the address space may come
 * later. */
static inline void *gfk_take(void *memory, size_t *used, size_t count, size_t bytes) {
    void *const at = memory == NULL ? NULL : (void *)((uintptr_t)memory + *used);
    if (*used > SIZE_MAX - GFK_ALIGNMENT ||
        (bytes != 0 && count > (SIZE_MAX - GFK_ALIGNMENT - *used) / bytes))
        *used = SIZE_MAX;
    else
        *used += gfk_round_up(count * bytes, GFK_ALIGNMENT);
    return at;
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

#endif
