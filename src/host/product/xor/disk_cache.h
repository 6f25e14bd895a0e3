/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled kernels in a folder, one file each. A file opens with the whole key, which is compared
 * byte by byte: the file's name is a short hash of it, so two keys may meet in one name, and then
 * they only drive each other out. Nothing here is fatal: what cannot be read was not there, what
 * cannot be written is not kept. */
#ifndef GFK_XOR_CACHE_H
#define GFK_XOR_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/files.h"

typedef struct gfk_xor_cache {
    const char *folder; /* NULL: nothing is kept */
    uint64_t limit;     /* bytes of all files together; the longest unused ones go */
} gfk_xor_cache;

#define GFK_XOR_CACHE_LIMIT (UINT64_C(256) << 20)
#define GFK_XOR_CACHE_SUFFIX ".gfkxor"

/* The payload of this key, in memory that the caller frees; false: not there. A file that is no
 * good is removed, and so is one that belongs to another key. */
bool gfk_xor_cache_read(const gfk_xor_cache *cache, gfk_bytes key, gfk_bytes *payload);
/* Writes a file, whole or not at all, and makes the folder if it is missing. */
void gfk_xor_cache_write(const gfk_xor_cache *cache, gfk_bytes key, gfk_bytes payload);
bool gfk_xor_cache_has(const gfk_xor_cache *cache, gfk_bytes key); /* a file of this name */
void gfk_xor_cache_remove(const gfk_xor_cache *cache, gfk_bytes key);

/* Does this file hold the key, undamaged? *payload then points into it. */
bool gfk_xor_cache_parse(gfk_bytes file, gfk_bytes key, gfk_bytes *payload);

#endif
