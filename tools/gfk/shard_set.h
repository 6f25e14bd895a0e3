/* SPDX-License-Identifier: BSD-3-Clause */
/* The shards of a file as found: in one folder or several, under expected or other names, in
 * several copies, damaged, among the shards of another file, or left by a killed run. */
#ifndef GFK_TOOL_SHARD_SET_H
#define GFK_TOOL_SHARD_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "files.h"
#include "folder.h"
#include "format.h"

/* A file that holds a shard, or the remainder of a shard. */
typedef struct shard_source {
    int fd; /* -1: not open */
    folder *in;
    char *path; /* in messages; ends in the name in the folder */
    dev_t device;
    ino_t inode;
    uint64_t bytes;          /* bytes of the file */
    struct timespec changed; /* the last change of the inode */
    bool head, tail;         /* the first header is intact; the second header is intact */
    bool identified;         /* a header identifies the shard; otherwise only the name does */
    bool magic;              /* a header, intact or not, begins with the number of the format */
    bool named;              /* the name is that of a shard with an index */
    uint32_t name_index;     /* the index in the name */
    bool temp;               /* a temporary file that a killed run left */
    bool unreadable;  /* the file cannot be opened: only the members of its name, error and, where
                            known, device and inode are set */
    atomic_int error; /* error of a failed open or read; 0: none */
    bool told;        /* a message has the error */
    shard_header header; /* complete if head or tail; otherwise only set_id and index, if known */
    struct shard_source *next; /* another source of the same shard */

    size_t order;                      /* number of the file in the order of the search */
    struct shard_item *item;           /* through which the file was found */
    struct shard_source *next_of_item; /* another file of the item */
    struct shard_source *next_closed;  /* another file of the item that cannot be read */
    struct shard_set *set;             /* whose shard the file holds; NULL: no set's */
    struct shard_source *next_of_set;  /* another file of the set */
} shard_source;

/* True if a header is intact, so that the file tells the sizes of the set. */
static inline bool shard_source_has_geometry(const shard_source *s) {
    return s->head || s->tail;
}

/* True if the file has the expected name of its shard. */
static inline bool shard_source_is_in_place(const shard_source *s) {
    return s->named && !s->temp && s->name_index == s->header.index;
}

/* The path of shards without .gfk.000, and its folder, where new shards may be. */
typedef struct shard_base {
    folder *in;
    char *path;
} shard_base;

typedef struct shard_bases {
    shard_base *all;
    size_t count;
} shard_bases;

/* Takes the path in any case. A base that the list has is not added again. Returns 0, or an exit
 * code after a message. */
int shard_bases_add(shard_bases *bases, folder *in, char *path);
void shard_bases_free(shard_bases *bases);

/* What an argument names, or what a folder holds under one name. */
typedef struct shard_item {
    size_t number;   /* in the order of the search */
    char *name;      /* the base that messages name */
    size_t relative; /* where the part of the name begins that is not the folder of the argument */
    bool listed;     /* found in the list of a folder */
    folder *home;    /* the folder of the name; NULL: it is not there */
    bool is_file;    /* only files that are arguments count */
    bool failed;     /* a message says what could not be looked at */
    shard_bases bases;                  /* where shards with the expected names are */
    shard_source *files, *last;         /* the files found through the item */
    shard_source *closed, *last_closed; /* those that cannot be read */
    path_list notes;         /* messages about folders that are not there, for each set */
    path_list others;        /* messages about what is no file, for the first set */
    struct shard_set **sets; /* the sets that have files in the item, or that the item joined; the
                                   first is the strongest */
    size_t set_count;
    const uint8_t *wanted; /* the id of the set that comes first, if it is there; NULL: any */
    bool lacks;            /* a set of the item lacks shards */
} shard_item;

/* What is wrong with a set although its shards may be right. */
typedef enum set_refusal {
    NOT_REFUSED = 0,
    SIZE_REFUSED, /* the system does not permit so many or so long files */
    NAME_REFUSED, /* no file can get the stored name */
    NAME_IN_USE   /* a file that only --force replaces has the stored name */
} set_refusal;

typedef struct shard_set {
    shard_header header;    /* header of the set; index is 0 */
    char *base;             /* the base that messages name */
    size_t relative;        /* as in the item */
    folder *home;           /* as in the item */
    shard_bases bases;      /* where new shards may be */
    bool searched;          /* the folders of the bases were searched */
    size_t count;           /* k + m; 0: no file of the item has an intact header */
    size_t present, placed; /* shards with a header; shards with a source under the expected name */
    size_t usable;          /* shards with a header or an intact block header */
    shard_source *members;  /* the sources of the set, the shards in order */
    shard_source *last;
    shard_item **items; /* the items that have sources of the set, or joined it */
    size_t item_count;
    size_t first;          /* number of the first file in the order of the search */
    shard_item *namer;     /* the item that gives the set its name */
    bool kept;             /* a command works on the set */
    bool follows;          /* another set of the item was tried; what else is there was said */
    set_refusal refused;   /* why the work failed */
    struct inventory *all; /* all files that the command found */
    const struct shard_set *warned; /* the set whose user was warned of this one */
    shard_source **shards; /* while the set is open: the best source of each shard; NULL: missing */
    shard_source **closed; /* while the set is open: the file of each shard that cannot be read */
} shard_set;

/* Opens the files of a set, and assigns them to the shards. Returns 0, or an exit code after a
 * message, or RUN_AGAIN if a file is no longer what was found. */
int shard_set_open(shard_set *set);
void shard_set_close(shard_set *set);
void shard_set_free(shard_set *set);
enum { RUN_AGAIN = -2 };

/* True if both headers are intact and the file has the length that the headers give. */
bool shard_source_is_whole(const shard_set *set, const shard_source *source);

size_t shard_set_present(const shard_set *set); /* number of shards with an open source */
/* The first base of the set in a folder; NULL if there is none. */
const shard_base *shard_set_base_in(const shard_set *set, const folder *in);
/* The unreadable file of a shard without a readable source; NULL if there is none. */
const shard_source *shard_set_unreadable(const shard_set *set, size_t index);

/* Reads the headers of a file of a folder and identifies the shard. The file may stay open. A link
 * is not followed. Returns 0, or an exit code after a message; source->error is the reason if the
 * file cannot be read. The caller frees source->path. */
int shard_source_read(shard_source *source, folder *in, const char *name,
                      const struct stat *status);
/* Opens the file, unless it is open. Returns 0, or the system's error; FILE_CHANGED: the file changed
 * since the look, or the name has another file or none. */
int shard_source_open(shard_source *source);
enum { FILE_CHANGED = -1 }; /* no error of the system */
/* Reads the headers of an open file. */
void shard_source_identify(shard_source *source);
/* Identifies the shard by a block header. False if the block header is damaged. */
bool shard_source_take_identity(shard_source *source, const uint8_t bytes[BLOCK_HEADER_BYTES]);
/* Reads bytes of an open file. False if the file has fewer bytes, or with source->error. */
bool shard_source_fetch(shard_source *source, uint8_t *bytes, size_t count, uint64_t offset);
void shard_source_close(shard_source *source);
/* How many of `files` further files may be open at once; 1 or more. */
size_t shard_source_room(size_t files);
const char *shard_error_text(int error);
/* True if the system failed to open or to read a file; false for a link, a pipe or a folder. */
bool shard_error_is_of_system(int error);
/* Says once for each file of the set that the system failed to read it. */
void shard_set_warn_of_errors(shard_set *set);
/* The first byte from an offset on that is not in a hole of the file; source->bytes if there is
 * none. The file is open. No header is in a hole, because a hole holds zeros. */
uint64_t shard_source_data(const shard_source *source, uint64_t offset);
/* The first hole from an offset on, or source->bytes. */
uint64_t shard_source_hole(const shard_source *source, uint64_t offset);
/* ---- names of shards: BASE.gfk.000, BASE.gfk.001, ... --------------------------------------- */

/* The path of a shard of `base`, which the caller frees; NULL if out of memory. Only indices above
 * 999 have more than three digits. */
char *shard_path(const char *base, uint32_t index);

/* True if the name is a shard's. *base_length then receives the length of BASE, and *index the
 * index. */
bool shard_name_parse(const char *name, size_t length, size_t *base_length, uint32_t *index);

/* The same for the name of a shard or of a shard's temporary file. *base receives the beginning of
 * BASE in the name. */
bool shard_entry_parse(const char *name, const char **base, size_t *base_length, uint32_t *index);

#endif
