/* SPDX-License-Identifier: BSD-3-Clause */
/* The products of the last matrices, so that calls with the same ones find theirs made. */
#include <stdlib.h>
#include <string.h>

#include "host/base/field.h"
#include "pipeline.h"

void gfk_kept_drop(gfk_kept *kept) {
    gfk_product_destroy(kept->host);
    for (size_t i = 0; i < GFK_MOST_DEVICES; i++)
        gfk_product_destroy(kept->device[i]);
    free(kept->matrix);
    *kept = (gfk_kept){.matrix = NULL};
}

static bool same(const gfk_kept *kept, const gfk_field *field, size_t rows, size_t cols,
                 const uint32_t *matrix) {
    return kept->matrix != NULL && kept->rows == rows && kept->cols == cols &&
           kept->field.w == field->w && kept->field.polynomial == field->polynomial &&
           memcmp(kept->matrix, matrix, rows * cols * sizeof *matrix) == 0;
}

/* ISA-L where it can, else the reference. */
static gfk_status make_host(gfk_kept *kept) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.family = GFK_ENGINE_ISAL;
    if (kept->field.w == 8) {
        const gfk_status status = gfk_product_create(&kept->host, &kept->field, kept->rows,
                                                     kept->cols, kept->matrix, &desc);
        if (status != GFK_STATUS_NOT_SUPPORTED)
            return status;
    }
    desc.family = GFK_ENGINE_HOST;
    return gfk_product_create(&kept->host, &kept->field, kept->rows, kept->cols, kept->matrix,
                              &desc);
}

static gfk_status make(gfk_kept *kept, const gfk_field *field, size_t rows, size_t cols,
                       const uint32_t *matrix) {
    *kept = (gfk_kept){.field = *field, .rows = rows, .cols = cols};
    kept->matrix = malloc(rows * cols * sizeof *matrix);
    if (kept->matrix == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    memcpy(kept->matrix, matrix, rows * cols * sizeof *matrix);
    const gfk_status status = make_host(kept);
    if (status != GFK_STATUS_SUCCESS)
        gfk_kept_drop(kept);
    return status;
}

gfk_status gfk_kept_find(gfk_pipeline_t pipeline, const gfk_field *field, size_t rows, size_t cols,
                         const uint32_t *matrix, gfk_kept **kept) {
    gfk_kept *oldest = &pipeline->kept[0];
    pipeline->calls++;
    for (size_t i = 0; i < GFK_KEPT_MATRICES; i++) {
        gfk_kept *k = &pipeline->kept[i];
        if (same(k, field, rows, cols, matrix)) {
            k->used = pipeline->calls;
            *kept = k;
            return GFK_STATUS_SUCCESS;
        }
        if (k->used < oldest->used)
            oldest = k;
    }
    gfk_kept made;
    const gfk_status status = make(&made, field, rows, cols, matrix);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    gfk_kept_drop(oldest);
    *oldest = made;
    oldest->used = pipeline->calls;
    *kept = oldest;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_kept_on(gfk_kept *kept, const gfk_lane *lane, gfk_product_t *product) {
    gfk_product_t *mine = &kept->device[lane->number];
    gfk_status status = GFK_STATUS_SUCCESS;
    if (*mine == NULL) {
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = lane->device;
        status =
            gfk_product_create(mine, &kept->field, kept->rows, kept->cols, kept->matrix, &desc);
    }
    *product = *mine;
    return status;
}
