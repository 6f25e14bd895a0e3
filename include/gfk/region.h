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
 *            rows. Checked only with gfk_multiplier_desc.check_pointers.
 * alignment  src and dst may have any alignment, independently of each other. The fast case has
 *            both addresses at a multiple of the symbol size and equal modulo 16; other cases cost
 *            a few percent. An in-place call at an address that is not a multiple of the symbol
 *            size is slow: it goes byte by byte.
 * length     Any number of bytes that is a multiple of w/8, also above 4 GiB. Zero bytes are a
 *            success if the other arguments are valid; src and dst are not checked then.
 * aliasing   src == dst works in place. Any other overlap of src, dst and workspace is refused.
 * access     Only [src, src+bytes), [dst, dst+bytes) and the workspace are touched; dst is read in
 *            GFK_XOR mode only.
 * constants  Every c below 2^w. c = 0 clears dst (GFK_SET) or leaves dst unchanged (GFK_XOR). c =
 *            1 copies src or XORs it into dst. The workspace is checked as for other constants,
 *            but neither read nor written: no gfk_region_prepare is needed.
 * result     Every row gives the same bytes.
 * workspace  gfk_multiplier_info.workspace_bytes or more, aligned to 16 bytes, in the same kind of
 *            memory as the regions. NULL and 0 if that number is 0. The workspace is in use until
 *            the call's work has finished on its stream; calls that overlap in time need one each.
 * streams    CUDA rows work on `stream`, in its order, and return at once. Host rows take NULL and
 *            are complete on return. The current device must be the multiplier's device.
 * hot path   No allocation, no synchronization, no global state: every call may be captured into a
 *            CUDA graph, and any threads may call at the same time with one multiplier. CUDA loads
 *            a kernel's code at its first launch: call once before a capture or a measurement.
 *            (The host row of TABLE at w = 32 expands its 16 GiB table with all cores.)
 *
 * Statuses of all three: SUCCESS; INVALID_ARGUMENT (NULL, an unknown mode, a misaligned
 * workspace); INVALID_CONSTANT; INVALID_SIZE; OVERLAP; WORKSPACE_TOO_SMALL; STREAM_ON_HOST;
 * WRONG_DEVICE; CUDA (a launch failed); INTERNAL. On all but the last two nothing has been
 * written. */

/* gfk_region_multiply: dst = c * src, or dst ^= c * src. The same as gfk_region_prepare followed
 * by gfk_region_multiply_prepared. */
GFK_API gfk_status gfk_region_multiply(gfk_multiplier_t multiplier, uint32_t c, const void *src,
                                       void *dst, size_t bytes, gfk_accumulate mode,
                                       void *workspace, size_t workspace_bytes,
                                       gfk_stream_t stream);

/* gfk_region_prepare: writes the tables of constant c into the workspace, for a constant that
 * multiplies many regions. Does nothing for rows that need no workspace. */
GFK_API gfk_status gfk_region_prepare(gfk_multiplier_t multiplier, uint32_t c, void *workspace,
                                      size_t workspace_bytes, gfk_stream_t stream);

/* gfk_region_multiply_prepared: as gfk_region_multiply, with a workspace that gfk_region_prepare
 * filled for the same multiplier and the same c. The workspace is only read, so calls may share
 * it. A workspace prepared for another constant gives an unspecified result. */
GFK_API gfk_status gfk_region_multiply_prepared(gfk_multiplier_t multiplier, uint32_t c,
                                                const void *src, void *dst, size_t bytes,
                                                gfk_accumulate mode, const void *workspace,
                                                size_t workspace_bytes, gfk_stream_t stream);

#ifdef __cplusplus
}
#endif
#endif
