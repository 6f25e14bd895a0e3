/* SPDX-License-Identifier: BSD-3-Clause */
#include "format.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
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

bool is_zero(const void *bytes, size_t count) {
    const uint8_t *first = bytes;
    return count == 0 || (first[0] == 0 && memcmp(first, first + 1, count - 1) == 0);
}

/* ---- shard headers -------------------------------------------------------------------------- */

/* The numbers of the header: offset, type, name. All shards of a set have
 * the same numbers, except index. */
#define NUMBERS_OF_SET(X)                                                                          \
    X(8, uint32_t, version)                                                                        \
    X(32, uint32_t, w)                                                                             \
    X(36, uint32_t, matrix)                                                                        \
    X(40, uint64_t, polynomial)                                                                    \
    X(48, uint32_t, k)                                                                             \
    X(52, uint32_t, m)                                                                             \
    X(60, uint32_t, mode)                                                                          \
    X(64, uint64_t, block_bytes)                                                                   \
    X(72, uint64_t, file_bytes)                                                                    \
    X(80, uint64_t, hash_low)                                                                      \
    X(88, uint64_t, hash_high)                                                                     \
    X(360, uint64_t, seconds)                                                                      \
    X(368, uint32_t, nanoseconds)
#define NUMBERS(X) NUMBERS_OF_SET(X) X(56, uint32_t, index)
#define PUT(at, type, name) put(bytes + (at), header->name, sizeof(type));
#define GET(at, type, name) .name = (type)get(bytes + (at), sizeof(type)),
#define COMPARE(at, type, name)                                                                    \
    if (order == 0)                                                                                \
        order = (a->name > b->name) - (a->name < b->name);

enum { /* what else the header holds */
       AT_HEADER_BYTES = 12,
       AT_SET_ID = 16,
       AT_NAME_BYTES = 96,
       AT_NAME = 100,
       AT_RESERVED = AT_NAME + MAX_NAME_BYTES,
       AT_TIME = 360,
       AT_RESERVED_TOO = 372,
       AT_CHECKSUM = HEADER_BYTES - 8
};

void shard_header_write(const shard_header *header, uint8_t bytes[HEADER_BYTES]) {
    const size_t name_bytes = strlen(header->name);
    memset(bytes, 0, HEADER_BYTES);
    memcpy(bytes, magic, sizeof magic);
    put(bytes + AT_HEADER_BYTES, HEADER_BYTES, 4);
    memcpy(bytes + AT_SET_ID, header->set_id, SET_ID_BYTES);
    NUMBERS(PUT)
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

bool shard_header_has_time(const shard_header *header) {
    return header->version > 1 && header->nanoseconds != NO_TIME;
}

static bool version_is_valid(const shard_header *h) {
    if (h->version == FORMAT_VERSION && shard_header_has_time(h))
        return h->nanoseconds < 1000000000;
    return h->seconds == 0 &&
           (h->version == FORMAT_VERSION || (h->version == 1 && h->nanoseconds == 0));
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
    shard_header h = {NUMBERS(GET)};
    memcpy(h.set_id, bytes + AT_SET_ID, SET_ID_BYTES);
    const size_t name_bytes = get32(bytes + AT_NAME_BYTES);
    if (get32(bytes + AT_HEADER_BYTES) != HEADER_BYTES || !version_is_valid(&h) ||
        !values_are_valid(&h) || !name_is_valid(bytes + AT_NAME, name_bytes) ||
        !is_zero(bytes + AT_NAME + name_bytes, MAX_NAME_BYTES - name_bytes) ||
        !is_zero(bytes + AT_RESERVED, AT_TIME - AT_RESERVED) ||
        !is_zero(bytes + AT_RESERVED_TOO, AT_CHECKSUM - AT_RESERVED_TOO))
        return FORMAT_UNKNOWN;
    memcpy(h.name, bytes + AT_NAME, name_bytes);
    *header = h;
    return FORMAT_OK;
}

int shard_header_compare(const shard_header *a, const shard_header *b) {
    int order = memcmp(a->set_id, b->set_id, SET_ID_BYTES);
    NUMBERS_OF_SET(COMPARE)
    return order != 0 ? order : strcmp(a->name, b->name);
}

void shard_header_time(const shard_header *header, char text[TIME_BYTES]) {
    const time_t seconds = (time_t)(int64_t)header->seconds;
    struct tm utc;
    size_t length = 0;
    text[0] = '\0';
    if (shard_header_has_time(header) && gmtime_r(&seconds, &utc) != NULL && utc.tm_year >= -900 &&
        utc.tm_year < 8100)
        length = strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
    if (length != 0)
        snprintf(text + length, TIME_BYTES - length, ".%09uZ", header->nanoseconds);
}

/* ---- block headers -------------------------------------------------------------------------- */

#define BLOCK_NUMBERS(X)                                                                           \
    X(4, uint32_t, index)                                                                          \
    X(24, uint64_t, stripe)                                                                        \
    X(32, uint32_t, bytes)                                                                         \
    X(48, uint64_t, checksum)

enum { AT_BLOCK_SET_ID = 8, AT_BLOCK_RESERVED = 36, AT_BLOCK_CHECKSUM = 48, AT_OWN_CHECKSUM = 56 };

void block_header_write(const block_header *header, uint8_t bytes[BLOCK_HEADER_BYTES]) {
    memset(bytes, 0, BLOCK_HEADER_BYTES);
    memcpy(bytes, block_magic, sizeof block_magic);
    memcpy(bytes + AT_BLOCK_SET_ID, header->set_id, SET_ID_BYTES);
    BLOCK_NUMBERS(PUT)
    put(bytes + AT_OWN_CHECKSUM, XXH3_64bits(bytes, AT_OWN_CHECKSUM), 8);
}

format_verdict block_header_read(block_header *header, const uint8_t bytes[BLOCK_HEADER_BYTES]) {
    if (memcmp(bytes, block_magic, sizeof block_magic) != 0)
        return FORMAT_FOREIGN;
    if (get(bytes + AT_OWN_CHECKSUM, 8) != XXH3_64bits(bytes, AT_OWN_CHECKSUM))
        return FORMAT_DAMAGED;
    if (!is_zero(bytes + AT_BLOCK_RESERVED, AT_BLOCK_CHECKSUM - AT_BLOCK_RESERVED))
        return FORMAT_UNKNOWN;
    *header = (block_header){BLOCK_NUMBERS(GET)};
    memcpy(header->set_id, bytes + AT_BLOCK_SET_ID, SET_ID_BYTES);
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

size_t block_file_bytes(const shard_header *header, uint64_t stripe, size_t index) {
    const size_t block_bytes = stripe_block_bytes(header, stripe);
    const size_t file_bytes = stripe_file_bytes(header, stripe), before = index * block_bytes;
    const size_t left = file_bytes > before ? file_bytes - before : 0;
    return left < block_bytes ? left : block_bytes;
}

uint64_t block_offset(const shard_header *header, uint64_t stripe) {
    const uint64_t stripes = stripe_count(header);
    uint64_t offset = HEADER_BYTES + stripe * (BLOCK_HEADER_BYTES + header->block_bytes);
    if (stripe == stripes && stripes != 0) /* the last block may be short */
        offset -= header->block_bytes - stripe_block_bytes(header, stripes - 1);
    return offset;
}

uint64_t stripe_at(const shard_header *header, uint64_t offset) {
    const uint64_t stripe = (offset - HEADER_BYTES) / (BLOCK_HEADER_BYTES + header->block_bytes);
    const uint64_t stripes = stripe_count(header);
    return stripe < stripes && offset < block_offset(header, stripes) ? stripe : stripes;
}

uint64_t shard_bytes(const shard_header *header) {
    return block_offset(header, stripe_count(header)) + HEADER_BYTES;
}
