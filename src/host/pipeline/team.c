/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop on no more threads than the pipeline may use, or than are worth it. */
#include "pipeline.h"

typedef struct team {
    atomic_size_t next;
    size_t count;
    gfk_step_fn *body;
    void *context;
} team;

static void member(size_t number, void *context) {
    (void)number;
    team *t = context;
    for (size_t i; (i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->count;)
        t->body(i, t->context);
}

void gfk_team_run(gfk_pipeline_t pipeline, size_t most, size_t count, gfk_step_fn *body,
                  void *context) {
    team t = {.count = count, .body = body, .context = context};
    const size_t threads = gfk_least(pipeline->info.threads, most);
    gfk_pool_run(pipeline->pool, gfk_least(threads, count), member, &t);
}
