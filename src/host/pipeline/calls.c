/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls: products, region multiply, and the products of a code. */
#include <stdlib.h>

#include "host/base/field.h"
#include "host/rs/code.h"
#include "pipeline.h"

/* Sets the work of a request that sets or accumulates, and runs the request. */
static gfk_status run_in_mode(gfk_pipeline_t pipeline, gfk_request *request, gfk_accumulate mode,
                              gfk_pipeline_report *report) {
    if (mode != GFK_SET && mode != GFK_XOR)
        return GFK_STATUS_INVALID_ARGUMENT;
    request->work = mode == GFK_SET ? GFK_WORK_SET : GFK_WORK_XOR;
    return gfk_pipeline_run(pipeline, request, report);
}

gfk_status gfk_product_host(gfk_pipeline_t pipeline, const gfk_field *field, size_t rows,
                            size_t cols, const uint32_t *matrix, const gfk_regions *in,
                            const gfk_regions *out, size_t bytes, gfk_accumulate mode,
                            gfk_pipeline_report *report) {
    if (!gfk_field_is_valid(field))
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_request request = {.field = field,
                           .rows = rows,
                           .cols = cols,
                           .matrix = matrix,
                           .in = in,
                           .out = out,
                           .bytes = bytes};
    return run_in_mode(pipeline, &request, mode, report);
}

gfk_status gfk_matmul_host_proven(gfk_pipeline_t pipeline, const gfk_field *field,
                                  const gfk_matrix *a, const gfk_regions *b, const gfk_regions *c,
                                  size_t bytes, gfk_accumulate mode, gfk_pipeline_report *report) {
    if (a == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_request request = {.field = field,
                           .rows = a->rows,
                           .cols = a->cols,
                           .a = a,
                           .in = b,
                           .out = c,
                           .bytes = bytes};
    return run_in_mode(pipeline, &request, mode, report);
}

gfk_status gfk_matmul_host(gfk_pipeline_t pipeline, const gfk_field *field, const gfk_matrix *a,
                           const gfk_regions *b, const gfk_regions *c, size_t bytes,
                           gfk_accumulate mode, gfk_pipeline_report *report) {
    return gfk_field_is_valid(field)
               ? gfk_matmul_host_proven(pipeline, field, a, b, c, bytes, mode, report)
               : GFK_STATUS_INVALID_ARGUMENT;
}

gfk_status gfk_region_multiply_host(gfk_pipeline_t pipeline, const gfk_field *field, uint32_t c,
                                    const void *src, void *dst, size_t bytes, gfk_accumulate mode,
                                    gfk_pipeline_report *report) {
    if (!gfk_field_is_valid(field))
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_regions in = gfk_inputs_spaced(src, bytes);
    const gfk_regions out = {NULL, dst, bytes};
    gfk_request request = {.field = field,
                           .rows = 1,
                           .cols = 1,
                           .matrix = &c,
                           .in = &in,
                           .out = &out,
                           .bytes = bytes,
                           .in_place = true};
    return run_in_mode(pipeline, &request, mode, report);
}

/* ---- with a code ---------------------------------------------------------------------------- */

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
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_request request = request_of(code, data, parity, bytes, GFK_WORK_CHECK);
    request.differs = differs;
    return gfk_pipeline_run(pipeline, &request, report);
}

/* Is the report in parity that is not read? */
static bool report_is_unread(const gfk_rs_regions *all, const gfk_rs_rebuild *r,
                             const gfk_pipeline_report *report) {
    void *parity;
    for (size_t i = 0; report != NULL && i < r->unread_count; i++) {
        gfk_rs_addresses(all, &r->unread[i], 1, &parity);
        if (parity != NULL && gfk_overlap(parity, all->bytes, report, sizeof *report))
            return true;
    }
    return false;
}

/* Runs the product of a rebuild. `addresses` has room for the sources and the outputs. */
static gfk_status run_rebuild(gfk_pipeline_t pipeline, gfk_rs_t code, const gfk_rs_rebuild *r,
                              const gfk_rs_regions *all, void **addresses,
                              gfk_pipeline_report *report) {
    void **outputs = addresses + all->k;
    gfk_rs_addresses(all, r->sources, all->k, addresses);
    gfk_rs_addresses(all, r->outputs, r->rows, outputs);
    const gfk_regions in = {addresses, NULL, 0}, out = {outputs, NULL, 0};
    const gfk_operand operands[] = {
        gfk_operand_regions(&in, all->k, all->bytes, GFK_HOST),
        gfk_operand_regions(&out, r->rows, all->bytes, GFK_HOST | GFK_WRITE),
        gfk_report_operand(report),
    };
    RETURN_IF_ERROR(gfk_operands_check(GFK_CPU, false, operands, 3));
    if (gfk_rs_unread_overlap(all, r, &out, r->rows) || report_is_unread(all, r, report))
        return GFK_STATUS_OVERLAP;
    gfk_request request = request_of(code, &in, &out, all->bytes, GFK_WORK_SET);
    request.rows = r->rows;
    request.matrix = r->matrix;
    return gfk_pipeline_run(pipeline, &request, report);
}

gfk_status gfk_rs_decode_host(gfk_pipeline_t pipeline, gfk_rs_t code, const size_t *lost,
                              size_t lost_count, const size_t *wanted, size_t wanted_count,
                              const gfk_regions *data, const gfk_regions *parity, size_t bytes,
                              gfk_pipeline_report *report) {
    if (pipeline == NULL || code == NULL || data == NULL || parity == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes % (code->info.field.w / 8) != 0)
        return GFK_STATUS_INVALID_SIZE;
    gfk_rs_rebuild r;
    RETURN_IF_ERROR(gfk_rs_rebuild_create(&r, code, lost, lost_count, wanted, wanted_count));
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    void **addresses = malloc((code->info.k + r.rows) * sizeof *addresses);
    if (bytes == 0 || r.rows == 0)
        status = gfk_pipeline_idle(report);
    else if (addresses != NULL)
        status =
            run_rebuild(pipeline, code, &r, &(gfk_rs_regions){code->info.k, data, parity, bytes},
                        addresses, report);
    free(addresses);
    gfk_rs_rebuild_free(&r);
    return status;
}
