/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading, coding and writing at the same time: batches go round through three threads. */
#ifndef GFK_TOOL_PIPELINE_H
#define GFK_TOOL_PIPELINE_H

#include <stddef.h>

enum { PIPELINE_END = -1, PIPELINE_STEPS = 3 };

/* A step's work on one batch. Returns 0, or an exit code, which stops everything; the first step
 * returns PIPELINE_END, with nothing in the batch, when there is no more. */
typedef int pipeline_step(void *batch, void *context);

/* Takes `count` batches round through the steps, each step on a thread of its own, every batch in
 * the same order. Returns 0, or the exit code that stopped it; all threads have ended. */
int pipeline_run(void *const *batches, size_t count, pipeline_step *const steps[PIPELINE_STEPS],
                 void *context);

#endif
