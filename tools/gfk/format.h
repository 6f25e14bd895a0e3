/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of shard files, as docs/format.md has it: functions on bytes, without any files. */
#ifndef GFK_TOOL_FORMAT_H
#define GFK_TOOL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FORMAT_VERSION = 1,
    HEADER_BYTES = 512, /* at the head of a shard, and again at its tail */
    BLOCK_HEADER_BYTES = 64,
    BLOCK_UNIT = 64, /* blocks are multiples of this, so that they are whole symbols of any width */
    MAX_BLOCK_BYTES = 1 << 30,
    MAX_SHARDS = 65536,
    SET_ID_BYTES = 16,
    MAX_NAME_BYTES = 255
};
#define MAX_FILE_BYTES (UINT64_C(1) << 60)

/* All shards of a set have the same, but for the index. */
typedef struct shard_header {
    uint8_t set_id[SET_ID_BYTES];
    uint32_t w, matrix; /* matrix: a gfk_rs_matrix */
    uint64_t polynomial;
    uint32_t k, m, index; /* index: 0 to k + m - 1, data first */
    uint32_t mode;        /* the file's permissions */
    uint64_t block_bytes, file_bytes;
    uint64_t hash_low, hash_high;  /* XXH3-128 of the file */
    char name[MAX_NAME_BYTES + 1]; /* the file's, without a folder; empty: none */
} shard_header;

/* What stands in front of every block. */
typedef struct block_header {
    uint8_t set_id[SET_ID_BYTES];
    uint32_t index; /* of the shard */
    uint32_t bytes; /* of the block */
    uint64_t stripe;
    uint64_t checksum; /* XXH3-64 of the block */
} block_header;

typedef enum format_verdict {
    FORMAT_OK = 0,
    FORMAT_FOREIGN, /* not one of ours, or its first bytes are gone */
    FORMAT_DAMAGED, /* a checksum is wrong */
    FORMAT_UNKNOWN  /* intact, but of another version, or with values that no version 1 has */
} format_verdict;

void shard_header_write(const shard_header *header, uint8_t bytes[HEADER_BYTES]);
/* *header is written on FORMAT_OK only. */
format_verdict shard_header_read(shard_header *header, const uint8_t bytes[HEADER_BYTES]);
/* Do two shards belong to the same set, whatever their index? */
bool shard_header_same_set(const shard_header *a, const shard_header *b);

void block_header_write(const block_header *header, uint8_t bytes[BLOCK_HEADER_BYTES]);
format_verdict block_header_read(block_header *header, const uint8_t bytes[BLOCK_HEADER_BYTES]);

/* ---- where things are ----------------------------------------------------------------------- */

uint64_t stripe_count(const shard_header *header);
/* Bytes of each block of a stripe; the last stripe's may be shorter. */
size_t stripe_block_bytes(const shard_header *header, uint64_t stripe);
/* Bytes of the file in a stripe: its k data blocks without the padding. */
size_t stripe_file_bytes(const shard_header *header, uint64_t stripe);
/* Where a block's header is in the shard; the block follows it. For stripe_count() that is where
 * the second header is. */
uint64_t block_offset(const shard_header *header, uint64_t stripe);
uint64_t shard_bytes(const shard_header *header);

#endif
