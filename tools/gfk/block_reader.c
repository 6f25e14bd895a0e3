/* SPDX-License-Identifier: BSD-3-Clause */
#include "block_reader.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "files.h"

static block_state check_block(const shard_set *set, const batch *b, size_t stripe, size_t index) {
    block_header header;
    const size_t bytes = b->stripes[stripe].bytes;
    if (block_header_read(&header, batch_header(b, stripe, index)) != FORMAT_OK)
        return BLOCK_UNKNOWN;
    if (memcmp(header.set_id, set->header.set_id, SET_ID_BYTES) != 0 || header.index != index ||
        header.stripe != b->first + stripe || header.bytes != bytes)
        return BLOCK_DAMAGED;
    return XXH3_64bits(batch_block(b, stripe, index), bytes) == header.checksum ? BLOCK_GOOD
                                                                                : BLOCK_DAMAGED;
}

/* Reads the blocks of all `count` stripes with one call; false if the system reports an error. */
static bool read_run(const shard_set *set, shard_source *source, batch *b, size_t index,
                     size_t first, size_t count) {
    struct iovec pieces[2 * MOST_STRIPES];
    for (size_t s = 0; s < count; s++) {
        pieces[2 * s] = (struct iovec){batch_header(b, first + s, index), BLOCK_HEADER_BYTES};
        pieces[2 * s + 1] =
            (struct iovec){batch_block(b, first + s, index), b->stripes[first + s].bytes};
    }
    const ssize_t got =
        read_pieces(source->fd, pieces, 2 * count, block_offset(&set->header, b->first + first));
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

void read_batch(const shard_set *set, batch *b, bool everything) {
    const size_t stripes = batch_stripes(b);
    for (size_t index = 0; index < b->n; index++) {
        bool enough = !everything && index >= b->k;
        for (size_t s = 0; s < stripes && enough; s++)
            enough = count_states(b, s, BLOCK_ELSEWHERE) >= b->k;
        if (enough)
            return;
        read_blocks(set, b, index, 0, stripes);
    }
}
