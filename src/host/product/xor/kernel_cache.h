/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that this process has loaded, shared between products, so that the same matrix is
 * compiled once. A kernel that no product uses stays until GFK_XOR_LOADED newer ones have come. */
#ifndef GFK_XOR_KERNEL_CACHE_H
#define GFK_XOR_KERNEL_CACHE_H

#include "disk_cache.h"
#include "host/base/lru.h"

enum { GFK_XOR_LOADED = 64 };

typedef struct gfk_xor_kernel {
    gfk_lru_node node;    /* its users are products */
    gfk_bytes key;        /* owned */
    gfk_bytes image;      /* owned; empty if the driver compiled the kernel */
    void *library;        /* owned; given to unload */
    const void *function; /* what a launch takes */
    void (*unload)(void *library);
} gfk_xor_kernel;

/* The kernel of this key, with one more user; NULL: not loaded. */
gfk_xor_kernel *gfk_xor_loaded_find(gfk_bytes key);
/* Takes over what the kernel owns and returns it in the list, with a user. If another thread was
 * faster, its kernel is returned and this one is given back. NULL: out of memory, and given back.
 */
gfk_xor_kernel *gfk_xor_loaded_add(const gfk_xor_kernel *made);
void gfk_xor_loaded_release(gfk_xor_kernel *kernel); /* NULL is allowed */
size_t gfk_xor_loaded_count(void);

#endif
