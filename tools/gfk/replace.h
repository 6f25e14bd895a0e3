/* SPDX-License-Identifier: BSD-3-Clause */
/* New shards in the place of what has their names. */
#ifndef GFK_TOOL_REPLACE_H
#define GFK_TOOL_REPLACE_H

#include <stdbool.h>

#include "format.h"
#include "shard_writer.h"

/* May the shards of `base` be replaced by those of `header`, because they are of the same file in
 * the same code, as after a run that was killed? header->hash counts only if `complete`. Returns 0,
 * or TOOL_EXISTS or TOOL_IO after a message. */
int check_replaceable(const char *base, const shard_header *header, bool complete);

/* Gives finished shards their names, unless that is to be refused; removes what is left of the set
 * that they replace, and of killed runs. Until the last byte of all of them is on the disk nothing
 * is replaced; if the process is killed after that, the shards are found under both kinds of names.
 */
int replace_set(shard_writer *writer, const char *base, const shard_header *header, bool force);

/* Removes what killed runs left of the shards of `base`. */
void clean_shards(const char *base);

#endif
