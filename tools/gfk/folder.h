/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders by descriptor. Everything that the tool opens, creates, renames or removes is named
 * relative to the descriptor of its folder, so that a folder that somebody replaces by a symbolic
 * link during a run is never entered, and the depth of a folder does not matter. */
#ifndef GFK_TOOL_FOLDER_H
#define GFK_TOOL_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A folder, once for each device and inode; the process keeps it until folders_close. */
typedef struct folder {
    char *path; /* see folder_path; NULL: not asked for yet */
    char *name; /* in the parent, or the path if there is no parent */
    dev_t device;
    ino_t inode;
    struct folder *parent; /* the folder in which this one was found; NULL: opened by its path */
    size_t depth;          /* the number of folders above, as far as they are known */
    struct folder *below;  /* while folder_fd opens a path: the next folder of the path */
    int fd;                /* -1: not open; folder_fd opens it again */
    unsigned users;        /* the descriptor stays open while there are users */
    unsigned long used;    /* when the descriptor was used last */
} folder;

/* These functions return 0 or the system's error. */
int folder_open(folder **opened, const char *path); /* follows each path once in a process */
int folder_of(folder **opened, const char *path);   /* the folder of a file */
/* Opens a folder below `in` by its name, or by names with slashes between them. Links are not
 * followed. */
int folder_enter(folder **opened, folder *in, const char *names);

/* The path for messages and for the paths of files; NULL if out of memory. The path of a folder that
 * was opened by its path is always there. */
const char *folder_path(folder *f);

/* The descriptor, or -1 with errno. A limited number of descriptors stays open. If another one was
 * closed and the folder is no longer where it was, errno is ESTALE. */
int folder_fd(folder *f);
void folder_hold(folder *f); /* keeps the descriptor of folder_fd open */
void folder_release(folder *f);
void folders_close(void); /* at the end of the process */
/* Opens a file in a folder, as openat does. If too many files are open, descriptors of other folders
 * are closed. */
int folder_open_file(folder *in, const char *name, int flags, mode_t mode);

/* A name in a folder. */
typedef struct folder_entry {
    char *name;
    unsigned char type;         /* DT_REG, DT_DIR, ..., or DT_UNKNOWN */
    struct shard_source *found; /* the file, once its headers are read */
} folder_entry;

typedef struct folder_entries {
    folder_entry *entries;
    size_t count;
    bool added, searched; /* the search has taken the shards; has looked for renamed shards */
    bool shards;          /* there are some */
} folder_entries;

/* Lists a folder, without "." and "..", sorted by bytes: choices and messages do not depend on the
 * file system. Returns 0 or the system's error; the caller frees the list in any case. */
int folder_read(folder *f, folder_entries *list);
void folder_entries_free(folder_entries *list);
/* The first entry whose name is not less than `name`. */
size_t folder_entries_find(const folder_entries *list, const char *name);
/* The type of an entry. Some file systems do not list types: then the call looks at the file, and
 * DT_UNKNOWN means that this failed. */
unsigned char folder_entry_type(folder *f, folder_entry *entry);

/* ---- locks ---------------------------------------------------------------------------------- */

typedef struct folder_locks {
    folder **folders;
    size_t count;
} folder_locks;

/* Sorts folders for locks, each once. False if too many files would be open then. */
bool folders_can_be_locked(folder **folders, size_t *count);
/* Locks folders against other runs of this tool, in an order that is the same in every run. Anybody
 * who may read a folder can lock it, so the wait has a bound: then a shared lock is left out with a
 * warning, and an exclusive lock fails. Returns 0, or an exit code after a message; the caller
 * unlocks in any case. */
int folders_lock(folder_locks *locks, folder *const *folders, size_t count, bool exclusive);
void folders_unlock(folder_locks *locks);
/* Flushes the names in the locked folders to the disk. Returns NULL, or the folder that failed. */
folder *folders_sync(const folder_locks *locks);

#endif
