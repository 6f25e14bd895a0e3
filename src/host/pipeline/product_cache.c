/* SPDX-License-Identifier: BSD-3-Clause */
/* The products of the matrices used last, so that a call with one of them finds its products made.
 */
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

enum { MOST_PRODUCTS = 8 };

static void destroy(gfk_lru_node *node) {
    gfk_cached_product *cached = (gfk_cached_product *)node;
    gfk_product_destroy(cached->host);
    for (size_t i = 0; i < GFK_MOST_DEVICES; i++)
        gfk_product_destroy(cached->device[i]);
    free(cached->matrix);
    free(cached);
}

static bool is_of(const gfk_lru_node *node, const void *key) {
    const gfk_cached_product *cached = (const gfk_cached_product *)node;
    const gfk_request *r = key;
    return cached->rows == r->rows && cached->cols == r->cols && cached->field.w == r->field->w &&
           cached->field.polynomial == r->field->polynomial &&
           cached->field.generator == r->field->generator &&
           memcmp(cached->matrix, r->matrix, r->rows * r->cols * sizeof *r->matrix) == 0;
}

void gfk_product_cache_init(gfk_pipeline_t pipeline) {
    pipeline->products = (gfk_lru)GFK_LRU_INIT(MOST_PRODUCTS, is_of, destroy);
}

static gfk_status make_on(gfk_product_t *product, const gfk_cached_product *cached, int device) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.device = device;
    return gfk_product_create_proven(product, &cached->field, cached->rows, cached->cols,
                                     cached->matrix, &desc);
}

gfk_status gfk_product_cache_find(gfk_pipeline_t pipeline, const gfk_request *r,
                                  gfk_cached_product **cached) {
    *cached = (gfk_cached_product *)gfk_lru_find(&pipeline->products, r);
    if (*cached != NULL)
        return GFK_STATUS_SUCCESS;
    const size_t bytes = r->rows * r->cols * sizeof *r->matrix;
    gfk_cached_product *made = calloc(1, sizeof *made);
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    made->field = *r->field;
    made->rows = r->rows;
    made->cols = r->cols;
    made->matrix = malloc(bytes);
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (made->matrix != NULL) {
        memcpy(made->matrix, r->matrix, bytes);
        status = make_on(&made->host, made, GFK_CPU);
    }
    if (status == GFK_STATUS_SUCCESS)
        *cached = (gfk_cached_product *)gfk_lru_add(&pipeline->products, &made->node, r);
    else
        destroy(&made->node);
    return status;
}

gfk_status gfk_cached_product_on(gfk_cached_product *cached, const gfk_device_worker *worker,
                                 gfk_product_t *product) {
    gfk_product_t *own = &cached->device[worker->number];
    if (*own == NULL)
        RETURN_IF_ERROR(make_on(own, cached, worker->device));
    *product = *own;
    return GFK_STATUS_SUCCESS;
}
