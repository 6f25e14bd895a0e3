/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose two headers are damaged: of which set each one is a shard. */
#ifndef GFK_TOOL_HEADERLESS_H
#define GFK_TOOL_HEADERLESS_H

#include "shard_set.h"

/* A set that may own such a file. */
typedef struct candidate {
    const shard_header *header;
    shard_set *set; /* for the caller */
    uint64_t bytes; /* of a shard */
} candidate;

typedef struct candidates {
    candidate *all; /* in the order of preference */
    size_t count;
    candidate **by_id;
    size_t length_count;
    struct block_length *lengths; /* the different lengths of blocks */
} candidates;

/* Makes a list with room for `most` sets; candidates_sort follows the last candidates_add. Returns 0,
 * or an exit code after a message; the caller frees the list in any case. */
int candidates_open(candidates *list, size_t most);
void candidates_add(candidates *list, const shard_header *header, shard_set *set);
void candidates_sort(candidates *list);
void candidates_close(candidates *list);

/* The set that an open file without an intact header belongs to; NULL if there is none. It does if
 * the id of the set is in the place of a header, or if the file has a shard's name and nothing is
 * lost with its contents: they are a shard's length of zeros or cannot be read, or they are the
 * beginning of the shard's header. An intact block header identifies the shard; without one the shard
 * is the one of the file's name. Of more than 64 lengths of blocks only the first 64 are tried. */
const candidate *candidates_find(const candidates *list, shard_source *source);

/* True if the file holds nothing but zeros, or cannot be read. The file is open. */
bool shard_source_is_blank(shard_source *source);

#endif
