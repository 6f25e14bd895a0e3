/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounded list of objects that threads share, the most recently used first. An object with users
 * stays in the list even beyond the bound. */
#ifndef GFK_HOST_LRU_H
#define GFK_HOST_LRU_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The first member of an object. */
typedef struct gfk_lru_node {
    struct gfk_lru_node *next;
    size_t users;
} gfk_lru_node;

typedef struct gfk_lru {
    pthread_mutex_t mutex; /* guards the list, its nodes and their users */
    gfk_lru_node *first;
    size_t most; /* the bound */
    bool (*matches)(const gfk_lru_node *node, const void *key);
    void (*destroy)(gfk_lru_node *node); /* destroys an object; called without the mutex */
} gfk_lru;

#define GFK_LRU_INIT(most, matches, destroy)                                                       \
    {PTHREAD_MUTEX_INITIALIZER, NULL, most, matches, destroy}

/* Returns the object with the key, which gets one more user, or NULL if there is none. */
gfk_lru_node *gfk_lru_find(gfk_lru *lru, const void *key);
/* Adds an object with one user. If another thread has added an object with this key before, that
 * object gets the user and is returned; the caller then destroys `node`. */
gfk_lru_node *gfk_lru_add(gfk_lru *lru, gfk_lru_node *node, const void *key);
void gfk_lru_release(gfk_lru *lru, gfk_lru_node *node); /* takes a user away */
/* Destroys all objects, of which none may have users, and the mutex. */
void gfk_lru_clear(gfk_lru *lru);

#endif
