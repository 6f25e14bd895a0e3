/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal contract of codes: the state of a code, and the functions that the files of this
 * folder offer each other. */
#ifndef GFK_HOST_RS_CODE_H
#define GFK_HOST_RS_CODE_H

#include <stdbool.h>

#include <gfk/gfk.h>
#include <gfk/rs.h>

#include "host/base/arithmetic.h"
#include "host/base/lru.h"
#include "host/base/status.h"
#include "host/product/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gfk_rs_locator gfk_rs_locator; /* locate.c */

/* A code whose matrix is a Cauchy matrix with scaled rows and columns: decode_points.c. */
typedef struct gfk_rs_points {
    uint32_t *points; /* k + m points, all different; owned; NULL: the matrix has no known points */
    uint32_t *scales; /* k + m scales, none is 0 */
    uint32_t *inverses; /* w = 32: the inverses of the sums of two points */
    size_t infinity;    /* the region whose point is at infinity; k + m: none */
} gfk_rs_points;

struct gfk_rs {
    gfk_rs_info info;
    uint32_t *matrix;         /* info.m * info.k elements, row by row */
    gfk_product_desc product; /* the descriptor of the code's products; the code owns its strings */
    gfk_arithmetic arithmetic;
    gfk_rs_points points;
    gfk_product_t encoder;
    gfk_product_t sum_of_two, sum_into; /* for gfk_rs_delta: a + b, and += a */
    gfk_rs_locator *locator;            /* NULL: info.locatable is 0 */
    gfk_lru cache; /* cache.c: decoders and updaters of gfk_rs_decode and gfk_rs_update */
};

/* ---- matrices: matrix.c, mds.c -------------------------------------------------------------- */

/* code.c: checks k and m. Returns INVALID_ARGUMENT if one of them is zero, and INVALID_SIZE if the
 * field is too small. */
gfk_status gfk_rs_check_shape(const gfk_field *field, size_t k, size_t m);
/* The twin of gfk_rs_fill_matrix for a field that has been proven: host/base/field.h. */
gfk_status gfk_rs_fill_matrix_proven(const gfk_field *field, gfk_rs_matrix which, size_t k,
                                     size_t m, uint32_t *matrix);
/* Is every square submatrix of the m x k matrix regular? UNKNOWN if C(k + m, m) > 1,000,000. */
gfk_status gfk_rs_check_mds(const gfk_field *field, size_t k, size_t m, const uint32_t *matrix,
                            gfk_rs_mds *mds);
/* mds.c: is C(n, r) <= most? r is at most n / 2. */
bool gfk_rs_few_subsets(uint64_t n, uint64_t r, uint64_t most);

/* ---- other products of a code --------------------------------------------------------------- */

/* code.c: makes the descriptor for another product of the code. desc NULL: the descriptor of the
 * code. Returns INVALID_ARGUMENT if desc names another place. */
gfk_status gfk_rs_product_desc(gfk_rs_t code, const gfk_product_desc *desc, gfk_product_desc *out);
/* code.c: calls gfk_operands_check for the code's place. */
gfk_status gfk_rs_check_memory(gfk_rs_t code, const gfk_operand *operands, size_t count);
/* update.c: makes code->sum_of_two and sum_into. */
gfk_status gfk_rs_delta_create(gfk_rs_t code);
/* cache.c: makes the cache of a new code, and ends the cache. At the end no entry may be in use,
 * neither by a call nor on the device. */
void gfk_rs_cache_init(gfk_rs_t code);
void gfk_rs_cache_clear(gfk_rs_t code);

/* ---- what is lost: decode_matrix.c ---------------------------------------------------------- */

/* The way to rebuild lost regions: outputs = matrix * sources. Regions have the numbers 0 to k + m
 * - 1. */
typedef struct gfk_rs_rebuild {
    size_t rows;
    /* `rows` regions; one allocation holds the three lists, and this list is the first */
    size_t *outputs;
    size_t *sources;  /* k regions */
    uint32_t *matrix; /* rows * k */
    size_t unread_count;
    size_t *unread; /* parity regions that are neither read nor lost */
} gfk_rs_rebuild;

/* The arguments and statuses are those of gfk_rs_decoder_create. */
gfk_status gfk_rs_rebuild_create(gfk_rs_rebuild *rebuild, gfk_rs_t code, const size_t *lost,
                                 size_t lost_count, const size_t *wanted, size_t wanted_count);
void gfk_rs_rebuild_free(gfk_rs_rebuild *rebuild); /* a struct of zeros is allowed */
/* decode_points.c: sets code->points from the matrix and the arithmetic. Returns SUCCESS or
 * OUT_OF_MEMORY. */
gfk_status gfk_rs_points_create(gfk_rs_t code);
void gfk_rs_points_destroy(gfk_rs_points *points); /* a struct of zeros is allowed */
/* Fills r->matrix for e lost data regions, if code->points are known. r->sources lists the data
 * regions that are there, then e parity regions. Returns SUCCESS or OUT_OF_MEMORY. */
gfk_status gfk_rs_rebuild_by_points(gfk_rs_t code, const size_t *lost, size_t e, gfk_rs_rebuild *r);
/* w = 32: if e * r->rows is less than this, elimination row by row is faster than points. */
#define GFK_RS_FEW_W32 40
/* decode_wide.c: fills r->matrix for e lost data regions by matrix inversion and products at
 * `place`. r->sources lists the data regions that are there, then e parity regions. Returns the
 * statuses of gfk_matrix_invert and gfk_matmul; SINGULAR means that these parity regions do not
 * determine the lost data. */
gfk_status gfk_rs_rebuild_wide(gfk_rs_t code, int place, const size_t *lost, size_t e,
                               gfk_rs_rebuild *r);
/* With at least this number of multiplications, e * r->rows * k, decode_wide.c is faster than
 * elimination row by row. */
#define GFK_RS_WIDE 4e6
/* Sorts a list of regions. */
void gfk_rs_sort(size_t *regions, size_t count);

/* The regions of one call. */
typedef struct gfk_rs_regions {
    size_t k;
    const gfk_regions *data, *parity;
    size_t bytes;
} gfk_rs_regions;

/* decoder.c: writes the addresses of `count` regions, for gfk_operands_check. The address is NULL
 * if there is no base or if the stride is less than `bytes`. It is the last address of the address
 * space if the region begins beyond it. */
void gfk_rs_addresses(const gfk_rs_regions *all, const size_t *regions, size_t count,
                      void **addresses);
/* decoder.c: does one of the regions `out`, which are written, share a byte with an unread parity
 * region? Unread parity regions may be missing. */
bool gfk_rs_unread_overlap(const gfk_rs_regions *all, const gfk_rs_rebuild *rebuild,
                           const gfk_regions *out, size_t outs);

/* ---- what is damaged: locate.c -------------------------------------------------------------- */

/* Sets code->locator and code->info.locatable from info, matrix and arithmetic, or to NULL and 0 if
 * the code cannot locate. The locator uses the arithmetic. For a code on a device, that device is
 * the current one. */
gfk_status gfk_rs_locator_create(gfk_rs_t code);
void gfk_rs_locator_destroy(gfk_rs_locator *locator); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
