/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tool: kills the process in front of a chosen one of the calls that change
 * files, and writes down those that were made. KILL_AT is the number of the call, from 1; CALL_LOG
 * is a file for lines "write INODE", "fsync INODE", "rename INODE", ...; SLOW_CALL names a call
 * that takes its time. BAD_FILE is the inode of a file that cannot be read from BAD_FROM on,
 * NO_RENAME the number of a renaming that fails. LATE_FILE is the path of a file that comes from
 * LATE_FROM after the first look that does not find LATE_FILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static void before(const char *name, unsigned long inode) {
    char line[64];
    const char *at = getenv("KILL_AT"), *log = getenv("CALL_LOG"), *slow = getenv("SLOW_CALL");
    const int number = atomic_fetch_add(&calls, 1) + 1;
    if (at != NULL && number == atoi(at))
        kill(getpid(), SIGKILL);
    if (slow != NULL && strcmp(slow, name) == 0)
        usleep(10000);
    if (log == NULL)
        return;
    const int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const int length = snprintf(line, sizeof line, "%s %lu\n", name, inode);
    if (fd < 0 || (size_t)length >= sizeof line || write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static unsigned long inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static unsigned long inode_at(int folder, const char *name) {
    struct stat status;
    return NEXT(fstatat)(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

int fstatat(int folder, const char *name, struct stat *status, int flags) {
    static atomic_flag came = ATOMIC_FLAG_INIT;
    const char *late = getenv("LATE_FILE");
    const int result = NEXT(fstatat)(folder, name, status, flags), error = errno;
    if (late != NULL && strcmp(late, name) == 0 && result != 0 &&
        !atomic_flag_test_and_set(&came) && rename(getenv("LATE_FROM"), late) != 0)
        abort();
    errno = error;
    return result;
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) {
    before("write", inode_of(fd));
    return NEXT(pwritev)(fd, pieces, count, offset);
}

ssize_t preadv(int fd, const struct iovec *pieces, int count, off_t offset) {
    const char *bad = getenv("BAD_FILE"), *from = getenv("BAD_FROM");
    if (bad != NULL && strtoul(bad, NULL, 10) == inode_of(fd)) {
        off_t end = offset;
        for (int i = 0; i < count; i++)
            end += (off_t)pieces[i].iov_len;
        if (end > atoll(from)) {
            errno = EIO;
            return -1;
        }
    }
    return NEXT(preadv)(fd, pieces, count, offset);
}

int fsync(int fd) {
    before("fsync", inode_of(fd));
    return NEXT(fsync)(fd);
}

int fchmod(int fd, mode_t mode) {
    before("fchmod", inode_of(fd));
    return NEXT(fchmod)(fd, mode);
}

int flock(int fd, int operation) {
    before("flock", inode_of(fd));
    return NEXT(flock)(fd, operation);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    static atomic_int renames;
    const char *bad = getenv("NO_RENAME");
    before("rename", inode_at(from_folder, from));
    if (atomic_fetch_add(&renames, 1) + 1 == (bad == NULL ? 0 : atoi(bad))) {
        errno = EPERM;
        return -1;
    }
    return NEXT(renameat)(from_folder, from, to_folder, to);
}

int unlinkat(int folder, const char *path, int flags) {
    before("unlink", inode_at(folder, path));
    return NEXT(unlinkat)(folder, path, flags);
}
