/* SPDX-License-Identifier: BSD-3-Clause */
/* The shards of a file, as they are found: under their names, under others, twice, damaged, among
 * those of another file, or in the hands of a run that was killed. */
#ifndef GFK_TOOL_SHARD_SET_H
#define GFK_TOOL_SHARD_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "format.h"

/* A file that holds a shard, or once did. */
typedef struct shard_source {
    int fd;
    char *path;
    dev_t device;
    ino_t inode;
    uint64_t bytes;
    bool head, tail;           /* these headers are intact */
    bool identified;           /* by a header; else by its name alone */
    bool in_place;             /* its name is what its index asks for */
    bool temp;                 /* a killed run did not get to give it its name */
    bool other;                /* of another set, or of none */
    atomic_int error;          /* what the system said when a read failed; 0: none has */
    shard_header header;       /* if head or tail; else set_id and index only, if identified */
    struct shard_source *next; /* another source of the same shard */
} shard_source;

/* A file with a shard's name that cannot be opened. */
typedef struct unreadable_shard {
    char *path;
    uint32_t index;
    int error;    /* shard_error_text says it */
    dev_t device; /* both 0: not known */
    ino_t inode;
} unreadable_shard;

typedef struct shard_set {
    shard_header header;   /* of the set; index is 0 */
    char *base;            /* the shards' path without .gfk.000 */
    size_t count;          /* k + m */
    shard_source **shards; /* the best source of each; NULL: missing */
    shard_source *sources; /* everything that was found, whether it is used or not */
    size_t source_count;
    unreadable_shard *unreadable; /* what could not become a source */
    size_t unreadable_count;
    bool searched; /* these are all that the folder has */
} shard_set;

/* Finds the shards that the arguments name: one base, whose folder is searched, or shards, which
 * are then all that is looked at. Returns 0, or an exit code after a message. */
int shard_set_open(shard_set *set, char *const *arguments, size_t count);
void shard_set_close(shard_set *set);
/* Only adds what is in the folder under the names of set->base's shards to the sources. The caller
 * holds the folder's lock. */
int shard_set_search(shard_set *set, const char *folder);

/* Where shard `index` belongs; the caller's to free; NULL: no memory. */
char *shard_set_path(const shard_set *set, size_t index);

/* Are both headers intact, and the file as long as they say? */
bool shard_source_is_whole(const shard_set *set, const shard_source *source);

size_t shard_set_present(const shard_set *set); /* shards that have a source */

/* What is in the place of a shard without a source, or what this file is; NULL: not known. */
const unreadable_shard *shard_set_unreadable(const shard_set *set, size_t index);
const unreadable_shard *shard_set_unreadable_file(const shard_set *set, const struct stat *status);

/* Opens a file as a source: what it is by itself. False: it cannot be read, after a warning if it
 * is there; source->error is then the reason, or 0 where no file is there. */
bool shard_source_open(shard_source *source, const char *path);
void shard_source_close(shard_source *source);
const char *shard_error_text(int error);

#endif
