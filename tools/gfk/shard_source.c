/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of shards; opens one file as a shard and identifies the shard. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "report.h"
#include "shard_set.h"

/* ---- names ---------------------------------------------------------------------------------- */

static const char infix[] = ".gfk.";
enum { INFIX_LENGTH = sizeof infix - 1, LEAST_DIGITS = 3, MOST_DIGITS = 5 };

char *shard_path(const char *base, uint32_t index) {
    const size_t room = strlen(base) + INFIX_LENGTH + 16;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s%s%0*u", base, infix, LEAST_DIGITS, index);
    return path;
}

bool shard_name_parse(const char *name, size_t length, size_t *base_length, uint32_t *index) {
    size_t digits = 0;
    uint32_t value = 0;
    while (digits < length && digits <= MOST_DIGITS && name[length - 1 - digits] >= '0' &&
           name[length - 1 - digits] <= '9')
        digits++;
    if (digits < LEAST_DIGITS || digits > MOST_DIGITS || length <= digits + INFIX_LENGTH ||
        memcmp(name + length - digits - INFIX_LENGTH, infix, INFIX_LENGTH) != 0)
        return false;
    for (size_t i = length - digits; i < length; i++)
        value = 10 * value + (uint32_t)(name[i] - '0');
    if (value >= MAX_SHARDS || (digits > LEAST_DIGITS && name[length - digits] == '0'))
        return false;
    *base_length = length - digits - INFIX_LENGTH;
    *index = value;
    return true;
}

bool shard_entry_parse(const char *name, const char **base, size_t *base_length, uint32_t *index) {
    const size_t temp = temp_name_length(name);
    *base = temp != 0 ? name + 1 : name;
    return shard_name_parse(*base, temp != 0 ? temp : strlen(name), base_length, index);
}

/* ---- files ---------------------------------------------------------------------------------- */

bool shard_source_fetch(shard_source *source, uint8_t *bytes, size_t count, uint64_t offset) {
    struct iovec buffer = {bytes, count};
    const ssize_t got = read_buffers(source->fd, &buffer, 1, offset);
    if (got < 0)
        source->error = errno;
    return got == (ssize_t)count;
}

static bool read_header(shard_source *source, uint64_t offset, shard_header *header) {
    uint8_t bytes[HEADER_BYTES] = {0};
    const bool complete = shard_source_fetch(source, bytes, sizeof bytes, offset);
    const format_verdict verdict = shard_header_read(header, bytes);
    source->magic = source->magic || verdict != FORMAT_FOREIGN;
    return complete && verdict == FORMAT_OK;
}

bool shard_source_take_identity(shard_source *source, const uint8_t bytes[BLOCK_HEADER_BYTES]) {
    block_header block;
    const format_verdict verdict = block_header_read(&block, bytes);
    source->magic = source->magic || verdict != FORMAT_FOREIGN;
    if (verdict != FORMAT_OK || block.index >= MAX_SHARDS)
        return false;
    memcpy(source->header.set_id, block.set_id, SET_ID_BYTES);
    source->header.index = block.index;
    return source->identified = true;
}

void shard_source_identify(shard_source *source) {
    uint8_t block[BLOCK_HEADER_BYTES];
    shard_header tail = {0};
    source->head = read_header(source, 0, &source->header);
    if (source->head) /* appended bytes do not hide the second header */
        source->tail = read_header(source, shard_bytes(&source->header) - HEADER_BYTES, &tail);
    else if (source->bytes >= HEADER_BYTES)
        source->tail = read_header(source, source->bytes - HEADER_BYTES, &tail);
    if (source->tail && source->head) {
        source->tail =
            shard_header_compare(&source->header, &tail) == 0 && source->header.index == tail.index;
    } else if (source->tail) {
        source->header = tail;
    }
    source->identified = source->head || source->tail ||
                         (shard_source_fetch(source, block, sizeof block, HEADER_BYTES) &&
                          shard_source_take_identity(source, block));
}

static uint64_t seek(const shard_source *source, uint64_t offset, int what) {
    const off_t found = lseek(source->fd, (off_t)offset, what);
    if (found >= 0)
        return (uint64_t)found < source->bytes ? (uint64_t)found : source->bytes;
    const bool unknown = errno != ENXIO; /* ENXIO: there are no more data */
    return what == SEEK_DATA && unknown && offset < source->bytes ? offset : source->bytes;
}

uint64_t shard_source_data(const shard_source *source, uint64_t offset) {
    return seek(source, offset, SEEK_DATA);
}

uint64_t shard_source_hole(const shard_source *source, uint64_t offset) {
    return seek(source, offset, SEEK_HOLE);
}

enum { NOT_REGULAR = FILE_CHANGED - 1 };

const char *shard_error_text(int error) {
    return error == NOT_REGULAR ? "not a regular file"
           : error == ELOOP     ? "a symbolic link"
                                : strerror(error);
}

bool shard_error_is_of_system(int error) {
    return error > 0 && error != ELOOP;
}

static size_t open_sources;

size_t shard_source_room(size_t files) {
    enum { SPARE = 64 }; /* folders, and what other parts of the program open */
    const size_t limit = allow_open_files(open_sources + files + SPARE);
    const size_t free = limit > open_sources ? limit - open_sources : 0;
    const size_t room = free > 2 * SPARE ? free - SPARE : free / 2;
    return room == 0 ? 1 : room;
}

/* True if a file may stay open between the look and the work: a limited number does, so that small
 * runs open each file once. */
static bool may_stay_open(void) {
    enum { MOST = 512 };
    static size_t most;
    if (most == 0) {
        const size_t part = allow_open_files(MAX_SHARDS) / 8;
        most = part < MOST ? part + 1 : MOST;
    }
    return open_sources <= most;
}

int shard_source_open(shard_source *source) {
    struct stat status;
    if (source->fd < 0) {
        source->fd = folder_open_file(source->in, path_name(source->path),
                                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        open_sources += source->fd >= 0;
    }
    int error = source->fd < 0 || fstat(source->fd, &status) != 0 ? errno : 0;
    if (error == 0 &&
        (status.st_dev != source->device || status.st_ino != source->inode ||
         (uint64_t)status.st_size != source->bytes ||
         status.st_ctim.tv_sec != source->changed.tv_sec || /* an inode may be used again */
         status.st_ctim.tv_nsec != source->changed.tv_nsec))
        error = FILE_CHANGED;
    /* A temporary file with the lock of a live run is incomplete. */
    if (error == 0 && source->temp && flock(source->fd, LOCK_SH | LOCK_NB) != 0)
        error = FILE_CHANGED;
    if (error != 0)
        shard_source_close(source);
    return error == ENOENT ? FILE_CHANGED : error;
}

int shard_source_read(shard_source *source, folder *in, const char *name,
                      const struct stat *status) {
    const char *base = NULL;
    size_t base_length = 0;
    *source = (shard_source){.fd = -1,
                             .in = in,
                             .path = path_join(folder_path(in), name),
                             .device = status->st_dev,
                             .inode = status->st_ino,
                             .bytes = (uint64_t)status->st_size,
                             .changed = status->st_ctim,
                             .temp = temp_name_length(name) != 0};
    if (source->path == NULL)
        return no_memory();
    source->named = shard_entry_parse(name, &base, &base_length, &source->name_index);
    source->error = S_ISREG(status->st_mode)   ? shard_source_open(source)
                    : S_ISLNK(status->st_mode) ? ELOOP
                                               : NOT_REGULAR;
    source->unreadable = source->error != 0;
    if (source->error == EMFILE || source->error == ENFILE)
        return fail_for_open_files();
    if (!source->unreadable)
        shard_source_identify(source);
    if (source->error == ENOMEM)
        return no_memory();
    if (!source->identified || !may_stay_open())
        shard_source_close(source);
    if (source->named && !source->identified)
        source->header.index = source->name_index;
    return 0;
}

void shard_source_close(shard_source *source) {
    if (source->fd < 0)
        return;
    close(source->fd);
    source->fd = -1;
    open_sources--;
}
