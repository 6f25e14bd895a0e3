/* SPDX-License-Identifier: BSD-3-Clause */
#include "patterns.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/hash.h"

/* The slot of a loss in the table, or the free slot where it belongs. */
static size_t *slot_of(const gfk_batch_patterns *p, const size_t *lost, size_t count) {
    const uint64_t hash = gfk_hash(GFK_HASH_BEGIN, lost, count * sizeof *lost);
    size_t i = (size_t)(hash ^ hash >> 32) & (p->slot_count - 1);
    for (; p->slots[i] != 0; i = (i + 1) & (p->slot_count - 1)) {
        const gfk_rs_rebuild *pattern = &p->list[p->slots[i] - 1];
        if (pattern->rows == count && memcmp(pattern->outputs, lost, count * sizeof *lost) == 0)
            break;
    }
    return &p->slots[i];
}

/* Makes room for one more pattern. */
static gfk_status reserve(gfk_batch_patterns *p, size_t m) {
    if (p->lost == NULL && (p->lost = malloc(m * sizeof *p->lost)) == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    if (p->count < p->room)
        return GFK_STATUS_SUCCESS;
    const size_t room = p->room ? 2 * p->room : 16;
    gfk_rs_rebuild *list = realloc(p->list, room * sizeof *list);
    if (list == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->list = list;
    size_t *slots = calloc(4 * room, sizeof *slots);
    if (slots == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    free(p->slots);
    p->slots = slots;
    p->slot_count = 4 * room;
    p->room = room;
    for (size_t i = 0; i < p->count; i++)
        *slot_of(p, list[i].outputs, list[i].rows) = i + 1;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_batch_patterns_find(gfk_batch_patterns *p, gfk_rs_t code, const size_t *lost,
                                   size_t lost_count, size_t *index) {
    const size_t m = code->info.m;
    gfk_rs_rebuild none;
    if (lost == NULL && lost_count != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (lost_count > m) /* an error */
        return gfk_rs_rebuild_create(&none, code, lost, lost_count, NULL, 0);
    RETURN_IF_ERROR(reserve(p, m));
    const size_t rows = lost ? lost_count : m;
    for (size_t i = 0; i < rows; i++)
        p->lost[i] = lost ? lost[i] : code->info.k + i;
    gfk_rs_sort(p->lost, rows);
    size_t *slot = slot_of(p, p->lost, rows);
    if (*slot == 0) {
        RETURN_IF_ERROR(gfk_rs_rebuild_create(&p->list[p->count], code, p->lost, rows, NULL, 0));
        *slot = ++p->count;
    }
    *index = *slot - 1;
    return GFK_STATUS_SUCCESS;
}

void gfk_batch_patterns_clear(gfk_batch_patterns *p) {
    for (size_t i = 0; i < p->count; i++)
        gfk_rs_rebuild_free(&p->list[i]);
    free(p->list);
    free(p->slots);
    free(p->lost);
}
