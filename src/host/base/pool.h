/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait for loops to share, so that a compute call can use all cores without starting
 * threads itself. */
#ifndef GFK_HOST_POOL_H
#define GFK_HOST_POOL_H

#include <stddef.h>

typedef struct gfk_pool gfk_pool;

/* Does step i of a loop; any thread, any order. */
typedef void gfk_step_fn(size_t i, void *context);

/* gfk_pool_acquire: the process's pool, with a thread for each core that the first caller may run
 * on but one. The first acquire starts it, the last release ends it. NULL: no memory. Threads that
 * cannot be started cost time, not correctness. */
gfk_pool *gfk_pool_acquire(void);
void gfk_pool_release(gfk_pool *pool);

/* gfk_pool_run: body(0) to body(count - 1), by the calling thread and whoever is idle; returns when
 * all are done. Allocates nothing. Any number of threads may call it at the same time. */
void gfk_pool_run(gfk_pool *pool, size_t count, gfk_step_fn *body, void *context);

#endif
