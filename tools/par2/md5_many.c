/* SPDX-License-Identifier: BSD-3-Clause */
#include "md5_many.h"

#include <string.h>

/* Vectors of 16 words, which the compiler splits where the CPU's are shorter. Clones for wider
 * vectors need a loader that chooses one of them. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) &&                  \
    !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

enum { LANES = MD5_MANY, BLOCK = 64, WORDS = 16 };

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WIDE
#endif
#endif

#ifdef WIDE
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef uint32_t quad __attribute__((vector_size(16)));

/* RFC 1321: the integer part of 2^32 * |sin(i + 1)|. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

/* Takes four words of four messages; words[k] gets word k of all. */
static inline void transpose(const uint8_t *const *from, size_t offset, uint32_t *words) {
    quad r[4], t[4];
    for (int i = 0; i < 4; i++)
        memcpy(&r[i], from[i] + offset, sizeof r[i]);
    t[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    t[1] = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    t[2] = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    t[3] = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(t[0], t[2], 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(t[0], t[2], 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(t[1], t[3], 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(t[1], t[3], 2, 3, 6, 7);
    for (int i = 0; i < 4; i++)
        memcpy(words + i * LANES, &r[i], sizeof r[i]);
}

#define STEP(a, b, c, d, function, i, word, shift)                                                 \
    do {                                                                                           \
        const lanes sum = a + (function) + x[(word) % WORDS] + sines[i];                           \
        a = b + (sum << (shift) | sum >> (32 - (shift)));                                          \
    } while (0)

/* Four steps of a round with the shifts p, q, r, s; F is the round's function. */
#define STEPS(F, i, factor, first, p, q, r, s)                                                     \
    STEP(a, b, c, d, F(b, c, d), i, (factor) * (i) + (first), p);                                  \
    STEP(d, a, b, c, F(a, b, c), (i) + 1, (factor) * ((i) + 1) + (first), q);                      \
    STEP(c, d, a, b, F(d, a, b), (i) + 2, (factor) * ((i) + 2) + (first), r);                      \
    STEP(b, c, d, a, F(c, d, a), (i) + 3, (factor) * ((i) + 3) + (first), s)

#define CHOOSE(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define CHOOSE_LAST(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define PARITY(b, c, d) ((b) ^ (c) ^ (d))
#define LAST(b, c, d) ((c) ^ ((b) | ~(d)))

/* Goes on with `blocks` blocks of each message. */
CLONES static void add_blocks(uint32_t state[4][LANES], const uint8_t *const *messages,
                              size_t blocks) {
    lanes a, b, c, d, x[WORDS];
    memcpy(&a, state[0], sizeof a);
    memcpy(&b, state[1], sizeof b);
    memcpy(&c, state[2], sizeof c);
    memcpy(&d, state[3], sizeof d);
    for (size_t block = 0; block < blocks; block++) {
        const lanes a0 = a, b0 = b, c0 = c, d0 = d;
        for (size_t word = 0; word < WORDS; word += 4)
            for (size_t lane = 0; lane < LANES; lane += 4)
                transpose(messages + lane, block * BLOCK + 4 * word,
                          (uint32_t *)x + word * LANES + lane);
        for (unsigned i = 0; i < 16; i += 4) {
            STEPS(CHOOSE, i, 1, 0, 7, 12, 17, 22);
        }
        for (unsigned i = 16; i < 32; i += 4) {
            STEPS(CHOOSE_LAST, i, 5, 1, 5, 9, 14, 20);
        }
        for (unsigned i = 32; i < 48; i += 4) {
            STEPS(PARITY, i, 3, 5, 4, 11, 16, 23);
        }
        for (unsigned i = 48; i < 64; i += 4) {
            STEPS(LAST, i, 7, 0, 6, 10, 15, 21);
        }
        a += a0;
        b += b0;
        c += c0;
        d += d0;
    }
    memcpy(state[0], &a, sizeof a);
    memcpy(state[1], &b, sizeof b);
    memcpy(state[2], &c, sizeof c);
    memcpy(state[3], &d, sizeof d);
}

/* The end of a message in one or two blocks: the bytes that are left, 0x80, zeros, the length in
 * bits. Returns the number of blocks. */
static size_t end_message(uint8_t end[2 * BLOCK], size_t left, uint64_t bytes) {
    const size_t blocks = left + 9 > BLOCK ? 2 : 1;
    end[left] = 0x80;
    memset(end + left + 1, 0, blocks * BLOCK - left - 1);
    for (size_t i = 0; i < 8; i++)
        end[blocks * BLOCK - 8 + i] = (uint8_t)(bytes * 8 >> 8 * i);
    return blocks;
}

/* At most LANES messages. */
static void hash_group(const uint8_t *memory, size_t stride, size_t count, size_t bytes,
                       const uint8_t *prefix, size_t prefix_bytes, uint8_t (*digests)[MD5_BYTES]) {
    static const uint32_t begin[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint32_t state[4][LANES];
    uint8_t own[LANES][2 * BLOCK]; /* the first block with the prefix, then the end */
    const uint8_t *messages[LANES], *owns[LANES];
    for (size_t w = 0; w < 4; w++)
        for (size_t lane = 0; lane < LANES; lane++)
            state[w][lane] = begin[w];
    /* A lane without a message repeats the first one. */
    for (size_t lane = 0; lane < LANES; lane++) {
        messages[lane] = memory + (lane < count ? lane : 0) * stride;
        owns[lane] = own[lane];
        if (prefix_bytes != 0)
            memcpy(own[lane], prefix + (lane < count ? lane : 0) * prefix_bytes, prefix_bytes);
    }
    size_t done = 0, kept = prefix_bytes; /* kept: bytes of the prefix that are in `own` */
    if (kept != 0 && kept + bytes >= BLOCK) {
        done = BLOCK - kept;
        for (size_t lane = 0; lane < LANES; lane++)
            memcpy(own[lane] + kept, messages[lane], done);
        add_blocks(state, owns, 1);
        kept = 0;
    }
    const size_t blocks = kept != 0 ? 0 : (bytes - done) / BLOCK;
    for (size_t lane = 0; lane < LANES; lane++)
        messages[lane] += done;
    add_blocks(state, messages, blocks);
    const size_t left = bytes - done - blocks * BLOCK;
    size_t ends = 1;
    for (size_t lane = 0; lane < LANES; lane++) {
        memcpy(own[lane] + kept, messages[lane] + blocks * BLOCK, left);
        ends = end_message(own[lane], kept + left, (uint64_t)prefix_bytes + bytes);
    }
    add_blocks(state, owns, ends);
    for (size_t lane = 0; lane < count; lane++)
        for (size_t w = 0; w < 4; w++)
            memcpy(digests[lane] + 4 * w, &state[w][lane], 4);
}
#endif

static void hash_one(const uint8_t *memory, size_t bytes, const uint8_t *prefix,
                     size_t prefix_bytes, uint8_t digest[MD5_BYTES]) {
    md5_stream stream;
    md5_begin(&stream);
    if (prefix_bytes != 0)
        md5_add(&stream, prefix, prefix_bytes);
    md5_add(&stream, memory, bytes);
    md5_end(&stream, digest);
}

void md5_many(const uint8_t *memory, size_t stride, size_t count, size_t bytes,
              const uint8_t *prefix, size_t prefix_bytes, uint8_t (*digests)[MD5_BYTES]) {
    enum { WORTH = 3 }; /* messages that take longer one by one than in all lanes */
    size_t i = 0;
#ifdef WIDE
    for (; count - i >= WORTH; i += count - i < LANES ? count - i : LANES)
        hash_group(memory + i * stride, stride, count - i < LANES ? count - i : LANES, bytes,
                   prefix == NULL ? NULL : prefix + i * prefix_bytes, prefix_bytes, digests + i);
#endif
    for (; i < count; i++)
        hash_one(memory + i * stride, bytes, prefix == NULL ? NULL : prefix + i * prefix_bytes,
                 prefix_bytes, digests[i]);
}
