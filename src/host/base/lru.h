/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounded list of objects, the one used last first. An object with users stays in the list even
 * beyond the bound. The list takes no lock: its owner does. */
#ifndef GFK_HOST_LRU_H
#define GFK_HOST_LRU_H

#include <stdbool.h>
#include <stddef.h>

/* The first member of an object. */
typedef struct gfk_lru_node {
    struct gfk_lru_node *next;
    unsigned users; /* counted by the owner */
} gfk_lru_node;

typedef struct gfk_lru {
    gfk_lru_node *first;
} gfk_lru;

typedef bool gfk_lru_match_fn(const gfk_lru_node *node, const void *key);

/* The object that matches the key, moved to the front; NULL: there is none. */
gfk_lru_node *gfk_lru_find(gfk_lru *lru, gfk_lru_match_fn *match, const void *key);
void gfk_lru_add(gfk_lru *lru, gfk_lru_node *node); /* at the front */
/* Takes the objects without users behind the first `most` out of the list, and returns them as a
 * list by `next`. */
gfk_lru_node *gfk_lru_trim(gfk_lru *lru, size_t most);

#endif
