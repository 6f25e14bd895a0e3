/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that a caller gives to a call, and its check. */
#ifndef GFK_HOST_OPERANDS_H
#define GFK_HOST_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/product.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The address is computed in integers, because the regions of a caller may not lie in one array. */
static inline unsigned char *gfk_region_address(const gfk_regions *regions, size_t i) {
    return regions->pointers ? (unsigned char *)regions->pointers[i]
                             : (unsigned char *)((uintptr_t)regions->base + i * regions->stride);
}

/* The regions from number `first` on. */
static inline gfk_regions gfk_regions_from(const gfk_regions *regions, size_t first) {
    gfk_regions from = *regions;
    if (from.pointers != NULL)
        from.pointers += first;
    else
        from.base = gfk_region_address(regions, first);
    return from;
}

/* The regions of calls whose regions have no bytes, and of calls without regions. */
extern const gfk_regions gfk_no_regions;

/* overlap.c: does an output share a byte with an input or with another output? The regions have at
 * least one byte, an address, and an end in the address space. The time is constant for inputs and
 * outputs that are equally spaced, with the same stride or far apart. Otherwise the time grows as
 * (ins + outs) * log outs, up to a thousand outputs. The function allocates nothing. */
bool gfk_outputs_overlap(const gfk_regions *in, size_t ins, const gfk_regions *out, size_t outs,
                         size_t bytes);
/* overlap.c: the same check for calls that may allocate. The time grows as (ins + outs) * log outs
 * for any number of regions. */
bool gfk_outputs_overlap_host(const gfk_regions *in, size_t ins, const gfk_regions *out,
                              size_t outs, size_t bytes);
/* overlap.c: does a region share a byte with the `length` bytes from start on? There is at least
 * one region with at least one byte. */
bool gfk_regions_touch(const gfk_regions *regions, size_t count, size_t bytes, const void *start,
                       size_t length);

/* ---- operands ------------------------------------------------------------------------------- */

/* The flags of an operand. HOST: the operand is in host memory at every place of the call; the
 * check of such regions may allocate. */
enum { GFK_READ = 0, GFK_WRITE = 1, GFK_HOST = 2 };

/* Regions of one length, or one range of bytes. The functions below make operands. */
typedef struct gfk_operand {
    const gfk_regions *regions;
    const void *start; /* the address of a range */
    size_t count;      /* the number of regions; 0: a range */
    size_t bytes;      /* bytes of each region, or of the range; 0: nothing is checked */
    size_t given;      /* for a range: the bytes that are there, as the caller says */
    size_t alignment;  /* the alignment of a range */
    unsigned flags;
} gfk_operand;

/* count is not 0. */
static inline gfk_operand gfk_operand_regions(const gfk_regions *regions, size_t count,
                                              size_t bytes, unsigned flags) {
    const gfk_operand made = {regions, NULL, count, bytes, 0, 1, flags};
    return made;
}
static inline gfk_operand gfk_operand_range(const void *start, size_t bytes, size_t alignment,
                                            unsigned flags) {
    const gfk_operand made = {NULL, start, 0, bytes, bytes, alignment, flags};
    return made;
}
/* A range that the caller may leave out with NULL. */
static inline gfk_operand gfk_operand_optional(const void *start, size_t bytes, size_t alignment,
                                               unsigned flags) {
    return gfk_operand_range(start, start != NULL ? bytes : 0, alignment, flags);
}
static inline gfk_operand gfk_operand_workspace(const void *start, size_t given, size_t bytes,
                                                size_t alignment) {
    const size_t there = start != NULL ? given : 0;
    const gfk_operand made = {NULL, start, 0, bytes, there, alignment, GFK_WRITE};
    return made;
}
/* operands.c: makes the range from the first to the last element of at least one row. A row has
 * `cols` elements of `symbol` bytes. A row begins `stride` elements after the row before. */
gfk_operand gfk_operand_rows(const void *elements, size_t rows, size_t cols, size_t stride,
                             size_t symbol, unsigned flags);

/* operands.c: checks the operands of a call in the order of statuses that gfk/status.h documents:
 *
 * INVALID_ARGUMENT     no address, a misaligned range, a stride shorter than the region or the row
 * INVALID_SIZE         an operand does not end in the address space
 * WORKSPACE_TOO_SMALL  fewer bytes are given than the range has
 * OVERLAP              a written operand shares a byte with another operand, or with itself
 * WRONG_DEVICE         check_pointers, and `place` (GFK_CPU or a device) does not reach an operand
 *
 * All regions of a call that writes regions have the same length. Allocates for HOST alone. */
gfk_status gfk_operands_check(int place, bool check_pointers, const gfk_operand *operands,
                              size_t count);

#ifdef __cplusplus
}
#endif
#endif
