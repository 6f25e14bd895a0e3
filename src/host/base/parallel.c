/* SPDX-License-Identifier: BSD-3-Clause */
#include "parallel.h"

#include <pthread.h>
#include <stdbool.h>

#include "cores.h"

enum { GRAIN = 1 << 16, MAX_THREADS = 256 };

typedef struct part {
    pthread_t thread;
    bool started;
    uint64_t begin, end;
    gfk_loop_fn *body;
    void *context;
} part;

static void *run(void *argument) {
    const part *p = argument;
    p->body(p->begin, p->end, p->context);
    return NULL;
}

void gfk_parallel_for(uint64_t count, gfk_loop_fn *body, void *context) {
    part parts[MAX_THREADS];
    const uint64_t grains = (count + GRAIN - 1) / GRAIN;
    uint64_t threads = grains / 16; /* below a million steps a thread costs more than it brings */
    if (threads > 1) {              /* counting the cores takes a while, so not for short loops */
        const unsigned cores = gfk_usable_cores();
        if (threads > cores)
            threads = cores;
        if (threads > MAX_THREADS)
            threads = MAX_THREADS;
    }
    if (threads <= 1) {
        body(0, count, context);
        return;
    }
    for (uint64_t i = 0; i < threads; i++) {
        part *p = &parts[i];
        p->begin = grains * i / threads * GRAIN;
        p->end = i + 1 == threads ? count : grains * (i + 1) / threads * GRAIN;
        p->body = body;
        p->context = context;
        p->started = pthread_create(&p->thread, NULL, run, p) == 0;
    }
    for (uint64_t i = 0; i < threads; i++) {
        if (parts[i].started)
            pthread_join(parts[i].thread, NULL);
        else
            run(&parts[i]);
    }
}
