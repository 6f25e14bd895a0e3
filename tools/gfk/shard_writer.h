/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes new shards from batches under temporary names, and puts them in the place of existing
 * files with the same names. All shards are complete on the disk before a shard gets its final
 * name. */
#ifndef GFK_TOOL_SHARD_WRITER_H
#define GFK_TOOL_SHARD_WRITER_H

#include "batch.h"
#include "files.h"
#include "format.h"
#include "inventory.h"

typedef struct shard_writer {
    size_t count;       /* number of shards to write */
    size_t *indices;    /* indices of the shards */
    temp_file *temps;   /* temporary file of each shard */
    file_place *places; /* final place of each shard */
    uint64_t offset;    /* offset of the next block header in every shard */
} shard_writer;

/* Functions that return int return 0, or an exit code after a message. */
int shard_writer_open(shard_writer *writer, size_t count); /* makes room for `count` shards */
/* Creates the temporary file of a shard. The writer owns the path, even after an error. A NULL
 * path is reported as out of memory. */
int shard_writer_add(shard_writer *writer, size_t index, folder *in, char *path);
/* Writes the sealed blocks of a batch that belong to the writer's shards. */
int shard_writer_write(shard_writer *writer, const batch *b);
/* Writes the second and then the first header of each shard, and syncs the shards to the disk. */
int shard_writer_finish(shard_writer *writer, const shard_header *header);
void shard_writer_close(shard_writer *writer); /* removes files without a final name */
/* The message about what is no regular file in the place of a shard. Returns TOOL_IO. */
int fail_for_irregular(const file_place *place, const struct stat *status);

/* The files that encode reads; it never replaces or removes these. */
typedef struct file_identity {
    dev_t device;
    ino_t inode;
} file_identity;

typedef struct input_files {
    file_identity *all; /* sorted */
    size_t count;
    file_identity present; /* the file that is open now */
    shard_source *shard;   /* the open file as a shard; NULL: a pipe or a device */
} input_files;

void input_files_sort(input_files *inputs);
bool input_files_have(const input_files *inputs, file_identity id);

/* Checks that new shards of `header` may replace the files of an item: that none of them is an
 * input or a shard of the set of the input and, without `force`, that the shards have the same
 * code, block size and file size, as after a killed run. The hash of the file is compared only if
 * `complete`. Returns 0, or an exit code after a message. */
int check_replaceable(const shard_item *there, const input_files *inputs,
                      const shard_header *header, bool complete, bool force);

/* Renames finished shards to their final names unless a check refuses, then removes the remaining
 * shards of the replaced set from the folders of the bases of `seen`, which has the files that were
 * there at the beginning. All new shards are complete on the disk before the first rename. If a
 * kill interrupts the renames, later runs find new shards under final and under temporary names. */
int replace_set(shard_writer *writer, const shard_item *seen, const input_files *inputs,
                const shard_header *header, bool force);

#endif
