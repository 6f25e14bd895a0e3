/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_cache.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static gfk_lru kernels; /* guarded by the mutex, and so are the users of its kernels */

static bool has_key(const gfk_lru_node *node, const void *key) {
    const gfk_bytes *own = &((const gfk_jit_kernel *)node)->key, *wanted = key;
    return own->size == wanted->size && memcmp(own->data, wanted->data, own->size) == 0;
}

/* The kernel of this key, with one more user. The mutex is held. */
static gfk_jit_kernel *find(gfk_bytes key) {
    gfk_lru_node *node = gfk_lru_find(&kernels, has_key, &key);
    if (node != NULL)
        node->users++;
    return (gfk_jit_kernel *)node;
}

static void give_back(const gfk_jit_kernel *kernel) {
    kernel->unload(kernel->library);
    free(kernel->key.data);
    free(kernel->image.data);
}

/* Releases the mutex. Unloading may wait for the device, so it comes after that. */
static void unlock_and_trim(void) {
    gfk_lru_node *surplus = gfk_lru_trim(&kernels, GFK_JIT_MOST_KERNELS);
    (void)pthread_mutex_unlock(&mutex);
    while (surplus != NULL) {
        gfk_jit_kernel *kernel = (gfk_jit_kernel *)surplus;
        surplus = surplus->next;
        give_back(kernel);
        free(kernel);
    }
}

gfk_jit_kernel *gfk_jit_kernel_find(gfk_bytes key) {
    (void)pthread_mutex_lock(&mutex);
    gfk_jit_kernel *kernel = find(key);
    (void)pthread_mutex_unlock(&mutex);
    return kernel;
}

gfk_jit_kernel *gfk_jit_kernel_add(const gfk_jit_kernel *made) {
    gfk_jit_kernel *mine = malloc(sizeof *mine);
    if (mine == NULL) {
        give_back(made);
        return NULL;
    }
    *mine = *made;
    mine->node.users = 1;
    (void)pthread_mutex_lock(&mutex);
    gfk_jit_kernel *kernel = find(made->key);
    if (kernel == NULL)
        gfk_lru_add(&kernels, &mine->node);
    unlock_and_trim();
    if (kernel == NULL)
        return mine;
    give_back(mine);
    free(mine);
    return kernel;
}

void gfk_jit_kernel_release(gfk_jit_kernel *kernel) {
    if (kernel == NULL)
        return;
    (void)pthread_mutex_lock(&mutex);
    kernel->node.users--;
    unlock_and_trim();
}

size_t gfk_jit_kernel_count(void) {
    size_t count = 0;
    (void)pthread_mutex_lock(&mutex);
    for (const gfk_lru_node *node = kernels.first; node != NULL; node = node->next)
        count++;
    (void)pthread_mutex_unlock(&mutex);
    return count;
}
