/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksums of PAR2: MD5 by OpenSSL, which is faster than libmd, and CRC32 as of zlib and gzip
 * (polynomial 0x04c11db7, reflected), also for a window that moves over a file byte by byte. Any
 * thread may call, each with objects of its own. */
#ifndef GFK_PAR2_HASH_H
#define GFK_PAR2_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The calls that OpenSSL 3 replaces allocate nothing and cannot fail. */
#ifndef OPENSSL_SUPPRESS_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#endif
#include <openssl/md5.h>

enum {
    MD5_BYTES = 16,
    MD5_HEAD_BYTES = 16384 /* the part of a file for the second MD5 of a FileDesc packet */
};

/* ---- MD5 ------------------------------------------------------------------------------------ */

/* A sequence of bytes whose MD5 is computed part by part. */
typedef MD5_CTX md5_stream;

void md5_begin(md5_stream *stream);
void md5_add(md5_stream *stream, const void *memory, size_t bytes);
void md5_add_zeros(md5_stream *stream, uint64_t bytes); /* the padding of a short slice */
void md5_end(md5_stream *stream, uint8_t digest[MD5_BYTES]);
void md5_of(const void *memory, size_t bytes, uint8_t digest[MD5_BYTES]);

/* ---- CRC32 ---------------------------------------------------------------------------------- */

/* The CRC32 of a sequence that continues one whose CRC32 is `crc`; 0 begins. */
uint32_t crc_add(uint32_t crc, const void *memory, size_t bytes);
uint32_t crc_add_zeros(uint32_t crc, uint64_t bytes); /* takes time for log(bytes) only */

/* A window of a fixed number of bytes. Its state is the CRC32 without the two inversions, which is
 * linear: the state of a window of zeros is 0. */
typedef struct crc_window {
    uint32_t enters[256]; /* by the byte that moves through the register */
    uint32_t leaves[256]; /* by the byte that leaves the window */
    uint32_t zeros;       /* the CRC32 of a window of zeros */
} crc_window;

void crc_window_begin(crc_window *window, uint64_t bytes);

/* The state of a window, from its CRC32. */
static inline uint32_t crc_window_state(const crc_window *window, uint32_t crc) {
    return crc ^ window->zeros;
}

/* The state of the next window, one byte further. */
static inline uint32_t crc_window_move(const crc_window *window, uint32_t state, uint8_t leaving,
                                       uint8_t entering) {
    return state >> 8 ^ window->enters[(state ^ entering) & 0xff] ^ window->leaves[leaving];
}

#endif
