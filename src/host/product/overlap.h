/* SPDX-License-Identifier: BSD-3-Clause */
/* Do regions of a product share bytes? */
#ifndef GFK_HOST_OVERLAP_H
#define GFK_HOST_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/product.h>

/* Does one of `count` regions of `bytes` bytes share a byte with [start, start + length)? */
bool gfk_regions_touch(const gfk_regions *regions, size_t count, size_t bytes, const void *start,
                       size_t length);
/* Does an output share a byte with an input or with another output? No region may wrap around the
 * address space. For up to a thousand outputs the time grows as (ins + outs) * log outs. Nothing is
 * allocated. */
bool gfk_outputs_overlap(const gfk_regions *in, size_t ins, const gfk_regions *out, size_t outs,
                         size_t bytes);

#endif
