/* SPDX-License-Identifier: BSD-3-Clause */
#include "lru.h"

/* Moves the object with the key to the front and adds a user. The mutex is held. */
static gfk_lru_node *find(gfk_lru *lru, const void *key) {
    gfk_lru_node **link = &lru->first, *node;
    while ((node = *link) != NULL && !lru->matches(node, key))
        link = &node->next;
    if (node != NULL) {
        *link = node->next;
        node->next = lru->first;
        lru->first = node;
        node->users++;
    }
    return node;
}

/* Releases the mutex, then destroys the objects without users beyond the first `most`. */
static void unlock_and_trim(gfk_lru *lru, size_t most) {
    gfk_lru_node *surplus = NULL;
    size_t seen = 0;
    for (gfk_lru_node **link = &lru->first; *link != NULL;) {
        gfk_lru_node *node = *link;
        if (++seen > most && node->users == 0) {
            *link = node->next;
            node->next = surplus;
            surplus = node;
        } else {
            link = &node->next;
        }
    }
    pthread_mutex_unlock(&lru->mutex);
    for (gfk_lru_node *next; surplus != NULL; surplus = next) {
        next = surplus->next;
        lru->destroy(surplus);
    }
}

gfk_lru_node *gfk_lru_find(gfk_lru *lru, const void *key) {
    pthread_mutex_lock(&lru->mutex);
    gfk_lru_node *node = find(lru, key);
    pthread_mutex_unlock(&lru->mutex);
    return node;
}

gfk_lru_node *gfk_lru_add(gfk_lru *lru, gfk_lru_node *node, const void *key) {
    pthread_mutex_lock(&lru->mutex);
    gfk_lru_node *there = find(lru, key);
    if (there == NULL) {
        there = node;
        node->users = 1;
        node->next = lru->first;
        lru->first = node;
    }
    unlock_and_trim(lru, lru->most);
    return there;
}

void gfk_lru_release(gfk_lru *lru, gfk_lru_node *node) {
    pthread_mutex_lock(&lru->mutex);
    node->users--;
    unlock_and_trim(lru, lru->most);
}

void gfk_lru_clear(gfk_lru *lru) {
    pthread_mutex_lock(&lru->mutex);
    unlock_and_trim(lru, 0);
    pthread_mutex_destroy(&lru->mutex);
}
