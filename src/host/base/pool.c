/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "cores.h"

enum { MAX_THREADS = 256 };

/* A loop under way; it lives on its caller's stack. */
typedef struct job {
    struct job *next;
    atomic_size_t taken; /* steps that somebody has begun */
    size_t count;
    size_t helpers; /* threads of the pool that are in it */
    size_t joined;  /* that are or have been */
    gfk_step_fn *body;
    void *context;
} job;

typedef struct worker {
    pthread_t thread;
    pthread_cond_t wake;
    gfk_pool *pool;
    struct worker *below; /* in the stack of the idle */
    bool idle;
} worker;

struct gfk_pool {
    pthread_mutex_t mutex; /* of everything below */
    pthread_cond_t left;
    job *jobs;    /* those with steps to begin */
    worker *idle; /* the last to become so on top: its core is the least asleep */
    bool stop;
    size_t threads;
    pid_t process; /* that has the threads: a child after fork has none of them */
    worker workers[MAX_THREADS];
};

static void do_steps(job *j) {
    for (size_t i; (i = atomic_fetch_add_explicit(&j->taken, 1, memory_order_relaxed)) < j->count;)
        j->body(i, j->context);
}

static void unlist(gfk_pool *pool, const job *j) {
    job **link = &pool->jobs;
    while (*link != NULL && *link != j)
        link = &(*link)->next;
    if (*link != NULL)
        *link = j->next;
}

static void wait_for_job(worker *self) {
    gfk_pool *pool = self->pool;
    while (pool->jobs == NULL && !pool->stop) {
        self->idle = true;
        self->below = pool->idle;
        pool->idle = self;
        while (self->idle && !pool->stop)
            pthread_cond_wait(&self->wake, &pool->mutex);
    }
}

static void wake(gfk_pool *pool, size_t count) {
    for (; count != 0 && pool->idle != NULL; count--) {
        worker *top = pool->idle;
        pool->idle = top->below;
        top->idle = false;
        pthread_cond_signal(&top->wake);
    }
}

static void *serve(void *argument) {
    worker *self = argument;
    gfk_pool *pool = self->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        wait_for_job(self);
        if (pool->stop)
            break;
        job *j = pool->jobs;
        j->helpers++;
        if (++j->joined == j->count - 1) /* with the caller, one for each step */
            unlist(pool, j);
        pthread_mutex_unlock(&pool->mutex);
        do_steps(j);
        pthread_mutex_lock(&pool->mutex);
        unlist(pool, j);
        if (--j->helpers == 0)
            pthread_cond_broadcast(&pool->left);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

void gfk_pool_run(gfk_pool *pool, size_t count, gfk_step_fn *body, void *context) {
    job mine = {.count = count, .body = body, .context = context};
    const bool shared = count > 1 && pool->threads != 0 && pool->process == getpid();
    if (shared) {
        pthread_mutex_lock(&pool->mutex);
        mine.next = pool->jobs;
        pool->jobs = &mine;
        wake(pool, count - 1);
        pthread_mutex_unlock(&pool->mutex);
    }
    do_steps(&mine);
    if (shared) {
        pthread_mutex_lock(&pool->mutex);
        unlist(pool, &mine);
        while (mine.helpers != 0)
            pthread_cond_wait(&pool->left, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
    }
}

/* ---- the process's pool ------------------------------------------------------------------------
 */

static pthread_mutex_t owners = PTHREAD_MUTEX_INITIALIZER;
static gfk_pool *the_pool;
static size_t references;

static gfk_pool *start(void) {
    gfk_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->left, NULL);
    pool->process = getpid();
    const size_t others = gfk_usable_cores() - 1;
    const size_t wanted = others < MAX_THREADS ? others : MAX_THREADS;
    for (; pool->threads < wanted; pool->threads++) {
        worker *w = &pool->workers[pool->threads];
        w->pool = pool;
        pthread_cond_init(&w->wake, NULL);
        if (pthread_create(&w->thread, NULL, serve, w) != 0) {
            pthread_cond_destroy(&w->wake);
            break;
        }
    }
    return pool;
}

static void end(gfk_pool *pool) {
    if (pool->process != getpid())
        return; /* its locks may be held for ever; what it has is the price of fork */
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    wake(pool, pool->threads);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->threads; i++) {
        pthread_join(pool->workers[i].thread, NULL);
        pthread_cond_destroy(&pool->workers[i].wake);
    }
    pthread_cond_destroy(&pool->left);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

gfk_pool *gfk_pool_acquire(void) {
    pthread_mutex_lock(&owners);
    if (the_pool == NULL)
        the_pool = start();
    gfk_pool *pool = the_pool;
    references += pool != NULL;
    pthread_mutex_unlock(&owners);
    return pool;
}

void gfk_pool_release(gfk_pool *pool) {
    pthread_mutex_lock(&owners);
    const bool last = --references == 0;
    if (last)
        the_pool = NULL;
    pthread_mutex_unlock(&owners);
    if (last)
        end(pool);
}
