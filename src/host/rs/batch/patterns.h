/* SPDX-License-Identifier: BSD-3-Clause */
/* The different losses among the stripes of a batch, each inverted once. */
#ifndef GFK_HOST_RS_BATCH_PATTERNS_H
#define GFK_HOST_RS_BATCH_PATTERNS_H

#include "host/rs/code.h"

/* Starts as zeros. */
typedef struct gfk_batch_patterns {
    gfk_rs_rebuild *list;
    size_t count, room;
    size_t *slots;     /* a hash table of indices + 1; 0 is free */
    size_t slot_count; /* a power of two, more than twice count */
    size_t *lost;      /* the list asked for, ascending: room for m */
} gfk_batch_patterns;

/* The index of the pattern for this loss; lost NULL: of encoding, which rebuilds all parity.
 * Statuses as gfk_rs_rebuild_create. */
gfk_status gfk_batch_patterns_find(gfk_batch_patterns *patterns, gfk_rs_t code, const size_t *lost,
                                   size_t lost_count, size_t *index);
void gfk_batch_patterns_clear(gfk_batch_patterns *patterns);

#endif
