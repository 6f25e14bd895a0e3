/* SPDX-License-Identifier: BSD-3-Clause */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* LOOP_PART: for a shorter part a thread costs more time than it saves. */
enum { MOST_THREADS = 256, LOOP_PART = 1 << 20 };

unsigned gfk_usable_cores(void) {
    cpu_set_t mask;
    const int allowed = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
    if (allowed > 0)
        return (unsigned)allowed;
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than a mask of this size has */
    return online < 1 ? 1 : (unsigned)online;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* A loop under way. It lives on its caller's stack. */
typedef struct loop {
    struct loop *next;
    atomic_size_t begun; /* steps that a thread has begun */
    size_t count;
    size_t open;    /* threads of the pool that may still join */
    size_t helpers; /* threads of the pool that have joined */
    gfk_step_fn *body;
    void *context;
} loop;

typedef struct worker {
    pthread_t thread;
    pthread_cond_t wake;
    gfk_pool *pool;
    struct worker *below; /* the next worker in the stack of idle workers */
    bool idle;
} worker;

struct gfk_pool {
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t left;
    loop *loops; /* the loops that more threads may join */
    /* LIFO: the most recently idle core is least likely to be in a deep sleep state. */
    worker *idle;
    bool stop;
    size_t threads;
    pid_t process; /* the process of the threads: a child after fork has none of them */
    worker workers[MOST_THREADS];
};

static void do_steps(loop *l) {
    for (size_t i; (i = atomic_fetch_add_explicit(&l->begun, 1, memory_order_relaxed)) < l->count;)
        l->body(i, l->context);
}

static void unlist(gfk_pool *pool, const loop *l) {
    loop **link = &pool->loops;
    while (*link != NULL && *link != l)
        link = &(*link)->next;
    if (*link != NULL)
        *link = l->next;
}

static void wait_for_loop(worker *self) {
    gfk_pool *pool = self->pool;
    while (pool->loops == NULL && !pool->stop) {
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
        wait_for_loop(self);
        if (pool->stop)
            break;
        loop *l = pool->loops;
        l->helpers++;
        if (--l->open == 0)
            unlist(pool, l);
        pthread_mutex_unlock(&pool->mutex);
        do_steps(l);
        pthread_mutex_lock(&pool->mutex);
        unlist(pool, l);
        if (--l->helpers == 0)
            pthread_cond_broadcast(&pool->left);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

void gfk_pool_run(gfk_pool *pool, size_t threads, size_t count, gfk_step_fn *body, void *context) {
    const size_t most = count < threads ? count : threads;
    loop mine = {.count = count, .open = most - 1, .body = body, .context = context};
    const bool shared = most > 1 && pool->threads != 0 && pool->process == getpid();
    if (shared) {
        pthread_mutex_lock(&pool->mutex);
        mine.next = pool->loops;
        pool->loops = &mine;
        wake(pool, mine.open);
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

/* ---- the process's pool --------------------------------------------------------------------- */

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
    const size_t wanted = others < MOST_THREADS ? others : MOST_THREADS;
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
        /* After fork other threads may hold the pool's locks for ever, so the child does not free
         * the pool's memory. */
        return;
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
    if (pool == NULL)
        return;
    pthread_mutex_lock(&owners);
    const bool last = --references == 0;
    if (last)
        the_pool = NULL;
    pthread_mutex_unlock(&owners);
    if (last)
        end(pool);
}

/* ---- loops over tables ---------------------------------------------------------------------- */

typedef struct table_loop {
    uint64_t count;
    gfk_loop_fn *body;
    void *context;
} table_loop;

static void do_part(size_t i, void *context) {
    const table_loop *l = context;
    const uint64_t begin = (uint64_t)i * LOOP_PART, left = l->count - begin;
    l->body(begin, begin + (left < LOOP_PART ? left : LOOP_PART), l->context);
}

void gfk_parallel_for(uint64_t count, gfk_loop_fn *body, void *context) {
    table_loop l = {count, body, context};
    gfk_pool *pool = count > LOOP_PART ? gfk_pool_acquire() : NULL;
    if (pool == NULL) {
        body(0, count, context);
        return;
    }
    gfk_pool_run(pool, GFK_ALL_THREADS, (size_t)((count + LOOP_PART - 1) / LOOP_PART), do_part, &l);
    gfk_pool_release(pool);
}
