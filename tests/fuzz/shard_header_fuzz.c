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
    require(header.version == 1 || header.version == 2);
    require(!shard_header_has_time(&header) || header.nanoseconds < 1000000000);
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

static uint64_t number(const uint8_t *bytes, size_t at, uint64_t least, uint64_t most) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++)
        value = value << 8 | bytes[at + i];
    return least + value % (most - least + 1);
}

/* A header with values that are allowed, which the input chooses; any changed bit shows. */
static void check_made(const uint8_t *bytes) {
    static const uint32_t widths[] = {8, 16, 32};
    shard_header header = {
        .version = 1 + bytes[5] % 2, .w = widths[bytes[0] % 3], .matrix = bytes[1] % 6};
    const uint64_t elements = header.w == 8 ? 256 : MAX_SHARDS;
    header.polynomial =
        (UINT64_C(1) << header.w) + number(bytes, 8, 0, (UINT64_C(1) << header.w) - 1);
    header.k = (uint32_t)number(bytes, 16, 1, elements - 1);
    header.m = (uint32_t)number(bytes, 24, 1, elements - header.k);
    header.index = (uint32_t)number(bytes, 32, 0, header.k + header.m - 1);
    header.mode = (uint32_t)number(bytes, 40, 0, 07777);
    header.block_bytes = number(bytes, 48, 1, MAX_BLOCK_BYTES / BLOCK_UNIT) * BLOCK_UNIT;
    header.file_bytes = number(bytes, 56, 0, MAX_FILE_BYTES) >> bytes[2] % 61;
    if (header.version == 2) {
        header.nanoseconds =
            bytes[6] % 4 == 0 ? NO_TIME : (uint32_t)number(bytes, 72, 0, 999999999);
        header.seconds = bytes[6] % 4 == 0 ? 0 : number(bytes, 80, 0, UINT64_MAX - 1);
    }
    memset(header.name, 'n', bytes[3]);
    uint8_t made[HEADER_BYTES];
    shard_header read;
    shard_header_write(&header, made);
    require(shard_header_read(&read, made) == FORMAT_OK);
    require(shard_header_same_set(&header, &read) && read.index == header.index);
    check_header(made);
    made[number(bytes, 64, 0, HEADER_BYTES - 1)] ^= (uint8_t)(1 << bytes[4] % 8);
    require(shard_header_read(&read, made) != FORMAT_OK);
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
    check_made(header);
    check_header(header);
    check_block(block);
    memcpy(header, "\x89GFK\r\n\x1a\n\0\0\0\0\0\2\0\0", 16);
    for (uint8_t version = 1; version <= 3; version++) {
        header[8] = version;
        put_checksum(header, HEADER_BYTES);
        check_header(header);
    }
    memcpy(block, "\x89GFB", 4);
    put_checksum(block, BLOCK_HEADER_BYTES);
    check_block(block);
    free(header);
    free(block);
    return 0;
}
