/* SPDX-License-Identifier: BSD-3-Clause */
#include "hash.h"

#ifdef GFK_PAR2_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif

static const uint8_t zeros[4096];

/* ---- MD5 ------------------------------------------------------------------------------------ */

void md5_begin(md5_stream *stream) {
    MD5_Init(stream);
}

void md5_add(md5_stream *stream, const void *memory, size_t bytes) {
    MD5_Update(stream, memory, bytes);
}

void md5_add_zeros(md5_stream *stream, uint64_t bytes) {
    while (bytes != 0) {
        const size_t part = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        MD5_Update(stream, zeros, part);
        bytes -= part;
    }
}

void md5_end(md5_stream *stream, uint8_t digest[MD5_BYTES]) {
    MD5_Final(digest, stream);
}

void md5_of(const void *memory, size_t bytes, uint8_t digest[MD5_BYTES]) {
    md5_stream stream;
    md5_begin(&stream);
    md5_add(&stream, memory, bytes);
    md5_end(&stream, digest);
}

/* ---- CRC32 ---------------------------------------------------------------------------------- */

uint32_t crc_add(uint32_t crc, const void *memory, size_t bytes) {
#ifdef GFK_PAR2_ISAL
    return crc32_gzip_refl(crc, memory, bytes);
#else
    return (uint32_t)crc32_z(crc, memory, bytes);
#endif
}

/* Polynomials over GF(2) modulo that of CRC32. Bit 31 is the coefficient of 1, bit 0 that of x^31.
 */
static const uint32_t one = 0x80000000;

static uint32_t times_x(uint32_t a) {
    return a >> 1 ^ (0xedb88320 & -(a & 1));
}

static uint32_t times(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; a != 0; a <<= 1, b = times_x(b))
        product ^= b & -(a >> 31);
    return product;
}

/* x^(8 bytes): the factor of the register for this many bytes of zeros. */
static uint32_t power_of_bytes(uint64_t bytes) {
    uint32_t power = one, square = one >> 8; /* x^8 */
    for (; bytes != 0; bytes >>= 1, square = times(square, square))
        if (bytes & 1)
            power = times(power, square);
    return power;
}

uint32_t crc_add_zeros(uint32_t crc, uint64_t bytes) {
    return ~times(~crc, power_of_bytes(bytes));
}

void crc_window_begin(crc_window *window, uint64_t bytes) {
    const uint32_t power = power_of_bytes(bytes);
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t a = b;
        for (int i = 0; i < 8; i++)
            a = times_x(a);
        window->enters[b] = a;
        window->leaves[b] = times(a, power);
    }
    window->zeros = crc_add_zeros(0, bytes);
}
