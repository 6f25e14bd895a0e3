/* SPDX-License-Identifier: BSD-3-Clause */
/* The shards of a file as found: in one folder or several, under expected or other names, in
 * several copies, damaged, beside the shards of another file, or left behind by a killed run. */
#ifndef GFK_TOOL_SHARD_SET_H
#define GFK_TOOL_SHARD_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "files.h"
#include "format.h"

/* Where the shards of a set are looked for. A base is the path of shards without .gfk.000. */
typedef struct shard_places {
    char *name;      /* the base that messages name */
    path_list bases; /* each base's folder is searched, and may receive new shards */
    path_list files; /* files that are read too, under any name */
    bool listed;     /* `files` has all shards of the folders that have other names */
    bool known;      /* set_id tells which set is meant if the places hold several */
    uint8_t set_id[SET_ID_BYTES];
    const struct shard_places *sets; /* of all sets that have places of their own */
    size_t set_count;
} shard_places;

void shard_places_free(shard_places *places);

/* A file that holds a shard, or the remainder of a shard. */
typedef struct shard_source {
    int fd;
    char *path;
    dev_t device;
    ino_t inode;
    uint64_t bytes;      /* bytes of the file */
    size_t base;         /* the base whose search found the file; SIZE_MAX: none */
    bool head, tail;     /* the first header is intact; the second header is intact */
    bool identified;     /* a header identifies the shard; otherwise only the name does */
    bool magic;          /* a header, intact or not, begins with the number of the format */
    bool named;          /* the name is that of a shard with an index */
    uint32_t name_index; /* the index in the name */
    bool temp;           /* a temporary file that a killed run left */
    bool other;          /* the file belongs to another set or to none */
    bool unreadable;  /* the file has a shard's name and cannot be opened: only path, error, index,
                            base and, where known, device and inode are set */
    atomic_int error; /* error of a failed open or read; 0: none */
    shard_header header; /* complete if head or tail; otherwise only set_id and index, if known */
    struct shard_source *next; /* another source of the same shard */
} shard_source;

typedef struct shard_set {
    shard_header header;   /* header of the set; index is 0 */
    char *base;            /* the base that messages name */
    path_list bases;       /* where new shards may be; never empty */
    bool searched;         /* the folders of the bases were searched: sources are complete */
    size_t count;          /* k + m */
    shard_source **shards; /* best source of each shard; NULL: missing */
    shard_source *sources; /* all sources found, used or not */
    size_t source_count;
} shard_set;

/* Finds the shards of one set in the places. If there are several sets and none of them is meant, the
 * one with k shards or more that has the newest file is taken; a warning names the others. Without bases no file is read except places->files. Returns 0, or an exit code after a message.
 */
int shard_set_open(shard_set *set, const shard_places *places);
void shard_set_close(shard_set *set);
/* Adds the files that are named like shards of set->bases to the sources, and does nothing else.
 * The caller holds the folders' locks if renames must not interfere. */
int shard_set_search(shard_set *set);

/* True if both headers are intact and the file has the length that the headers give. */
bool shard_source_is_whole(const shard_set *set, const shard_source *source);

/* How many shards a set with this header has among the sources. */
int shard_set_count(const shard_set *set, const shard_header *header, size_t *present);

size_t shard_set_present(const shard_set *set); /* number of shards with a source */

/* The source at a path, by the file and not by the name; NULL if there is none. */
const shard_source *shard_set_source(const shard_set *set, const char *path);
/* The unreadable file of a shard without a readable source; NULL if there is none. */
const shard_source *shard_set_unreadable(const shard_set *set, size_t index);

/* Opens a file as a source and identifies the shard. A symbolic link is not followed. False if the
 * file cannot be opened: source->error is then the reason, after a warning, or 0 if the file does
 * not exist. */
bool shard_source_open(shard_source *source, const char *path);
void shard_source_close(shard_source *source);
const char *shard_error_text(int error);
/* True if the set's id is in the place of any header. Identifies the shard by an intact block header;
 * without one the shard is the one of the file's name. */
bool shard_source_search(shard_source *source, const shard_header *header);
/* True if the file holds nothing but zeros, or cannot be read. */
bool shard_source_is_blank(shard_source *source);
/* True if the file is empty, or holds only the beginning of the shard's header. */
bool shard_source_is_beginning(shard_source *source, const shard_header *header);

/* ---- names of shards: BASE.gfk.000, BASE.gfk.001, ... --------------------------------------- */

/* The path of a shard of `base`, which the caller frees; NULL if out of memory. Only indices above
 * 999 have more than three digits. */
char *shard_path(const char *base, uint32_t index);

/* True if the name is a shard's. *base_length then receives the length of BASE, and *index the
 * index. */
bool shard_name_parse(const char *name, size_t length, size_t *base_length, uint32_t *index);

/* True if the name is that of a shard of `base`, which is a name and not a path. *index then
 * receives the index. */
bool shard_name_of(const char *name, size_t length, const char *base, uint32_t *index);

/* True if an entry of a folder has the name of a shard of `base`, or of a shard's temporary file.
 */
bool shard_entry_of(const char *entry, const char *base);

#endif
