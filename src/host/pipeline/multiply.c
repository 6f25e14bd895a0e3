/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls without a code: products and region multiply. */
#include "pipeline.h"

static bool known(gfk_accumulate mode) {
    return mode == GFK_SET || mode == GFK_XOR;
}

static gfk_work work_of(gfk_accumulate mode) {
    return mode == GFK_SET ? GFK_WORK_SET : GFK_WORK_XOR;
}

gfk_status gfk_product_host(gfk_pipeline_t pipeline, const gfk_field *field, size_t rows,
                            size_t cols, const uint32_t *matrix, const gfk_regions *in,
                            const gfk_regions *out, size_t bytes, gfk_accumulate mode,
                            gfk_pipeline_report *report) {
    if (!known(mode))
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_request request = {.field = field,
                                 .rows = rows,
                                 .cols = cols,
                                 .matrix = matrix,
                                 .in = in,
                                 .out = out,
                                 .bytes = bytes,
                                 .work = work_of(mode)};
    return gfk_pipeline_run(pipeline, &request, report);
}

gfk_status gfk_region_multiply_host(gfk_pipeline_t pipeline, const gfk_field *field, uint32_t c,
                                    const void *src, void *dst, size_t bytes, gfk_accumulate mode,
                                    gfk_pipeline_report *report) {
    if (!known(mode))
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_regions in = {NULL, (void *)(uintptr_t)src, bytes}; /* inputs are only read */
    const gfk_regions out = {NULL, dst, bytes};
    const gfk_request request = {.field = field,
                                 .rows = 1,
                                 .cols = 1,
                                 .matrix = &c,
                                 .in = &in,
                                 .out = &out,
                                 .bytes = bytes,
                                 .work = work_of(mode),
                                 .in_place = true};
    return gfk_pipeline_run(pipeline, &request, report);
}
