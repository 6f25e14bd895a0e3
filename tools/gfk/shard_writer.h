/* SPDX-License-Identifier: BSD-3-Clause */
/* New shards: written from batches under names of their own, complete on the disk before they get
 * the names that shards have. */
#ifndef GFK_TOOL_SHARD_WRITER_H
#define GFK_TOOL_SHARD_WRITER_H

#include "batch.h"
#include "files.h"
#include "format.h"

typedef struct shard_writer {
    size_t count;
    size_t *indices;  /* of the shards to write */
    temp_file *temps; /* one each */
    char **paths;     /* their final paths */
    uint64_t offset;  /* how far they are */
} shard_writer;

/* All return 0, or an exit code after a message. */
int shard_writer_open(shard_writer *writer, size_t count); /* room for `count` shards */
/* Begins a shard; takes the path over, also on an error. NULL: no memory. */
int shard_writer_add(shard_writer *writer, size_t index, char *path);
/* Writes the blocks of a batch that are these shards'; they are sealed. */
int shard_writer_write(shard_writer *writer, const batch *b);
/* Writes the headers, the first one last, and brings all to the disk. */
int shard_writer_finish(shard_writer *writer, const shard_header *header);
void shard_writer_close(shard_writer *writer); /* removes what has no final name */

#endif
