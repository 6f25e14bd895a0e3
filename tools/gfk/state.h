/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of shards, in words: for verify, repair and info. */
#ifndef GFK_TOOL_STATE_H
#define GFK_TOOL_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "restore.h"
#include "shard_set.h"

/* Does a shard have to be made again? result: NULL, if no pass was made. */
bool shard_is_bad(const shard_set *set, const restore_result *result, size_t index);
size_t count_bad_shards(const shard_set *set, const restore_result *result);

/* One line, or one JSON object, for each shard; with `all`, for intact ones too. */
void report_shards(const shard_set *set, const restore_result *result, bool all);
/* What the set is of: code, sizes, name; for JSON only. */
void report_set(const shard_set *set);

#endif
