/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls: products, region multiply, and the products of a code. */
#include <stdlib.h>

#include "host/rlnc/code.h"
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
    gfk_request request = {.field = field,
                           .rows = rows,
                           .cols = cols,
                           .matrix = matrix,
                           .in = in,
                           .out = out,
                           .bytes = bytes};
    return run_in_mode(pipeline, &request, mode, report);
}

gfk_status gfk_matmul_host(gfk_pipeline_t pipeline, const gfk_field *field, const gfk_matrix *a,
                           const gfk_regions *b, const gfk_regions *c, size_t bytes,
                           gfk_accumulate mode, gfk_pipeline_report *report) {
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

gfk_status gfk_region_multiply_host(gfk_pipeline_t pipeline, const gfk_field *field, uint32_t c,
                                    const void *src, void *dst, size_t bytes, gfk_accumulate mode,
                                    gfk_pipeline_report *report) {
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
    if (code == NULL || (uintptr_t)differs % sizeof *differs != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_request request = request_of(code, data, parity, bytes, GFK_WORK_CHECK);
    request.differs = differs;
    return gfk_pipeline_run(pipeline, &request, report);
}

/* Runs the product of a rebuild. `addresses` has room for the sources and the outputs. */
static gfk_status run_rebuild(gfk_pipeline_t pipeline, gfk_rs_t code, const gfk_rs_rebuild *r,
                              const gfk_rs_regions *all, void **addresses,
                              gfk_pipeline_report *report) {
    void **outputs = addresses + all->k;
    RETURN_IF_ERROR(gfk_rs_addresses(all, r->sources, all->k, addresses));
    RETURN_IF_ERROR(gfk_rs_addresses(all, r->outputs, r->rows, outputs));
    const gfk_regions in = {addresses, NULL, 0}, out = {outputs, NULL, 0};
    if (gfk_rs_unread_overlap(all, r, &out, r->rows))
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

/* ---- network coding ------------------------------------------------------------------------- */

/* The rows of factors of a range, which the caller frees. */
static gfk_status make_factors(gfk_pipeline_t pipeline, const gfk_rlnc_rule *rule,
                               const gfk_rlnc_range *range, gfk_matrix *factors) {
    const size_t pitch = rule->n * (rule->w / 8);
    void *const memory = malloc(range->count * pitch);
    if (memory == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    const gfk_rlnc_vectors_job job = {
        .rule = *rule, .range = *range, .count = range->count, .vectors = memory, .pitch = pitch};
    gfk_rlnc_fill_vectors(&job, pipeline->pool, pipeline->info.threads);
    *factors = (gfk_matrix)GFK_MATRIX_DENSE_INIT(memory, range->count, rule->n, rule->n);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_encode_host(gfk_pipeline_t pipeline, gfk_rlnc_t code, uint64_t generation,
                                uint32_t first, size_t count, const gfk_regions *sources,
                                const gfk_regions *payloads, gfk_pipeline_report *report) {
    const gfk_rlnc_range range = {generation, 1, first, count};
    size_t packets;
    if (pipeline == NULL || code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_rlnc_check_range(&range, &packets));
    if (packets == 0 || code->bytes == 0)
        return gfk_pipeline_idle(report);
    gfk_matrix vectors;
    RETURN_IF_ERROR(make_factors(pipeline, &code->rule, &range, &vectors));
    const gfk_status status = gfk_matmul_host(pipeline, &code->field, &vectors, sources, payloads,
                                              code->bytes, GFK_SET, report);
    free((void *)vectors.elements);
    return status;
}

/* What a recoder reads and writes. */
typedef struct recoding {
    gfk_rlnc_t code;
    size_t received, count;
    const gfk_regions *payloads, *new_payloads;
    gfk_regions vectors, new_vectors; /* rows, as regions */
} recoding;

static gfk_status check_recoding(recoding *r, const void *vectors, size_t stride, void *new_vectors,
                                 size_t new_stride) {
    const size_t n = r->code->n, bytes = r->code->bytes, symbol = r->code->field.w / 8;
    gfk_span rows[2];
    RETURN_IF_ERROR(gfk_matmul_span(vectors, r->received, n, stride, symbol, &rows[0]));
    RETURN_IF_ERROR(gfk_matmul_span(new_vectors, r->count, n, new_stride, symbol, &rows[1]));
    r->vectors = gfk_inputs_spaced(vectors, stride * symbol);
    r->new_vectors = (gfk_regions){NULL, new_vectors, new_stride * symbol};
    if (gfk_spans_overlap(rows, 2))
        return GFK_STATUS_OVERLAP;
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    if (r->payloads == NULL || r->new_payloads == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_regions_check(r->payloads, r->received, bytes));
    RETURN_IF_ERROR(gfk_regions_check(r->new_payloads, r->count, bytes));
    return gfk_outputs_overlap(r->payloads, r->received, r->new_payloads, r->count, bytes) ||
                   gfk_regions_touch(r->payloads, r->received, bytes, rows[1].start,
                                     rows[1].bytes) ||
                   gfk_regions_touch(r->new_payloads, r->count, bytes, rows[0].start,
                                     rows[0].bytes) ||
                   gfk_regions_touch(r->new_payloads, r->count, bytes, rows[1].start, rows[1].bytes)
               ? GFK_STATUS_OVERLAP
               : GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_recode_host(gfk_pipeline_t pipeline, gfk_rlnc_t code, uint64_t generation,
                                uint32_t first, size_t count, uint64_t seed, size_t received,
                                const void *vectors, size_t stride, const gfk_regions *payloads,
                                void *new_vectors, size_t new_stride,
                                const gfk_regions *new_payloads, gfk_pipeline_report *report) {
    const gfk_rlnc_range range = {generation, 1, first, count};
    size_t packets;
    if (pipeline == NULL || code == NULL || received == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (received > GFK_RLNC_MOST_SOURCES)
        return GFK_STATUS_INVALID_SIZE;
    RETURN_IF_ERROR(gfk_rlnc_check_range(&range, &packets));
    if (packets == 0)
        return gfk_pipeline_idle(report);
    recoding r = {code, received, packets, payloads, new_payloads, {0}, {0}};
    RETURN_IF_ERROR(check_recoding(&r, vectors, stride, new_vectors, new_stride));
    const gfk_rlnc_rule rule = gfk_rlnc_recoding_rule(code, seed, received);
    gfk_matrix factors;
    RETURN_IF_ERROR(make_factors(pipeline, &rule, &range, &factors));
    gfk_status status =
        gfk_matmul_host(pipeline, &code->field, &factors, &r.vectors, &r.new_vectors,
                        code->n * (code->field.w / 8), GFK_SET, report);
    if (status == GFK_STATUS_SUCCESS && code->bytes != 0)
        status = gfk_matmul_host(pipeline, &code->field, &factors, payloads, new_payloads,
                                 code->bytes, GFK_SET, report);
    free((void *)factors.elements);
    return status;
}
