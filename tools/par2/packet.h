/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets of a PAR2 file: a header of 64 bytes with the length, the MD5 and the type of the
 * packet, then the body. All numbers are little-endian. */
#ifndef GFK_PAR2_PACKET_H
#define GFK_PAR2_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

enum {
    PACKET_HEADER_BYTES = 64,
    PACKET_PREFIX_BYTES = 32,  /* set id and type, which are ahead of the body in the MD5 */
    PACKET_RECOVERY_BYTES = 4, /* of the body of a recovery packet, ahead of the slice */
    PACKET_MOST_BODY =
        16 << 20, /* of a packet that is no recovery packet; larger ones are damaged */
    PAR2_MOST_SLICES = 32768,
    PAR2_MOST_EXPONENT = 65534
};

typedef enum packet_type {
    PACKET_MAIN,      /* slice size, number of files with slices, the files' ids */
    PACKET_FILE,      /* FileDesc: id, MD5, MD5 of the head, length, name */
    PACKET_CHECKSUMS, /* IFSC: id, then MD5 and CRC32 of each slice */
    PACKET_RECOVERY,  /* RecvSlic: exponent, slice */
    PACKET_CREATOR,   /* the name of the program */
    PACKET_TYPES
} packet_type;

/* A packet whose MD5 is right. */
typedef struct packet {
    packet_type type;
    uint8_t set_id[MD5_BYTES];
    const uint8_t
        *body;         /* the body, during the visit only; of a recovery packet the exponent only */
    size_t body_bytes; /* bytes of `body` */
    uint64_t offset;   /* of the body in the file */
    uint64_t bytes;    /* of the whole body in the file */
} packet;

/* Handles a packet. Returns 0, or a code that ends the search. */
typedef int packet_visit(void *context, const packet *p);

typedef struct packet_count {
    uint64_t good;    /* packets whose MD5 is right, of the types above */
    uint64_t damaged; /* places where a header is, and the packet is wrong or incomplete */
} packet_count;

/* packet_search: finds all packets in a file, also behind damage, and visits those whose type is
 * known. Reads the file once; where forged headers make parts of the file belong to many packets,
 * the search ends after a multiple of the file's length has been hashed. Memory: 1 MiB for each
 * thread, and the largest body.
 *
 * threads  that hash recovery packets; 0: one for each core; 1: the calling thread alone
 *
 * Returns 0, the code of `visit`, or an exit code of par2.h after a message about `path`. */
int packet_search(int fd, const char *path, unsigned threads, packet_visit *visit, void *context,
                  packet_count *count);

/* packet_header: writes the header of a packet whose MD5 is known: of the prefix and the body. */
void packet_header(uint8_t header[PACKET_HEADER_BYTES], packet_type type,
                   const uint8_t set_id[MD5_BYTES], uint64_t body_bytes,
                   const uint8_t hash[MD5_BYTES]);
void packet_prefix(uint8_t prefix[PACKET_PREFIX_BYTES], packet_type type,
                   const uint8_t set_id[MD5_BYTES]);
/* packet_complete: fills the header ahead of a body in memory. */
void packet_complete(uint8_t *header_and_body, packet_type type, const uint8_t set_id[MD5_BYTES],
                     size_t body_bytes);

/* ---- little-endian numbers ------------------------------------------------------------------ */

static inline uint32_t get_32(const uint8_t *from) {
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static inline uint64_t get_64(const uint8_t *from) {
    return get_32(from) | (uint64_t)get_32(from + 4) << 32;
}

static inline void put_32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline void put_64(uint8_t *to, uint64_t value) {
    put_32(to, (uint32_t)value);
    put_32(to + 4, (uint32_t)(value >> 32));
}

#endif
