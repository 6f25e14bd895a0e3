/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of shards: BASE.gfk.000, BASE.gfk.001, ...; only indices above 999 have more digits. */
#ifndef GFK_TOOL_SHARD_NAMES_H
#define GFK_TOOL_SHARD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of a shard of `base`, which the caller frees; NULL if out of memory. */
char *shard_path(const char *base, uint32_t index);

/* True if the name is a shard's. *base_length then receives the length of BASE, and *index the
 * index. */
bool shard_name_parse(const char *name, size_t length, size_t *base_length, uint32_t *index);

/* True if the name is that of a shard of `base`, which is a name and not a path. *index then
 * receives the index. */
bool shard_name_of(const char *name, size_t length, const char *base, uint32_t *index);

#endif
