/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "report.h"

typedef struct pipeline {
    void *const *batches;
    size_t count;
    pipeline_step *const *steps;
    void *context;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    uint64_t done[PIPELINE_STEPS]; /* batches that each step has finished */
    uint64_t last;                 /* number of batches in the input; UINT64_MAX: not known yet */
    int code;                      /* exit code; a nonzero code stops all steps */
} pipeline;

typedef struct worker {
    pipeline *line;
    size_t step;
} worker;

/* Waits until the previous step has finished batch number `n`; the first step waits until the last
 * step has finished the batch whose memory batch `n` uses again. False if batch `n` does not exist
 * or the pipeline stops. */
static bool wait_for(pipeline *line, size_t step, uint64_t n) {
    pthread_mutex_lock(&line->mutex);
    while (
        line->code == 0 && n < line->last &&
        (step == 0 ? n - line->done[PIPELINE_STEPS - 1] >= line->count : n >= line->done[step - 1]))
        pthread_cond_wait(&line->changed, &line->mutex);
    const bool go = line->code == 0 && n < line->last;
    pthread_mutex_unlock(&line->mutex);
    return go;
}

static void *serve(void *argument) {
    const worker *w = argument;
    pipeline *line = w->line;
    for (uint64_t n = 0; wait_for(line, w->step, n); n++) {
        const int code = line->steps[w->step](line->batches[n % line->count], line->context);
        pthread_mutex_lock(&line->mutex);
        if (code == PIPELINE_END)
            line->last = n;
        else if (code == 0)
            line->done[w->step]++;
        else if (line->code == 0)
            line->code = code;
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->mutex);
    }
    return NULL;
}

int pipeline_run(void *const *batches, size_t count, pipeline_step *const steps[PIPELINE_STEPS],
                 void *context) {
    pipeline line = {.batches = batches,
                     .count = count,
                     .steps = steps,
                     .context = context,
                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER,
                     .last = UINT64_MAX};
    worker workers[PIPELINE_STEPS];
    pthread_t threads[PIPELINE_STEPS];
    size_t started = 0;
    for (; started < PIPELINE_STEPS; started++) {
        workers[started] = (worker){&line, started};
        const int error = pthread_create(&threads[started], NULL, serve, &workers[started]);
        if (error != 0) {
            pthread_mutex_lock(&line.mutex);
            line.code = fail(TOOL_INTERNAL, "cannot start a thread: %s", strerror(error));
            pthread_cond_broadcast(&line.changed);
            pthread_mutex_unlock(&line.mutex);
            break;
        }
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&line.changed);
    pthread_mutex_destroy(&line.mutex);
    return line.code;
}
