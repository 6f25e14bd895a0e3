/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a process that has used a GPU: the driver needs about 0.1 s to give everything back. */
#ifndef GFK_TOOL_ENDING_H
#define GFK_TOOL_ENDING_H

#include <stdbool.h>

/* Is the end to be left to another process? Set by the command, in the main thread. */
extern bool end_aside;

/* end_begin: the last call ahead of the end, when all files and the output are written. With end_aside it makes a
 * process that shares the memory and the open files of this one, and ends after it. So whoever waits for this
 * process does not wait until the GPU's driver has freed them. Standard input, output and error are closed. */
void end_begin(void);

#endif
