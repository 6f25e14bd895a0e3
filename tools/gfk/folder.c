/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
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

/* Remembers an open descriptor, and closes the one that was not used for the longest time. */
static void keep_open(folder *f, int fd) {
    size_t oldest = MOST_OPEN;
    f->fd = fd;
    for (size_t i = 0; i < MOST_OPEN; i++) {
        if (opened[i] == NULL) {
            oldest = i;
            break;
        }
        if (opened[i]->users == 0 &&
            (oldest == MOST_OPEN || opened[i]->used < opened[oldest]->used))
            oldest = i;
    }
    if (oldest == MOST_OPEN) /* all are in use: this one stays open until the end */
        return;
    if (opened[oldest] != NULL) {
        close(opened[oldest]->fd);
        opened[oldest]->fd = -1;
    }
    opened[oldest] = f;
}

/* A folder that may be entered but not read can still be used to open files in it. */
static int open_in(int in, const char *name, int flags) {
    flags |= O_DIRECTORY | O_CLOEXEC;
    const int fd = openat(in, name, O_RDONLY | flags);
    return fd < 0 && errno == EACCES ? openat(in, name, O_PATH | flags) : fd;
}

/* Opens a folder again, unless it is open. Its parent is open. */
static bool open_again(folder *f) {
    struct stat status;
    f->used = ++uses;
    if (f->fd >= 0)
        return true;
    const int fd = f->parent == NULL ? open_in(AT_FDCWD, f->path, 0)
                                     : open_in(f->parent->fd, path_name(f->path), O_NOFOLLOW);
    if (fd < 0)
        return false;
    int error = fstat(fd, &status) != 0 ? errno : 0;
    if (error == 0 && (status.st_dev != f->device || status.st_ino != f->inode))
        error = ESTALE;
    if (error == 0) {
        keep_open(f, fd);
        return true;
    }
    close(fd);
    errno = error;
    return false;
}

int folder_fd(folder *f) {
    folder *next = f; /* first the nearest folder above that is open, or that has no parent */
    for (f->below = NULL; next->fd < 0 && next->parent != NULL; next = next->parent)
        next->parent->below = next;
    for (; next != NULL; next = next->below)
        if (!open_again(next))
            return -1;
    return f->fd;
}

void folder_hold(folder *f) {
    f->users++;
}

void folder_release(folder *f) {
    f->users--;
}

/* Finds the folder of a new descriptor among the known ones, or adds it. Takes the path. */
static int identify(folder **found, int fd, folder *parent, char *path) {
    struct stat status;
    folder *f = path == NULL ? NULL : calloc(1, sizeof *f);
    int error = f == NULL ? ENOMEM : fstat(fd, &status) != 0 ? errno : 0;
    if (error == 0) {
        *f = (folder){.path = path,
                      .device = status.st_dev,
                      .inode = status.st_ino,
                      .parent = parent,
                      .fd = -1};
        folder **const node = tsearch(f, &known, by_identity);
        if (node != NULL && *node == f) {
            f->used = ++uses;
            keep_open(f, fd);
            *found = f;
            return 0;
        }
        error = node == NULL ? ENOMEM : 0;
        *found = node == NULL ? NULL : *node;
    }
    free(f);
    free(path);
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
    const int error = fd < 0 ? errno : identify(found, fd, NULL, strdup(path));
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
        error = fd < 0 ? errno : identify(found, fd, parent, path_join(parent->path, name));
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
        free(f->path);
        free(f);
    }
    memset(opened, 0, sizeof opened);
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
    const int fd = at < 0 ? -1 : fcntl(at, F_DUPFD_CLOEXEC, 0);
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

size_t folder_entries_find(const folder_entries *list, const char *name) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(list->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
                warn("the folder %s cannot be locked (%s): let no other gfk write there", f->path,
                     strerror(errno));
            return 0;
        }
        if (waited > TELL && !told)
            warn("another program holds the lock on the folder %s; gfk waits up to %.0f seconds",
                 f->path, most);
        told = waited > TELL;
        if (waited > most) {
            vain += waited;
            if (exclusive)
                return fail(TOOL_IO, "cannot write into the folder %s: another program locks it",
                            f->path);
            warn("the folder %s stays locked; gfk reads without the lock", f->path);
            return 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause < 32000000 ? 2 * pause : pause;
    }
    return 0;
}

int folders_lock(folder_locks *locks, folder *const *folders, size_t count, bool exclusive) {
    *locks = (folder_locks){.folders = calloc(count + 1, sizeof(folder *))};
    folder **const sorted = locks->folders;
    if (sorted == NULL)
        return no_memory();
    if (count != 0)
        memcpy(sorted, folders, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_identity_of);
    allow_open_files(count + MOST_OPEN);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        if (i != 0 && sorted[i] == sorted[i - 1])
            continue;
        if (folder_fd(sorted[i]) < 0) {
            if (exclusive)
                code = fail(TOOL_IO, "cannot open the folder %s: %s", sorted[i]->path,
                            strerror(errno));
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

const folder *folders_sync(const folder_locks *locks) {
    for (size_t i = 0; i < locks->count; i++)
        if (fsync(locks->folders[i]->fd) != 0 && errno != EINVAL && errno != EBADF)
            return locks->folders[i]; /* EINVAL: needs no fsync; EBADF: may not be read */
    return NULL;
}
