/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing files whole or not at all. */
#ifndef GFK_HOST_FILES_H
#define GFK_HOST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct gfk_bytes {
    void *data;
    size_t size;
} gfk_bytes;

/* Puts a file of these parts, one after the other, in the place of `name` in a folder, which is an
 * open descriptor. A reader finds the old file or the new one: the new file is written under a
 * name of its own, which ends in ".tmp", and renamed. `durable`: the file survives a crash of the
 * machine. False, and the old file stays: it could not be written. */
bool gfk_file_replace(int folder, const char *name, mode_t mode, bool durable,
                      const gfk_bytes *parts, size_t count);

#endif
