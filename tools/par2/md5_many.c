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

/* As md5_add for at most LANES streams whose numbers of bytes are multiples of a block. */
static void add_group(md5_stream *streams, const uint8_t *memory, size_t stride, size_t count,
                      size_t blocks) {
    uint32_t state[4][LANES];
    const uint8_t *messages[LANES];
    /* A lane without a message repeats the first one. */
    for (size_t lane = 0; lane < LANES; lane++) {
        const size_t i = lane < count ? lane : 0;
        messages[lane] = memory + i * stride;
        state[0][lane] = streams[i].A;
        state[1][lane] = streams[i].B;
        state[2][lane] = streams[i].C;
        state[3][lane] = streams[i].D;
    }
    add_blocks(state, messages, blocks);
    for (size_t lane = 0; lane < count; lane++) {
        md5_stream *const to = &streams[lane];
        const uint64_t bits = ((uint64_t)to->Nh << 32 | to->Nl) + (uint64_t)blocks * BLOCK * 8;
        to->A = state[0][lane];
        to->B = state[1][lane];
        to->C = state[2][lane];
        to->D = state[3][lane];
        to->Nl = (MD5_LONG)bits;
        to->Nh = (MD5_LONG)(bits >> 32);
    }
}
#endif

static void add_each(md5_stream *streams, const uint8_t *memory, size_t stride, size_t count,
                     size_t bytes) {
    for (size_t i = 0; i < count; i++)
        md5_add(&streams[i], memory + i * stride, bytes);
}

void md5_add_many(md5_stream *streams, const uint8_t *memory, size_t stride, size_t count,
                  size_t bytes) {
    enum { WORTH = 3 }; /* messages that take longer one by one than in all lanes */
    size_t done = 0;
#ifdef WIDE
    const size_t kept = count == 0 ? 0 : streams[0].num; /* bytes of a block that is not whole */
    const size_t head = kept == 0 ? 0 : BLOCK - kept;
    if (count >= WORTH && head + BLOCK <= bytes) {
        const size_t blocks = (bytes - head) / BLOCK;
        add_each(streams, memory, stride, count, head);
        add_group(streams, memory + head, stride, count, blocks);
        done = head + blocks * BLOCK;
    }
#endif
    add_each(streams, memory + done, stride, count, bytes - done);
}

void md5_many(const uint8_t *memory, size_t stride, size_t count, size_t bytes,
              uint8_t (*digests)[MD5_BYTES]) {
    md5_stream streams[MD5_MANY];
    for (size_t i = 0; i < count; i++)
        md5_begin(&streams[i]);
    md5_add_many(streams, memory, stride, count, bytes);
    for (size_t i = 0; i < count; i++)
        md5_end(&streams[i], digests[i]);
}
