/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that this process has loaded. Products share them, so that a matrix is compiled once. A
 * kernel that no product uses stays until GFK_JIT_MOST_KERNELS others were used after it. */
#ifndef GFK_JIT_KERNEL_CACHE_H
#define GFK_JIT_KERNEL_CACHE_H

#include "disk_cache.h"
#include "host/base/lru.h"

enum { GFK_JIT_MOST_KERNELS = 64 };

typedef struct gfk_jit_kernel {
    gfk_lru_node node;    /* its users are products */
    gfk_bytes key;        /* owned */
    gfk_bytes image;      /* owned; empty if the driver compiled the kernel */
    void *library;        /* owned; given to unload */
    const void *function; /* what a launch takes */
    void (*unload)(void *library);
} gfk_jit_kernel;

/* The kernel of this key, with one more user; NULL: not loaded. */
gfk_jit_kernel *gfk_jit_kernel_find(gfk_bytes key);
/* Adds a kernel, takes over what it owns, and returns it with a user. If another thread has added
 * the same kernel before, that one is returned and this one is unloaded. NULL: out of memory, and
 * the kernel is unloaded. */
gfk_jit_kernel *gfk_jit_kernel_add(const gfk_jit_kernel *made);
void gfk_jit_kernel_release(gfk_jit_kernel *kernel); /* NULL is allowed */
size_t gfk_jit_kernel_count(void);

#endif
