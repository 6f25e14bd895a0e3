/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, gfk_bytes part) {
    for (size_t done = 0; done < part.size;) {
        const ssize_t n = write(fd, (const char *)part.data + done, part.size - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Creates a file that no other thread or process uses. Returns its descriptor, or -1. */
static int make_temporary(int folder, const char *name, char temporary[NAME_MAX + 1]) {
    enum { TRIES = 1000 }; /* an earlier process with this process id may have left files behind */
    static atomic_uint counter;
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        const int length = snprintf(temporary, NAME_MAX + 1, "%ld-%u-%s.tmp", (long)getpid(),
                                    atomic_fetch_add(&counter, 1), name);
        if (length > NAME_MAX)
            return -1;
        fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/* Makes the renaming durable, if possible. Without that a crash may bring the old file back. */
static void sync_folder(int folder) {
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

bool gfk_file_replace(int folder, const char *name, mode_t mode, bool durable,
                      const gfk_bytes *parts, size_t count) {
    char temporary[NAME_MAX + 1];
    const int fd = make_temporary(folder, name, temporary);
    if (fd < 0)
        return false;
    bool ok = fchmod(fd, mode) == 0;
    for (size_t i = 0; i < count && ok; i++)
        ok = write_all(fd, parts[i]);
    ok = ok && (!durable || fsync(fd) == 0);
    ok = close(fd) == 0 && ok && renameat(folder, temporary, folder, name) == 0;
    if (!ok)
        (void)unlinkat(folder, temporary, 0);
    else if (durable)
        sync_folder(folder);
    return ok;
}
