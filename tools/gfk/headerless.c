/* SPDX-License-Identifier: BSD-3-Clause */
#include "headerless.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { ID_OF_SHARD = 16, ID_OF_BLOCK = 8, MOST_LENGTHS = 64 };

typedef struct block_length {
    uint64_t bytes;
    uint64_t stripes; /* of the longest file with such blocks */
} block_length;

/* ---- the list ------------------------------------------------------------------------------- */

int candidates_open(candidates *list, size_t most) {
    *list = (candidates){.all = calloc(most + 1, sizeof *list->all),
                         .by_id = calloc(most + 1, sizeof *list->by_id),
                         .lengths = calloc(MOST_LENGTHS, sizeof *list->lengths)};
    return list->all == NULL || list->by_id == NULL || list->lengths == NULL ? no_memory() : 0;
}

void candidates_close(candidates *list) {
    free(list->all);
    free(list->by_id);
    free(list->lengths);
    *list = (candidates){0};
}

static block_length *length_of(candidates *list, uint64_t bytes) {
    for (size_t i = 0; i < list->length_count; i++)
        if (list->lengths[i].bytes == bytes)
            return &list->lengths[i];
    if (list->length_count == MOST_LENGTHS)
        return NULL;
    list->lengths[list->length_count] = (block_length){.bytes = bytes};
    return &list->lengths[list->length_count++];
}

void candidates_add(candidates *list, const shard_header *header, shard_set *set) {
    candidate *const c = &list->all[list->count];
    *c = (candidate){header, set, shard_bytes(header)};
    list->by_id[list->count++] = c;
    block_length *const length = length_of(list, header->block_bytes);
    if (length != NULL && length->stripes < stripe_count(header))
        length->stripes = stripe_count(header);
}

/* By id, then by the length of a block, then by preference. */
static int compare(const candidate *c, const uint8_t *id, uint64_t block_bytes) {
    const int order = memcmp(c->header->set_id, id, SET_ID_BYTES);
    if (order != 0)
        return order;
    return (c->header->block_bytes > block_bytes) - (c->header->block_bytes < block_bytes);
}

static int by_id(const void *a, const void *b) {
    const candidate *const x = *(candidate *const *)a, *const y = *(candidate *const *)b;
    const int order = compare(x, y->header->set_id, y->header->block_bytes);
    return order != 0 ? order : (x > y) - (x < y);
}

void candidates_sort(candidates *list) {
    qsort(list->by_id, list->count, sizeof(candidate *), by_id);
}

static int of_key(const void *key, const void *c) {
    const shard_header *const k = key;
    return compare(*(candidate *const *)c, k->set_id, k->block_bytes);
}

/* The position of the first candidate, by id, that has the id and the length or comes after it. */
static size_t first_of(const candidates *list, const uint8_t *id, uint64_t block_bytes) {
    shard_header key = {.block_bytes = block_bytes};
    memcpy(key.set_id, id, SET_ID_BYTES);
    return lower_bound(&key, list->by_id, list->count, sizeof(candidate *), of_key);
}

/* The first candidate with the id and, unless it is 0, the length of a block. */
static const candidate *with_id(const candidates *list, const uint8_t *id, uint64_t block_bytes) {
    const size_t i = first_of(list, id, block_bytes);
    const candidate *const c = i < list->count ? list->by_id[i] : NULL;
    return c != NULL && memcmp(c->header->set_id, id, SET_ID_BYTES) == 0 &&
                   (block_bytes == 0 || c->header->block_bytes == block_bytes)
               ? c
               : NULL;
}

static bool has_shard(const candidate *c, uint32_t index) {
    return index < (size_t)c->header->k + c->header->m;
}

/* ---- ids in the places of headers ----------------------------------------------------------- */

/* The set whose id is in the place of a header of a shard. */
static const candidate *in_header(const candidates *list, shard_source *s, uint64_t offset) {
    uint8_t id[SET_ID_BYTES];
    return shard_source_fetch(s, id, sizeof id, offset + ID_OF_SHARD) ? with_id(list, id, 0) : NULL;
}

/* Looks at the places of the block headers of one length. Without *found, any set with such blocks
 * is *found if its id is there. True if a block header identifies a shard of *found. */
static bool in_blocks(const candidates *list, shard_source *s, const block_length *length,
                      const candidate **found) {
    const uint64_t step = BLOCK_HEADER_BYTES + length->bytes;
    const uint64_t room = s->bytes < HEADER_BYTES ? 0 : (s->bytes - HEADER_BYTES) / step + 1;
    const uint64_t most = room < length->stripes ? room : length->stripes;
    for (uint64_t t = 0; t < most; t++) {
        uint8_t bytes[BLOCK_HEADER_BYTES];
        const uint64_t data = shard_source_data(s, HEADER_BYTES + t * step);
        t = (data - HEADER_BYTES) / step; /* the stripes before it are in a hole */
        if (t >= most || !shard_source_fetch(s, bytes, sizeof bytes, HEADER_BYTES + t * step))
            continue;
        const candidate *const c =
            *found == NULL ? with_id(list, bytes + ID_OF_BLOCK, length->bytes)
            : memcmp((*found)->header->set_id, bytes + ID_OF_BLOCK, SET_ID_BYTES) == 0 ? *found
                                                                                       : NULL;
        if (c == NULL || t >= stripe_count(c->header))
            continue;
        *found = c;
        if (shard_source_take_identity(s, bytes))
            return true;
    }
    return false;
}

static const candidate *by_ids(const candidates *list, shard_source *s) {
    const candidate *found = in_header(list, s, 0);
    if (found == NULL && s->bytes >= HEADER_BYTES)
        found = in_header(list, s, s->bytes - HEADER_BYTES);
    for (size_t i = 0; i < list->length_count; i++) {
        const block_length *const length = &list->lengths[i];
        if (found == NULL || found->header->block_bytes == length->bytes) {
            if (in_blocks(list, s, length, &found))
                return found;
        }
    }
    return found != NULL && s->named ? found : NULL;
}

/* ---- contents without an id ----------------------------------------------------------------- */

bool shard_source_is_blank(shard_source *source) {
    uint8_t bytes[1 << 14];
    for (uint64_t at = 0; (at = shard_source_data(source, at)) < source->bytes;
         at += sizeof bytes) {
        const uint64_t left = source->bytes - at;
        const size_t count = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (!shard_source_fetch(source, bytes, count, at))
            return source->error != 0;
        if (!is_zero(bytes, count))
            return false;
    }
    return true;
}

static const candidate *blank(const candidates *list, shard_source *s) {
    const candidate *found = NULL;
    for (size_t i = 0; i < list->count && found == NULL; i++)
        if (list->all[i].bytes == s->bytes && has_shard(&list->all[i], s->header.index))
            found = &list->all[i];
    return found != NULL && shard_source_is_blank(s) ? found : NULL;
}

/* True if the bytes are the beginning of the header of the file's shard. */
static bool begins(const candidate *c, const shard_source *s, const uint8_t *bytes) {
    uint8_t expected[HEADER_BYTES];
    if (!has_shard(c, s->header.index))
        return false;
    shard_header mine = *c->header;
    mine.index = s->header.index;
    shard_header_write(&mine, expected);
    return memcmp(bytes, expected, (size_t)s->bytes) == 0;
}

/* The file is empty, or holds only the beginning of a header. A whole id tells the set. */
static const candidate *beginning(const candidates *list, shard_source *s) {
    uint8_t bytes[HEADER_BYTES];
    if (s->bytes > HEADER_BYTES || !shard_source_fetch(s, bytes, (size_t)s->bytes, 0))
        return NULL;
    if (s->bytes < ID_OF_SHARD + SET_ID_BYTES) {
        for (size_t i = 0; i < list->count; i++)
            if (begins(&list->all[i], s, bytes))
                return &list->all[i];
        return NULL;
    }
    for (size_t i = first_of(list, bytes + ID_OF_SHARD, 0);
         i < list->count &&
         memcmp(list->by_id[i]->header->set_id, bytes + ID_OF_SHARD, SET_ID_BYTES) == 0;
         i++)
        if (begins(list->by_id[i], s, bytes))
            return list->by_id[i];
    return NULL;
}

const candidate *candidates_find(const candidates *list, shard_source *s) {
    const candidate *found = by_ids(list, s);
    if (found == NULL && s->named)
        found = blank(list, s);
    if (found == NULL && s->named)
        found = beginning(list, s);
    return found != NULL && has_shard(found, s->header.index) ? found : NULL;
}
