/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders of network coding: all checks, the memory, and the packets in the order of generations. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"

enum { MOST_RAW = 1 << 28 }; /* bytes of vectors that are taken at a time */

/* ---- memory --------------------------------------------------------------------------------- */

/* The largest workspace of the products with one generation. */
static gfk_status find_workspace(struct gfk_rlnc_decoder *d) {
    const gfk_rlnc_t code = d->code;
    const size_t n = code->n;
    const gfk_matmul_desc desc = {.size = sizeof desc,
                                  .device = code->place,
                                  .threads = d->lanes == 1 ? (unsigned)code->threads : 1};
    const struct {
        size_t rows, cols, bytes;
    } products[] = {{d->panel, n, n * d->symbol},
                    {d->rows, d->panel, n * d->symbol},
                    {n, n, code->bytes},
                    {d->spare + 1, n, code->bytes}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        size_t space;
        RETURN_IF_ERROR(gfk_matmul_workspace(&code->field, products[i].rows, products[i].cols,
                                             products[i].bytes, &desc, &space));
        d->workspace_bytes = space > d->workspace_bytes ? space : d->workspace_bytes;
    }
    return GFK_STATUS_SUCCESS;
}

/* What an elimination works with, beside a generation's table. */
gfk_status gfk_rlnc_elimination(const struct gfk_rlnc_decoder *d, uint8_t *lane, gfk_elimination *e,
                                size_t *bytes) {
    const gfk_rlnc_t code = d->code;
    const size_t n = code->n, w = code->field.w, wide = n > d->panel ? n : d->panel;
    const bool on_cpu = code->place == GFK_CPU;
    size_t used = 0;
    e->workspace_bytes = d->workspace_bytes;
    e->field = &code->field;
    e->jordan = true;
    e->processors = code->processors;
    e->arithmetic = &d->arithmetic;
    e->inverter = d->inverter;
    e->symbol = d->symbol;
    e->panel = e->group = d->panel;
    e->most_columns = d->panel + GFK_PANEL_SPARE_BITS / w;
    e->pitch = d->pitch;
    e->factors = gfk_take(lane, &used, d->rows, wide * d->symbol);
    e->transform = gfk_take(lane, &used, d->panel, d->panel * d->symbol);
    e->rows = gfk_take(lane, &used, on_cpu ? 3 * d->panel : 0, d->pitch);
    e->workspace = gfk_take(lane, &used, e->workspace_bytes, 1);
    *bytes = used;
    return used == SIZE_MAX ? GFK_STATUS_INVALID_SIZE : GFK_STATUS_SUCCESS;
}

static gfk_status lay_out(struct gfk_rlnc_decoder *d, uint8_t *arena, size_t *bytes) {
    const size_t n = d->code->n, all = d->generations;
    const bool on_cpu = d->code->place == GFK_CPU;
    size_t used = 0;
    gfk_elimination e = {0};
    RETURN_IF_ERROR(gfk_rlnc_elimination(d, NULL, &e, &d->lane_bytes));
    /* What becomes zero at create comes first. */
    d->tables = gfk_take(arena, &used, all * d->rows, d->pitch);
    d->used = gfk_take(arena, &used, all, n);
    d->ranks = gfk_take(arena, &used, all, sizeof *d->ranks);
    d->records = gfk_take(arena, &used, all, sizeof *d->records);
    d->pivots = gfk_take(arena, &used, all * d->rows, sizeof *d->pivots);
    d->payloads = gfk_take(arena, &used, all * (n + d->spare), d->payload_pitch);
    d->vectors = gfk_take(arena, &used, all * d->spare, d->pitch);
    d->checked = gfk_take(arena, &used, d->lanes * d->spare, d->payload_pitch);
    d->headers = gfk_take(arena, &used, on_cpu ? 0 : d->most, sizeof *d->headers);
    d->arrivals = gfk_take(arena, &used, on_cpu ? 0 : d->most, sizeof *d->arrivals);
    d->raw = gfk_take(arena, &used, on_cpu ? 0 : d->most, d->pitch);
    d->destinations = gfk_take(arena, &used, on_cpu ? 0 : d->panel, sizeof *d->destinations);
    d->decoded = gfk_take(arena, &used, on_cpu ? 0 : n, d->payload_pitch);
    d->is_determined = gfk_take(arena, &used, on_cpu ? 0 : n, 1);
    d->outputs_there = gfk_take(arena, &used, on_cpu ? 0 : all * n, sizeof *d->outputs_there);
    d->scratch = gfk_take(arena, &used, d->lanes, d->lane_bytes);
    *bytes = used;
    return used == SIZE_MAX ? GFK_STATUS_INVALID_SIZE : GFK_STATUS_SUCCESS;
}

static gfk_status take_memory(struct gfk_rlnc_decoder *d) {
    const bool on_cpu = d->code->place == GFK_CPU;
    size_t bytes;
    RETURN_IF_ERROR(find_workspace(d));
    RETURN_IF_ERROR(lay_out(d, NULL, &bytes));
    if (on_cpu) {
        d->memory = aligned_alloc(GFK_ALIGNMENT, bytes);
        if (d->memory == NULL)
            return GFK_STATUS_OUT_OF_MEMORY;
        RETURN_IF_ERROR(gfk_arithmetic_create(&d->arithmetic, &d->code->field));
    } else {
        RETURN_IF_ERROR(gfk_device_alloc(&d->memory, bytes));
    }
    d->sorted = malloc(d->most * sizeof *d->sorted);
    d->sorted_arrivals = malloc(d->most * sizeof *d->sorted_arrivals);
    d->begins = malloc((d->generations + 2) * sizeof *d->begins);
    d->outputs = malloc(on_cpu ? d->lanes * d->code->n * sizeof *d->outputs : 1);
    if (d->sorted == NULL || d->sorted_arrivals == NULL || d->begins == NULL || d->outputs == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    RETURN_IF_ERROR(lay_out(d, d->memory, &bytes));
    return on_cpu ? gfk_rlnc_clear_on_cpu(d) : gfk_rlnc_clear_on_device(d);
}

gfk_status gfk_rlnc_decoder_create(gfk_rlnc_decoder_t *decoder, gfk_rlnc_t code,
                                   uint64_t generation, size_t generations, size_t spare) {
    if (decoder == NULL || code == NULL || generations == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (generations - 1 > UINT64_MAX - generation || spare > GFK_RLNC_MOST_PACKETS ||
        code->bytes > SIZE_MAX - GFK_ALIGNMENT ||
        generations > GFK_RLNC_MOST_PACKETS / (code->n + spare))
        return GFK_STATUS_INVALID_SIZE;
    if (code->place != GFK_CPU)
        RETURN_IF_ERROR(gfk_device_require_current(code->place));
    struct gfk_rlnc_decoder *const d = calloc(1, sizeof *d);
    if (d == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    d->code = code;
    d->first = generation;
    d->generations = generations;
    d->spare = spare;
    d->symbol = code->field.w / 8;
    d->panel = GFK_PANEL_BITS / code->field.w;
    d->rows = code->n + d->panel;
    d->pitch = gfk_round_up(code->n * d->symbol, GFK_ALIGNMENT);
    d->payload_pitch = gfk_round_up(code->bytes, 16);
    d->lanes = code->place != GFK_CPU || code->pool == NULL ? 1
               : generations < code->threads                ? generations
                                                            : code->threads;
    const size_t packets = generations * (code->n + spare), raw = MOST_RAW / d->pitch;
    d->most = packets < raw ? packets : raw;
    d->most = d->most > d->panel ? d->most : d->panel;
    if (code->place != GFK_CPU)
        gfk_inverter_init(&d->inverter, &code->field);
    const gfk_status status = take_memory(d);
    if (status == GFK_STATUS_SUCCESS)
        *decoder = d;
    else
        gfk_rlnc_decoder_destroy(d);
    return status;
}

void gfk_rlnc_decoder_destroy(gfk_rlnc_decoder_t d) {
    if (d == NULL)
        return;
    if (d->code->place == GFK_CPU)
        free(d->memory);
    else
        gfk_device_free(d->code->place, d->memory);
    gfk_arithmetic_destroy(&d->arithmetic);
    free(d->sorted);
    free(d->sorted_arrivals);
    free(d->begins);
    free(d->outputs);
    free(d);
}

/* ---- packets -------------------------------------------------------------------------------- */

/* Which of the decoder's generations; `generations` if none. */
static size_t generation_of(const struct gfk_rlnc_decoder *d, const gfk_rlnc_header *header) {
    const uint64_t at = header->generation - d->first;
    return header->generation >= d->first && at < d->generations ? (size_t)at : d->generations;
}

/* Packets first to first + count - 1 of a call, each generation's in their order. */
static void sort(struct gfk_rlnc_decoder *d, const gfk_rlnc_header *headers,
                 const gfk_regions *payloads, size_t first, size_t count) {
    memset(d->begins, 0, (d->generations + 2) * sizeof *d->begins);
    for (size_t i = first; i < first + count; i++)
        d->begins[generation_of(d, &headers[i]) + 1]++;
    for (size_t g = 0; g <= d->generations; g++)
        d->begins[g + 1] += d->begins[g];
    for (size_t i = first; i < first + count; i++) {
        const size_t at = d->begins[generation_of(d, &headers[i])]++;
        d->sorted[at] = headers[i];
        d->sorted_arrivals[at] =
            (gfk_rlnc_arrival){gfk_region_address(payloads, i), (uint32_t)i, 0};
    }
    memmove(d->begins + 1, d->begins, (d->generations + 1) * sizeof *d->begins);
    d->begins[0] = 0;
}

gfk_status gfk_rlnc_decoder_add(gfk_rlnc_decoder_t d, const gfk_rlnc_header *headers, size_t count,
                                const void *vectors, size_t stride, const gfk_regions *payloads,
                                uint8_t *outcomes, gfk_stream_t stream) {
    if (d == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_rlnc_t code = d->code;
    if (count > GFK_RLNC_MOST_PACKETS)
        return GFK_STATUS_INVALID_SIZE;
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    if (count == 0)
        return GFK_STATUS_SUCCESS;
    if (headers == NULL || payloads == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    size_t length = 0;
    if (vectors != NULL)
        RETURN_IF_ERROR(gfk_rlnc_check_rows(code, vectors, count, code->n, stride, &length));
    if (code->bytes != 0) {
        RETURN_IF_ERROR(gfk_regions_check(payloads, count, code->bytes));
        if (code->desc.check_pointers &&
            !gfk_regions_reach(code->place, payloads, count, code->bytes))
            return GFK_STATUS_WRONG_DEVICE;
    }
    if (outcomes != NULL) {
        if (count > UINTPTR_MAX - (uintptr_t)outcomes)
            return GFK_STATUS_INVALID_SIZE;
        if (code->desc.check_pointers && !gfk_device_reaches(code->place, outcomes, count))
            return GFK_STATUS_WRONG_DEVICE;
        if (gfk_overlap(outcomes, count, headers, count * sizeof *headers) ||
            (length != 0 && gfk_overlap(outcomes, count, vectors, length)) ||
            (code->bytes != 0 && gfk_regions_touch(payloads, count, code->bytes, outcomes, count)))
            return GFK_STATUS_OVERLAP;
    }
    const gfk_rlnc_packets packets = {vectors, stride * d->symbol, outcomes};
    for (size_t first = 0; first < count; first += d->most) {
        const size_t left = count - first;
        sort(d, headers, payloads, first, left < d->most ? left : d->most);
        RETURN_IF_ERROR(code->place == GFK_CPU ? gfk_rlnc_add_on_cpu(d, &packets)
                                               : gfk_rlnc_add_on_device(d, &packets, stream));
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_decoder_decode(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                   uint8_t *decoded, gfk_stream_t stream) {
    if (d == NULL || sources == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_rlnc_t code = d->code;
    const size_t all = d->generations * code->n;
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    if (code->bytes != 0) {
        void *const nothing[1] = {NULL};
        const gfk_regions none = {nothing, NULL, 0};
        RETURN_IF_ERROR(gfk_regions_check(sources, all, code->bytes));
        if (gfk_outputs_overlap(&none, 0, sources, all, code->bytes))
            return GFK_STATUS_OVERLAP;
        if (code->desc.check_pointers && !gfk_regions_reach(code->place, sources, all, code->bytes))
            return GFK_STATUS_WRONG_DEVICE;
    }
    if (decoded != NULL) {
        if (all > UINTPTR_MAX - (uintptr_t)decoded)
            return GFK_STATUS_INVALID_SIZE;
        if (code->bytes != 0 && gfk_regions_touch(sources, all, code->bytes, decoded, all))
            return GFK_STATUS_OVERLAP;
        if (code->desc.check_pointers && !gfk_device_reaches(code->place, decoded, all))
            return GFK_STATUS_WRONG_DEVICE;
    }
    return code->place == GFK_CPU ? gfk_rlnc_decode_on_cpu(d, sources, decoded)
                                  : gfk_rlnc_decode_on_device(d, sources, decoded, stream);
}

gfk_status gfk_rlnc_decoder_wait(gfk_rlnc_decoder_t d, gfk_stream_t stream, size_t first,
                                 size_t count, gfk_rlnc_record *records) {
    if (d == NULL || records == NULL || first > d->generations || count > d->generations - first)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_device_check_stream(d->code->place, stream));
    if (d->code->place == GFK_CPU) {
        memcpy(records, d->records + first, count * sizeof *records);
    } else {
        const size_t bytes = count * sizeof *records;
        if (count != 0)
            RETURN_IF_ERROR(
                gfk_device_fetch(records, bytes, d->records + first, bytes, bytes, 1, stream));
        RETURN_IF_ERROR(gfk_device_drain(stream));
    }
    gfk_status worst = GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < count; i++)
        if (records[i].status == GFK_STATUS_CORRUPT ||
            (records[i].status != GFK_STATUS_SUCCESS && worst == GFK_STATUS_SUCCESS))
            worst = (gfk_status)records[i].status;
    return worst;
}
