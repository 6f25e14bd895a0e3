/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of shard files (docs/format.md). The functions work on bytes, not on files. */
#ifndef GFK_TOOL_FORMAT_H
#define GFK_TOOL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FORMAT_VERSION = 2, /* the version of new sets; version 1 has no time of the file */
    HEADER_BYTES = 512, /* at the start of a shard and again at the end */
    BLOCK_HEADER_BYTES = 64,
    BLOCK_UNIT = 64, /* block lengths are multiples of this: whole symbols of any width */
    MAX_BLOCK_BYTES = 1 << 30,
    MAX_SHARDS = 65536,
    SET_ID_BYTES = 16,
    MAX_NAME_BYTES = 255
};
#define MAX_FILE_BYTES (UINT64_C(1) << 60)
#define NO_TIME UINT32_MAX /* nanoseconds: the file has no time */

/* All shards of a set have the same header except for the index. */
typedef struct shard_header {
    uint32_t version; /* 1 or FORMAT_VERSION; a repaired shard has the version of the set */
    uint8_t set_id[SET_ID_BYTES];
    uint32_t w, matrix; /* matrix: a gfk_rs_matrix */
    uint64_t polynomial;
    uint32_t k, m, index; /* index: 0 to k + m - 1, data shards first */
    uint32_t mode;        /* permissions of the file */
    uint64_t block_bytes, file_bytes;
    uint64_t hash_low, hash_high;  /* XXH3-128 of the file */
    uint64_t seconds;              /* last change of the file since 1970, as a signed number */
    uint32_t nanoseconds;          /* below 10^9, or NO_TIME; version 1: 0 */
    char name[MAX_NAME_BYTES + 1]; /* name of the file without its folder; empty: none */
} shard_header;

/* The header in front of every block. */
typedef struct block_header {
    uint8_t set_id[SET_ID_BYTES];
    uint32_t index;    /* index of the shard */
    uint32_t bytes;    /* bytes of the block */
    uint64_t stripe;   /* number of the stripe */
    uint64_t checksum; /* XXH3-64 of the block */
} block_header;

typedef enum format_verdict {
    FORMAT_OK = 0,
    FORMAT_FOREIGN, /* the magic number is missing or damaged */
    FORMAT_DAMAGED, /* the checksum of the header is wrong */
    FORMAT_UNKNOWN  /* intact, but another version, or values that the version does not allow */
} format_verdict;

void shard_header_write(const shard_header *header, uint8_t bytes[HEADER_BYTES]);
/* Writes *header on FORMAT_OK only. */
format_verdict shard_header_read(shard_header *header, const uint8_t bytes[HEADER_BYTES]);
/* Orders headers by their sets, first by the set id; 0: both are of the same set. */
int shard_header_compare(const shard_header *a, const shard_header *b);

bool shard_header_has_time(const shard_header *header);
/* Writes the time of the last change of the file in UTC (ISO 8601); an empty text if the header
 * has no time or the year has no four digits. */
enum { TIME_BYTES = 48 };
void shard_header_time(const shard_header *header, char text[TIME_BYTES]);

void block_header_write(const block_header *header, uint8_t bytes[BLOCK_HEADER_BYTES]);
format_verdict block_header_read(block_header *header, const uint8_t bytes[BLOCK_HEADER_BYTES]);

/* ---- offsets and sizes ---------------------------------------------------------------------- */

uint64_t stripe_count(const shard_header *header);
/* Bytes of each block of a stripe; the blocks of the last stripe may be shorter. */
size_t stripe_block_bytes(const shard_header *header, uint64_t stripe);
/* Bytes of the file in a stripe: the k data blocks without padding. */
size_t stripe_file_bytes(const shard_header *header, uint64_t stripe);
/* Offset of a block's header in the shard; the block follows its header. For stripe_count() the
 * offset is that of the second shard header. */
uint64_t block_offset(const shard_header *header, uint64_t stripe);
uint64_t shard_bytes(const shard_header *header);
/* The stripe whose block and block header have an offset in the shard; later offsets are in the
 * second shard header: stripe_count(). The offset is not in the first shard header. */
uint64_t stripe_at(const shard_header *header, uint64_t offset);
/* The bytes of the file in a data block of a stripe. The rest of the block is padding: zeros. */
size_t block_file_bytes(const shard_header *header, uint64_t stripe, size_t index);
bool is_zero(const void *bytes, size_t count);

#endif
