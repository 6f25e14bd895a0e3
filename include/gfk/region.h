/* SPDX-License-Identifier: BSD-3-Clause */
/* Region multiply: a constant times every symbol of a buffer. */
#ifndef GFK_REGION_H
#define GFK_REGION_H

#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/multiplier.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A region is a buffer of w-bit symbols, little-endian, without gaps. These rules hold for all
 * three functions below:
 *
 * memory     Host memory for host rows; memory that the multiplier's device can access for CUDA
 *            rows. Pointers are not checked against that.
 * alignment  src and dst may have any alignment, independently of each other. The fast path is for
 *            symbols at multiples of their size and the same phase modulo 16 bytes in src and dst;
 *            others cost a few percent. Only in place with symbols that are not at multiples of
 *            their size the work goes byte by byte.
 * length     Any number of bytes that is a multiple of w/8, above 4 GiB too. Zero is success once
 *            the other arguments are in order, and src and dst are then not looked at.
 * aliasing   src == dst works in place. Any other overlap of src, dst and workspace is refused.
 * access     Only [src, src+bytes), [dst, dst+bytes) and the workspace are touched; dst is read in
 *            GFK_XOR mode only.
 * constants  Every c below 2^w. c = 0 clears dst (GFK_SET) or leaves it alone (GFK_XOR); c = 1
 *            copies src or XORs it into dst; a workspace is asked for all the same.
 * result     The same bytes from every row.
 * workspace  gfk_multiplier_info.workspace_bytes or more, aligned to 16 bytes, in the same kind of
 *            memory as the regions. NULL and 0 where that number is 0. It belongs to the call until
 *            the call's work has finished on its stream; calls that overlap in time need their own.
 * streams    CUDA rows work on `stream`, in its order, and return at once. Host rows want NULL and
 *            have finished when they return. The current device must be the multiplier's.
 * hot path   No allocation, no synchronization, no global state: every call may be captured into a
 *            CUDA graph, and any threads may call at the same time with one multiplier. CUDA loads
 * a kernel's code at its first launch, so make one call before capturing or timing. (Host rows
 * expand the 16 GiB row of TABLE w=32 with all cores.)
 *
 * Statuses of all three: SUCCESS; INVALID_ARGUMENT (NULL, an unknown mode, a misaligned workspace);
 * INVALID_CONSTANT; INVALID_SIZE; OVERLAP; WORKSPACE_TOO_SMALL; STREAM_ON_HOST; WRONG_DEVICE; CUDA
 * (a launch failed); INTERNAL. On all but the last two nothing has been written. */

/* gfk_region_multiply: dst = c * src, or dst ^= c * src. The same as gfk_region_prepare followed by
 * gfk_region_multiply_prepared. */
GFK_API gfk_status gfk_region_multiply(gfk_multiplier_t multiplier, uint32_t c, const void *src,
                                       void *dst, size_t bytes, gfk_accumulate mode,
                                       void *workspace, size_t workspace_bytes,
                                       gfk_stream_t stream);

/* gfk_region_prepare: writes the tables of constant c into the workspace. Worth it when one
 * constant multiplies many regions. Does nothing for rows that need no workspace. */
GFK_API gfk_status gfk_region_prepare(gfk_multiplier_t multiplier, uint32_t c, void *workspace,
                                      size_t workspace_bytes, gfk_stream_t stream);

/* gfk_region_multiply_prepared: as gfk_region_multiply, with a workspace that gfk_region_prepare
 * filled for the same multiplier and the same c; it is only read, so calls may share it. With a
 * workspace prepared for another constant the result is unspecified. */
GFK_API gfk_status gfk_region_multiply_prepared(gfk_multiplier_t multiplier, uint32_t c,
                                                const void *src, void *dst, size_t bytes,
                                                gfk_accumulate mode, const void *workspace,
                                                size_t workspace_bytes, gfk_stream_t stream);

#ifdef __cplusplus
}
#endif
#endif
