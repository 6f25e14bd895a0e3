/* SPDX-License-Identifier: BSD-3-Clause */
/* The line on a terminal that says how far the work is, how fast, and how long it will take. */
#ifndef GFK_TOOL_PROGRESS_H
#define GFK_TOOL_PROGRESS_H

#include <stdint.h>

/* Begins a line for `total` bytes; 0: nobody knows. Shown only if standard error is a terminal, and
 * neither --quiet nor --json was given. */
void progress_begin(const char *what, uint64_t total);
/* `bytes` more are done. One thread at a time. */
void progress_add(uint64_t bytes);
/* Wipes the line, before something else is written; the next progress_add brings it back. */
void progress_clear(void);
void progress_end(void);

/* Seconds on a clock that only goes forward. */
double seconds_now(void);

#endif
