/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

/* ---- paths ---------------------------------------------------------------------------------- */

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

char *path_folder(const char *path) {
    const size_t length = (size_t)(path_name(path) - path);
    if (length == 0)
        return strdup(".");
    return strndup(path, length == 1 ? 1 : length - 1);
}

char *path_join(const char *folder, const char *name) {
    if (strcmp(folder, ".") == 0)
        return strdup(name);
    const size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", name);
    return path;
}

int path_look(const char *path, struct stat *status) {
    if (stat(path, status) == 0)
        return 0;
    const int error = errno;
    if (lstat(path, status) != 0)
        return ENOENT;
    if (error != ENOENT)
        return error;
    return S_ISLNK(status->st_mode) ? ELOOP : 0; /* else the file has appeared after stat */
}

int path_list_add(path_list *list, char *path) {
    char **grown = path == NULL ? NULL : realloc(list->paths, (list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(path);
        return fail(TOOL_INTERNAL, "out of memory");
    }
    list->paths = grown;
    list->paths[list->count++] = path;
    return 0;
}

void path_list_free(path_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (path_list){0};
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void path_list_sort(path_list *list) {
    if (list->count != 0)
        qsort(list->paths, list->count, sizeof(char *), by_text);
}

int folder_names(const char *folder, path_list *names) {
    DIR *entries = opendir(folder);
    int error = entries == NULL ? errno : 0;
    for (const struct dirent *e; error == 0 && (e = readdir(entries)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            path_list_add(names, strdup(e->d_name)) != 0)
            error = ENOMEM;
    if (entries != NULL)
        closedir(entries);
    path_list_sort(names);
    return error;
}

/* ---- reading and writing -------------------------------------------------------------------- */

ssize_t read_all(int fd, void *memory, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = read(fd, (uint8_t *)memory + done, bytes - done);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

bool write_all(int fd, const void *memory, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = write(fd, (const uint8_t *)memory + done, bytes - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

enum { MOST_BUFFERS = 512 }; /* below IOV_MAX */

typedef ssize_t transfer(int, const struct iovec *, int, off_t);

/* Returns the bytes transferred, fewer at the end of the file, or -1 with errno. */
static ssize_t transfer_buffers(transfer *function, int fd, struct iovec *buffers, size_t count,
                                uint64_t offset) {
    size_t done = 0;
    while (count != 0) {
        if (buffers->iov_len == 0) {
            buffers++;
            count--;
            continue;
        }
        const int most = (int)(count < MOST_BUFFERS ? count : MOST_BUFFERS);
        const ssize_t n = function(fd, buffers, most, (off_t)(offset + done));
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return -1;
        size_t left = n > 0 ? (size_t)n : 0;
        done += left;
        while (left != 0) {
            const size_t part = left < buffers->iov_len ? left : buffers->iov_len;
            buffers->iov_base = (uint8_t *)buffers->iov_base + part;
            buffers->iov_len -= part;
            left -= part;
            if (buffers->iov_len == 0) {
                buffers++;
                count--;
            }
        }
    }
    return (ssize_t)done;
}

ssize_t read_buffers(int fd, struct iovec *buffers, size_t count, uint64_t offset) {
    return transfer_buffers(preadv, fd, buffers, count, offset);
}

bool write_buffers(int fd, struct iovec *buffers, size_t count, uint64_t offset) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += buffers[i].iov_len;
    errno = ENOSPC; /* the error if pwritev returns 0 */
    return transfer_buffers(pwritev, fd, buffers, count, offset) == (ssize_t)bytes;
}

/* ---- locks on folders ----------------------------------------------------------------------- */

/* Opens the folder of `path`; *status tells which folder this is. Returns -1 after a message. */
static int open_folder(const char *path, struct stat *status) {
    char *folder = path_folder(path);
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, status) != 0) {
        fail(TOOL_IO, "cannot open the folder %s: %s", folder != NULL ? folder : path,
             strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    free(folder);
    return fd;
}

typedef struct opened_folder {
    struct stat status;
    int fd;
    const char *path; /* of a file in the folder */
} opened_folder;

static int by_identity(const void *a, const void *b) {
    const struct stat *x = &((const opened_folder *)a)->status;
    const struct stat *y = &((const opened_folder *)b)->status;
    if (x->st_dev != y->st_dev)
        return x->st_dev < y->st_dev ? -1 : 1;
    return (x->st_ino > y->st_ino) - (x->st_ino < y->st_ino);
}

static void lock_folder(const opened_folder *folder, bool exclusive) {
    while (flock(folder->fd, exclusive ? LOCK_EX : LOCK_SH) != 0) {
        if (errno == EINTR)
            continue;
        if (exclusive)
            warn("the folder of %s cannot be locked (%s): let no other gfk write there",
                 folder->path, strerror(errno));
        return;
    }
}

int folders_lock(folder_locks *locks, char *const *paths, size_t count, bool exclusive) {
    opened_folder *folders = calloc(count + 1, sizeof *folders);
    *locks = (folder_locks){.fds = calloc(count + 1, sizeof *locks->fds)};
    int code = 0;
    size_t opened = 0;
    if (folders == NULL || locks->fds == NULL)
        code = fail(TOOL_INTERNAL, "out of memory");
    for (; opened < count && code == 0; opened += code == 0) {
        folders[opened].path = paths[opened];
        folders[opened].fd = open_folder(paths[opened], &folders[opened].status);
        code = folders[opened].fd < 0 ? TOOL_IO : 0;
    }
    if (opened != 0)
        qsort(folders, opened, sizeof *folders, by_identity);
    for (size_t i = 0; i < opened; i++) {
        if (i != 0 && by_identity(&folders[i - 1], &folders[i]) == 0) { /* it would wait forever */
            close(folders[i].fd);
            continue;
        }
        locks->fds[locks->count++] = folders[i].fd;
        if (code == 0)
            lock_folder(&folders[i], exclusive);
    }
    free(folders);
    return code;
}

void folders_unlock(folder_locks *locks) {
    for (size_t i = 0; i < locks->count; i++)
        close(locks->fds[i]);
    free(locks->fds);
    *locks = (folder_locks){0};
}

/* ---- temporary files ------------------------------------------------------------------------ */

/* `registered` lists the files that a signal removes. temp_commit holds the mutex during all
 * renames, so that a signal finds either none or all of the final names. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static temp_file *registered;

static void forget(temp_file *temp) {
    temp_file **link = &registered;
    while (*link != NULL && *link != temp)
        link = &(*link)->next;
    if (*link != NULL)
        *link = temp->next;
    free(temp->path);
    temp->path = NULL;
}

/* A temporary name is ".NAME.gfk-tmp-" and twelve hexadecimal digits. */
static const char infix[] = ".gfk-tmp-";
enum { DIGITS = 12 };

size_t temp_name_length(const char *name) {
    const size_t length = strlen(name), tail = sizeof infix - 1 + DIGITS;
    if (name[0] != '.' || length <= 1 + tail)
        return 0;
    const char *digits = name + length - DIGITS;
    if (memcmp(name + length - tail, infix, sizeof infix - 1) != 0 ||
        strspn(digits, "0123456789abcdef") != DIGITS)
        return 0;
    return length - tail - 1;
}

static char *temp_path(const char *final_path) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return NULL;
    const char *name = path_name(final_path);
    const size_t room = strlen(final_path) + 1 + sizeof infix + DIGITS;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%.*s.%s%s%0*llx", (int)(name - final_path), final_path, name, infix,
                 DIGITS, (unsigned long long)(number & 0xffffffffffff));
    return path;
}

int temp_create(temp_file *temp, const char *final_path) {
    for (;;) {
        char *path = temp_path(final_path);
        if (path == NULL)
            return fail(TOOL_INTERNAL, "out of memory");
        pthread_mutex_lock(&mutex); /* a signal waits until the file is registered */
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        const int error = errno;
        if (fd >= 0) {
            *temp = (temp_file){fd, path, registered};
            registered = temp;
        }
        pthread_mutex_unlock(&mutex);
        if (fd < 0) {
            free(path);
            if (error == EEXIST)
                continue;
            return fail(TOOL_IO, "cannot create %s: %s", final_path, strerror(error));
        }
        /* temp_clean of another run may have removed the file before the lock was taken. */
        flock(fd, LOCK_EX);
        struct stat status;
        if (fstat(fd, &status) == 0 && status.st_nlink != 0)
            return 0;
        temp_discard(temp);
    }
}

int temp_sync(const temp_file *temp, const char *final_path, unsigned mode) {
    if (fchmod(temp->fd, mode) != 0 && errno != EPERM) /* EPERM: no permissions to set */
        return fail(TOOL_IO, "cannot set the mode of %s: %s", final_path, strerror(errno));
    if (fsync(temp->fd) != 0)
        return fail(TOOL_IO, "cannot write %s: %s", final_path, strerror(errno));
    return 0;
}

int temp_commit(temp_file *temps, size_t count, char *const *final_paths,
                const folder_locks *folders) {
    int code = 0;
    size_t done = 0;
    pthread_mutex_lock(&mutex);
    for (; done < count && code == 0; done += code == 0) {
        if (rename(temps[done].path, final_paths[done]) != 0)
            code = fail(TOOL_IO, "cannot write %s: %s", final_paths[done], strerror(errno));
        else
            forget(&temps[done]);
    }
    for (size_t i = done; i < count && done != 0; i++)
        forget(&temps[i]);
    for (size_t i = 0; i < folders->count && code == 0; i++)
        if (fsync(folders->fds[i]) != 0 && errno != EINVAL) /* EINVAL: folders need no fsync */
            code =
                fail(TOOL_IO, "cannot write the folder of %s: %s", final_paths[0], strerror(errno));
    pthread_mutex_unlock(&mutex);
    return code;
}

int temp_place(temp_file *temp, char *path, int (*check)(const char *path, void *context),
               void *context) {
    folder_locks lock;
    int code = folders_lock(&lock, &path, 1, true);
    if (code == 0)
        code = check(path, context);
    if (code == 0)
        code = temp_commit(temp, 1, &path, &lock);
    folders_unlock(&lock);
    return code;
}

void temp_discard(temp_file *temp) {
    pthread_mutex_lock(&mutex);
    if (temp->path != NULL) {
        unlink(temp->path);
        forget(temp);
    }
    pthread_mutex_unlock(&mutex);
    if (temp->fd >= 0)
        close(temp->fd);
    temp->fd = -1;
}

void temp_clean(const char *path, bool (*mine)(const char *name, size_t length, void *context),
                void *context) {
    char *folder = path_folder(path);
    path_list names = {0};
    if (folder != NULL)
        folder_names(folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        const size_t length = temp_name_length(names.paths[i]);
        if (length == 0 || !mine(names.paths[i] + 1, length, context))
            continue;
        char *found = path_join(folder, names.paths[i]);
        const int fd =
            found == NULL ? -1 : open(found, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlink(found);
        if (fd >= 0)
            close(fd);
        free(found);
    }
    path_list_free(&names);
    free(folder);
}

/* ---- signals and limits --------------------------------------------------------------------- */

static void *wait_for_signals(void *argument) {
    int number = 0;
    if (sigwait(argument, &number) != 0)
        return NULL;
    pthread_mutex_lock(&mutex); /* held until the process ends */
    for (const temp_file *temp = registered; temp != NULL; temp = temp->next)
        unlink(temp->path);
    progress_clear();
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    return NULL;
}

void signals_begin(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    static sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, numbers[i]);
    }
    signal(SIGXFSZ, SIG_IGN); /* writes beyond the file size limit then fail with EFBIG */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signals, &set) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void allow_open_files(size_t count) {
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)count + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
