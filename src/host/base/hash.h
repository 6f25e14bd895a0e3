/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a with 64 bits, for checksums of files and for hash tables. It does not protect against an
 * attacker, who can make collisions. */
#ifndef GFK_HOST_HASH_H
#define GFK_HOST_HASH_H

#include <stddef.h>
#include <stdint.h>

#define GFK_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Extends a hash by more bytes. The first hash is GFK_HASH_BEGIN. */
static inline uint64_t gfk_hash(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *p = (const unsigned char *)data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
