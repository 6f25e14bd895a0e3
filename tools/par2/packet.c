/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "par2.h"
#include "reader.h"

enum { MAGIC_BYTES = 8, TYPE_BYTES = 16, BLOCK_BYTES = 1 << 20 };

/* The fields of a header. */
enum { AT_LENGTH = 8, AT_HASH = 16, AT_SET = 32, AT_TYPE = 48 };

static const uint8_t magic[MAGIC_BYTES] = "PAR2\0PKT";
static const uint8_t types[PACKET_TYPES][TYPE_BYTES + 1] = {
    [PACKET_MAIN] = "PAR 2.0\0Main\0\0\0\0",
    [PACKET_FILE] = "PAR 2.0\0FileDesc",
    [PACKET_CHECKSUMS] = "PAR 2.0\0IFSC\0\0\0\0",
    [PACKET_RECOVERY] = "PAR 2.0\0RecvSlic",
    [PACKET_CREATOR] = "PAR 2.0\0Creator\0"};

/* ---- writing -------------------------------------------------------------------------------- */

void packet_header(uint8_t header[PACKET_HEADER_BYTES], packet_type type,
                   const uint8_t set_id[MD5_BYTES], uint64_t body_bytes,
                   const uint8_t hash[MD5_BYTES]) {
    memcpy(header, magic, MAGIC_BYTES);
    put_64(header + AT_LENGTH, PACKET_HEADER_BYTES + body_bytes);
    memcpy(header + AT_HASH, hash, MD5_BYTES);
    memcpy(header + AT_SET, set_id, MD5_BYTES);
    memcpy(header + AT_TYPE, types[type], TYPE_BYTES);
}

void packet_prefix(uint8_t prefix[PACKET_PREFIX_BYTES], packet_type type,
                   const uint8_t set_id[MD5_BYTES]) {
    memcpy(prefix, set_id, MD5_BYTES);
    memcpy(prefix + MD5_BYTES, types[type], TYPE_BYTES);
}

void packet_complete(uint8_t *header_and_body, packet_type type, const uint8_t set_id[MD5_BYTES],
                     size_t body_bytes) {
    uint8_t hash[MD5_BYTES], prefix[PACKET_PREFIX_BYTES];
    md5_stream stream;
    packet_prefix(prefix, type, set_id);
    md5_begin(&stream);
    md5_add(&stream, prefix, sizeof prefix);
    md5_add(&stream, header_and_body + PACKET_HEADER_BYTES, body_bytes);
    md5_end(&stream, hash);
    packet_header(header_and_body, type, set_id, body_bytes, hash);
}

/* ---- the search ----------------------------------------------------------------------------- */

typedef struct search {
    int fd;
    const char *path;
    uint64_t bytes; /* of the file */
    uint8_t *block; /* BLOCK_BYTES */
    uint64_t spent; /* bytes hashed for packets that were wrong */
} search;

/* Reads as far as the file goes. Returns the bytes, or -1 after a message. */
static ssize_t read_at(const search *s, void *memory, size_t bytes, uint64_t offset) {
    struct iovec buffer = {memory, bytes};
    const ssize_t got = read_buffers(s->fd, &buffer, 1, offset);
    if (got < 0)
        fail_for(errno, "read", s->path);
    return got;
}

/* Moves *at to the next header, or to the end of the file. A header is at *at unless there is damage,
 * so the first read is short, and a file of many small packets is read once. */
static int find_magic(const search *s, uint64_t *at) {
    for (size_t bytes = PACKET_HEADER_BYTES; *at + PACKET_HEADER_BYTES <= s->bytes;
         bytes = bytes < BLOCK_BYTES / 4 ? 4 * bytes : BLOCK_BYTES) {
        const ssize_t got = read_at(s, s->block, bytes, *at);
        if (got < 0)
            return PAR2_IO;
        if (got < PACKET_HEADER_BYTES)
            break;
        const uint8_t *found = memmem(s->block, (size_t)got, magic, MAGIC_BYTES);
        if (found != NULL) {
            *at += (uint64_t)(found - s->block);
            return 0;
        }
        *at += (uint64_t)got - (MAGIC_BYTES - 1);
    }
    *at = s->bytes;
    return 0;
}

/* Hashes the body. Keeps the body, or the exponent of a recovery packet, in *kept, if that is not
 * NULL. *got is less than `bytes` if the file ends. */
static int hash_body(const search *s, md5_stream *stream, uint64_t offset, uint64_t bytes,
                     uint8_t *kept, size_t kept_bytes, uint64_t *got) {
    *got = 0;
    while (*got < bytes) {
        const uint64_t left = bytes - *got;
        const size_t part = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        const ssize_t n = read_at(s, s->block, part, offset + *got);
        if (n < 0)
            return PAR2_IO;
        md5_add(stream, s->block, (size_t)n);
        if (*got < kept_bytes) {
            const size_t room = kept_bytes - (size_t)*got;
            memcpy(kept + *got, s->block, (size_t)n < room ? (size_t)n : room);
        }
        *got += (uint64_t)n;
        if ((size_t)n < part)
            break;
    }
    return 0;
}

static packet_type type_of(const uint8_t *header) {
    int type = 0;
    while (type < PACKET_TYPES && memcmp(header + AT_TYPE, types[type], TYPE_BYTES) != 0)
        type++;
    return (packet_type)type;
}

/* Looks at what begins with a header at `at`. *length is the packet's, 0 if it is wrong. */
static int look(search *s, uint64_t at, packet_visit *visit, void *context, uint64_t *length) {
    uint8_t header[PACKET_HEADER_BYTES], exponent[PACKET_RECOVERY_BYTES];
    uint8_t hash[MD5_BYTES];
    *length = 0;
    const ssize_t n = read_at(s, header, sizeof header, at);
    if (n < (ssize_t)sizeof header)
        return n < 0 ? PAR2_IO : 0;
    const uint64_t claimed = get_64(header + AT_LENGTH);
    if (claimed < PACKET_HEADER_BYTES || claimed % 4 != 0 || claimed > s->bytes - at)
        return 0;
    packet p = {.type = type_of(header),
                .offset = at + PACKET_HEADER_BYTES,
                .bytes = claimed - PACKET_HEADER_BYTES};
    const bool whole = p.type != PACKET_RECOVERY && p.type != PACKET_TYPES;
    if ((whole && p.bytes > PACKET_MOST_BODY) ||
        (p.type == PACKET_RECOVERY && p.bytes <= PACKET_RECOVERY_BYTES))
        return 0;
    p.body_bytes = whole ? (size_t)p.bytes : p.type == PACKET_RECOVERY ? sizeof exponent : 0;
    uint8_t *const body = whole ? malloc(p.body_bytes + 1) : exponent;
    if (body == NULL)
        return par2_no_memory();
    memcpy(p.set_id, header + AT_SET, MD5_BYTES);
    md5_stream stream;
    uint64_t got = 0;
    md5_begin(&stream);
    md5_add(&stream, header + AT_SET, PACKET_HEADER_BYTES - AT_SET);
    int code = hash_body(s, &stream, p.offset, p.bytes, body, p.body_bytes, &got);
    md5_end(&stream, hash);
    if (code == 0 && got == p.bytes && memcmp(hash, header + AT_HASH, MD5_BYTES) == 0) {
        *length = claimed;
        p.body = body;
        code = p.type == PACKET_TYPES ? 0 : visit(context, &p);
    } else {
        s->spent += got;
    }
    if (whole)
        free(body);
    return code;
}

/* ---- recovery packets of a large file, in parallel ------------------------------------------- */

/* A recovery packet that has been hashed. */
typedef struct hashed {
    uint64_t at, claimed; /* the header's offset, and the length in it */
    uint64_t length;      /* 0: the packet is wrong */
    packet p;
    uint8_t exponent[PACKET_RECOVERY_BYTES];
} hashed;

typedef struct hashed_list {
    const search *s;
    hashed *packets; /* by offset */
    size_t count;
} hashed_list;

/* Follows the lengths in the headers. A forged file may have more packets than a set: they are left
 * for the search. */
static int list_recovery(search *s, hashed_list *list) {
    uint8_t header[PACKET_HEADER_BYTES];
    uint64_t at = 0;
    while (list->count <= PAR2_MOST_EXPONENT) {
        int code = find_magic(s, &at);
        if (code != 0 || at >= s->bytes)
            return code;
        if (read_at(s, header, sizeof header, at) < (ssize_t)sizeof header)
            return 0;
        const uint64_t claimed = get_64(header + AT_LENGTH);
        if (claimed < PACKET_HEADER_BYTES || claimed % 4 != 0 || claimed > s->bytes - at) {
            at += MAGIC_BYTES;
            continue;
        }
        if (!array_grow(&list->packets, list->count, sizeof *list->packets))
            return par2_no_memory();
        if (type_of(header) == PACKET_RECOVERY)
            list->packets[list->count++] = (hashed){.at = at, .claimed = claimed};
        at += claimed;
    }
    return 0;
}

static int keep(void *context, const packet *p) {
    hashed *const h = context;
    h->p = *p;
    memcpy(h->exponent, p->body, PACKET_RECOVERY_BYTES);
    return 0;
}

static int hash_one(void *context, size_t i) {
    const hashed_list *const list = context;
    hashed *const h = &list->packets[i];
    search own = *list->s;
    own.block = malloc(BLOCK_BYTES);
    if (own.block == NULL)
        return par2_no_memory();
    const int code = look(&own, h->at, keep, h, &h->length);
    free(own.block);
    return code;
}

/* Handles what is at `at`: with what is known of the packet, or by looking at it. `next` is the first
 * packet of the list that may be there. */
static int look_or_take(search *s, const hashed_list *list, size_t *next, uint64_t at,
                        packet_visit *visit, void *context, uint64_t *length) {
    while (*next < list->count && list->packets[*next].at < at)
        ++*next;
    if (*next == list->count || list->packets[*next].at != at)
        return look(s, at, visit, context, length);
    hashed *const h = &list->packets[*next];
    *length = h->length;
    if (h->length == 0) {
        s->spent += h->claimed;
        return 0;
    }
    h->p.body = h->exponent;
    return visit(context, &h->p);
}

int packet_search(int fd, const char *path, unsigned threads, packet_visit *visit, void *context,
                  packet_count *count) {
    struct stat status;
    *count = (packet_count){0};
    if (fstat(fd, &status) != 0)
        return par2_code(fail_for(errno, "read", path));
    search s = {fd, path, (uint64_t)status.st_size, malloc(BLOCK_BYTES), 0};
    if (s.block == NULL)
        return par2_no_memory();
    hashed_list list = {.s = &s};
    int code = threads == 1 ? 0 : list_recovery(&s, &list);
    if (code == 0 && list.count != 0)
        code = parallel_for(threads, list.count, hash_one, &list);
    /* Damage makes each byte a part of two packets at most. */
    const uint64_t most = 4 * s.bytes + BLOCK_BYTES;
    uint64_t at = 0;
    size_t next = 0;
    while (code == 0 && at < s.bytes && s.spent <= most) {
        code = find_magic(&s, &at);
        if (code != 0 || at >= s.bytes)
            break;
        uint64_t length = 0;
        code = look_or_take(&s, &list, &next, at, visit, context, &length);
        count->good += length != 0;
        count->damaged += length == 0;
        at += length != 0 ? length : MAGIC_BYTES;
    }
    if (s.spent > most)
        warn("%s: the search for packets ended early: too many of them are wrong", path);
    free(list.packets);
    free(s.block);
    return code;
}
