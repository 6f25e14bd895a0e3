/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices at any offset: a window of the slice size moves over parts of files byte by byte. Where its
 * CRC32 is that of a slice that is not found yet, the MD5 decides, and the window jumps behind the
 * slice. */
#ifndef GFK_PAR2_SLIDE_H
#define GFK_PAR2_SLIDE_H

#include "scan.h"

/* A part of a source in which a slice may begin; the slice may end further on. */
typedef struct slide_part {
    uint32_t source;
    uint64_t begin, end;
} slide_part;

/* slide_run: looks for the slices of `s` that are not found, and that have checksums, in the parts.
 * Slices with the same MD5 and CRC32 are found together. Parts of one source do not overlap. Returns
 * 0, or an exit code after a message. */
int slide_run(scan *s, const slide_part *parts, size_t count, unsigned threads);

/* ---- for scan.c and slide.c ------------------------------------------------------------------ */

/* Reports the first error in reading a source; 0: the file is shorter than it was. */
void scan_complain(scan_source *source, int error);

/* The progress line takes the bytes that have been read. Any thread. */
void scan_progress(uint64_t bytes);

#endif
