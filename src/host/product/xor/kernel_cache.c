/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_cache.h"

/* The list, the one used last first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gfk_xor_kernel *first;

static void give_back(gfk_xor_kernel *kernel) {
    kernel->unload(kernel->library);
    free(kernel->key.data);
    free(kernel->image.data);
    free(kernel);
}

/* Under the lock: the kernel of this key, moved to the front. */
static gfk_xor_kernel *find(gfk_bytes key) {
    for (gfk_xor_kernel **at = &first; *at != NULL; at = &(*at)->next) {
        gfk_xor_kernel *kernel = *at;
        if (kernel->key.size == key.size && memcmp(kernel->key.data, key.data, key.size) == 0) {
            *at = kernel->next;
            kernel->next = first;
            first = kernel;
            return kernel;
        }
    }
    return NULL;
}

/* Under the lock: takes unused kernels beyond the limit out of the list and returns them. */
static gfk_xor_kernel *take_surplus(void) {
    gfk_xor_kernel *surplus = NULL;
    size_t seen = 0;
    for (gfk_xor_kernel **at = &first; *at != NULL;) {
        gfk_xor_kernel *kernel = *at;
        if (++seen > GFK_XOR_LOADED && kernel->references == 0) {
            *at = kernel->next;
            kernel->next = surplus;
            surplus = kernel;
        } else {
            at = &kernel->next;
        }
    }
    return surplus;
}

static void give_back_all(gfk_xor_kernel *kernels) {
    while (kernels != NULL) {
        gfk_xor_kernel *next = kernels->next;
        give_back(kernels);
        kernels = next;
    }
}

gfk_xor_kernel *gfk_xor_loaded_find(gfk_bytes key) {
    (void)pthread_mutex_lock(&lock);
    gfk_xor_kernel *kernel = find(key);
    if (kernel != NULL)
        kernel->references++;
    (void)pthread_mutex_unlock(&lock);
    return kernel;
}

gfk_xor_kernel *gfk_xor_loaded_add(const gfk_xor_kernel *made) {
    gfk_xor_kernel *mine = malloc(sizeof *mine);
    if (mine == NULL) {
        made->unload(made->library);
        free(made->key.data);
        free(made->image.data);
        return NULL;
    }
    *mine = *made;
    (void)pthread_mutex_lock(&lock);
    gfk_xor_kernel *kernel = find(made->key);
    const bool late = kernel != NULL;
    if (!late) {
        kernel = mine;
        kernel->references = 0;
        kernel->next = first;
        first = kernel;
    }
    kernel->references++;
    gfk_xor_kernel *surplus = take_surplus();
    (void)pthread_mutex_unlock(&lock);
    /* Unloading may wait for the device: not under the lock. */
    if (late)
        give_back(mine);
    give_back_all(surplus);
    return kernel;
}

void gfk_xor_loaded_release(gfk_xor_kernel *kernel) {
    if (kernel == NULL)
        return;
    (void)pthread_mutex_lock(&lock);
    kernel->references--;
    gfk_xor_kernel *surplus = take_surplus();
    (void)pthread_mutex_unlock(&lock);
    give_back_all(surplus);
}

size_t gfk_xor_loaded_count(void) {
    size_t count = 0;
    (void)pthread_mutex_lock(&lock);
    for (const gfk_xor_kernel *k = first; k != NULL; k = k->next)
        count++;
    (void)pthread_mutex_unlock(&lock);
    return count;
}
