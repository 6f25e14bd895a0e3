/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls with a code: each is a product with a matrix of the code. */
#include <stdlib.h>

#include "host/rs/code.h"
#include "pipeline.h"

static gfk_request request_of(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                              size_t bytes, gfk_work work) {
    return (gfk_request){.field = &code->info.field,
                         .rows = code->info.m,
                         .cols = code->info.k,
                         .matrix = code->matrix,
                         .in = data,
                         .out = parity,
                         .bytes = bytes,
                         .work = work};
}

gfk_status gfk_rs_encode_host(gfk_pipeline_t pipeline, gfk_rs_t code, const gfk_regions *data,
                              const gfk_regions *parity, size_t bytes,
                              gfk_pipeline_report *report) {
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_request request = request_of(code, data, parity, bytes, GFK_WORK_SET);
    return gfk_pipeline_run(pipeline, &request, report);
}

gfk_status gfk_rs_verify_host(gfk_pipeline_t pipeline, gfk_rs_t code, const gfk_regions *data,
                              const gfk_regions *parity, size_t bytes, uint32_t *differs,
                              gfk_pipeline_report *report) {
    if (code == NULL || (uintptr_t)differs % sizeof *differs != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_request request = request_of(code, data, parity, bytes, GFK_WORK_CHECK);
    request.differs = differs;
    return gfk_pipeline_run(pipeline, &request, report);
}

/* ---- decoding ------------------------------------------------------------------------------- */

typedef struct rebuilding {
    size_t *sources; /* k regions to read, then those that are neither lost nor read */
    size_t unread_count;
    uint32_t *matrix;
    void **in, **out;
} rebuilding;

static gfk_status rebuild(gfk_pipeline_t pipeline, gfk_rs_t code, const rebuilding *r,
                          const size_t *wanted, size_t count, const gfk_regions *data,
                          const gfk_regions *parity, size_t bytes, gfk_pipeline_report *report) {
    const size_t k = code->info.k;
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < k && status == GFK_STATUS_SUCCESS; i++)
        status = gfk_rs_address(k, data, parity, bytes, r->sources[i], &r->in[i]);
    for (size_t i = 0; i < count && status == GFK_STATUS_SUCCESS; i++)
        status = gfk_rs_address(k, data, parity, bytes, wanted[i], &r->out[i]);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const gfk_regions in = {r->in, NULL, 0}, out = {r->out, NULL, 0};
    if (gfk_rs_unread_overlap(k, parity, bytes, r->sources + k, r->unread_count, &out, count))
        return GFK_STATUS_OVERLAP;
    const gfk_request request = {.field = &code->info.field,
                                 .rows = count,
                                 .cols = k,
                                 .matrix = r->matrix,
                                 .in = &in,
                                 .out = &out,
                                 .bytes = bytes,
                                 .work = GFK_WORK_SET};
    return gfk_pipeline_run(pipeline, &request, report);
}

static gfk_status make_lists(rebuilding *r, size_t k, size_t count) {
    r->sources = malloc((k + r->unread_count) * sizeof *r->sources);
    r->in = malloc(k * sizeof *r->in);
    r->out = malloc(count * sizeof *r->out);
    r->matrix =
        count > SIZE_MAX / sizeof *r->matrix / k ? NULL : malloc(count * k * sizeof *r->matrix);
    return r->sources && r->in && r->out && r->matrix ? GFK_STATUS_SUCCESS
                                                      : GFK_STATUS_OUT_OF_MEMORY;
}

gfk_status gfk_rs_decode_host(gfk_pipeline_t pipeline, gfk_rs_t code, const size_t *lost,
                              size_t lost_count, const size_t *wanted, size_t wanted_count,
                              const gfk_regions *data, const gfk_regions *parity, size_t bytes,
                              gfk_pipeline_report *report) {
    if (pipeline == NULL || code == NULL || data == NULL || parity == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes % (code->info.field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    gfk_status status = GFK_STATUS_SUCCESS;
    const size_t k = code->info.k, m = code->info.m;
    const size_t count = wanted ? wanted_count : lost_count;
    if (bytes == 0 || count == 0 || count > m || lost_count > m) { /* nothing to do, or an error */
        status =
            gfk_rs_decode_matrix(code, lost, lost_count, wanted, wanted_count, NULL, NULL, NULL);
        return status == GFK_STATUS_SUCCESS ? gfk_pipeline_idle(report) : status;
    }
    rebuilding r = {.unread_count = m - lost_count};
    status = make_lists(&r, k, count);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_rs_decode_matrix(code, lost, lost_count, wanted, wanted_count, r.sources,
                                      r.sources + k, r.matrix);
    if (status == GFK_STATUS_SUCCESS)
        status =
            rebuild(pipeline, code, &r, wanted ? wanted : lost, count, data, parity, bytes, report);
    free(r.matrix);
    free(r.out);
    free(r.in);
    free(r.sources);
    return status;
}
