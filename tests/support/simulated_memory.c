/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated_memory.h. */
#include "simulated_memory.h"

enum { MOST_RANGES = 1024 };

static simulated_range ranges[MOST_RANGES];
static size_t range_count;

simulated_range *simulated_memory_find(const void *memory) {
    const unsigned char *p = memory;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].device != SIMULATED_FREE && p >= ranges[i].begin &&
            p < ranges[i].begin + ranges[i].bytes)
            return &ranges[i];
    return NULL;
}

bool simulated_memory_holds(const void *memory, size_t bytes, int device) {
    const simulated_range *r = simulated_memory_find(memory);
    return r != NULL && r->device == device &&
           bytes <= (size_t)(r->begin + r->bytes - (const unsigned char *)memory);
}

gfk_status simulated_memory_add(void *memory, size_t bytes, int device) {
    size_t i = 0;
    while (i < range_count && ranges[i].device != SIMULATED_FREE)
        i++;
    if (i == MOST_RANGES)
        return GFK_STATUS_OUT_OF_MEMORY;
    range_count += i == range_count;
    ranges[i] = (simulated_range){memory, bytes, device};
    return GFK_STATUS_SUCCESS;
}

size_t simulated_memory_used(int device) {
    size_t used = 0;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].device == device)
            used += ranges[i].bytes;
    return used;
}

size_t simulated_memory_count(void) {
    size_t count = 0;
    for (size_t i = 0; i < range_count; i++)
        count += ranges[i].device != SIMULATED_FREE;
    return count;
}
