/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

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
    struct iovec pieces[2 * MOST_STRIPES];
    for (size_t i = 0; i < writer->count; i++) {
        for (size_t s = 0; s < stripes; s++) {
            pieces[2 * s] =
                (struct iovec){batch_header(b, s, writer->indices[i]), BLOCK_HEADER_BYTES};
            pieces[2 * s + 1] =
                (struct iovec){batch_block(b, s, writer->indices[i]), b->stripes[s].bytes};
        }
        if (!write_pieces(writer->temps[i].fd, pieces, 2 * stripes, writer->offset))
            return failed(writer->paths[i]);
    }
    for (size_t s = 0; s < stripes; s++)
        writer->offset += BLOCK_HEADER_BYTES + b->stripes[s].bytes;
    return 0;
}

static bool write_header(int fd, const uint8_t bytes[HEADER_BYTES], uint64_t offset) {
    struct iovec piece = {(void *)bytes, HEADER_BYTES};
    return write_pieces(fd, &piece, 1, offset);
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
