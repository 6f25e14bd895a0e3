/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled kernels in a folder, one file each. The name of a file is a hash of its key. The file
 * begins with the whole key, which is compared byte by byte: two keys with the same hash replace
 * each other's file. No error here is fatal: a file that cannot be read counts as missing, and a
 * kernel that cannot be written is not kept. */
#ifndef GFK_JIT_DISK_CACHE_H
#define GFK_JIT_DISK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/files.h"

typedef struct gfk_jit_disk_cache {
    const char *folder; /* NULL: no kernel is kept */
    uint64_t limit;     /* bytes of all files together; the least recently used files go first */
} gfk_jit_disk_cache;

#define GFK_JIT_CACHE_LIMIT (UINT64_C(256) << 20)
#define GFK_JIT_CACHE_SUFFIX ".gfkxor"

/* Reads the payload of this key, into memory that the caller frees; false: there is none. A damaged
 * file or one of another key is removed. */
bool gfk_jit_disk_cache_read(const gfk_jit_disk_cache *cache, gfk_bytes key, gfk_bytes *payload);
/* Writes a file, whole or not at all. Makes the folder if it is missing. */
void gfk_jit_disk_cache_write(const gfk_jit_disk_cache *cache, gfk_bytes key, gfk_bytes payload);
bool gfk_jit_disk_cache_has(const gfk_jit_disk_cache *cache,
                            gfk_bytes key); /* a file of this name */
void gfk_jit_disk_cache_remove(const gfk_jit_disk_cache *cache, gfk_bytes key);

/* Does this file hold the key, undamaged? If so, *payload points into the file. */
bool gfk_jit_disk_cache_parse(gfk_bytes file, gfk_bytes key, gfk_bytes *payload);

#endif
