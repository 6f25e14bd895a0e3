/* SPDX-License-Identifier: BSD-3-Clause */
/* Products: create, destroy and their properties. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "host/base/field.h"
#include "host/device/device.h"

static const gfk_product_desc defaults = GFK_PRODUCT_DESC_INIT;

gfk_status gfk_product_query(const gfk_field *field, size_t rows, size_t cols,
                             const gfk_product_desc *desc, gfk_product_info *info) {
    if (info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_choice choice;
    gfk_product_info found;
    gfk_status status = gfk_choice_init(&choice, field, rows, cols, desc ? desc : &defaults);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_choice_next(&choice, &found);
    if (status != GFK_STATUS_SUCCESS && status != GFK_STATUS_TABLE_LIMIT)
        return status;
    *info = found;
    return GFK_STATUS_SUCCESS;
}

static gfk_status check_matrix(const gfk_field *field, size_t elements, const uint32_t *matrix) {
    if (matrix == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    for (size_t i = 0; i < elements; i++)
        if (!gfk_field_contains(field, matrix[i]))
            return GFK_STATUS_INVALID_CONSTANT;
    return GFK_STATUS_SUCCESS;
}

static gfk_status build(gfk_product_t p, const gfk_product_desc *desc) {
    const uint64_t bytes = p->info.table_bytes;
    if (bytes != 0) {
        gfk_status status = GFK_STATUS_SUCCESS;
        if (p->on_device)
            status = gfk_device_alloc(&p->tables, bytes);
        else if (bytes > SIZE_MAX || (p->tables = malloc((size_t)bytes)) == NULL)
            status = GFK_STATUS_OUT_OF_MEMORY;
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return p->engine->create ? p->engine->create(p, desc) : GFK_STATUS_SUCCESS;
}

static gfk_status build_on_device(gfk_product_t p, const gfk_product_desc *desc) {
    int previous;
    gfk_status status = gfk_device_enter(p->info.device, &previous);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    status = gfk_device_processors(p->info.device, &p->processors);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_device_capability(p->info.device, &p->cc);
    if (status == GFK_STATUS_SUCCESS)
        status = build(p, desc);
    return gfk_device_leave(previous, status);
}

static gfk_status make(gfk_product_t *product, const gfk_choice *choice,
                       const gfk_product_info *info, const uint32_t *matrix) {
    const size_t elements = info->rows * info->cols;
    gfk_product_t p = calloc(1, sizeof *p);
    if (p == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->info = *info;
    p->engine = gfk_engine_of(info->engine);
    p->named = choice->kernel;
    p->on_device = !gfk_engine_on_host(info->engine);
    p->matrix = malloc(elements * sizeof *matrix);
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (p->matrix != NULL) {
        memcpy(p->matrix, matrix, elements * sizeof *matrix);
        status = p->on_device ? build_on_device(p, choice->desc) : build(p, choice->desc);
    }
    if (status == GFK_STATUS_SUCCESS)
        *product = p;
    else
        gfk_product_destroy(p);
    return status;
}

gfk_status gfk_product_create(gfk_product_t *product, const gfk_field *field, size_t rows,
                              size_t cols, const uint32_t *matrix, const gfk_product_desc *desc) {
    gfk_choice choice;
    if (product == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc == NULL)
        desc = &defaults;
    gfk_status status = gfk_choice_init(&choice, field, rows, cols, desc);
    if (status == GFK_STATUS_SUCCESS)
        status = check_matrix(field, rows * cols, matrix);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    gfk_status failed = GFK_STATUS_SUCCESS;
    for (;;) {
        gfk_product_info info;
        status = gfk_choice_next(&choice, &info);
        if (status != GFK_STATUS_SUCCESS)
            return failed != GFK_STATUS_SUCCESS ? failed : status;
        status = make(product, &choice, &info, matrix);
        /* An engine that could not compile gives way to the next, unless it was asked for. */
        if (status == GFK_STATUS_SUCCESS || status == GFK_STATUS_OUT_OF_MEMORY ||
            !(info.engine->labels & GFK_ENGINE_COMPILES) || desc->engine != NULL)
            return status;
        if (failed == GFK_STATUS_SUCCESS)
            failed = status;
    }
}

gfk_status gfk_product_get_info(gfk_product_t product, gfk_product_info *info) {
    if (product == NULL || info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    *info = product->info;
    return GFK_STATUS_SUCCESS;
}

void gfk_product_destroy(gfk_product_t product) {
    if (product == NULL)
        return;
    if (product->engine->destroy != NULL)
        product->engine->destroy(product);
    if (product->on_device)
        gfk_device_free(product->info.device, product->tables);
    else
        free(product->tables);
    free(product->matrix);
    free(product);
}
