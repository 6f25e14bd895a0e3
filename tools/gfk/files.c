/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
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

char *path_join(const char *in, const char *name) {
    if (in == NULL)
        return NULL;
    if (strcmp(in, ".") == 0)
        return strdup(name);
    const size_t room = strlen(in) + strlen(name) + 2;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s%s%s", in, strcmp(in, "/") == 0 ? "" : "/", name);
    return path;
}

bool array_grow(void *array, size_t count, size_t bytes) {
    void **const at = array;
    if (count != 0 && (count & (count - 1)) != 0)
        return true;
    void *const grown = realloc(*at, (count == 0 ? 1 : 2 * count) * bytes);
    if (grown != NULL)
        *at = grown;
    return grown != NULL;
}

int path_list_add(path_list *list, char *path) {
    char **grown = path == NULL ? NULL : realloc(list->paths, (list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(path);
        return no_memory();
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

size_t lower_bound(const void *key, const void *array, size_t count, size_t bytes,
                   int (*compare)(const void *key, const void *element)) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(key, (const uint8_t *)array + middle * bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- reading and writing -------------------------------------------------------------------- */

/* After a failed read or write: true if the call is to be made again, after a wait if somebody has set
 * the descriptor to O_NONBLOCK. */
static bool try_again(int fd, short events) {
    struct pollfd ready = {.fd = fd, .events = events};
    if (errno == EINTR)
        return true;
    return (errno == EAGAIN || errno == EWOULDBLOCK) &&
           (poll(&ready, 1, -1) >= 0 || errno == EINTR);
}

ssize_t read_all(int fd, void *memory, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = read(fd, (uint8_t *)memory + done, bytes - done);
        if (n == 0)
            break;
        if (n < 0 && !try_again(fd, POLLIN))
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

bool write_all(int fd, const void *memory, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = write(fd, (const uint8_t *)memory + done, bytes - done);
        if (n < 0 && !try_again(fd, POLLOUT))
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

/* ---- temporary files ------------------------------------------------------------------------ */

/* `registered` lists the files that a signal removes. temp_commit holds the mutex during all
 * renames, so that a signal finds either none or all of the final names. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static temp_file *registered;

static void forget(temp_file *temp) {
    temp_file **link = &registered;
    while (*link != NULL && *link != temp)
        link = &(*link)->next;
    if (*link != NULL) {
        *link = temp->next;
        folder_release(temp->in);
    }
    free(temp->name);
    temp->name = NULL;
}

/* A temporary name is ".NAME.gfk-tmp-" and twelve hexadecimal digits; a long NAME is cut. */
static const char infix[] = ".gfk-tmp-";
enum { DIGITS = 12, MOST_NAME = NAME_MAX - 1 - (int)(sizeof infix - 1) - DIGITS };

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

char *temp_name(const char *name, const char *digits) {
    char made[NAME_MAX + 1];
    snprintf(made, sizeof made, ".%.*s%s%s", MOST_NAME, name, infix, digits);
    return strdup(made);
}

int place_look(const file_place *place, struct stat *status) {
    const int in = folder_fd(place->in);
    const char *const name = path_name(place->path);
    if (in < 0 || fstatat(in, name, status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (!S_ISLNK(status->st_mode) || fstatat(in, name, status, 0) == 0)
        return 0;
    return errno == ENOENT ? ELOOP : errno;
}

/* Creates and registers a file. Returns 0 or the system's error. */
static int create(temp_file *temp, const file_place *place) {
    char digits[DIGITS + 1];
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return errno;
    snprintf(digits, sizeof digits, "%0*llx", DIGITS,
             (unsigned long long)(number & 0xffffffffffff));
    char *const name = temp_name(path_name(place->path), digits);
    if (name == NULL)
        return ENOMEM;
    pthread_mutex_lock(&mutex); /* a signal waits until the file is registered */
    const int fd = folder_open_file(place->in, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    const int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        *temp = (temp_file){fd, place->in, name, registered};
        registered = temp;
        folder_hold(place->in);
    }
    pthread_mutex_unlock(&mutex);
    if (fd < 0)
        free(name);
    return error;
}

int temp_create(temp_file *temp, const file_place *place) {
    for (;;) {
        const int error = create(temp, place);
        if (error == EEXIST)
            continue;
        if (error == EMFILE || error == ENFILE)
            return fail_for_open_files();
        if (error != 0)
            return fail_for(error, "create", place->path);
        /* temp_remove of another run may have removed the file before the lock was taken, or is
         * about to do so. */
        struct stat status;
        const bool locked = flock(temp->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (locked && fstat(temp->fd, &status) == 0 && status.st_nlink != 0)
            return 0;
        temp_discard(temp);
    }
}

int temp_sync(const temp_file *temp, const file_place *place, unsigned mode) {
    if (fchmod(temp->fd, mode) != 0 && errno != EPERM) /* EPERM: no permissions to set */
        return fail_for(errno, "set the mode of", place->path);
    if (fsync(temp->fd) != 0)
        return fail_for(errno, "write", place->path);
    return 0;
}

int temp_commit(temp_file *temps, size_t count, const file_place *places,
                const folder_locks *folders) {
    int code = 0;
    size_t done = 0;
    pthread_mutex_lock(&mutex);
    for (; done < count && code == 0; done += code == 0) {
        const int in = temps[done].in->fd;
        if (renameat(in, temps[done].name, in, path_name(places[done].path)) != 0)
            code = fail_for(errno, "write", places[done].path);
        else
            forget(&temps[done]);
    }
    for (size_t i = done; i < count && done != 0; i++)
        forget(&temps[i]);
    folder *const failed = code == 0 ? folders_sync(folders) : NULL;
    if (failed != NULL)
        code = fail_for(errno, "write the folder", folder_path(failed));
    pthread_mutex_unlock(&mutex);
    return code;
}

int temp_place(temp_file *temp, const file_place *place,
               int (*check)(const file_place *place, void *context), void *context) {
    folder_locks lock;
    int code = folders_lock(&lock, &place->in, 1, true);
    if (code == 0)
        code = check(place, context);
    if (code == 0)
        code = temp_commit(temp, 1, place, &lock);
    folders_unlock(&lock);
    return code;
}

void temp_discard(temp_file *temp) {
    pthread_mutex_lock(&mutex);
    if (temp->name != NULL) {
        unlinkat(temp->in->fd, temp->name, 0);
        forget(temp);
    }
    pthread_mutex_unlock(&mutex);
    if (temp->fd >= 0)
        close(temp->fd);
    temp->fd = -1;
}

void temp_remove(folder *in, const char *name) {
    const int fd = folder_open_file(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(in->fd, name, 0);
    if (fd >= 0)
        close(fd);
}

/* ---- signals and limits --------------------------------------------------------------------- */

static void *wait_for_signals(void *argument) {
    int number = 0;
    if (sigwait(argument, &number) != 0)
        return NULL;
    pthread_mutex_lock(&mutex); /* held until the process ends */
    for (const temp_file *temp = registered; temp != NULL; temp = temp->next)
        unlinkat(temp->in->fd, temp->name, 0);
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

int fail_for_open_files(void) {
    return fail(
        TOOL_IO,
        "the limit on open files, %zu, is too low for so many shards or folders (ulimit -n)",
        allow_open_files(0));
}

size_t allow_open_files(size_t count) {
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)count + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return before < limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur
                                                                            : (size_t)before;
}
