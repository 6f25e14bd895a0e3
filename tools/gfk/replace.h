/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts new shards in the place of existing files with the same names. */
#ifndef GFK_TOOL_REPLACE_H
#define GFK_TOOL_REPLACE_H

#include <stdbool.h>

#include "format.h"
#include "shard_writer.h"

/* Checks that the existing shards of `base` have the same code, block size and file size as
 * `header`, as after a killed run, so that new shards may replace the existing shards. The hash of
 * the file is compared only if `complete`. Returns 0, or an exit code after a message. */
int check_replaceable(const char *base, const shard_header *header, bool complete);

/* Renames finished shards to their final names unless a check refuses, then removes the remaining
 * shards of the replaced set and the temporary files of killed runs. All new shards are complete
 * on the disk before the first rename. If a kill interrupts the renames, shard_set_open finds new
 * shards under final and under temporary names. */
int replace_set(shard_writer *writer, const char *base, const shard_header *header, bool force);

/* Removes the temporary files that killed runs left for shards of `base`. */
void clean_shards(const char *base);

#endif
