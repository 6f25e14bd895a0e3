/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop over all cores, for the tables that take gigabytes. */
#ifndef GFK_HOST_PARALLEL_H
#define GFK_HOST_PARALLEL_H

#include <stdint.h>

/* Does the part [begin, end) of a loop. */
typedef void gfk_loop_fn(uint64_t begin, uint64_t end, void *context);

/* gfk_parallel_for: calls body for disjoint parts that make up [0, count), each a multiple of 2^16
 * long except the last. Short loops run on the calling thread; a thread that cannot be started
 * costs time, not correctness. */
void gfk_parallel_for(uint64_t count, gfk_loop_fn *body, void *context);

#endif
