/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the blocks of shards, and finds the stripes in which shards have contents. */
#ifndef GFK_TOOL_READER_H
#define GFK_TOOL_READER_H

#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "shard_set.h"

/* Reads the blocks of shard `index` for `count` stripes of a batch, from stripe `first` on, and
 * sets the states of the blocks. If a block is not intact in the best source, the other sources of
 * the shard are tried. A missing block is filled with zeros. */
void read_blocks(const shard_set *set, batch *b, size_t index, size_t first, size_t count);
/* The number of blocks of a stripe whose state is `least` or better. */
size_t count_states(const batch *b, size_t stripe, block_state least);

/* Stripes in which a shard may have blocks: those from `first` on, before `end`. Before `first` the files
 * of the shard have holes. */
typedef struct extent {
    uint64_t first, end;
} extent;

typedef struct stripe_finder {
    const shard_set *set;
    extent *extents;  /* where each shard has contents next */
    uint64_t *firsts; /* the first stripes of the extents */
} stripe_finder;

/* Returns 0, or an exit code after a message; the caller closes the finder in any case. */
int finder_open(stripe_finder *finder, const shard_set *set);
void finder_close(stripe_finder *finder);
/* The first stripe, from `next` on, in which at least `needed` shards have contents: other stripes are
 * lost, and are not read, because a header may promise any number of stripes. `next` never decreases. */
uint64_t finder_next(stripe_finder *finder, uint64_t next, size_t needed);

#endif
