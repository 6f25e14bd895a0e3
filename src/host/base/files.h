/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces files atomically. */
#ifndef GFK_HOST_FILES_H
#define GFK_HOST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct gfk_bytes {
    void *data;
    size_t size;
} gfk_bytes;

/* Replaces the file `name` in `folder`, an open descriptor, by a file with the content of all
 * parts, one after the other. The new file is written under a temporary name that ends in ".tmp",
 * and then renamed, so that a reader finds either the old file or the new one. With `durable` the
 * new file survives a crash of the machine. Returns false if the new file cannot be written; the
 * old file then stays. */
bool gfk_file_replace(int folder, const char *name, mode_t mode, bool durable,
                      const gfk_bytes *parts, size_t count);

#endif
