/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "report.h"

/* ---- blocks --------------------------------------------------------------------------------- */

static block_state check_block(const shard_set *set, const batch *b, size_t stripe, size_t index) {
    block_header header;
    const size_t bytes = b->stripes[stripe].bytes;
    if (block_header_read(&header, batch_header(b, stripe, index)) != FORMAT_OK)
        return BLOCK_UNKNOWN;
    if (memcmp(header.set_id, set->header.set_id, SET_ID_BYTES) != 0 || header.index != index ||
        header.stripe != b->first + stripe || header.bytes != bytes)
        return BLOCK_DAMAGED;
    const uint8_t *block = batch_block(b, stripe, index);
    if (XXH3_64bits(block, bytes) != header.checksum)
        return BLOCK_DAMAGED;
    const size_t used = index < b->k ? block_file_bytes(&set->header, header.stripe, index) : bytes;
    return is_zero(block + used, bytes - used) ? BLOCK_GOOD : BLOCK_DAMAGED;
}

/* Reads the blocks of all `count` stripes with one call; false if the system reports an error. */
static bool read_run(const shard_set *set, shard_source *source, batch *b, size_t index,
                     size_t first, size_t count) {
    struct iovec buffers[2 * MOST_STRIPES];
    batch_buffers(b, index, first, count, buffers);
    const ssize_t got =
        read_buffers(source->fd, buffers, 2 * count, block_offset(&set->header, b->first + first));
    if (got < 0) {
        source->error = errno;
        return false;
    }
    size_t end = 0;
    for (size_t s = first; s < first + count; s++) {
        end += BLOCK_HEADER_BYTES + b->stripes[s].bytes;
        batch_states(b, s)[index] =
            end <= (size_t)got ? check_block(set, b, s, index) : BLOCK_MISSING;
    }
    return true;
}

static void read_from(const shard_set *set, shard_source *source, batch *b, size_t index,
                      size_t first, size_t count) {
    if (read_run(set, source, b, index, first, count))
        return;
    for (size_t s = first; s < first + count; s++) /* a bad sector then loses one block only */
        if (count == 1 || !read_run(set, source, b, index, s, 1))
            batch_states(b, s)[index] = BLOCK_MISSING;
}

void read_blocks(const shard_set *set, batch *b, size_t index, size_t first, size_t count) {
    shard_source *source = set->shards[index];
    if (source != NULL)
        read_from(set, source, b, index, first, count);
    for (size_t s = first; s < first + count; s++) {
        block_state *state = &batch_states(b, s)[index];
        if (source == NULL)
            *state = BLOCK_MISSING;
        for (shard_source *other = source == NULL ? NULL : source->next;
             other != NULL && *state < BLOCK_ELSEWHERE; other = other->next) {
            read_from(set, other, b, index, s, 1);
            if (*state == BLOCK_GOOD)
                *state = BLOCK_ELSEWHERE;
        }
        if (*state == BLOCK_MISSING)
            memset(batch_block(b, s, index), 0, b->stripes[s].bytes);
    }
}

size_t count_states(const batch *b, size_t stripe, block_state least) {
    size_t count = 0;
    for (size_t i = 0; i < b->n; i++)
        count += batch_states(b, stripe)[i] >= least;
    return count;
}

/* ---- contents and holes --------------------------------------------------------------------- */

/* Finds the next stripes in which the files of a shard have data. */
static extent find_extent(const shard_header *header, const shard_source *source, uint64_t next) {
    const uint64_t all = stripe_count(header), offset = block_offset(header, next);
    extent found = {all, all};
    for (; source != NULL; source = source->next) {
        const uint64_t data =
            offset < source->bytes ? shard_source_data(source, offset) : source->bytes;
        const uint64_t first = data < source->bytes ? stripe_at(header, data) : all;
        if (first >= found.first)
            continue;
        found.first = first;
        found.end = stripe_at(header, shard_source_hole(source, data)) + 1;
    }
    return found;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t finder_next(stripe_finder *finder, uint64_t next, size_t needed) {
    const shard_header *header = &finder->set->header;
    for (size_t i = 0; i < finder->set->count; i++) {
        if (next >= finder->extents[i].end)
            finder->extents[i] = find_extent(header, finder->set->shards[i], next);
        finder->firsts[i] = finder->extents[i].first;
    }
    qsort(finder->firsts, finder->set->count, sizeof *finder->firsts, by_number);
    const uint64_t possible = finder->firsts[needed - 1];
    return possible > next ? possible : next;
}

int finder_open(stripe_finder *finder, const shard_set *set) {
    *finder = (stripe_finder){.set = set,
                              .extents = calloc(set->count, sizeof *finder->extents),
                              .firsts = calloc(set->count, sizeof *finder->firsts)};
    return finder->extents != NULL && finder->firsts != NULL ? 0 : no_memory();
}

void finder_close(stripe_finder *finder) {
    free(finder->extents);
    free(finder->firsts);
}
