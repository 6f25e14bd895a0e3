/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of little-endian w-bit symbols at any address. */
#ifndef GFK_HOST_SYMBOL_H
#define GFK_HOST_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t gfk_symbol_get(const void *buffer, uint64_t i, unsigned w) {
    const unsigned char *p = (const unsigned char *)buffer + i * (w / 8);
    uint16_t half;
    uint32_t full;
    switch (w) {
    case 8:
        return *p;
    case 16:
        memcpy(&half, p, sizeof half);
        return half;
    default:
        memcpy(&full, p, sizeof full);
        return full;
    }
}

static inline void gfk_symbol_set(void *buffer, uint64_t i, unsigned w, uint32_t symbol) {
    unsigned char *p = (unsigned char *)buffer + i * (w / 8);
    uint16_t half = (uint16_t)symbol;
    switch (w) {
    case 8:
        *p = (unsigned char)symbol;
        break;
    case 16:
        memcpy(p, &half, sizeof half);
        break;
    default:
        memcpy(p, &symbol, sizeof symbol);
    }
}

/* Are all bytes zero? */
static inline bool gfk_is_zero(const void *buffer, size_t bytes) {
    const unsigned char *p = (const unsigned char *)buffer;
    return bytes == 0 || (*p == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

#endif
