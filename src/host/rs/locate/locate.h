/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating: the functions that its files call of each other. */
#ifndef GFK_HOST_RS_LOCATE_H
#define GFK_HOST_RS_LOCATE_H

#include <gfk/rs.h>

#include "guess.h"
#include "host/base/threads.h"
#include "search.h"

enum {
    GFK_LOCATE_CHUNK_SHIFT = 16,      /* a mark stands for 64 KiB of every region */
    GFK_LOCATE_MOST_SUBSETS = 100000, /* sets of columns that a search may try */
    /* largest m: on a device the state is in shared memory, and finding the multipliers takes (k +
     * m) * m steps */
    GFK_LOCATE_MOST_ROWS = 4096,
    GFK_LOCATE_MOST_SUMS = 64, /* largest m of a code whose S_r are computed by a product */
    GFK_LOCATE_MOST_DEVICE_POINTERS = 1024
};

typedef struct gfk_rs_locator {
    gfk_locate_code code; /* points into `tables`, and on the host to the code's arithmetic */
    void *tables;
    int device;            /* GFK_CPU: tables are in host memory */
    gfk_product_t encoder; /* the code's encoder */
    /* on the host: computes the S_r from the syndromes; NULL: symbol by symbol */
    gfk_product_t sums;
    gfk_product_t roots; /* on the host: finds the roots of recurrences; NULL: symbol by symbol */
    gfk_pool *pool;      /* on the host */
    size_t threads;
    size_t processors; /* on a device */
    bool explains;     /* on a device: tensor cores try a sample's guess at all positions */
} gfk_rs_locator;

/* One call after all checks. The regions and all results are in the memory of the code's device, or
 * of the host. */
typedef struct gfk_locate_call {
    const gfk_rs_locator *locator;
    const gfk_regions *data, *parity;
    size_t bytes;
    bool repair;
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    void *workspace;
    uint32_t *mismatch_map; /* on a device: one entry for every chunk */
    uint8_t *slabs;         /* on a device: one slab for every block */
    gfk_stream_t stream;
} gfk_locate_call;

#ifdef __cplusplus
extern "C" {
#endif

/* grs.c: finds the points and multipliers of a code with known points, k + m words each. Returns
 * false if the code is not known to be a generalized Reed-Solomon code. */
bool gfk_grs_find(gfk_rs_t code, uint32_t *points, uint32_t *multipliers);

/* host.c: the bytes of workspace that locating takes on the CPU, and locating itself. */
size_t gfk_locate_host_workspace(const gfk_rs_locator *locator, size_t bytes);
void gfk_locate_on_host(const gfk_locate_call *call);

/* planes.c, for w = 8: computes recurrences from the S_r of all positions, as gfk_locate_recurrence
 * does. `found` gets the bytes of the positions where `wrong` is not 0, else 0. The rows, 2 t at
 * most, and `found` are written up to a multiple of 256 bytes. */
void gfk_locate_planes(const gfk_locate_code *c, unsigned char *rows, size_t pitch,
                       const unsigned char *wrong, unsigned char *found, size_t bytes, bool valued);

/* locate.cu, all asynchronous on call->stream. The first function clears verdict, counts and map.
 * The second takes a sample; *verdict becomes a word that is not 0 if the check is not needed, or
 * NULL for short regions. The third marks all chunks. The last processes the marked chunks. */
gfk_status gfk_locate_device_clear(const gfk_locate_call *call);
gfk_status gfk_locate_device_sample(const gfk_locate_call *call, const uint32_t **verdict);
gfk_status gfk_locate_device_mark(const gfk_locate_call *call);
gfk_status gfk_locate_device_run(const gfk_locate_call *call);
/* Returns the bytes of workspace that the blocks and the sample take. */
size_t gfk_locate_slabs(const gfk_rs_locator *locator, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
