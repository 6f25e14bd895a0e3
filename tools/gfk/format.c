/* SPDX-License-Identifier: BSD-3-Clause */
#include "format.h"

#include <string.h>
#include <xxhash.h>

#include <gfk/rs.h>

/* The non-ASCII first byte and the two kinds of line ends reveal a transfer in text mode. */
static const uint8_t magic[8] = {0x89, 'G', 'F', 'K', '\r', '\n', 0x1a, '\n'};
static const uint8_t block_magic[4] = {0x89, 'G', 'F', 'B'};

static void put(uint8_t *at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static uint32_t get32(const uint8_t *at) {
    return (uint32_t)get(at, 4);
}

static bool all_zero(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* ---- shard headers -------------------------------------------------------------------------- */

enum { /* offsets in the header */
       AT_VERSION = 8,
       AT_HEADER_BYTES = 12,
       AT_SET_ID = 16,
       AT_W = 32,
       AT_MATRIX = 36,
       AT_POLYNOMIAL = 40,
       AT_K = 48,
       AT_M = 52,
       AT_INDEX = 56,
       AT_MODE = 60,
       AT_BLOCK_BYTES = 64,
       AT_FILE_BYTES = 72,
       AT_HASH_LOW = 80,
       AT_HASH_HIGH = 88,
       AT_NAME_BYTES = 96,
       AT_NAME = 100,
       AT_RESERVED = AT_NAME + MAX_NAME_BYTES,
       AT_CHECKSUM = HEADER_BYTES - 8
};

void shard_header_write(const shard_header *header, uint8_t bytes[HEADER_BYTES]) {
    const size_t name_bytes = strlen(header->name);
    memset(bytes, 0, HEADER_BYTES);
    memcpy(bytes, magic, sizeof magic);
    put(bytes + AT_VERSION, FORMAT_VERSION, 4);
    put(bytes + AT_HEADER_BYTES, HEADER_BYTES, 4);
    memcpy(bytes + AT_SET_ID, header->set_id, SET_ID_BYTES);
    put(bytes + AT_W, header->w, 4);
    put(bytes + AT_MATRIX, header->matrix, 4);
    put(bytes + AT_POLYNOMIAL, header->polynomial, 8);
    put(bytes + AT_K, header->k, 4);
    put(bytes + AT_M, header->m, 4);
    put(bytes + AT_INDEX, header->index, 4);
    put(bytes + AT_MODE, header->mode, 4);
    put(bytes + AT_BLOCK_BYTES, header->block_bytes, 8);
    put(bytes + AT_FILE_BYTES, header->file_bytes, 8);
    put(bytes + AT_HASH_LOW, header->hash_low, 8);
    put(bytes + AT_HASH_HIGH, header->hash_high, 8);
    put(bytes + AT_NAME_BYTES, name_bytes, 4);
    memcpy(bytes + AT_NAME, header->name, name_bytes);
    put(bytes + AT_CHECKSUM, XXH3_64bits(bytes, AT_CHECKSUM), 8);
}

/* Rejects a name that could lead out of the folder and a name that no file can have. */
static bool name_is_valid(const uint8_t *name, size_t bytes) {
    if (bytes > MAX_NAME_BYTES || memchr(name, 0, bytes) != NULL ||
        memchr(name, '/', bytes) != NULL)
        return false;
    return !(bytes == 1 && name[0] == '.') && !(bytes == 2 && name[0] == '.' && name[1] == '.');
}

static bool values_are_valid(const shard_header *h) {
    if (h->w != 8 && h->w != 16 && h->w != 32)
        return false;
    const uint64_t elements = UINT64_C(1) << h->w;
    return h->polynomial >> h->w == 1 && h->matrix < GFK_RS_CUSTOM && h->k >= 1 && h->m >= 1 &&
           h->k <= MAX_SHARDS && h->m <= MAX_SHARDS && h->k + h->m <= MAX_SHARDS &&
           h->k + h->m <= elements && h->index < h->k + h->m && h->mode <= 07777 &&
           h->block_bytes >= BLOCK_UNIT && h->block_bytes <= MAX_BLOCK_BYTES &&
           h->block_bytes % BLOCK_UNIT == 0 && h->file_bytes <= MAX_FILE_BYTES;
}

format_verdict shard_header_read(shard_header *header, const uint8_t bytes[HEADER_BYTES]) {
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return FORMAT_FOREIGN;
    if (get(bytes + AT_CHECKSUM, 8) != XXH3_64bits(bytes, AT_CHECKSUM))
        return FORMAT_DAMAGED;
    if (get32(bytes + AT_VERSION) != FORMAT_VERSION ||
        get32(bytes + AT_HEADER_BYTES) != HEADER_BYTES)
        return FORMAT_UNKNOWN;
    shard_header h = {
        .w = get32(bytes + AT_W),
        .matrix = get32(bytes + AT_MATRIX),
        .polynomial = get(bytes + AT_POLYNOMIAL, 8),
        .k = get32(bytes + AT_K),
        .m = get32(bytes + AT_M),
        .index = get32(bytes + AT_INDEX),
        .mode = get32(bytes + AT_MODE),
        .block_bytes = get(bytes + AT_BLOCK_BYTES, 8),
        .file_bytes = get(bytes + AT_FILE_BYTES, 8),
        .hash_low = get(bytes + AT_HASH_LOW, 8),
        .hash_high = get(bytes + AT_HASH_HIGH, 8),
    };
    memcpy(h.set_id, bytes + AT_SET_ID, SET_ID_BYTES);
    const size_t name_bytes = get32(bytes + AT_NAME_BYTES);
    if (!values_are_valid(&h) || !name_is_valid(bytes + AT_NAME, name_bytes) ||
        !all_zero(bytes + AT_NAME + name_bytes, MAX_NAME_BYTES - name_bytes) ||
        !all_zero(bytes + AT_RESERVED, AT_CHECKSUM - AT_RESERVED))
        return FORMAT_UNKNOWN;
    memcpy(h.name, bytes + AT_NAME, name_bytes);
    *header = h;
    return FORMAT_OK;
}

bool shard_header_same_set(const shard_header *a, const shard_header *b) {
    return memcmp(a->set_id, b->set_id, SET_ID_BYTES) == 0 && a->w == b->w &&
           a->matrix == b->matrix && a->polynomial == b->polynomial && a->k == b->k &&
           a->m == b->m && a->mode == b->mode && a->block_bytes == b->block_bytes &&
           a->file_bytes == b->file_bytes && a->hash_low == b->hash_low &&
           a->hash_high == b->hash_high && strcmp(a->name, b->name) == 0;
}

/* ---- block headers -------------------------------------------------------------------------- */

enum {
    AT_BLOCK_INDEX = 4,
    AT_BLOCK_SET_ID = 8,
    AT_STRIPE = 24,
    AT_BLOCK_LENGTH = 32,
    AT_BLOCK_RESERVED = 36,
    AT_BLOCK_CHECKSUM = 48,
    AT_BLOCK_HEADER_CHECKSUM = 56
};

void block_header_write(const block_header *header, uint8_t bytes[BLOCK_HEADER_BYTES]) {
    memset(bytes, 0, BLOCK_HEADER_BYTES);
    memcpy(bytes, block_magic, sizeof block_magic);
    put(bytes + AT_BLOCK_INDEX, header->index, 4);
    memcpy(bytes + AT_BLOCK_SET_ID, header->set_id, SET_ID_BYTES);
    put(bytes + AT_STRIPE, header->stripe, 8);
    put(bytes + AT_BLOCK_LENGTH, header->bytes, 4);
    put(bytes + AT_BLOCK_CHECKSUM, header->checksum, 8);
    put(bytes + AT_BLOCK_HEADER_CHECKSUM, XXH3_64bits(bytes, AT_BLOCK_HEADER_CHECKSUM), 8);
}

format_verdict block_header_read(block_header *header, const uint8_t bytes[BLOCK_HEADER_BYTES]) {
    if (memcmp(bytes, block_magic, sizeof block_magic) != 0)
        return FORMAT_FOREIGN;
    if (get(bytes + AT_BLOCK_HEADER_CHECKSUM, 8) != XXH3_64bits(bytes, AT_BLOCK_HEADER_CHECKSUM))
        return FORMAT_DAMAGED;
    if (!all_zero(bytes + AT_BLOCK_RESERVED, AT_BLOCK_CHECKSUM - AT_BLOCK_RESERVED))
        return FORMAT_UNKNOWN;
    memcpy(header->set_id, bytes + AT_BLOCK_SET_ID, SET_ID_BYTES);
    header->index = get32(bytes + AT_BLOCK_INDEX);
    header->bytes = get32(bytes + AT_BLOCK_LENGTH);
    header->stripe = get(bytes + AT_STRIPE, 8);
    header->checksum = get(bytes + AT_BLOCK_CHECKSUM, 8);
    return FORMAT_OK;
}

/* ---- offsets and sizes ---------------------------------------------------------------------- */

static uint64_t stripe_bytes(const shard_header *header) { /* file bytes in a whole stripe */
    return header->k * header->block_bytes;
}

uint64_t stripe_count(const shard_header *header) {
    return (header->file_bytes + stripe_bytes(header) - 1) / stripe_bytes(header);
}

size_t stripe_file_bytes(const shard_header *header, uint64_t stripe) {
    const uint64_t left = header->file_bytes - stripe * stripe_bytes(header);
    return (size_t)(left < stripe_bytes(header) ? left : stripe_bytes(header));
}

size_t stripe_block_bytes(const shard_header *header, uint64_t stripe) {
    const uint64_t unit = (uint64_t)BLOCK_UNIT * header->k;
    return (size_t)((stripe_file_bytes(header, stripe) + unit - 1) / unit * BLOCK_UNIT);
}

uint64_t block_offset(const shard_header *header, uint64_t stripe) {
    const uint64_t stripes = stripe_count(header);
    uint64_t offset = HEADER_BYTES + stripe * (BLOCK_HEADER_BYTES + header->block_bytes);
    if (stripe == stripes && stripes != 0) /* the last block may be short */
        offset -= header->block_bytes - stripe_block_bytes(header, stripes - 1);
    return offset;
}

uint64_t shard_bytes(const shard_header *header) {
    return block_offset(header, stripe_count(header)) + HEADER_BYTES;
}
