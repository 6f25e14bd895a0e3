/* SPDX-License-Identifier: BSD-3-Clause */
/* The MD5 of many messages of the same length at once, one in each lane of the CPU's vectors. MD5 of
 * one message is a chain of operations that uses a small part of a core. */
#ifndef GFK_PAR2_MD5_MANY_H
#define GFK_PAR2_MD5_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"

enum { MD5_MANY = 16 }; /* messages that are hashed together */

/* md5_many: digests[i] becomes the MD5 of message i, which is at memory + i * stride.
 *
 * prefix  NULL, or `prefix_bytes` bytes, below 64, ahead of each message: those of message i are at
 *         prefix + i * prefix_bytes
 * bytes   of each message, without the prefix
 * Any thread. */
void md5_many(const uint8_t *memory, size_t stride, size_t count, size_t bytes,
              const uint8_t *prefix, size_t prefix_bytes, uint8_t (*digests)[MD5_BYTES]);

#endif
