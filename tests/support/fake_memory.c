/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_memory.h. */
#include "fake_memory.h"

enum { MOST_RANGES = 1024 };

static fake_range ranges[MOST_RANGES];
static size_t range_count;

fake_range *fake_memory_find(const void *memory) {
    const unsigned char *p = memory;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].device != FAKE_NOBODY && p >= ranges[i].begin &&
            p < ranges[i].begin + ranges[i].bytes)
            return &ranges[i];
    return NULL;
}

bool fake_memory_holds(const void *memory, size_t bytes, int device) {
    const fake_range *r = fake_memory_find(memory);
    return r != NULL && r->device == device &&
           bytes <= (size_t)(r->begin + r->bytes - (const unsigned char *)memory);
}

gfk_status fake_memory_add(void *memory, size_t bytes, int device) {
    size_t i = 0;
    while (i < range_count && ranges[i].device != FAKE_NOBODY)
        i++;
    if (i == MOST_RANGES)
        return GFK_STATUS_OUT_OF_MEMORY;
    range_count += i == range_count;
    ranges[i] = (fake_range){memory, bytes, device};
    return GFK_STATUS_SUCCESS;
}

size_t fake_memory_used(int device) {
    size_t used = 0;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].device == device)
            used += ranges[i].bytes;
    return used;
}

size_t fake_memory_count(void) {
    size_t count = 0;
    for (size_t i = 0; i < range_count; i++)
        count += ranges[i].device != FAKE_NOBODY;
    return count;
}
