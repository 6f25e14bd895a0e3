/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over rows of symbols, which compilers vectorize. */
#ifndef GFK_HOST_RS_LOCATE_ROWS_H
#define GFK_HOST_RS_LOCATE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A loop over symbols of a row, with the symbols' type. */
#define FOR_WIDTH(w, LOOP)                                                                         \
    if (w == 8)                                                                                    \
        LOOP(uint8_t)                                                                              \
    else if (w == 16)                                                                              \
        LOOP(uint16_t)                                                                             \
    else                                                                                           \
        LOOP(uint32_t)

/* Counts the symbols of `a` that are not 0 where those of `but` are 0. A sum of at most 255 ones
 * fits into a symbol, so the compiler adds whole vectors of symbols. */
#define COUNT(type)                                                                                \
    for (size_t first = 0; first < symbols; first += 255) {                                        \
        const size_t end = symbols - first < 255 ? symbols : first + 255;                          \
        type ones = 0;                                                                             \
        for (size_t i = first; i < end; i++)                                                       \
            ones = (type)(ones + ((((const type *)a)[i] != 0) & (((const type *)but)[i] == 0)));   \
        count += ones;                                                                             \
    }
static inline size_t count_symbols(const unsigned char *a, const unsigned char *but, size_t bytes,
                                   unsigned w) {
    size_t count = 0;
    const size_t symbols = bytes / (w / 8);
    FOR_WIDTH(w, COUNT)
    return count;
}
#undef COUNT

/* Clears the symbols of `a` where those of `but` are 0, or where they are not 0. */
#define CLEAR(type)                                                                                \
    for (size_t i = 0; i < symbols; i++)                                                           \
        ((type *)a)[i] = (type)((((const type *)but)[i] == 0) == zero ? 0 : ((type *)a)[i]);
static inline void clear_symbols(unsigned char *restrict a, const unsigned char *restrict but,
                                 bool zero, size_t bytes, unsigned w) {
    const size_t symbols = bytes / (w / 8);
    FOR_WIDTH(w, CLEAR)
}
#undef CLEAR

/* sum |= a ^ b */
static inline void merge_difference(unsigned char *restrict sum, const unsigned char *restrict a,
                                    const unsigned char *restrict b, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        sum[i] |= a[i] ^ b[i];
}

static inline void merge(unsigned char *restrict sum, const unsigned char *restrict a,
                         size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        sum[i] |= a[i];
}

static inline void add(unsigned char *restrict to, const unsigned char *restrict from,
                       size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        to[i] ^= from[i];
}

/* found += (row == power) */
#define COUNT_EQUAL(type)                                                                          \
    for (size_t i = 0; i < symbols; i++)                                                           \
        found[i] = (unsigned char)(found[i] + (((const type *)row)[i] == (type)power));
static inline void count_equal(unsigned char *restrict found, const unsigned char *restrict row,
                               uint32_t power, size_t symbols, unsigned w) {
    FOR_WIDTH(w, COUNT_EQUAL)
}
#undef COUNT_EQUAL

/* Counts the symbols of the row that are `power` where the byte of `but` is 0. */
#define COUNT_MATCHES(type)                                                                        \
    for (size_t first = 0; first < symbols; first += 255) {                                        \
        const size_t end = symbols - first < 255 ? symbols : first + 255;                          \
        unsigned char ones = 0;                                                                    \
        for (size_t i = first; i < end; i++)                                                       \
            ones =                                                                                 \
                (unsigned char)(ones + ((((const type *)row)[i] == (type)power) & (but[i] == 0))); \
        count += ones;                                                                             \
    }
static inline size_t count_matches(const unsigned char *row, uint32_t power,
                                   const unsigned char *but, size_t symbols, unsigned w) {
    size_t count = 0;
    FOR_WIDTH(w, COUNT_MATCHES)
    return count;
}
#undef COUNT_MATCHES

#undef FOR_WIDTH
#endif
