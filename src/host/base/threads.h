/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's pool of threads. They wait for loops to share, so that a compute call can use all
 * cores without starting threads itself. */
#ifndef GFK_HOST_THREADS_H
#define GFK_HOST_THREADS_H

#include <stddef.h>
#include <stdint.h>

/* The number of cores that the calling thread may run on, at least 1. An affinity mask, as taskset,
 * batch systems and containers set it, counts; a control group's quota does not. */
unsigned gfk_usable_cores(void);

typedef struct gfk_pool gfk_pool;

/* Does step i of a loop. Any thread may do it, in any order. */
typedef void gfk_step_fn(size_t i, void *context);

/* gfk_pool_acquire: returns the process's pool, which has one thread less than the first caller has
 * usable cores. The first acquire starts the pool, the last release ends it. Returns NULL if there
 * is no memory. A thread that cannot be started costs time, but results stay correct. */
gfk_pool *gfk_pool_acquire(void);
void gfk_pool_release(gfk_pool *pool);

/* gfk_pool_run: calls body(0) to body(count - 1) on the calling thread and on idle threads of the
 * pool, at most `threads` together. It returns when all steps are done. It allocates nothing. Any
 * number of threads may call it at the same time. */
enum { GFK_ALL_THREADS = 1 << 20 };
void gfk_pool_run(gfk_pool *pool, size_t threads, size_t count, gfk_step_fn *body, void *context);

/* Does the part [begin, end) of a loop. */
typedef void gfk_loop_fn(uint64_t begin, uint64_t end, void *context);

/* gfk_parallel_for: for the tables that take gigabytes. Calls body on all cores for disjoint parts
 * that make up [0, count), each a multiple of 2^16 long except the last. Short loops run on the
 * calling thread. */
void gfk_parallel_for(uint64_t count, gfk_loop_fn *body, void *context);

#endif
