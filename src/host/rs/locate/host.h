/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that the files of the CPU's locating share: a thread's memory, and a tile. */
#ifndef GFK_HOST_RS_LOCATE_HOST_H
#define GFK_HOST_RS_LOCATE_HOST_H

#include <stdatomic.h>

#include "host/base/symbol.h"
#include "host/rs/code.h"
#include "locate.h"

enum {
    LENGTH = 0x3f,
    ZERO_ROOT = 0x40, /* a bit of a byte of w->rest: 0 is a root of the recurrence */
    /* bytes of the rows of all regions that are searched for roots at a time */
    ROOTS_BYTES = 1 << 20,
    FEW = 32 /* up to this number, positions are decoded one by one, without a guess */
};

/* A thread's part of the workspace. A row is as long as a tile. */
typedef struct worker {
    unsigned char **in;       /* the data of the tile */
    unsigned char *syndromes; /* m rows */
    unsigned char *values;    /* m rows: the map of the guess times the pivots' syndromes */
    unsigned char *wrong;     /* one row: positions that are not explained yet are not 0 */
    unsigned char *rest;      /* one row: the wrong positions that the guess does not explain */
    unsigned char *zeros;     /* one row */
    unsigned char *roots;     /* k + m rows of roots_length bytes */
    /* for each position the number of roots; later 0 if the number is right */
    unsigned char *found;
    unsigned char **pivots; /* most_guessed rows */
    uint64_t *counts;       /* k + m counters */
    gfk_rs_verdict *verdict;
    gfk_locate_state state;
    gfk_locate_guess guess;
    gfk_product_t map;   /* the product of the guess */
    void *map_memory;    /* the memory of the product */
    size_t guessed_data; /* data regions of the guess, which follow its parity regions */
    bool guessed;
    /* tiles that will be done without a guess, and their number the last time */
    size_t skip, skipped;
} worker;

typedef struct share {
    const gfk_locate_call *call;
    const gfk_rs_locator *locator;
    size_t length; /* bytes of the tile in a region */
    atomic_size_t next;
    unsigned char *memory;
    size_t worker_bytes;
} share;

/* The distance of rows. It keeps columns of symbols out of the same cache sets. */
static inline size_t pitch(size_t length) {
    return length + 64;
}

static inline size_t roots_length(const gfk_locate_code *c, size_t length) {
    const size_t fits = ROOTS_BYTES / ((size_t)c->k + c->m) / 256 * 256;
    return fits < 256 ? 256 : fits < length ? fits : length;
}

typedef struct tile {
    const share *share;
    worker *w;
    size_t offset, bytes;
} tile;

static inline unsigned char *row_of(const tile *t, unsigned char *rows, size_t j) {
    return rows + j * pitch(t->share->length);
}

static inline unsigned char *region_of(const tile *t, size_t i) {
    const gfk_locate_call *call = t->share->call;
    return (i < t->share->locator->code.k
                ? gfk_region_address(call->data, i)
                : gfk_region_address(call->parity, i - t->share->locator->code.k)) +
           t->offset;
}

static inline void compute_rows(gfk_product_t product, const gfk_regions *in, unsigned char *out,
                                size_t stride, size_t bytes) {
    const gfk_regions outputs = {.base = out, .stride = stride};
    const gfk_product_call call = {
        .product = product, .in = in, .out = &outputs, .bytes = bytes, .on_caller = true};
    (void)gfk_product_compute(&call); /* the engines of the CPU cannot fail */
}

/* Loads symbol i of m rows. */
static inline void load_words(const gfk_locate_code *c, const tile *t, unsigned char *rows,
                              size_t i, uint32_t *words) {
    for (size_t j = 0; j < c->m; j++)
        words[j] = gfk_symbol_get(row_of(t, rows, j), i, c->field.w);
}

/* Finds the errors from plain syndromes that are not all zero. Returns the number of errors, 1 to
 * t, or 0 if there are more than t. */
static inline uint32_t gfk_locate_errors(const gfk_locate_code *c, gfk_locate_state s) {
    if (c->points == NULL)
        return gfk_locate_by_search(c, s);
    gfk_locate_syndromes(c, s);
    return gfk_locate_by_sums(c, s, true);
}

/* Decodes the `left` wrong positions of the tile, which w->wrong marks: adds to the verdict and the
 * counts, and repairs if the call repairs. */
void gfk_locate_positions(const tile *t, size_t left);

#endif
