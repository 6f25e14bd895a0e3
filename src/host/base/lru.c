/* SPDX-License-Identifier: BSD-3-Clause */
#include "lru.h"

gfk_lru_node *gfk_lru_find(gfk_lru *lru, gfk_lru_match_fn *match, const void *key) {
    for (gfk_lru_node **link = &lru->first; *link != NULL; link = &(*link)->next) {
        gfk_lru_node *node = *link;
        if (match(node, key)) {
            *link = node->next;
            gfk_lru_add(lru, node);
            return node;
        }
    }
    return NULL;
}

void gfk_lru_add(gfk_lru *lru, gfk_lru_node *node) {
    node->next = lru->first;
    lru->first = node;
}

gfk_lru_node *gfk_lru_trim(gfk_lru *lru, size_t most) {
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
    return surplus;
}
