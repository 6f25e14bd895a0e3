/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders of network coding: all checks, the memory, and the packets in the order of generations. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"

enum { MOST_BYTES = 1 << 28 }; /* of vectors, or of inverses, that are worked on at a time */

/* The kernels with a block for each generation, in the order of the list. */
static int find_kernel(int device, unsigned w, size_t n, size_t generations) {
    static const struct {
        unsigned w;
        size_t most, least;
        unsigned cc_min, cc_max;
        size_t shared;
    } kernels[] = {
#define GFK_RLNC_TAKE_KERNEL(kernel, w, most, least, cc_min, cc_max, shared, ...)                  \
    {w, most, least, cc_min, cc_max, (size_t)(shared) << 10},
#include "kernels/rlnc/shapes.def"
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i].w == w && n <= kernels[i].most) {
            const char *reason;
            return generations >= kernels[i].least &&
                           gfk_device_check(kernels[i].cc_min, kernels[i].cc_max, kernels[i].shared,
                                            device, &reason) == GFK_STATUS_SUCCESS
                       ? (int)i
                       : GFK_RLNC_NO_KERNEL;
        }
    return GFK_RLNC_NO_KERNEL;
}

/* Rows of a panel. The CPU searches a panel's pivots element by element, and leaves the rest to products:
 * narrow panels leave more of the work to them. */
static size_t panel_rows(gfk_rlnc_t code) {
    const unsigned w = code->field.w;
    return code->place != GFK_CPU ? GFK_PANEL_BITS / w : w == 8 ? 16 : 32;
}

/* ---- memory --------------------------------------------------------------------------------- */

gfk_status gfk_rlnc_plan_products(const struct gfk_rlnc_decoder *d, gfk_matmul_call call[2],
                                  gfk_matrix a[2], size_t *space) {
    const gfk_rlnc_t code = d->code;
    *space = 0;
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        a[i] = (gfk_matrix)GFK_MATRIX_DENSE_INIT(i == 0 ? d->inverses : d->vectors,
                                                 i == 0 ? code->n : d->spare, code->n,
                                                 d->pitch / d->symbol);
        call[i] = (gfk_matmul_call){.field = &code->field,
                                    .a = &a[i],
                                    .bytes = code->bytes,
                                    .machine = code->machine,
                                    .kernel = code->kernel};
        if (a[i].rows == 0 || code->bytes == 0)
            continue;
        RETURN_IF_ERROR(gfk_matmul_plan_batch(&call[i], d->group, 1, &bytes));
        *space = bytes > *space ? bytes : *space;
    }
    return GFK_STATUS_SUCCESS;
}

/* The largest workspace of the products. */
static gfk_status find_workspace(struct gfk_rlnc_decoder *d) {
    const gfk_rlnc_t code = d->code;
    const size_t n = code->n;
    const bool on_cpu = code->place == GFK_CPU;
    const gfk_matmul_desc desc = {.size = sizeof desc,
                                  .device = code->place,
                                  .threads = d->lanes == 1 ? (unsigned)code->threads : 1,
                                  .kernel = code->kernel != NULL ? code->kernel->id : NULL};
    const bool eliminates = d->kernel == GFK_RLNC_NO_KERNEL;
    const struct {
        size_t rows, cols, bytes;
        bool exists, in_place;
    } products[] = {{d->panel, n, n * d->symbol, eliminates, true},
                    {d->rows, d->panel, n * d->symbol, eliminates, true},
                    {n, n, code->bytes, on_cpu, false},
                    {d->spare + 1, n, code->bytes, on_cpu, false}};
    gfk_matmul_call calls[2];
    gfk_matrix matrices[2];
    if (!on_cpu)
        RETURN_IF_ERROR(gfk_rlnc_plan_products(d, calls, matrices, &d->workspace_bytes));
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        size_t space = 0;
        if (products[i].exists)
            RETURN_IF_ERROR(gfk_matmul_workspace_proven(&code->field, products[i].rows,
                                                        products[i].cols, products[i].bytes,
                                                        products[i].in_place, &desc, &space));
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
    e->machine = code->machine;
    e->kernel = code->kernel;
    e->arithmetic = &d->arithmetic;
    e->inverter = d->inverter;
    e->symbol = d->symbol;
    e->panel = d->panel;
    e->group = n; /* the table is spread at once */
    e->most_columns = d->panel + GFK_PANEL_SPARE_BITS / w;
    e->pitch = d->pitch;
    if (d->kernel == GFK_RLNC_NO_KERNEL) {
        e->factors = gfk_take(lane, &used, d->rows, wide * d->symbol);
        e->transform = gfk_take(lane, &used, d->panel, d->panel * d->symbol);
        e->rows = gfk_take(lane, &used, on_cpu ? 3 * d->panel : 0, d->pitch);
    }
    e->workspace = gfk_take(lane, &used, e->workspace_bytes, 1);
    *bytes = used;
    return used == SIZE_MAX ? GFK_STATUS_INVALID_SIZE : GFK_STATUS_SUCCESS;
}

static size_t staging_bytes(const struct gfk_rlnc_decoder *d) {
    return d->most * (sizeof *d->arrivals + sizeof *d->listed) +
           d->generations * sizeof *d->segments;
}

static gfk_status lay_out(struct gfk_rlnc_decoder *d, uint8_t *arena, size_t *bytes) {
    const size_t n = d->code->n, all = d->generations;
    const bool on_cpu = d->code->place == GFK_CPU;
    size_t used = 0;
    gfk_elimination e = {0};
    RETURN_IF_ERROR(gfk_rlnc_elimination(d, NULL, &e, &d->lane_bytes));
    d->pivots = gfk_take(arena, &used, all * d->rows, sizeof *d->pivots);
    d->used = gfk_take(arena, &used, all, n);
    d->ranks = gfk_take(arena, &used, all, sizeof *d->ranks);
    d->records = gfk_take(arena, &used, all, sizeof *d->records);
    d->tables = gfk_take(arena, &used, all * d->rows, d->pitch);
    d->payloads = gfk_take(arena, &used, all * n, d->payload_pitch);
    d->kept = gfk_take(arena, &used, all * d->spare, d->payload_pitch);
    d->vectors = gfk_take(arena, &used, all * d->spare, d->pitch);
    d->checked =
        gfk_take(arena, &used, (on_cpu ? d->lanes : d->group) * d->spare, d->payload_pitch);
    if (!on_cpu) {
        d->inverses = gfk_take(arena, &used, d->group * n, d->pitch);
        d->wanted = gfk_take(arena, &used, d->group, n);
        d->upload = gfk_take(arena, &used, staging_bytes(d), 1);
        d->headers = gfk_take(arena, &used, d->most, sizeof *d->headers);
        d->destinations = gfk_take(arena, &used, d->most, sizeof *d->destinations);
        d->raw = gfk_take(arena, &used, d->most, d->pitch);
    }
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
    d->begins = malloc((d->generations + 2) * sizeof *d->begins);
    d->outputs = malloc(on_cpu ? d->lanes * d->code->n * sizeof *d->outputs : 1);
    if (d->begins == NULL || d->outputs == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    RETURN_IF_ERROR(lay_out(d, d->memory, &bytes));
    if (!on_cpu) {
        RETURN_IF_ERROR(gfk_rlnc_open_on_device(d, bytes, staging_bytes(d)));
        RETURN_IF_ERROR(gfk_rlnc_clear_on_device(d, NULL));
        return gfk_device_drain(NULL);
    }
    gfk_rlnc_clear_on_cpu(d);
    d->staging[0] = malloc(staging_bytes(d));
    return d->staging[0] != NULL ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
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
    d->panel = panel_rows(code);
    d->kernel = code->place == GFK_CPU
                    ? GFK_RLNC_NO_KERNEL
                    : find_kernel(code->place, code->field.w, code->n, generations);
    d->rows = code->n + (d->kernel == GFK_RLNC_NO_KERNEL ? d->panel : 0);
    d->pitch = gfk_round_up(code->n * d->symbol, GFK_ALIGNMENT);
    d->payload_pitch = gfk_round_up(code->bytes, 16);
    d->lanes = code->place != GFK_CPU || code->pool == NULL ? 1
               : generations < code->threads                ? generations
                                                            : code->threads;
    const size_t packets = generations * (code->n + spare), at_once = MOST_BYTES / d->pitch;
    d->most = packets + packets / 4 < at_once ? packets + packets / 4 : at_once;
    d->most = d->most > d->panel ? d->most : d->panel;
    d->group = at_once / code->n == 0            ? 1
               : generations < at_once / code->n ? generations
                                                 : at_once / code->n;
    if (code->place != GFK_CPU)
        gfk_inverter_init(&d->inverter, &code->field);
    const gfk_status status = take_memory(d);
    if (status == GFK_STATUS_SUCCESS)
        *decoder = d;
    else
        gfk_rlnc_decoder_destroy(d);
    return status;
}

gfk_status gfk_rlnc_decoder_reset(gfk_rlnc_decoder_t d, uint64_t generation, gfk_stream_t stream) {
    if (d == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (d->generations - 1 > UINT64_MAX - generation)
        return GFK_STATUS_INVALID_SIZE;
    RETURN_IF_ERROR(gfk_device_check_stream(d->code->place, stream));
    if (d->code->place != GFK_CPU)
        RETURN_IF_ERROR(gfk_rlnc_clear_on_device(d, stream));
    else
        gfk_rlnc_clear_on_cpu(d);
    d->first = generation;
    return GFK_STATUS_SUCCESS;
}

void gfk_rlnc_decoder_destroy(gfk_rlnc_decoder_t d) {
    if (d == NULL)
        return;
    if (d->code->place == GFK_CPU) {
        free(d->memory);
        free(d->staging[0]);
    } else {
        gfk_device_free(d->code->place, d->memory);
        gfk_rlnc_close_on_device(d);
    }
    gfk_arithmetic_destroy(&d->arithmetic);
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

/* The end of the packets from i on that have the same generation. */
static size_t end_of_run(const gfk_rlnc_packets *packets, size_t i) {
    const gfk_rlnc_header *const headers = packets->headers;
    size_t end = i + 1;
    while (end < packets->count && headers[end].generation == headers[i].generation)
        end++;
    return end;
}

/* The packets of each generation in their order, in the staging memory. */
static void sort(struct gfk_rlnc_decoder *d, const gfk_rlnc_packets *packets) {
    const size_t count = packets->count;
    const bool is_listed =
        d->code->place != GFK_CPU && d->code->bytes != 0 && packets->payloads.pointers != NULL;
    d->arrivals = (gfk_rlnc_arrival *)d->staging[d->turn];
    d->listed = is_listed ? (void **)(d->arrivals + count) : NULL;
    d->segments = is_listed ? (gfk_rlnc_segment *)(d->listed + count)
                            : (gfk_rlnc_segment *)(d->arrivals + count);
    if (is_listed)
        memcpy(d->listed, packets->payloads.pointers, count * sizeof *d->listed);

    memset(d->begins, 0, (d->generations + 2) * sizeof *d->begins);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_run(packets, i);
        d->begins[generation_of(d, &packets->headers[i]) + 1] += (uint32_t)(end - i);
    }
    for (size_t g = 0; g <= d->generations; g++)
        d->begins[g + 1] += d->begins[g];
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t *const begin = &d->begins[generation_of(d, &packets->headers[i])];
        gfk_rlnc_arrival *to = d->arrivals + *begin;
        end = end_of_run(packets, i);
        *begin += (uint32_t)(end - i);
        for (size_t j = i; j < end; j++)
            *to++ = (gfk_rlnc_arrival){(uint32_t)j, packets->headers[j].packet};
    }
    /* Now begins[g] is where the packets of g end. */
    d->segment_count = d->accepted = 0;
    for (size_t g = 0; g < d->generations; g++) {
        if (d->begins[g] == d->accepted)
            continue;
        d->segments[d->segment_count++] =
            (gfk_rlnc_segment){(uint32_t)g, (uint32_t)d->accepted, d->begins[g]};
        d->accepted = d->begins[g];
    }
}

/* Packets first to first + count - 1 of a call. */
static gfk_rlnc_packets packets_from(const struct gfk_rlnc_decoder *d, const gfk_rlnc_packets *all,
                                     size_t first, size_t count) {
    gfk_rlnc_packets p = *all;
    p.headers += first;
    p.count = count;
    if (all->vectors != NULL)
        p.vectors += first * all->vector_pitch;
    if (all->payloads.pointers != NULL)
        p.payloads.pointers += first;
    else if (d->code->bytes != 0)
        p.payloads.base = gfk_region_address(&all->payloads, first);
    if (all->outcomes != NULL)
        p.outcomes += first;
    return p;
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
    if (headers == NULL || (payloads == NULL && code->bytes != 0))
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
    const gfk_rlnc_packets all = {.headers = headers,
                                  .count = count,
                                  .vectors = vectors,
                                  .vector_pitch = stride * d->symbol,
                                  .payloads = code->bytes != 0 ? *payloads : gfk_no_regions,
                                  .outcomes = outcomes};
    for (size_t first = 0; first < count; first += d->most) {
        const size_t left = count - first;
        const gfk_rlnc_packets packets =
            packets_from(d, &all, first, left < d->most ? left : d->most);
        if (code->place != GFK_CPU)
            RETURN_IF_ERROR(gfk_device_wait(d->events[d->turn]));
        sort(d, &packets);
        RETURN_IF_ERROR(code->place == GFK_CPU ? gfk_rlnc_add_on_cpu(d, &packets)
                                               : gfk_rlnc_add_on_device(d, &packets, stream));
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_decoder_decode(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                   uint8_t *decoded, gfk_stream_t stream) {
    if (d == NULL || (sources == NULL && d->code->bytes != 0))
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_rlnc_t code = d->code;
    if (code->bytes == 0)
        sources = &gfk_no_regions;
    const size_t all = d->generations * code->n;
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    if (code->bytes != 0) {
        RETURN_IF_ERROR(gfk_regions_check(sources, all, code->bytes));
        if (gfk_outputs_overlap(&gfk_no_regions, 0, sources, all, code->bytes))
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
