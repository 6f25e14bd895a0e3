/* SPDX-License-Identifier: BSD-3-Clause */
/* Coding vectors: the rule by which a packet's numbers determine its vector. The host and the
 * kernels use the same functions. */
#ifndef GFK_HOST_RLNC_VECTORS_H
#define GFK_HOST_RLNC_VECTORS_H

#include <gfk/rlnc.h>

#include "host/product/generate.h"

/* A rule that has been checked. */
typedef struct gfk_rlnc_rule {
    uint64_t seed;
    uint32_t kind, w;
    uint32_t n;       /* elements of a vector */
    uint32_t density; /* 1 to 256 or 1 to 16 */
    uint32_t units;   /* packets below this number have unit vectors */
} gfk_rlnc_rule;

/* ---- Philox: 16 bytes at a time -------------------------------------------------------------- */

GFK_HOST_DEVICE uint32_t gfk_rlnc_blocks(const gfk_rlnc_rule *rule) {
    return (rule->n * (rule->w / 8) + 15) / 16;
}

/* Writes bytes 16 * block to 16 * block + 15 of the unit vector of a source. */
GFK_HOST_DEVICE void gfk_rlnc_unit(const gfk_rlnc_rule *rule, uint32_t source, uint32_t block,
                                   uint32_t words[4]) {
    const uint32_t at = source * (rule->w / 8);
    for (unsigned i = 0; i < 4; i++)
        words[i] = at / 4 == 4 * block + i ? 1u << at % 4 * 8 : 0;
}

/* Returns word i of a mask for the block: an element is all ones if its byte of `chances` is less
 * than the density. `first` is the byte of the block's first element. */
GFK_HOST_DEVICE uint32_t gfk_rlnc_kept(const gfk_rlnc_rule *rule, const uint32_t chances[4],
                                       unsigned first, unsigned i) {
    const unsigned symbol = rule->w / 8;
    uint32_t kept = 0;
    for (unsigned byte = 0; byte < 4; byte++) {
        const unsigned at = first + (4 * i + byte) / symbol;
        const uint32_t low = at & 4 ? chances[1] : chances[0];
        const uint32_t high = at & 4 ? chances[3] : chances[2];
        const uint32_t chance = (at & 8 ? high : low) >> at % 4 * 8 & 0xff;
        kept |= (chance < rule->density ? 0xffu : 0) << 8 * byte;
    }
    return kept;
}

/* Draws the bytes of a block. All blocks of a vector may turn out zero. The bytes after the last
 * element are zero. */
GFK_HOST_DEVICE void gfk_rlnc_draw(const gfk_rlnc_rule *rule, uint64_t generation, uint32_t packet,
                                   uint32_t block, uint32_t words[4]) {
    const unsigned symbol = rule->w / 8;
    const uint64_t row = packet | generation << 32, high = generation >> 32 << 32;
    gfk_random_bytes(rule->seed, row, high | block, words);
    if (rule->density < 256) {
        uint32_t chances[4];
        gfk_random_bytes(rule->seed, row, high | (UINT32_C(1) << 31) | block / symbol, chances);
        for (unsigned i = 0; i < 4; i++)
            words[i] &= gfk_rlnc_kept(rule, chances, block % symbol * (16 / symbol), i);
    }
    const uint32_t left = rule->n * symbol - 16 * block;
    for (unsigned i = 0; i < 4; i++)
        if (left < 4 * i + 4)
            words[i] = left <= 4 * i ? 0 : words[i] & 0xffffffff >> (32 - 8 * (left - 4 * i));
}

/* Writes the bytes of a block of the coding vector. They do not depend on the other blocks. */
GFK_HOST_DEVICE void gfk_rlnc_philox(const gfk_rlnc_rule *rule, uint64_t generation,
                                     uint32_t packet, uint32_t block, uint32_t words[4]) {
    if (packet < rule->units) {
        gfk_rlnc_unit(rule, packet, block, words);
        return;
    }
    gfk_rlnc_draw(rule, generation, packet, block, words);
    uint32_t any = words[0] | words[1] | words[2] | words[3];
    for (uint32_t other = 0; any == 0; other++) {
        if (other == gfk_rlnc_blocks(rule)) {
            gfk_rlnc_unit(rule, packet % rule->n, block, words);
            return;
        }
        uint32_t drawn[4];
        gfk_rlnc_draw(rule, generation, packet, other, drawn);
        any = drawn[0] | drawn[1] | drawn[2] | drawn[3];
    }
}

/* ---- RFC 8681: a vector at a time ------------------------------------------------------------ */

/* TinyMT32 (M. Saito, M. Matsumoto, "Tiny Mersenne Twister", 2011), parameters of RFC 8682. */
typedef struct gfk_tinymt {
    uint32_t s[4];
} gfk_tinymt;

#define GFK_TINYMT_MAT1 0x8f7011eeu
#define GFK_TINYMT_MAT2 0xfc78ff1fu
#define GFK_TINYMT_TMAT 0x3793fdffu

GFK_HOST_DEVICE uint32_t gfk_tinymt_next(gfk_tinymt *t) {
    uint32_t x = (t->s[0] & 0x7fffffff) ^ t->s[1] ^ t->s[2], y = t->s[3];
    x ^= x << 1;
    y ^= y >> 1 ^ x;
    const uint32_t odd = 0u - (y & 1);
    t->s[0] = t->s[1];
    t->s[1] = t->s[2] ^ (odd & GFK_TINYMT_MAT1);
    t->s[2] = x ^ y << 10 ^ (odd & GFK_TINYMT_MAT2);
    t->s[3] = y;
    const uint32_t sum = t->s[0] + (t->s[2] >> 8);
    return y ^ sum ^ ((0u - (sum & 1)) & GFK_TINYMT_TMAT);
}

GFK_HOST_DEVICE void gfk_tinymt_init(gfk_tinymt *t, uint32_t seed) {
    t->s[0] = seed;
    t->s[1] = GFK_TINYMT_MAT1;
    t->s[2] = GFK_TINYMT_MAT2;
    t->s[3] = GFK_TINYMT_TMAT;
    for (unsigned i = 1; i < 8; i++) {
        const uint32_t before = t->s[(i - 1) % 4];
        t->s[i % 4] ^= i + 1812433253u * (before ^ before >> 30);
    }
    for (unsigned i = 0; i < 8; i++)
        gfk_tinymt_next(t);
}

/* Writes the n bytes of a vector. */
GFK_HOST_DEVICE void gfk_rlnc_rfc8681(const gfk_rlnc_rule *rule, uint32_t packet, uint8_t *vector) {
    const bool is_unit = packet < rule->units;
    uint32_t any = is_unit;
    gfk_tinymt t;
    gfk_tinymt_init(&t, (packet - rule->units) & 0xffff);
    for (uint32_t i = 0; i < rule->n; i++) {
        uint32_t x = is_unit && i == packet;
        if (!is_unit && (rule->density == 16 || (gfk_tinymt_next(&t) & 15) < rule->density))
            do
                x = gfk_tinymt_next(&t) & 255;
            while (x == 0);
        vector[i] = (uint8_t)x;
        any |= x;
    }
    if (any == 0)
        vector[packet % rule->n] = 1;
}

/* ---- many vectors ---------------------------------------------------------------------------- */

typedef struct gfk_rlnc_vectors_job {
    gfk_rlnc_rule rule;
    const gfk_rlnc_header *headers; /* NULL: the vectors are those of the range */
    gfk_rlnc_range range;
    size_t count; /* number of all vectors, at least 1 */
    uint8_t *vectors;
    size_t pitch; /* bytes from vector to vector */
} gfk_rlnc_vectors_job;

/* Sets the numbers of the packet whose vector has the index i. */
GFK_HOST_DEVICE gfk_rlnc_header gfk_rlnc_packet_at(const gfk_rlnc_vectors_job *job, size_t i) {
    if (job->headers != NULL)
        return job->headers[i];
    gfk_rlnc_header h = {job->range.generation + i / job->range.count,
                         (uint32_t)(job->range.first + i % job->range.count), 0};
    return h;
}

#ifdef __cplusplus
extern "C" {
#endif
/* kernels/rlnc has this function. It is asynchronous. */
gfk_status gfk_rlnc_vectors_run(const gfk_rlnc_vectors_job *job, gfk_stream_t stream);
#ifdef __cplusplus
}
#endif
#endif
