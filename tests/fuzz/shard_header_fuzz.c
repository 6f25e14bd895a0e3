/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer: the parsers of shard and block headers on any bytes. Checksums are made right first,
 * or nothing would get past them. What is accepted is written as the same bytes again, and its
 * sizes fit into 64 bits. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "../../tools/gfk/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_checksum(uint8_t *bytes, size_t count) {
    const XXH64_hash_t checksum = XXH3_64bits(bytes, count - 8);
    for (size_t i = 0; i < 8; i++)
        bytes[count - 8 + i] = (uint8_t)(checksum >> 8 * i);
}

/* Its own allocation: reading on is an error. The input's first bytes, zeros behind them. */
static uint8_t *take(const uint8_t *data, size_t size, size_t count) {
    uint8_t *bytes = calloc(1, count);
    if (bytes == NULL)
        abort();
    memcpy(bytes, data, size < count ? size : count);
    return bytes;
}

static void require(bool condition) {
    if (!condition)
        abort();
}

static void check_header(const uint8_t *bytes) {
    uint8_t again[HEADER_BYTES];
    shard_header header;
    memset(&header, 0x5a, sizeof header);
    if (shard_header_read(&header, bytes) != FORMAT_OK) {
        for (size_t i = 0; i < sizeof header; i++)
            require(((const uint8_t *)&header)[i] == 0x5a);
        return;
    }
    shard_header_write(&header, again);
    require(memcmp(bytes, again, sizeof again) == 0);
    require(shard_header_same_set(&header, &header));
    require(strlen(header.name) <= MAX_NAME_BYTES && strchr(header.name, '/') == NULL);
    require(header.index < header.k + header.m);
    const uint64_t stripes = stripe_count(&header);
    uint64_t last = 0;
    if (stripes != 0) {
        const size_t block = stripe_block_bytes(&header, stripes - 1);
        require(block >= BLOCK_UNIT && block <= header.block_bytes && block % BLOCK_UNIT == 0);
        require(stripe_file_bytes(&header, stripes - 1) <= header.k * block);
        last = block_offset(&header, stripes - 1) + BLOCK_HEADER_BYTES + block;
        require(block_offset(&header, stripes) == last);
        require((stripes - 1) * header.k * header.block_bytes < header.file_bytes);
    }
    require(shard_bytes(&header) == (stripes == 0 ? HEADER_BYTES : last) + HEADER_BYTES);
    require(shard_bytes(&header) < UINT64_C(1) << 62);
}

static void check_block(const uint8_t *bytes) {
    uint8_t again[BLOCK_HEADER_BYTES];
    block_header header;
    if (block_header_read(&header, bytes) != FORMAT_OK)
        return;
    block_header_write(&header, again);
    require(memcmp(bytes, again, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *header = take(data, size, HEADER_BYTES), *block = take(data, size, BLOCK_HEADER_BYTES);
    check_header(header);
    check_block(block);
    memcpy(header, "\x89GFK\r\n\x1a\n\1\0\0\0\0\2\0\0", 16);
    put_checksum(header, HEADER_BYTES);
    check_header(header);
    memcpy(block, "\x89GFB", 4);
    put_checksum(block, BLOCK_HEADER_BYTES);
    check_block(block);
    free(header);
    free(block);
    return 0;
}
