/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses belong to a device of fake_bus.h, or are registered memory of the host. The
 * caller sees to it that only one thread asks at a time. */
#ifndef GFK_TESTS_FAKE_MEMORY_H
#define GFK_TESTS_FAKE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/status.h>

enum { FAKE_NOBODY = -2, FAKE_HOST = -1 };

typedef struct fake_range {
    unsigned char *begin;
    size_t bytes;
    int device; /* FAKE_NOBODY: a free entry */
} fake_range;

fake_range *fake_memory_find(const void *memory); /* NULL: in none */
bool fake_memory_holds(const void *memory, size_t bytes, int device);
gfk_status fake_memory_add(void *memory, size_t bytes, int device);
size_t fake_memory_used(int device); /* bytes */
size_t fake_memory_count(void);      /* ranges */

#endif
