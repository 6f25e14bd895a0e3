/* SPDX-License-Identifier: BSD-3-Clause */
/* The MD5 of many messages of the same length at once, one in each lane of the CPU's vectors. MD5 of
 * one message is a chain of operations that uses a small part of a core. */
#ifndef GFK_PAR2_MD5_MANY_H
#define GFK_PAR2_MD5_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"

enum { MD5_MANY = 16 }; /* messages that are hashed together */

/* md5_add_many: adds the `bytes` bytes at memory + i * stride to stream i. All streams have had the same number of
 * bytes before; count is at most MD5_MANY. Any thread. */
void md5_add_many(md5_stream *streams, const uint8_t *memory, size_t stride, size_t count,
                  size_t bytes);

/* md5_many: digests[i] becomes the MD5 of the `bytes` bytes at memory + i * stride; count is at most MD5_MANY.
 * Any thread. */
void md5_many(const uint8_t *memory, size_t stride, size_t count, size_t bytes,
              uint8_t (*digests)[MD5_BYTES]);

#endif
