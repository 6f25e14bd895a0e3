/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of network coding: matmuls with factors that the CPU makes. */
#include <stdlib.h>
#include <string.h>

#include "host/rlnc/decoder.h"
#include "pipeline.h"

static bool is_on_device(gfk_pipeline_t pipeline, const gfk_operand *o) {
    if (pipeline->info.device_count == 0)
        return false;
    if (o->count == 0)
        return gfk_device_memory_kind(o->start, o->bytes) == GFK_MEMORY_DEVICE;
    const gfk_regions *const regions = o->regions;
    const bool spaced = regions->pointers == NULL;
    const size_t bytes = spaced ? (o->count - 1) * regions->stride + o->bytes : o->bytes;
    for (size_t i = 0; i < (spaced ? 1 : o->count); i++)
        if (gfk_device_memory_kind(gfk_region_address(regions, i), bytes) == GFK_MEMORY_DEVICE)
            return true;
    return false;
}

/* Returns the bytes from one row of n symbols to the next. The stride of a single row is not
 * used. */
static size_t pitch_of(gfk_rlnc_t code, size_t rows, size_t stride) {
    return (rows > 1 ? stride : code->n) * (code->field.w / 8);
}

/* Refuses the arguments that a matmul would refuse, before vectors are made and before anything is
 * written. */
static gfk_status check_memory(gfk_pipeline_t pipeline, const gfk_operand *operands, size_t count) {
    const gfk_status status = gfk_operands_check(GFK_CPU, false, operands, count);
    if (status != GFK_STATUS_SUCCESS && status != GFK_STATUS_OVERLAP)
        return status;
    for (size_t i = 0; i < count; i++)
        if (operands[i].bytes != 0 && is_on_device(pipeline, &operands[i]))
            return GFK_STATUS_INVALID_ARGUMENT;
    return status;
}

/* Makes the rows of factors of a range. The caller frees them. */
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
    const gfk_operand operands[] = {
        gfk_operand_regions(sources, code->n, code->bytes, GFK_HOST),
        gfk_operand_regions(payloads, packets, code->bytes, GFK_HOST | GFK_WRITE),
        gfk_report_operand(report),
    };
    RETURN_IF_ERROR(check_memory(pipeline, operands, 3));
    gfk_matrix vectors;
    RETURN_IF_ERROR(make_factors(pipeline, &code->rule, &range, &vectors));
    const gfk_status status = gfk_matmul_host_proven(pipeline, &code->field, &vectors, sources,
                                                     payloads, code->bytes, GFK_SET, report);
    free((void *)vectors.elements);
    return status;
}

/* The memory that a recoder reads and writes. */
typedef struct recoding {
    gfk_rlnc_t code;
    const gfk_regions *payloads, *new_payloads;
    gfk_regions vectors; /* rows, as regions */
} recoding;

/* The product of the vectors is written to `made` first, because nothing may fail after the
 * caller's memory has been written. */
static gfk_status multiply_both(gfk_pipeline_t pipeline, const recoding *r,
                                const gfk_matrix *factors, uint8_t *made,
                                gfk_pipeline_report *report) {
    const gfk_rlnc_t code = r->code;
    const size_t row = code->n * (code->field.w / 8);
    const gfk_regions rows = {NULL, made, row};
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    RETURN_IF_ERROR(gfk_matmul_host_proven(pipeline, &code->field, factors, &r->vectors, &rows, row,
                                           GFK_SET, report));
    return code->bytes != 0 ? gfk_matmul_host_proven(pipeline, &code->field, factors, r->payloads,
                                                     r->new_payloads, code->bytes, GFK_SET, report)
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
    const gfk_operand operands[] = {
        gfk_rlnc_rows(code, vectors, received, stride, GFK_READ),
        gfk_rlnc_rows(code, new_vectors, packets, new_stride, GFK_WRITE),
        gfk_operand_regions(payloads, received, code->bytes, GFK_HOST),
        gfk_operand_regions(new_payloads, packets, code->bytes, GFK_HOST | GFK_WRITE),
        gfk_report_operand(report),
    };
    RETURN_IF_ERROR(check_memory(pipeline, operands, 5));
    const recoding r = {code, payloads, new_payloads,
                        gfk_inputs_spaced(vectors, pitch_of(code, received, stride))};
    const gfk_rlnc_rule rule = gfk_rlnc_recoding_rule(code, seed, received);
    gfk_matrix factors;
    RETURN_IF_ERROR(make_factors(pipeline, &rule, &range, &factors));
    const size_t symbol = code->field.w / 8, row = code->n * symbol;
    uint8_t *const made = malloc(packets * row);
    gfk_pipeline_report done;
    const gfk_status status = multiply_both(pipeline, &r, &factors, made, &done);
    if (status == GFK_STATUS_SUCCESS) {
        for (size_t i = 0; i < packets; i++)
            memcpy((uint8_t *)new_vectors + i * new_stride * symbol, made + i * row, row);
        if (report != NULL)
            *report = done;
    }
    free(made);
    free((void *)factors.elements);
    return status;
}

/* ---- decode --------------------------------------------------------------------------------- */

/* Bytes of the dependent packets that are checked at a time, if one packet is not longer. */
enum { CHECKED_BYTES = 1 << 26 };

typedef struct decoding {
    gfk_pipeline_t pipeline;
    struct gfk_rlnc code; /* a copy of the caller's code, on the CPU and without payloads */
    size_t bytes;         /* bytes of a payload */
    const gfk_rlnc_header *headers;
    size_t count;
    const uint8_t *vectors; /* may be NULL */
    size_t pitch;           /* bytes from vector to vector */
    const gfk_regions *payloads, *sources;
    uint8_t *outcomes, *decoded; /* outcomes of the packets; flags of the decoded sources */
    void **chosen;               /* addresses of payloads */
    gfk_rlnc_record record;
    gfk_pipeline_report report;
} decoding;

/* Lists the payloads of packets with that outcome. */
static gfk_regions choose(decoding *d, gfk_rlnc_outcome outcome) {
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->outcomes[i] == outcome)
            d->chosen[count++] = gfk_region_address(d->payloads, i);
    return (gfk_regions){d->chosen, NULL, 0};
}

/* Memory for the vectors of dependent packets and for sums. */
typedef struct check {
    size_t count, at_once;
    uint8_t *vectors, *sums;
} check;

static gfk_status prepare_check(decoding *d, check *c) {
    const size_t n = d->code.n, row = n * (d->code.field.w / 8);
    c->count = d->bytes != 0 && d->record.rank == n ? d->record.kept : 0;
    if (c->count == 0)
        return GFK_STATUS_SUCCESS;
    c->at_once = gfk_least(c->count, d->bytes < CHECKED_BYTES ? CHECKED_BYTES / d->bytes : 1);
    c->vectors = malloc(c->count * row);
    c->sums = malloc(c->at_once * d->bytes);
    if (c->vectors == NULL || c->sums == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    uint8_t *to = c->vectors;
    for (size_t i = 0; i < d->count; i++) {
        if (d->outcomes[i] != GFK_RLNC_DROPPED)
            continue;
        if (d->vectors != NULL)
            memcpy(to, d->vectors + i * d->pitch, row);
        else
            RETURN_IF_ERROR(gfk_rlnc_write_vectors(&d->code, &d->headers[i], 1, to, n, NULL));
        to += row;
    }
    return GFK_STATUS_SUCCESS;
}

/* Is the payload of every dependent packet the sum that the packet's vector says? */
static gfk_status run_check(decoding *d, const check *c) {
    const size_t n = d->code.n, row = n * (d->code.field.w / 8);
    const gfk_regions payloads = choose(d, GFK_RLNC_DROPPED);
    const gfk_regions sums = {NULL, c->sums, d->bytes};
    for (size_t first = 0, count; first < c->count; first += count) {
        count = gfk_least(c->at_once, c->count - first);
        const gfk_matrix vectors = GFK_MATRIX_DENSE_INIT(c->vectors + first * row, count, n, n);
        RETURN_IF_ERROR(gfk_matmul_host_proven(d->pipeline, &d->code.field, &vectors, d->sources,
                                               &sums, d->bytes, GFK_SET, NULL));
        for (size_t i = 0; i < count; i++)
            if (memcmp(payloads.pointers[first + i], c->sums + i * d->bytes, d->bytes) != 0)
                d->record.status = GFK_STATUS_CORRUPT;
    }
    return GFK_STATUS_SUCCESS;
}

/* Computes the results that do not depend on payloads: outcomes, the record, and the factors of the
 * sources. */
static gfk_status eliminate(decoding *d, gfk_rlnc_decoder_t decoder, gfk_matrix *factors,
                            gfk_regions *to) {
    RETURN_IF_ERROR(gfk_rlnc_decoder_add(decoder, d->headers, d->count, d->vectors,
                                         d->pitch / (d->code.field.w / 8), &gfk_no_regions,
                                         d->outcomes, NULL));
    RETURN_IF_ERROR(gfk_rlnc_determine_on_cpu(decoder, d->bytes != 0 ? d->sources : &gfk_no_regions,
                                              d->decoded, factors, to));
    (void)gfk_rlnc_decoder_wait(decoder, NULL, 0, 1, &d->record);
    d->record.kept = d->record.dropped; /* every dependent packet is available for the check */
    d->record.dropped = 0;
    return GFK_STATUS_SUCCESS;
}

static gfk_status decode(decoding *d, gfk_rlnc_decoder_t decoder, check *c) {
    gfk_matrix factors;
    gfk_regions to;
    RETURN_IF_ERROR(eliminate(d, decoder, &factors, &to));
    if (factors.rows == 0 || d->bytes == 0)
        return gfk_pipeline_idle(&d->report);
    RETURN_IF_ERROR(prepare_check(d, c));
    const gfk_regions from = choose(d, GFK_RLNC_INNOVATIVE);
    RETURN_IF_ERROR(gfk_matmul_host_proven(d->pipeline, &d->code.field, &factors, &from, &to,
                                           d->bytes, GFK_SET, &d->report));
    return c->count != 0 ? run_check(d, c) : GFK_STATUS_SUCCESS;
}

/* If there are no packets, no decoder is made, because for many sources it would take gigabytes. */
static gfk_status decode_nothing(size_t n, uint8_t *decoded, gfk_rlnc_record *record,
                                 gfk_pipeline_report *report) {
    if (decoded != NULL)
        memset(decoded, 0, n);
    if (record != NULL)
        *record = (gfk_rlnc_record){.status = GFK_STATUS_SINGULAR};
    (void)gfk_pipeline_idle(report);
    return GFK_STATUS_SINGULAR;
}

gfk_status gfk_rlnc_decode_host(gfk_pipeline_t pipeline, gfk_rlnc_t code, uint64_t generation,
                                const gfk_rlnc_header *headers, size_t count, const void *vectors,
                                size_t stride, const gfk_regions *payloads,
                                const gfk_regions *sources, uint8_t *decoded,
                                gfk_rlnc_record *record, gfk_pipeline_report *report) {
    if (pipeline == NULL || code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (count > GFK_RLNC_MOST_PACKETS)
        return GFK_STATUS_INVALID_SIZE;
    const size_t n = code->n, bytes = count != 0 ? code->bytes : 0;
    const gfk_operand operands[] = {
        gfk_operand_range(headers, count * sizeof *headers, _Alignof(gfk_rlnc_header), GFK_READ),
        gfk_operand_regions(payloads, count, bytes, GFK_HOST),
        gfk_operand_regions(sources, n, bytes, GFK_HOST | GFK_WRITE),
        gfk_operand_optional(decoded, n, 1, GFK_WRITE),
        gfk_operand_optional(record, sizeof *record, _Alignof(gfk_rlnc_record), GFK_WRITE),
        gfk_report_operand(report),
        gfk_rlnc_rows(code, vectors, count, stride, GFK_READ),
    };
    RETURN_IF_ERROR(check_memory(pipeline, operands, vectors != NULL && count != 0 ? 7 : 6));
    if (count == 0)
        return decode_nothing(code->n, decoded, record, report);
    decoding d = {.pipeline = pipeline,
                  .code = gfk_rlnc_of_vectors_on_cpu(code, pipeline->pool, pipeline->info.threads),
                  .bytes = bytes,
                  .headers = headers,
                  .count = count,
                  .vectors = vectors,
                  .pitch = vectors != NULL ? pitch_of(code, count, stride) : 0,
                  .payloads = payloads,
                  .sources = sources};
    d.outcomes = malloc(count);
    d.decoded = malloc(code->n);
    d.chosen = malloc(count * sizeof *d.chosen);
    check c = {0};
    gfk_rlnc_decoder_t decoder = NULL;
    gfk_status status = d.outcomes != NULL && d.decoded != NULL && d.chosen != NULL
                            ? gfk_rlnc_decoder_create(&decoder, &d.code, generation, 1, 0)
                            : GFK_STATUS_OUT_OF_MEMORY;
    if (status == GFK_STATUS_SUCCESS)
        status = decode(&d, decoder, &c);
    if (status == GFK_STATUS_SUCCESS && decoded != NULL)
        memcpy(decoded, d.decoded, code->n);
    if (status == GFK_STATUS_SUCCESS && record != NULL)
        *record = d.record;
    if (status == GFK_STATUS_SUCCESS && report != NULL)
        *report = d.report;
    if (status == GFK_STATUS_SUCCESS)
        status = (gfk_status)d.record.status;
    gfk_rlnc_decoder_destroy(decoder);
    free(c.vectors);
    free(c.sums);
    free(d.outcomes);
    free(d.decoded);
    free(d.chosen);
    return status;
}
