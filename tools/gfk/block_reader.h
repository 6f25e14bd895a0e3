/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads blocks from shards into batches and records the state of each block. */
#ifndef GFK_TOOL_BLOCK_READER_H
#define GFK_TOOL_BLOCK_READER_H

#include "batch.h"
#include "shard_set.h"

/* Reads the blocks of shard `index` for `count` stripes of a batch, from stripe `first` on, and
 * sets the states of the blocks. If a block is not intact in the best source, the other sources of
 * the shard are tried. A missing block is filled with zeros. */
void read_blocks(const shard_set *set, batch *b, size_t index, size_t first, size_t count);

/* Reads shards, data shards first, until every stripe of the batch has k intact blocks.
 * `everything` reads all shards. */
void read_batch(const shard_set *set, batch *b, bool everything);

/* The number of blocks of a stripe whose state is `least` or better. */
size_t count_states(const batch *b, size_t stripe, block_state least);

#endif
