/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "kernel_cache.h"

static void unload(const gfk_jit_kernel *kernel) {
    kernel->unload(kernel->library);
    free(kernel->key.data);
    free(kernel->image.data);
}

static void destroy(gfk_lru_node *node) {
    unload((gfk_jit_kernel *)node);
    free(node);
}

static bool has_key(const gfk_lru_node *node, const void *key) {
    const gfk_bytes *own = &((const gfk_jit_kernel *)node)->key, *wanted = key;
    return own->size == wanted->size && memcmp(own->data, wanted->data, own->size) == 0;
}

static gfk_lru kernels = GFK_LRU_INIT(GFK_JIT_MOST_KERNELS, has_key, destroy);

gfk_jit_kernel *gfk_jit_kernel_find(gfk_bytes key) {
    return (gfk_jit_kernel *)gfk_lru_find(&kernels, &key);
}

gfk_jit_kernel *gfk_jit_kernel_add(const gfk_jit_kernel *made) {
    gfk_jit_kernel *mine = malloc(sizeof *mine);
    if (mine == NULL) {
        unload(made);
        return NULL;
    }
    *mine = *made;
    gfk_lru_node *kernel = gfk_lru_add(&kernels, &mine->node, &mine->key);
    if (kernel != &mine->node)
        destroy(&mine->node);
    return (gfk_jit_kernel *)kernel;
}

void gfk_jit_kernel_release(gfk_jit_kernel *kernel) {
    if (kernel != NULL)
        gfk_lru_release(&kernels, &kernel->node);
}

size_t gfk_jit_kernel_count(void) {
    size_t count = 0;
    pthread_mutex_lock(&kernels.mutex);
    for (const gfk_lru_node *node = kernels.first; node != NULL; node = node->next)
        count++;
    pthread_mutex_unlock(&kernels.mutex);
    return count;
}
