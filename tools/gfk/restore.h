/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass over the shards of a set, which restores the file stripe by stripe. */
#ifndef GFK_TOOL_RESTORE_H
#define GFK_TOOL_RESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "coder.h"
#include "shard_set.h"

enum { REASON_BYTES = 2560 };

/* Bytes of the file. */
typedef struct byte_range {
    uint64_t offset, bytes;
} byte_range;

/* The result of a pass. */
typedef struct restore_result {
    uint64_t *bad_blocks;     /* missing or damaged blocks of each shard that has a source */
    uint64_t *corrected;      /* bad blocks of each shard whose checksums hide that they are bad */
    uint64_t damaged_stripes; /* stripes with at least one bad block */
    uint64_t lost_stripes;    /* stripes that cannot be restored */
    uint64_t guessed_stripes; /* stripes with fewer than k intact blocks that the code restored */
    bool hash_matches;        /* the restored file has the hash of the header */
    bool disagree;            /* no hash that matches, and intact blocks do not fit together */
    byte_range *missing;      /* of a partial pass: bytes that could not be restored, ascending */
    size_t missing_count;
    char reason[REASON_BYTES]; /* why the hash does not match, for a message */
} restore_result;

typedef struct restore_options {
    bool thorough;    /* read all shards, check every stripe by the code, and rebuild parity too;
                         otherwise read k shards and trust the checksums of the blocks */
    bool partial;     /* trust only intact blocks, and write zeros for what they do not give */
    bool keep_going;  /* count lost stripes instead of ending at the first */
    uint64_t memory;  /* bytes for batches */
    const char *what; /* name in the progress line; NULL: the caller has a line */
} restore_options;

/* Takes a restored batch: the data blocks are correct, and all blocks in a thorough pass. Returns
 * 0 or an exit code. */
typedef int restore_sink(const batch *b, void *context);

/* restore_run: `sink` may be NULL. Returns 0 if the pass ended without a failure of the system;
 * result->hash_matches then tells whether the file is correct, and result->reason why it is not.
 * The caller frees *result by restore_result_free in any case. */
int restore_run(const shard_set *set, coder *c, const restore_options *options, restore_sink *sink,
                void *context, restore_result *result);
void restore_result_free(restore_result *result);

/* True if enough shards can be read to try. */
bool restore_is_possible(const shard_set *set);
/* Opens the coder for a set, or calls restore_fail_for_shards. If nothing can be computed, because the
 * file is empty or a part of it is enough, there is no coder. */
int restore_open_coder(coder **c, const shard_set *set, const coder_options *options, bool partial);

/* Reports the number of readable shards and the missing shards. Returns TOOL_UNRECOVERABLE. */
int restore_fail_for_shards(const shard_set *set);

#endif
