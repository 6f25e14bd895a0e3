/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of network coding: matmuls with factors that the CPU makes. */
#include <stdlib.h>
#include <string.h>

#include "host/rlnc/decoder.h"
#include "pipeline.h"

static bool is_on_device(gfk_pipeline_t pipeline, const void *memory, size_t bytes) {
    return pipeline->info.device_count != 0 &&
           gfk_device_memory_kind(memory, bytes) == GFK_MEMORY_DEVICE;
}

static bool any_on_device(gfk_pipeline_t pipeline, const gfk_regions *regions, size_t count,
                          size_t bytes) {
    if (regions->pointers == NULL)
        return is_on_device(pipeline, regions->base, (count - 1) * regions->stride + bytes);
    for (size_t i = 0; i < count; i++)
        if (is_on_device(pipeline, regions->pointers[i], bytes))
            return true;
    return false;
}

/* Bytes from row to row of n symbols. The stride of one row is not used. */
static size_t pitch_of(gfk_rlnc_t code, size_t rows, size_t stride) {
    return (rows > 1 ? stride : code->n) * (code->field.w / 8);
}

/* What a matmul would refuse is refused before vectors are made, and before anything is written. */
static gfk_status check_regions(gfk_pipeline_t pipeline, const gfk_regions *in, size_t ins,
                                const gfk_regions *out, size_t outs, size_t bytes,
                                const gfk_pipeline_report *report) {
    if (in == NULL || out == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_regions_check(in, ins, bytes));
    RETURN_IF_ERROR(gfk_regions_check(out, outs, bytes));
    if (any_on_device(pipeline, in, ins, bytes) || any_on_device(pipeline, out, outs, bytes))
        return GFK_STATUS_INVALID_ARGUMENT;
    const size_t length = report != NULL ? sizeof *report : 0;
    return gfk_outputs_overlap_host(in, ins, out, outs, bytes) ||
                   gfk_regions_touch(in, ins, bytes, report, length) ||
                   gfk_regions_touch(out, outs, bytes, report, length)
               ? GFK_STATUS_OVERLAP
               : GFK_STATUS_SUCCESS;
}

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
    RETURN_IF_ERROR(
        check_regions(pipeline, sources, code->n, payloads, packets, code->bytes, report));
    if (gfk_report_is_misaligned(report))
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_matrix vectors;
    RETURN_IF_ERROR(make_factors(pipeline, &code->rule, &range, &vectors));
    const gfk_status status = gfk_matmul_host_proven(pipeline, &code->field, &vectors, sources,
                                                     payloads, code->bytes, GFK_SET, report);
    free((void *)vectors.elements);
    return status;
}

/* What a recoder reads and writes. */
typedef struct recoding {
    gfk_rlnc_t code;
    size_t received, count;
    const gfk_regions *payloads, *new_payloads;
    gfk_regions vectors; /* rows, as regions */
} recoding;

static gfk_status check_recoding(gfk_pipeline_t pipeline, recoding *r, const void *vectors,
                                 size_t stride, const void *new_vectors, size_t new_stride,
                                 const gfk_pipeline_report *report) {
    const size_t n = r->code->n, bytes = r->code->bytes, symbol = r->code->field.w / 8;
    gfk_span rows[3] = {[2] = {report, report != NULL ? sizeof *report : 0}};
    RETURN_IF_ERROR(gfk_matmul_span(vectors, r->received, n, stride, symbol, &rows[0]));
    RETURN_IF_ERROR(gfk_matmul_span(new_vectors, r->count, n, new_stride, symbol, &rows[1]));
    r->vectors = gfk_inputs_spaced(vectors, pitch_of(r->code, r->received, stride));
    if (gfk_spans_overlap(rows, 3))
        return GFK_STATUS_OVERLAP;
    if (is_on_device(pipeline, new_vectors, rows[1].bytes))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(check_regions(pipeline, r->payloads, r->received, r->new_payloads, r->count,
                                  bytes, report));
    return gfk_regions_touch(r->payloads, r->received, bytes, rows[1].start, rows[1].bytes) ||
                   gfk_regions_touch(r->new_payloads, r->count, bytes, rows[0].start,
                                     rows[0].bytes) ||
                   gfk_regions_touch(r->new_payloads, r->count, bytes, rows[1].start, rows[1].bytes)
               ? GFK_STATUS_OVERLAP
               : GFK_STATUS_SUCCESS;
}

/* The product of the vectors goes to `made`: once the caller's memory is written, nothing can fail. */
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
    recoding r = {code, received, packets, payloads, new_payloads, {0}};
    RETURN_IF_ERROR(check_recoding(pipeline, &r, vectors, stride, new_vectors, new_stride, report));
    if (gfk_report_is_misaligned(report))
        return GFK_STATUS_INVALID_ARGUMENT;
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

enum {
    CHECKED_BYTES = 1 << 26
}; /* of dependent packets that are checked at a time, or one packet */

typedef struct decoding {
    gfk_pipeline_t pipeline;
    struct gfk_rlnc code; /* the caller's on the CPU, of vectors alone */
    size_t bytes;         /* of a payload */
    const gfk_rlnc_header *headers;
    size_t count;
    const uint8_t *vectors; /* or NULL */
    size_t pitch;           /* from vector to vector */
    const gfk_regions *payloads, *sources;
    uint8_t *outcomes, *decoded; /* of packets; of sources */
    void **chosen;               /* addresses of payloads */
    gfk_rlnc_record record;
    gfk_pipeline_report report;
} decoding;

/* Of all spans those of index 0 to WRITTEN - 1 are written. */
enum { WRITTEN = 3, SPANS = WRITTEN + 2 };

static gfk_status check_decoding(const decoding *d, const void *vectors, size_t stride,
                                 const uint8_t *decoded, const gfk_rlnc_record *record,
                                 const gfk_pipeline_report *report) {
    const size_t n = d->code.n, bytes = d->bytes, symbol = d->code.field.w / 8;
    gfk_span spans[SPANS] = {{decoded, decoded != NULL ? n : 0},
                             {record, record != NULL ? sizeof *record : 0},
                             {report, report != NULL ? sizeof *report : 0},
                             {d->headers, d->count * sizeof *d->headers},
                             {vectors, 0}};
    if (d->count != 0 && d->headers == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    for (int i = 0; i < SPANS; i++)
        if (gfk_wraps(spans[i].start, spans[i].bytes))
            return GFK_STATUS_INVALID_SIZE;
    if (vectors != NULL && d->count != 0)
        RETURN_IF_ERROR(gfk_matmul_span(vectors, d->count, n, stride, symbol, &spans[SPANS - 1]));
    if (gfk_written_overlap(spans, WRITTEN, SPANS))
        return GFK_STATUS_OVERLAP;
    if (bytes == 0 || d->count == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(check_regions(d->pipeline, d->payloads, d->count, d->sources, n, bytes, NULL));
    bool overlap = false;
    for (int i = 0; i < SPANS; i++)
        overlap |= gfk_regions_touch(d->sources, n, bytes, spans[i].start, spans[i].bytes) ||
                   (i < WRITTEN && gfk_regions_touch(d->payloads, d->count, bytes, spans[i].start,
                                                     spans[i].bytes));
    return overlap ? GFK_STATUS_OVERLAP : GFK_STATUS_SUCCESS;
}

/* Lists the payloads of packets with that outcome. */
static gfk_regions choose(decoding *d, gfk_rlnc_outcome outcome) {
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->outcomes[i] == outcome)
            d->chosen[count++] = gfk_region_address(d->payloads, i);
    return (gfk_regions){d->chosen, NULL, 0};
}

/* The vectors of dependent packets, and memory for sums. */
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

/* Are the payloads of dependent packets the sums that their vectors say? */
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

/* What is the same with any payloads: outcomes, record, and the factors of sources. */
static gfk_status eliminate(decoding *d, gfk_rlnc_decoder_t decoder, gfk_matrix *factors,
                            gfk_regions *to) {
    RETURN_IF_ERROR(gfk_rlnc_decoder_add(decoder, d->headers, d->count, d->vectors,
                                         d->pitch / (d->code.field.w / 8), &gfk_no_regions,
                                         d->outcomes, NULL));
    RETURN_IF_ERROR(gfk_rlnc_determine_on_cpu(decoder, d->bytes != 0 ? d->sources : &gfk_no_regions,
                                              d->decoded, factors, to));
    (void)gfk_rlnc_decoder_wait(decoder, NULL, 0, 1, &d->record);
    d->record.kept = d->record.dropped; /* all dependent packets are there to be checked */
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

/* Without packets no decoder is made, which would take gigabytes for many sources. */
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
    decoding d = {.pipeline = pipeline,
                  .code = *code,
                  .bytes = code->bytes,
                  .headers = headers,
                  .count = count,
                  .vectors = vectors,
                  .payloads = payloads,
                  .sources = sources};
    RETURN_IF_ERROR(check_decoding(&d, vectors, stride, decoded, record, report));
    if ((uintptr_t)headers % _Alignof(gfk_rlnc_header) != 0 ||
        (uintptr_t)record % _Alignof(gfk_rlnc_record) != 0 || gfk_report_is_misaligned(report))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (count == 0)
        return decode_nothing(code->n, decoded, record, report);
    d.pitch = vectors != NULL ? pitch_of(code, count, stride) : 0;
    d.code.bytes = 0;
    d.code.desc.check_pointers = false;
    d.code.place = GFK_CPU;
    d.code.machine = (gfk_matmul_machine){0};
    d.code.kernel = NULL;
    d.code.pool = pipeline->pool;
    d.code.threads = pipeline->info.threads;
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
