/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of shards: BASE.gfk.000, BASE.gfk.001, ...; more than three digits only where needed. */
#ifndef GFK_TOOL_SHARD_NAMES_H
#define GFK_TOOL_SHARD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of a shard of `base`; NULL: no memory. */
char *shard_path(const char *base, uint32_t index);

/* Is this the name of a shard? Then *base_length receives the length of BASE, and *index. */
bool shard_name_parse(const char *name, size_t length, size_t *base_length, uint32_t *index);

/* Is this the name of a shard of `base` (a name, not a path)? */
bool shard_name_of(const char *name, size_t length, const char *base, uint32_t *index);

#endif
