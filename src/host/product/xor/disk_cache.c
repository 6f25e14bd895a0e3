/* SPDX-License-Identifier: BSD-3-Clause */
/* A file: 8 bytes "gfkxor 1", then as 64-bit little-endian numbers the key's size, the payload's
 * size and a checksum of both, then the key, then the payload.
 *
 * The checksum detects damage. The folder's permissions protect against foreign code: kernels are
 * loaded only from a folder that only its owner can write to, who must be the caller or root. */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "disk_cache.h"
#include "host/base/hash.h"

enum { NAME = 64 };
static const char magic[8] = {'g', 'f', 'k', 'x', 'o', 'r', ' ', '1'};
static const size_t largest_file = (size_t)64 << 20;
static const time_t stale = 3600; /* seconds after which a temporary file was left behind */

typedef struct header {
    char magic[8];
    uint64_t key_size, payload_size, checksum; /* little-endian */
} header;

static uint64_t checksum(gfk_bytes key, gfk_bytes payload) {
    return gfk_hash(gfk_hash(GFK_HASH_BEGIN, key.data, key.size), payload.data, payload.size);
}

bool gfk_jit_disk_cache_parse(gfk_bytes file, gfk_bytes key, gfk_bytes *payload) {
    header h;
    if (file.size < sizeof h)
        return false;
    memcpy(&h, file.data, sizeof h);
    const size_t rest = file.size - sizeof h;
    const uint64_t key_size = le64toh(h.key_size), payload_size = le64toh(h.payload_size);
    uint8_t *own_key = (uint8_t *)file.data + sizeof h;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || key_size != key.size || key_size > rest ||
        payload_size != rest - key_size || payload_size == 0 ||
        memcmp(own_key, key.data, key.size) != 0)
        return false;
    const gfk_bytes found = {own_key + key.size, (size_t)payload_size};
    if (le64toh(h.checksum) != checksum(key, found))
        return false;
    *payload = found;
    return true;
}

/* Makes the folder and its parents, as mkdir -p. */
static void make_folder(const char *folder) {
    char *path = strdup(folder);
    if (path == NULL)
        return;
    for (char *p = path + 1; *path != '\0' && *p != '\0'; p++) {
        if (*p == '/') {
            *p = '\0';
            (void)mkdir(path, 0700);
            *p = '/';
        }
    }
    (void)mkdir(path, 0700);
    free(path);
}

/* Returns a descriptor of the folder, or -1 if the folder may not be used. Writes the name of the
 * key's file. */
static int open_folder(const gfk_jit_disk_cache *cache, bool make, gfk_bytes key, char name[NAME]) {
    (void)snprintf(name, NAME, "%016llx" GFK_JIT_CACHE_SUFFIX,
                   (unsigned long long)gfk_hash(GFK_HASH_BEGIN, key.data, key.size));
    if (cache->folder == NULL || *cache->folder == '\0')
        return -1;
    int fd = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && make && errno == ENOENT) {
        make_folder(cache->folder);
        fd = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    struct stat st;
    if (fd >= 0 && (fstat(fd, &st) != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
                    (st.st_uid != geteuid() && st.st_uid != 0))) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static bool read_all(int fd, void *data, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t n = read(fd, (uint8_t *)data + done, size - done);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Reads a file into memory that the caller frees; empty if there is none. */
static gfk_bytes load(int folder, const char *name) {
    gfk_bytes file = {NULL, 0};
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return file;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (uint64_t)st.st_size <= largest_file) {
        file.size = (size_t)st.st_size;
        file.data = malloc(file.size);
        if (file.data == NULL || !read_all(fd, file.data, file.size)) {
            free(file.data);
            file = (gfk_bytes){NULL, 0};
        }
        (void)futimens(fd, NULL); /* marks the file as used now */
    }
    (void)close(fd);
    return file;
}

bool gfk_jit_disk_cache_read(const gfk_jit_disk_cache *cache, gfk_bytes key, gfk_bytes *payload) {
    char name[NAME];
    const int folder = open_folder(cache, false, key, name);
    *payload = (gfk_bytes){NULL, 0};
    if (folder < 0)
        return false;
    const gfk_bytes file = load(folder, name);
    gfk_bytes found;
    if (gfk_jit_disk_cache_parse(file, key, &found)) {
        *payload = (gfk_bytes){memmove(file.data, found.data, found.size), found.size};
    } else {
        free(file.data);
        (void)unlinkat(folder, name, 0);
    }
    (void)close(folder);
    return payload->data != NULL;
}

bool gfk_jit_disk_cache_has(const gfk_jit_disk_cache *cache, gfk_bytes key) {
    char name[NAME];
    const int folder = open_folder(cache, false, key, name);
    const bool there = folder >= 0 && faccessat(folder, name, R_OK, 0) == 0;
    if (folder >= 0)
        (void)close(folder);
    return there;
}

void gfk_jit_disk_cache_remove(const gfk_jit_disk_cache *cache, gfk_bytes key) {
    char name[NAME];
    const int folder = open_folder(cache, false, key, name);
    if (folder < 0)
        return;
    (void)unlinkat(folder, name, 0);
    (void)close(folder);
}

static bool ends_in(const char *name, const char *suffix) {
    const size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Returns the bytes of all files of the cache and finds the least recently used one. Removes
 * temporary files that a crash left behind. */
static uint64_t survey(int folder, char oldest[256]) {
    uint64_t total = 0;
    struct timespec first = {0, 0};
    *oldest = '\0';
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (dir == NULL) {
        if (copy >= 0)
            (void)close(copy);
        return 0;
    }
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        struct stat st;
        const bool temporary = ends_in(e->d_name, GFK_JIT_CACHE_SUFFIX ".tmp");
        if ((!temporary && !ends_in(e->d_name, GFK_JIT_CACHE_SUFFIX)) ||
            fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (temporary) {
            if (time(NULL) - st.st_mtim.tv_sec > stale)
                (void)unlinkat(folder, e->d_name, 0);
            continue;
        }
        total += (uint64_t)st.st_size;
        if (*oldest == '\0' || st.st_mtim.tv_sec < first.tv_sec ||
            (st.st_mtim.tv_sec == first.tv_sec && st.st_mtim.tv_nsec < first.tv_nsec)) {
            first = st.st_mtim;
            (void)snprintf(oldest, 256, "%s", e->d_name);
        }
    }
    (void)closedir(dir);
    return total;
}

/* Removes the least recently used files until `size` more bytes have room. */
static void make_room(int folder, uint64_t limit, uint64_t size) {
    char oldest[256];
    while (survey(folder, oldest) + size > limit && *oldest != '\0')
        if (unlinkat(folder, oldest, 0) != 0 && errno != ENOENT)
            return;
}

void gfk_jit_disk_cache_write(const gfk_jit_disk_cache *cache, gfk_bytes key, gfk_bytes payload) {
    char name[NAME];
    const uint64_t size = sizeof(header) + (uint64_t)key.size + payload.size;
    if (payload.size == 0 || size > largest_file || size > cache->limit)
        return;
    const int folder = open_folder(cache, true, key, name);
    if (folder < 0)
        return;
    make_room(folder, cache->limit, size);
    header h = {.key_size = htole64(key.size),
                .payload_size = htole64(payload.size),
                .checksum = htole64(checksum(key, payload))};
    memcpy(h.magic, magic, sizeof magic);
    const gfk_bytes parts[] = {{&h, sizeof h}, key, payload};
    (void)gfk_file_replace(folder, name, 0600, false, parts, 3);
    (void)close(folder);
}
