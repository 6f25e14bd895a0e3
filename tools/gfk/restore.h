/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass over the shards of a set that brings back the file, stripe by stripe. */
#ifndef GFK_TOOL_RESTORE_H
#define GFK_TOOL_RESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "coder.h"
#include "pipeline.h"
#include "shard_set.h"

/* What a pass did. */
typedef struct restore_result {
    uint64_t *bad_blocks; /* for each shard that has a source: blocks that are missing or damaged */
    uint64_t *corrected;  /* of these: blocks whose checksum is right, but not for the code */
    uint64_t damaged_stripes; /* with at least one bad block */
    uint64_t lost_stripes;    /* that cannot be brought back */
    bool hash_matches;        /* the file is what it was */
} restore_result;

typedef struct restore_options {
    bool thorough;   /* read all shards, check every stripe by the code, and rebuild parity too;
                        else read k shards, and trust checksums until the file's says otherwise */
    bool keep_going; /* count the stripes that are lost, instead of failing at the first */
    uint64_t memory;
    const char *what; /* for the progress line */
} restore_options;

/* Takes a batch whose data blocks are right (all blocks, if thorough). Returns 0 or an exit code.
 */
typedef int restore_sink(const batch *b, void *context);

/* restore_run: `sink` may be NULL. Returns 0 when all stripes have been seen; whether that made the
 * file, the result says. *result is to be freed by restore_result_free in any case. */
int restore_run(const shard_set *set, coder *c, const restore_options *options, restore_sink *sink,
                void *context, restore_result *result);
void restore_result_free(restore_result *result);

/* The coder for a set. */
int restore_open_coder(coder **c, const shard_set *set, const coder_options *options);

/* Says which shards are there and which are needed. Returns TOOL_UNRECOVERABLE. */
int restore_fail_for_shards(const shard_set *set);

#endif
