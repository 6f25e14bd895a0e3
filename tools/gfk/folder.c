/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "report.h"

enum { MOST_OPEN = 64 };

/* A path that was followed. */
typedef struct followed {
    char *path;
    folder *to;
} followed;

static void *paths;               /* paths that were followed, a tree of tsearch */
static void *known;               /* the folders by identity, a tree of tsearch */
static folder *opened[MOST_OPEN]; /* the folders whose descriptors are open and may be closed */
static unsigned long uses;
static folder *last; /* the one that was used last */

/* ---- descriptors ---------------------------------------------------------------------------- */

static int by_identity(const void *a, const void *b) {
    const folder *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const followed *)a)->path, ((const followed *)b)->path);
}

/* The limit on open descriptors of folders: a part of the limit on files. */
static size_t most_open(void) {
    static size_t most;
    if (most == 0) {
        const size_t part = allow_open_files(MOST_OPEN) / 4;
        most = part < 4 ? 4 : part < MOST_OPEN ? part : MOST_OPEN;
    }
    return most;
}

/* The place of the descriptor that was not used for the longest time; MOST_OPEN if all are in use. */
static size_t oldest_of(size_t count) {
    size_t oldest = MOST_OPEN;
    for (size_t i = 0; i < count; i++)
        if (opened[i] != NULL && opened[i]->users == 0 &&
            (oldest == MOST_OPEN || opened[i]->used < opened[oldest]->used))
            oldest = i;
    return oldest;
}

static void close_at(size_t place) {
    close(opened[place]->fd);
    opened[place]->fd = -1;
    opened[place] = NULL;
}

/* Remembers an open descriptor, and closes the one that was not used for the longest time. If all
 * are in use, this one stays open until the end. */
static void keep_open(folder *f, int fd) {
    size_t place = 0;
    f->fd = fd;
    while (place < most_open() && opened[place] != NULL)
        place++;
    if (place == most_open()) {
        place = oldest_of(place);
        if (place == MOST_OPEN)
            return;
        close_at(place);
    }
    opened[place] = f;
}

/* After a failed call: closes the descriptor of a folder that was not used last, if too many files
 * are open. False: it makes no sense to try again. */
static bool make_room(void) {
    const int error = errno;
    const size_t oldest = error == EMFILE || error == ENFILE ? oldest_of(MOST_OPEN) : MOST_OPEN;
    const bool made = oldest != MOST_OPEN && opened[oldest]->used != uses;
    if (made)
        close_at(oldest);
    errno = error;
    return made;
}

static int open_at(int in, const char *name, int flags, mode_t mode) {
    int fd;
    do
        fd = openat(in, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && make_room());
    return fd;
}

/* A folder that may be entered but not read can still be used to open files in it. */
static int open_in(int in, const char *name, int flags) {
    flags |= O_DIRECTORY;
    const int fd = open_at(in, name, O_RDONLY | flags, 0);
    return fd < 0 && errno == EACCES ? open_at(in, name, O_PATH | flags, 0) : fd;
}

/* Takes a descriptor if it is that of the folder. */
static bool take_fd(folder *f, int fd) {
    struct stat status;
    if (fd < 0)
        return false;
    int error = fstat(fd, &status) != 0 ? errno : 0;
    if (error == 0 && (status.st_dev != f->device || status.st_ino != f->inode))
        error = ESTALE;
    if (error == 0) {
        f->used = ++uses;
        keep_open(f, fd);
        last = f;
        return true;
    }
    close(fd);
    errno = error;
    return false;
}

/* Opens a folder again, unless it is open. Its parent is open. */
static bool open_again(folder *f) {
    f->used = ++uses;
    return f->fd >= 0 ||
           take_fd(f, f->parent == NULL ? open_in(AT_FDCWD, f->name, 0)
                                        : open_in(f->parent->fd, f->name, O_NOFOLLOW));
}

/* Opens the folders above the one that was opened last again, up to a common one: on the way back
 * from the depth of a tree this is shorter than the way from the top. */
static void climb(const folder *to) {
    const folder *f = to;
    while (last != NULL && last->fd >= 0 && last != f) {
        if (f->depth > last->depth) {
            f = f->parent;
        } else {
            folder *const up = last->parent;
            if (up == NULL || (up->fd < 0 && !take_fd(up, open_in(last->fd, "..", 0))))
                return;
            last = up;
        }
    }
}

/* The nearest folder above, at most so far away, that is open or has no parent, with `below` set on
 * the way; NULL if there is none. */
static folder *nearest_open(folder *f, size_t most) {
    folder *next = f;
    f->below = NULL;
    for (; next->fd < 0 && next->parent != NULL && most-- != 0; next = next->parent)
        next->parent->below = next;
    return next->fd >= 0 || next->parent == NULL ? next : NULL;
}

int folder_fd(folder *f) {
    folder *next = nearest_open(f, MOST_OPEN / 2);
    if (next == NULL) {
        climb(f);
        next = nearest_open(f, SIZE_MAX);
    }
    for (; next != NULL; next = next->below)
        if (!open_again(next))
            return -1;
    last = f;
    return f->fd;
}

int folder_open_file(folder *in, const char *name, int flags, mode_t mode) {
    const int at = folder_fd(in);
    return at < 0 ? -1 : open_at(at, name, flags, mode);
}

const char *folder_path(folder *f) {
    size_t room = 1;
    const folder *above = f;
    for (; above->path == NULL; above = above->parent)
        room += strlen(above->name) + 1;
    if (above == f)
        return f->path;
    const bool here = strcmp(above->path, ".") == 0, root = strcmp(above->path, "/") == 0;
    const size_t before = here || root ? 0 : strlen(above->path);
    char *const path = malloc(before + room);
    if (path == NULL)
        return NULL;
    char *end = path + before + room - 1;
    *end = '\0';
    for (const folder *at = f; at != above; at = at->parent) {
        const size_t length = strlen(at->name);
        end -= length;
        memcpy(end, at->name, length);
        *--end = '/';
    }
    memcpy(path, above->path, before);
    if (here)
        memmove(path, path + 1, room - 1);
    return f->path = path;
}

void folder_hold(folder *f) {
    f->users++;
}

void folder_release(folder *f) {
    f->users--;
}

/* Finds the folder of a new descriptor among the known ones, or adds it. */
static int identify(folder **found, int fd, folder *parent, const char *name) {
    struct stat status;
    folder *f = calloc(1, sizeof *f);
    char *const copy = strdup(name);
    int error = f == NULL || copy == NULL ? ENOMEM : fstat(fd, &status) != 0 ? errno : 0;
    if (error == 0) {
        *f = (folder){.path = parent == NULL ? copy : NULL,
                      .name = copy,
                      .device = status.st_dev,
                      .inode = status.st_ino,
                      .parent = parent,
                      .depth = parent == NULL ? 0 : parent->depth + 1,
                      .fd = -1};
        folder **const node = tsearch(f, &known, by_identity);
        if (node != NULL && *node == f) {
            f->used = ++uses;
            keep_open(f, fd);
            *found = last = f;
            return 0;
        }
        error = node == NULL ? ENOMEM : 0;
        *found = node == NULL ? NULL : *node;
    }
    free(f);
    free(copy);
    close(fd);
    return error;
}

int folder_open(folder **found, const char *path) {
    const followed key = {(char *)path, NULL};
    followed **const node = tfind(&key, &paths, by_path);
    if (node != NULL) {
        *found = (*node)->to;
        return 0;
    }
    const int fd = open_in(AT_FDCWD, path, 0);
    const int error = fd < 0 ? errno : identify(found, fd, NULL, path);
    followed *const made = error == 0 ? malloc(sizeof *made) : NULL;
    if (made == NULL)
        return error == 0 ? ENOMEM : error;
    *made = (followed){strdup(path), *found};
    if (made->path != NULL && tsearch(made, &paths, by_path) != NULL)
        return 0;
    free(made->path);
    free(made);
    return ENOMEM;
}

int folder_of(folder **found, const char *path) {
    char *in = path_folder(path);
    const int error = in == NULL ? ENOMEM : folder_open(found, in);
    free(in);
    return error;
}

int folder_enter(folder **found, folder *in, const char *names) {
    char *copy = strdup(names);
    int error = copy == NULL ? ENOMEM : 0;
    *found = in;
    for (char *rest = copy, *name; error == 0 && (name = strsep(&rest, "/")) != NULL;) {
        folder *const parent = *found;
        const int at = *name == '\0' ? -1 : folder_fd(parent);
        if (*name == '\0')
            continue;
        const int fd = at < 0 ? -1 : open_in(at, name, O_NOFOLLOW);
        error = fd < 0 ? errno : identify(found, fd, parent, name);
    }
    free(copy);
    return error;
}

void folders_close(void) {
    while (paths != NULL) {
        followed *const node = *(followed **)paths;
        tdelete(node, &paths, by_path);
        free(node->path);
        free(node);
    }
    while (known != NULL) {
        folder *f = *(folder **)known;
        tdelete(f, &known, by_identity);
        if (f->fd >= 0)
            close(f->fd);
        if (f->path != f->name)
            free(f->path);
        free(f->name);
        free(f);
    }
    memset(opened, 0, sizeof opened);
    last = NULL;
}

/* ---- names ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const folder_entry *)a)->name, ((const folder_entry *)b)->name);
}

static int add_entry(folder_entries *list, size_t *room, const struct dirent *e) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return 0;
    if (list->count == *room) {
        const size_t more = 2 * *room + 64;
        folder_entry *grown = realloc(list->entries, more * sizeof *grown);
        if (grown == NULL)
            return ENOMEM;
        list->entries = grown;
        *room = more;
    }
    char *name = strdup(e->d_name);
    if (name == NULL)
        return ENOMEM;
    list->entries[list->count++] = (folder_entry){.name = name, .type = e->d_type};
    return 0;
}

int folder_read(folder *f, folder_entries *list) {
    *list = (folder_entries){0};
    size_t room = 0;
    const int at = folder_fd(f);
    int fd = -1;
    while (at >= 0 && (fd = fcntl(at, F_DUPFD_CLOEXEC, 0)) < 0 && make_room())
        continue;
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL) {
        const int error = errno == EBADF ? EACCES : errno; /* EBADF: opened without reading */
        if (fd >= 0)
            close(fd);
        return error;
    }
    rewinddir(stream);
    int error = 0;
    for (const struct dirent *e; error == 0;) {
        errno = 0;
        e = readdir(stream);
        if (e == NULL) {
            error = errno == EBADF ? EACCES : errno;
            break;
        }
        error = add_entry(list, &room, e);
    }
    closedir(stream);
    if (list->count != 0)
        qsort(list->entries, list->count, sizeof *list->entries, by_name);
    return error;
}

void folder_entries_free(folder_entries *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].name);
    free(list->entries);
    *list = (folder_entries){0};
}

static int of_entry(const void *name, const void *entry) {
    return strcmp(((const folder_entry *)entry)->name, name);
}

size_t folder_entries_find(const folder_entries *list, const char *name) {
    return lower_bound(name, list->entries, list->count, sizeof *list->entries, of_entry);
}

unsigned char folder_entry_type(folder *f, folder_entry *entry) {
    struct stat status;
    const int at = entry->type == DT_UNKNOWN ? folder_fd(f) : -1;
    if (at >= 0 && fstatat(at, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        entry->type = (unsigned char)IFTODT(status.st_mode);
    return entry->type;
}

/* ---- locks ---------------------------------------------------------------------------------- */

static int by_identity_of(const void *a, const void *b) {
    return by_identity(*(folder *const *)a, *(folder *const *)b);
}

static double vain; /* seconds that the process waited for locks that it did not get */

/* Waits for the lock of one folder, with a line after a second. All waits in vain have one bound
 * together, and those for shared locks a smaller one. */
static int lock(folder *f, bool exclusive) {
    enum { TELL = 1, MOST_SHARED = 5, MOST_EXCLUSIVE = 60 }; /* seconds */
    const double start = seconds_now(), most = (exclusive ? MOST_EXCLUSIVE : MOST_SHARED) - vain;
    bool told = false;
    for (long pause = 1000000; flock(f->fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0;) {
        const double waited = seconds_now() - start;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK) {
            if (exclusive)
                warn("the folder %s cannot be locked (%s): let no other gfk write there",
                     folder_path(f), strerror(errno));
            return 0;
        }
        if (waited > TELL && !told)
            warn("another program holds the lock on the folder %s; gfk waits up to %.0f seconds",
                 folder_path(f), most);
        told = waited > TELL;
        if (waited > most) {
            vain += waited;
            if (exclusive)
                return fail(TOOL_IO, "cannot write into the folder %s: another program locks it",
                            folder_path(f));
            warn("the folder %s stays locked; gfk reads without the lock", folder_path(f));
            return 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause < 32000000 ? 2 * pause : pause;
    }
    return 0;
}

bool folders_can_be_locked(folder **folders, size_t *count) {
    size_t kept = 0;
    if (*count != 0)
        qsort(folders, *count, sizeof *folders, by_identity_of);
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || folders[i] != folders[kept - 1])
            folders[kept++] = folders[i];
    *count = kept;
    return kept <= allow_open_files(2 * kept + MOST_OPEN) / 2;
}

int folders_lock(folder_locks *locks, folder *const *folders, size_t count, bool exclusive) {
    *locks = (folder_locks){.folders = calloc(count + 1, sizeof(folder *))};
    folder **const sorted = locks->folders;
    if (sorted == NULL)
        return no_memory();
    if (count != 0)
        memcpy(sorted, folders, count * sizeof *sorted);
    allow_open_files(count + MOST_OPEN);
    folders_can_be_locked(sorted, &count);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        if (folder_fd(sorted[i]) < 0) {
            if (exclusive)
                code = fail_for(errno, "open the folder", folder_path(sorted[i]));
            continue;
        }
        sorted[locks->count++] = sorted[i];
        folder_hold(sorted[i]);
        code = lock(sorted[i], exclusive);
    }
    return code;
}

void folders_unlock(folder_locks *locks) {
    for (size_t i = 0; i < locks->count; i++) {
        flock(locks->folders[i]->fd, LOCK_UN);
        folder_release(locks->folders[i]);
    }
    free(locks->folders);
    *locks = (folder_locks){0};
}

folder *folders_sync(const folder_locks *locks) {
    for (size_t i = 0; i < locks->count; i++)
        if (fsync(locks->folders[i]->fd) != 0 && errno != EINVAL && errno != EBADF)
            return locks->folders[i]; /* EINVAL: needs no fsync; EBADF: may not be read */
    return NULL;
}
