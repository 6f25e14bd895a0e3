/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads, codes and writes at the same time: batches circulate through three threads. */
#ifndef GFK_TOOL_PIPELINE_H
#define GFK_TOOL_PIPELINE_H

#include <stddef.h>

enum { PIPELINE_END = -1, PIPELINE_STEPS = 3 };

/* Processes one batch in one step. Returns 0, or an exit code that stops the pipeline. At the end
 * of the input the first step leaves the batch empty and returns PIPELINE_END. */
typedef int pipeline_step(void *batch, void *context);

/* Passes `count` batches through the steps in a circle. Each step has a thread of its own and
 * takes the batches in the same order. Returns 0, or the exit code that stopped the pipeline,
 * after all threads have ended. */
int pipeline_run(void *const *batches, size_t count, pipeline_step *const steps[PIPELINE_STEPS],
                 void *context);

#endif
