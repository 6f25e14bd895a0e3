/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "shard_set.h"

int shard_writer_open(shard_writer *writer, size_t count) {
    *writer = (shard_writer){.indices = calloc(count, sizeof *writer->indices),
                             .temps = calloc(count, sizeof *writer->temps),
                             .paths = calloc(count, sizeof *writer->paths),
                             .offset = HEADER_BYTES};
    if (writer->indices != NULL && writer->temps != NULL && writer->paths != NULL)
        return 0;
    shard_writer_close(writer);
    return fail(TOOL_INTERNAL, "out of memory");
}

int shard_writer_add(shard_writer *writer, size_t index, char *path) {
    if (path == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    const size_t i = writer->count++;
    writer->indices[i] = index;
    writer->paths[i] = path;
    writer->temps[i] = (temp_file)TEMP_FILE_NONE;
    return temp_create(&writer->temps[i], path);
}

static int failed(const char *path) {
    return fail(TOOL_IO, "cannot write %s: %s", path, strerror(errno));
}

int shard_writer_write(shard_writer *writer, const batch *b) {
    const size_t stripes = batch_stripes(b);
    struct iovec buffers[2 * MOST_STRIPES];
    for (size_t i = 0; i < writer->count; i++) {
        batch_buffers(b, writer->indices[i], 0, stripes, buffers);
        if (!write_buffers(writer->temps[i].fd, buffers, 2 * stripes, writer->offset))
            return failed(writer->paths[i]);
    }
    for (size_t s = 0; s < stripes; s++)
        writer->offset += BLOCK_HEADER_BYTES + b->stripes[s].bytes;
    return 0;
}

static bool write_header(int fd, const uint8_t bytes[HEADER_BYTES], uint64_t offset) {
    struct iovec buffer = {(void *)bytes, HEADER_BYTES};
    return write_buffers(fd, &buffer, 1, offset);
}

int shard_writer_finish(shard_writer *writer, const shard_header *header) {
    shard_header mine = *header;
    for (size_t i = 0; i < writer->count; i++) {
        uint8_t bytes[HEADER_BYTES];
        mine.index = (uint32_t)writer->indices[i];
        shard_header_write(&mine, bytes);
        const int fd = writer->temps[i].fd;
        if (!write_header(fd, bytes, writer->offset) || !write_header(fd, bytes, 0))
            return failed(writer->paths[i]);
        /* Users who may not read the file must not be able to read a shard. */
        const int code = temp_sync(&writer->temps[i], writer->paths[i], header->mode & 0666);
        if (code != 0)
            return code;
    }
    return 0;
}

void shard_writer_close(shard_writer *writer) {
    for (size_t i = 0; i < writer->count; i++) {
        temp_discard(&writer->temps[i]);
        free(writer->paths[i]);
    }
    free(writer->indices);
    free(writer->temps);
    free(writer->paths);
    *writer = (shard_writer){0};
}

/* ---- the place of the shards ---------------------------------------------------------------- */

static bool same_content(const shard_header *a, const shard_header *b, bool hash_too) {
    return a->w == b->w && a->matrix == b->matrix && a->polynomial == b->polynomial &&
           a->k == b->k && a->m == b->m && a->block_bytes == b->block_bytes &&
           a->file_bytes == b->file_bytes &&
           (!hash_too || (a->hash_low == b->hash_low && a->hash_high == b->hash_high));
}

static int check(const shard_set *there, const shard_header *header, bool complete) {
    for (size_t i = 0; i < there->source_count; i++) {
        const shard_source *s = &there->sources[i];
        if (s->temp || s->unreadable ||
            ((s->head || s->tail) && same_content(&s->header, header, complete)))
            continue;
        return fail(TOOL_EXISTS, "%s exists and has other contents; --force replaces it", s->path);
    }
    return 0;
}

/* Finds the existing shards of the bases. The caller closes the set. */
static int find_there(shard_set *there, const path_list *bases) {
    *there = (shard_set){0};
    int code = 0;
    for (size_t i = 0; i < bases->count && code == 0; i++)
        code = path_list_add(&there->bases, strdup(bases->paths[i]));
    return code == 0 ? shard_set_search(there) : code;
}

int check_replaceable(const path_list *bases, const shard_header *header, bool complete) {
    shard_set there;
    int code = find_there(&there, bases);
    if (code == 0)
        code = check(&there, header, complete);
    shard_set_close(&there);
    return code;
}

/* Removes the shards of the replaced set whose places the new set does not use: more shards than
 * the new set has, or the same shards in another of the folders. */
static void remove_rest(const shard_set *there, size_t count) {
    for (size_t i = 0; i < there->source_count; i++) {
        const shard_source *s = &there->sources[i];
        if (!s->temp && s->identified &&
            (s->name_index >= count || s->name_index % there->bases.count != s->base))
            unlink(s->path);
    }
}

/* Finds every foreseeable obstacle before the first rename. Without --force, a file that could not
 * be read is not replaced. */
static int check_places(const shard_writer *writer, const shard_set *there, bool force) {
    struct stat status;
    for (size_t i = 0; i < writer->count; i++) {
        const int error = path_look(writer->paths[i], &status);
        if (error == ENOENT)
            continue;
        if (error == 0 && !S_ISREG(status.st_mode))
            return fail(TOOL_IO, "%s is not a regular file", writer->paths[i]);
        const shard_source *s = error == 0 ? shard_set_source(there, writer->paths[i]) : NULL;
        if (!force && (s == NULL || s->unreadable))
            return fail(TOOL_EXISTS, "%s exists and cannot be read; --force replaces it",
                        writer->paths[i]);
    }
    return 0;
}

static int replace(shard_writer *writer, const path_list *bases, const folder_locks *locks,
                   const shard_header *header, bool force) {
    shard_set there;
    int code = find_there(&there, bases);
    if (code == 0)
        code = check_places(writer, &there, force);
    if (code == 0 && !force)
        code = check(&there, header, true);
    if (code == 0)
        code = temp_commit(writer->temps, writer->count, writer->paths, locks);
    if (code == 0)
        remove_rest(&there, writer->count);
    shard_set_close(&there);
    return code;
}

int replace_set(shard_writer *writer, const path_list *bases, const shard_header *header,
                bool force) {
    folder_locks locks;
    int code = folders_lock(&locks, bases->paths, bases->count, true);
    if (code == 0)
        code = replace(writer, bases, &locks, header, force);
    folders_unlock(&locks);
    for (size_t i = 0; i < bases->count && code == 0; i++)
        clean_shards(bases->paths[i]);
    return code;
}

static bool is_of_base(const char *name, size_t length, void *base) {
    uint32_t index = 0;
    return shard_name_of(name, length, base, &index);
}

void clean_shards(const char *base) {
    temp_clean(base, is_of_base, (void *)path_name(base));
}
