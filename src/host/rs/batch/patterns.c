/* SPDX-License-Identifier: BSD-3-Clause */
#include "patterns.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/hash.h"

static int compare(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The slot of a loss in the table, or the free slot where it belongs. */
static size_t *slot_of(const gfk_batch_patterns *p, const size_t *lost, size_t count) {
    const uint64_t hash = gfk_hash(GFK_HASH_BEGIN, lost, count * sizeof *lost);
    size_t i = (size_t)(hash ^ hash >> 32) & (p->slot_count - 1);
    for (; p->slots[i] != 0; i = (i + 1) & (p->slot_count - 1)) {
        const gfk_batch_pattern *pattern = &p->list[p->slots[i] - 1];
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
    gfk_batch_pattern *list = realloc(p->list, room * sizeof *list);
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

/* A pattern is one allocation, which begins with `outputs`. */
static gfk_status make(gfk_batch_pattern *pattern, gfk_rs_t code, const size_t *lost, size_t rows,
                       bool encode) {
    const size_t k = code->info.k, unread = code->info.m - rows, indices = rows + k + unread;
    size_t *memory = malloc(indices * sizeof *memory + rows * k * sizeof *pattern->matrix);
    if (memory == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    pattern->rows = rows;
    pattern->outputs = memory;
    pattern->sources = memory + rows;
    pattern->unread = pattern->sources + k;
    pattern->unread_count = unread;
    pattern->matrix = (uint32_t *)(void *)(memory + indices);
    if (rows != 0)
        memcpy(pattern->outputs, lost, rows * sizeof *lost);
    gfk_status status = GFK_STATUS_SUCCESS;
    if (encode) {
        for (size_t i = 0; i < k; i++)
            pattern->sources[i] = i;
        memcpy(pattern->matrix, code->matrix, rows * k * sizeof *pattern->matrix);
    } else if (rows != 0) {
        status = gfk_rs_decode_matrix(code, lost, rows, NULL, 0, pattern->sources, pattern->unread,
                                      pattern->matrix);
    }
    if (status != GFK_STATUS_SUCCESS)
        free(memory);
    return status;
}

gfk_status gfk_batch_patterns_find(gfk_batch_patterns *p, gfk_rs_t code, const size_t *lost,
                                   size_t lost_count, size_t *index) {
    const size_t m = code->info.m;
    if (lost == NULL && lost_count != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (lost_count > m) /* gives the status */
        return gfk_rs_decode_matrix(code, lost, lost_count, NULL, 0, NULL, NULL, NULL);
    gfk_status status = reserve(p, m);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const size_t rows = lost ? lost_count : m;
    for (size_t i = 0; i < rows; i++)
        p->lost[i] = lost ? lost[i] : code->info.k + i;
    qsort(p->lost, rows, sizeof *p->lost, compare);
    size_t *slot = slot_of(p, p->lost, rows);
    if (*slot == 0) {
        status = make(&p->list[p->count], code, p->lost, rows, lost == NULL);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        *slot = ++p->count;
    }
    *index = *slot - 1;
    return GFK_STATUS_SUCCESS;
}

void gfk_batch_patterns_clear(gfk_batch_patterns *p) {
    for (size_t i = 0; i < p->count; i++)
        free(p->list[i].outputs);
    free(p->list);
    free(p->slots);
    free(p->lost);
}
