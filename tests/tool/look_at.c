/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tool: writes down how it looks at files and folders, lets a look fail, and
 * replaces a folder by a link between two calls. LOOK_LOG is a file for lines "open NAME", "list",
 * "look NAME", "rename NAME", "unlink NAME", "thread " for a thread that starts. FAIL_CALL is the call that fails, for the file or
 * folder FAIL_NAME (list: for all), with the error FAIL_ERROR; with FAIL_ONCE only the first such call
 * fails, with FAIL_AT only call number FAIL_AT of those. FAIL_CALL=read makes reads of the files fail whose
 * names begin with FAIL_NAME, where the reads have bytes from FAIL_FROM on and before FAIL_TO. Before call number SWAP_AT, the folder SWAP_FOLDER gets the name SWAP_FOLDER.away, and a link
 * to SWAP_TO takes its place. With NO_TYPES lists have no types, as on some file systems. The clock
 * runs CLOCK_FACTOR times as fast. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

static void swap(const char *at) {
    static atomic_int calls;
    char away[4096];
    const char *folder = getenv("SWAP_FOLDER");
    if (atomic_fetch_add(&calls, 1) + 1 != atoi(at))
        return;
    snprintf(away, sizeof away, "%s.away", folder);
    if (NEXT(rename)(folder, away) != 0 || symlink(getenv("SWAP_TO"), folder) != 0)
        abort();
}

static void write_line(const char *call, const char *name) {
    const char *log = getenv("LOOK_LOG");
    if (log != NULL) {
        char line[512];
        const int length = snprintf(line, sizeof line, "%s %s\n", call, name);
        const int fd = NEXT(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0 || (size_t)length >= sizeof line || write(fd, line, (size_t)length) != length)
            abort();
        close(fd);
    }
}

/* Notes a call. True if the call fails; errno is then set. */
static bool note(const char *call, const char *path) {
    const char *fails = getenv("FAIL_CALL"), *at = getenv("SWAP_AT");
    const char *name = name_of(path), *wanted = getenv("FAIL_NAME");
    if (at != NULL)
        swap(at);
    write_line(call, name);
    if (fails == NULL || strcmp(fails, call) != 0 ||
        (wanted != NULL && *name != '\0' && strcmp(wanted, name) != 0))
        return false;
    static atomic_int failures;
    const int before = atomic_fetch_add(&failures, 1);
    if ((before != 0 && getenv("FAIL_ONCE") != NULL) ||
        (getenv("FAIL_AT") != NULL && before + 1 != atoi(getenv("FAIL_AT"))))
        return false;
    errno = atoi(getenv("FAIL_ERROR"));
    return true;
}

/* True if the read of a file fails; errno is then set. */
static bool read_fails(int fd, off_t at, off_t end) {
    const char *fails = getenv("FAIL_CALL"), *wanted = getenv("FAIL_NAME");
    const char *from = getenv("FAIL_FROM"), *to = getenv("FAIL_TO");
    char link[64], path[4096];
    if (fails == NULL || strcmp(fails, "read") != 0 || wanted == NULL ||
        (from != NULL && end <= atoll(from)) || (to != NULL && at >= atoll(to)))
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    if (strncmp(name_of(path), wanted, strlen(wanted)) != 0)
        return false;
    errno = atoi(getenv("FAIL_ERROR"));
    return true;
}

ssize_t read(int fd, void *bytes, size_t count) {
    const off_t at = getenv("FAIL_CALL") == NULL ? 0 : lseek(fd, 0, SEEK_CUR);
    return read_fails(fd, at, at + (off_t)count) ? -1 : NEXT(read)(fd, bytes, count);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t at) {
    return read_fails(fd, at, at + (off_t)count) ? -1 : NEXT(pread)(fd, bytes, count, at);
}

ssize_t preadv(int fd, const struct iovec *buffers, int count, off_t at) {
    off_t end = at;
    for (int i = 0; i < count; i++)
        end += (off_t)buffers[i].iov_len;
    return read_fails(fd, at, end) ? -1 : NEXT(preadv)(fd, buffers, count, at);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    write_line("thread", ""); /* it is no look: no other call gets another number */
    return NEXT(pthread_create)(thread, attributes, start, argument);
}

#define MODE_OF(flags)                                                                             \
    mode_t mode = 0;                                                                               \
    if (((flags) & O_CREAT) != 0) {                                                                \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    return note("open", path) ? -1 : NEXT(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    return note("open", path) ? -1 : NEXT(openat)(folder, path, flags, mode);
}

DIR *opendir(const char *path) {
    note("list", "");
    return NEXT(opendir)(path);
}

DIR *fdopendir(int fd) {
    note("list", "");
    return NEXT(fdopendir)(fd);
}

struct dirent *readdir(DIR *entries) {
    const char *fails = getenv("FAIL_CALL");
    static atomic_int calls; /* three entries, and then the error */
    if (fails != NULL && strcmp(fails, "readdir") == 0 && atomic_fetch_add(&calls, 1) >= 3) {
        errno = atoi(getenv("FAIL_ERROR"));
        return NULL;
    }
    struct dirent *entry = NEXT(readdir)(entries);
    if (entry != NULL && getenv("NO_TYPES") != NULL)
        entry->d_type = DT_UNKNOWN;
    return entry;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    const int result = NEXT(clock_gettime)(clock, time);
    const char *factor = getenv("CLOCK_FACTOR");
    if (result == 0 && factor != NULL) {
        const double seconds = atof(factor) * ((double)time->tv_sec + 1e-9 * (double)time->tv_nsec);
        time->tv_sec = (time_t)seconds;
        time->tv_nsec = (long)(1e9 * (seconds - (double)time->tv_sec));
    }
    return result;
}

int stat(const char *path, struct stat *status) {
    return note("look", path) ? -1 : NEXT(stat)(path, status);
}

int lstat(const char *path, struct stat *status) {
    return note("look", path) ? -1 : NEXT(lstat)(path, status);
}

int fstatat(int folder, const char *path, struct stat *status, int flags) {
    return note("look", path) ? -1 : NEXT(fstatat)(folder, path, status, flags);
}

int rename(const char *from, const char *to) {
    return note("rename", to) ? -1 : NEXT(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return note("rename", to) ? -1 : NEXT(renameat)(from_folder, from, to_folder, to);
}

int unlink(const char *path) {
    return note("unlink", path) ? -1 : NEXT(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags) {
    return note("unlink", path) ? -1 : NEXT(unlinkat)(folder, path, flags);
}
