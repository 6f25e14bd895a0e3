/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the work on the CPU share: a thread's memory, and a tile. */
#ifndef GFK_HOST_RS_LOCATE_HOST_H
#define GFK_HOST_RS_LOCATE_HOST_H

#include <stdatomic.h>

#include "host/base/symbol.h"
#include "host/rs/code.h"
#include "locate.h"

enum {
    LENGTH = 0x3f,
    ZERO_ROOT = 0x40,      /* of a byte of w->rest: of a recurrence; is 0 a root? */
    ROOTS_BYTES = 1 << 20, /* of all regions' rows that are searched for roots at a time */
    FEW = 32               /* so many positions are decoded one by one, without a guess */
};

/* A thread's part of the workspace. Rows are as long as a tile. */
typedef struct worker {
    unsigned char **in;       /* the data of the tile */
    unsigned char *syndromes; /* m rows */
    unsigned char *values;    /* m rows: what the guess makes of the pivots' syndromes */
    unsigned char *wrong;     /* a row: positions that are not explained yet are not 0 */
    unsigned char *rest;      /* a row: what the guess leaves of them */
    unsigned char *zeros;     /* a row */
    unsigned char *roots;     /* k + m rows of roots_length; then a byte for each position: */
    unsigned char *found;     /* how many roots; then 0 if as many as there must be */
    unsigned char **pivots;   /* most_guessed */
    uint64_t *counts;         /* k + m */
    gfk_rs_verdict *verdict;
    gfk_locate_state state;
    gfk_locate_guess guess;
    gfk_product_t map;   /* the product of the guess, */
    void *map_memory;    /* and where it lies */
    size_t guessed_data; /* data regions of the guess, after its parity regions */
    bool guessed;
    size_t skip, skipped; /* tiles to go without a guess, and how many the last time */
} worker;

typedef struct share {
    const gfk_locate_call *call;
    const gfk_rs_locator *locator;
    size_t length; /* of a tile in a region */
    atomic_size_t next;
    unsigned char *memory;
    size_t worker_bytes;
} share;

/* From one row to the next: columns of symbols shall not compete for the same lines of a cache. */
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
static inline void load(const gfk_locate_code *c, const tile *t, unsigned char *rows, size_t i,
                        uint32_t *words) {
    for (size_t j = 0; j < c->m; j++)
        words[j] = gfk_symbol_get(row_of(t, rows, j), i, c->field.w);
}

/* Finds the errors from plain syndromes that are not all zero. Returns their number, 1 to t; 0: there
 * are more than t. */
static inline uint32_t gfk_locate_errors(const gfk_locate_code *c, gfk_locate_state s) {
    if (c->points == NULL)
        return gfk_locate_by_search(c, s);
    gfk_locate_syndromes(c, s);
    return gfk_locate_by_sums(c, s, true);
}

/* Decodes the positions of the tile that w->wrong has, `left` of them: adds to the verdict and the
 * counts, and repairs if the call does. */
void gfk_locate_positions(const tile *t, size_t left);

#endif
