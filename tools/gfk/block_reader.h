/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks from shards into batches, each with a verdict on it. */
#ifndef GFK_TOOL_BLOCK_READER_H
#define GFK_TOOL_BLOCK_READER_H

#include "batch.h"
#include "shard_set.h"

/* Reads the blocks of shard `index` for some stripes of a batch, from whichever source has them
 * intact, and sets their states. A block that is missing is zeros. */
void read_blocks(const shard_set *set, batch *b, size_t index, size_t first, size_t count);

/* Reads shards, data first, until every stripe of the batch has k intact blocks; all of them if
 * `everything`. */
void read_batch(const shard_set *set, batch *b, bool everything);

size_t count_states(const batch *b, size_t stripe, block_state least); /* `least` or better */

#endif
