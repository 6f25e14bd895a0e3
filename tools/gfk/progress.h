/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress line on a terminal: the share done, the speed and the remaining time. */
#ifndef GFK_TOOL_PROGRESS_H
#define GFK_TOOL_PROGRESS_H

#include <stdint.h>

/* Begins a line for `total` bytes; 0: the total is unknown. The line is shown only if standard
 * error is a terminal and neither --quiet nor --json was given. */
void progress_begin(const char *what, uint64_t total);
/* Adds `bytes` to the bytes done. One thread at a time may call progress_add. */
void progress_add(uint64_t bytes);
/* Erases the line before other output; a later progress_add draws the line again. */
void progress_clear(void);
void progress_end(void);

/* Seconds on the monotonic clock. */
double seconds_now(void);

#endif
