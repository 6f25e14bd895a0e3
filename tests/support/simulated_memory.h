/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses belong to a simulated device, or are registered memory of the host? Only one
 * thread at a time may call these functions. */
#ifndef GFK_TESTS_SIMULATED_MEMORY_H
#define GFK_TESTS_SIMULATED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/status.h>

enum { SIMULATED_FREE = -2, SIMULATED_PINNED = -1 };

typedef struct simulated_range {
    unsigned char *begin;
    size_t bytes;
    int device; /* SIMULATED_FREE: a free entry */
} simulated_range;

simulated_range *simulated_memory_find(const void *memory); /* NULL: in no range */
bool simulated_memory_holds(const void *memory, size_t bytes, int device);
gfk_status simulated_memory_add(void *memory, size_t bytes, int device);
size_t simulated_memory_used(int device); /* bytes */
size_t simulated_memory_count(void);      /* ranges */

#endif
