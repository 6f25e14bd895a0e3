/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders of network coding: all checks, the memory, and the sorting of packets. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"

enum { MOST_BYTES = 1 << 28 }; /* bytes of the vectors, or inverses, that are worked on at a time */

/* Returns the kernel whose blocks take the packets of a generation. NULL: packets are taken in
 * panels. */
static const gfk_kernel_row *find_kernel(gfk_rlnc_t code, size_t generations) {
    const char *reason;
    const gfk_kernel_row *const row =
        code->place != GFK_CPU ? gfk_row_first("rlnc_take", code->field.w, code->n, code->n) : NULL;
    return row != NULL && gfk_within(row->info.batch, generations) &&
                   gfk_row_check_device(&row->info, code->place, &reason) == GFK_STATUS_SUCCESS
               ? row
               : NULL;
}

/* Returns the number of rows of a panel. The CPU searches a panel's pivots element by element, and
 * leaves the rest of the work to products: narrow panels leave more to products. */
static size_t panel_rows(gfk_rlnc_t code) {
    const unsigned w = code->field.w;
    return code->place != GFK_CPU ? GFK_PANEL_BITS / w : w == 8 ? 16 : 32;
}

static gfk_rlnc_shape find_shape(gfk_rlnc_t code, const gfk_kernel_row *kernel, size_t generations,
                                 size_t spare) {
    const size_t symbol = code->field.w / 8, panel = panel_rows(code);
    const size_t pitch = gfk_round_up(code->n * symbol, GFK_ALIGNMENT);
    const size_t packets = generations * (code->n + spare), rows_at_once = MOST_BYTES / pitch;
    const size_t group = gfk_least(generations, rows_at_once / code->n);
    return (gfk_rlnc_shape){
        .generations = generations,
        .spare = spare,
        .symbol = symbol,
        .panel = panel,
        .rows = code->n + (kernel == NULL ? panel : 0),
        .pitch = pitch,
        .payload_pitch = gfk_round_up(code->bytes, 16),
        .most = gfk_greatest(gfk_least(packets + packets / 4, rows_at_once), panel),
        .group = gfk_greatest(group, 1),
        .lanes = code->place != GFK_CPU || code->pool == NULL
                     ? 1
                     : gfk_least(generations, code->threads),
    };
}

/* ---- memory --------------------------------------------------------------------------------- */

gfk_status gfk_rlnc_plan_products(const struct gfk_rlnc_decoder *d, gfk_matmul_call call[2],
                                  gfk_matrix a[2], size_t *space) {
    const gfk_rlnc_t code = d->code;
    const size_t stride = d->shape.pitch / d->shape.symbol;
    a[0] = (gfk_matrix)GFK_MATRIX_DENSE_INIT(d->device.inverses, code->n, code->n, stride);
    a[1] =
        (gfk_matrix)GFK_MATRIX_DENSE_INIT(d->state.kept_vectors, d->shape.spare, code->n, stride);
    *space = 0;
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        call[i] = (gfk_matmul_call){.field = &code->field,
                                    .a = &a[i],
                                    .bytes = code->bytes,
                                    .machine = code->machine,
                                    .kernel = code->kernel};
        if (a[i].rows == 0 || code->bytes == 0)
            continue;
        RETURN_IF_ERROR(gfk_matmul_plan_batch(&call[i], d->shape.group, 1, &bytes));
        *space = gfk_greatest(*space, bytes);
    }
    return GFK_STATUS_SUCCESS;
}

/* Sets *space to the largest workspace of the products. */
static gfk_status find_workspace(const struct gfk_rlnc_decoder *d, size_t *space) {
    const gfk_rlnc_t code = d->code;
    const gfk_rlnc_shape *const shape = &d->shape;
    const size_t n = code->n, row = n * shape->symbol;
    const bool on_cpu = code->place == GFK_CPU;
    const gfk_matmul_desc desc = {.size = sizeof desc,
                                  .device = code->place,
                                  .threads = shape->lanes == 1 ? (unsigned)code->threads : 1,
                                  .kernel = code->kernel != NULL ? code->kernel->info.id : NULL};
    const bool eliminates = d->kernel == NULL;
    const struct {
        size_t rows, cols, bytes;
        bool exists, in_place;
    } products[] = {
        {.rows = shape->panel, .cols = n, .bytes = row, .exists = eliminates, .in_place = true},
        {.rows = shape->rows,
         .cols = shape->panel,
         .bytes = row,
         .exists = eliminates,
         .in_place = true},
        {.rows = n, .cols = n, .bytes = code->bytes, .exists = on_cpu},
        {.rows = shape->spare + 1, .cols = n, .bytes = code->bytes, .exists = on_cpu}};
    gfk_matmul_call calls[2];
    gfk_matrix matrices[2];
    *space = 0;
    if (!on_cpu)
        RETURN_IF_ERROR(gfk_rlnc_plan_products(d, calls, matrices, space));
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        size_t bytes = 0;
        if (products[i].exists)
            RETURN_IF_ERROR(gfk_matmul_workspace_proven(&code->field, products[i].rows,
                                                        products[i].cols, products[i].bytes,
                                                        products[i].in_place, &desc, &bytes));
        *space = gfk_greatest(*space, bytes);
    }
    return GFK_STATUS_SUCCESS;
}

/* Lays out the memory of a lane, or computes the size alone if the memory is NULL. *used becomes
 * the lane's bytes. */
static void lay_out_lane(const struct gfk_rlnc_decoder *d, uint8_t *lane, gfk_elimination *e,
                         size_t *used) {
    const gfk_rlnc_shape *const shape = &d->shape;
    const size_t panel = shape->panel, wide = gfk_greatest(d->code->n, panel);
    *used = 0;
    if (d->kernel == NULL) {
        const bool on_cpu = d->code->place == GFK_CPU;
        e->factors = gfk_take(lane, used, shape->rows, wide * shape->symbol);
        e->transform = gfk_take(lane, used, panel, panel * shape->symbol);
        e->rows = gfk_take(lane, used, on_cpu ? 3 * panel : 0, shape->pitch);
    }
    e->workspace = gfk_take(lane, used, d->scratch.workspace_bytes, 1);
}

gfk_elimination gfk_rlnc_elimination(const struct gfk_rlnc_decoder *d, size_t lane,
                                     size_t generation) {
    const gfk_rlnc_t code = d->code;
    const gfk_rlnc_shape *const shape = &d->shape;
    gfk_elimination e = {
        .field = &code->field,
        .jordan = true,
        .machine = code->machine,
        .kernel = code->kernel,
        .symbol = shape->symbol,
        .panel = shape->panel,
        .group = code->n, /* the table is spread at once */
        .most_columns = shape->panel + GFK_PANEL_SPARE_BITS / code->field.w,
        .pitch = shape->pitch,
        .matrix = d->state.tables + generation * shape->rows * shape->pitch,
        .pivots = d->state.pivots + generation * shape->rows,
        .used = d->state.used + generation * code->n,
        .rank = d->state.ranks + generation,
        .arithmetic = &d->scratch.arithmetic,
        .inverter = d->device.inverter,
        .workspace_bytes = d->scratch.workspace_bytes,
    };
    size_t bytes;
    lay_out_lane(d, d->scratch.lanes + lane * d->scratch.lane_bytes, &e, &bytes);
    return e;
}

static size_t staging_bytes(const struct gfk_rlnc_decoder *d) {
    return d->shape.most * (sizeof *d->sorted.arrivals + sizeof *d->sorted.listed) +
           d->shape.generations * sizeof *d->sorted.segments;
}

static void lay_out_state(const gfk_rlnc_shape *shape, size_t n, gfk_rlnc_state *s, uint8_t *memory,
                          size_t *used) {
    const size_t all = shape->generations;
    s->pivots = gfk_take(memory, used, all * shape->rows, sizeof *s->pivots);
    const size_t counters_at = *used;
    s->used = gfk_take(memory, used, all, n);
    s->ranks = gfk_take(memory, used, all, sizeof *s->ranks);
    s->records = gfk_take(memory, used, all, sizeof *s->records);
    s->counters.start = s->used;
    s->counters.bytes = *used - counters_at;
    s->tables = gfk_take(memory, used, all * shape->rows, shape->pitch);
    s->payloads = gfk_take(memory, used, all * n, shape->payload_pitch);
    s->kept = gfk_take(memory, used, all * shape->spare, shape->payload_pitch);
    s->kept_vectors = gfk_take(memory, used, all * shape->spare, shape->pitch);
}

static void lay_out_device(const struct gfk_rlnc_decoder *d, gfk_rlnc_on_device *device,
                           uint8_t *memory, size_t *used) {
    const gfk_rlnc_shape *const shape = &d->shape;
    const size_t n = d->code->n;
    device->inverses = gfk_take(memory, used, shape->group * n, shape->pitch);
    device->wanted = gfk_take(memory, used, shape->group, n);
    device->upload = gfk_take(memory, used, staging_bytes(d), 1);
    device->headers = gfk_take(memory, used, shape->most, sizeof *device->headers);
    device->destinations = gfk_take(memory, used, shape->most, sizeof *device->destinations);
    device->vectors = gfk_take(memory, used, shape->most, shape->pitch);
}

/* Lays out the memory at the code's place, or computes the size alone if the memory is NULL. */
static gfk_status lay_out_decoder(struct gfk_rlnc_decoder *d, uint8_t *memory, size_t *bytes) {
    const gfk_rlnc_shape *const shape = &d->shape;
    gfk_rlnc_scratch *const scratch = &d->scratch;
    const bool on_cpu = d->code->place == GFK_CPU;
    size_t used = 0;
    gfk_elimination e;
    lay_out_lane(d, NULL, &e, &scratch->lane_bytes);
    lay_out_state(shape, d->code->n, &d->state, memory, &used);
    scratch->checked = gfk_take(
        memory, &used, (on_cpu ? shape->lanes : shape->group) * shape->spare, shape->payload_pitch);
    if (!on_cpu)
        lay_out_device(d, &d->device, memory, &used);
    scratch->lanes = gfk_take(memory, &used, shape->lanes, scratch->lane_bytes);
    *bytes = used;
    return used == SIZE_MAX || scratch->lane_bytes == SIZE_MAX ? GFK_STATUS_INVALID_SIZE
                                                               : GFK_STATUS_SUCCESS;
}

static gfk_status take_memory(struct gfk_rlnc_decoder *d) {
    const gfk_rlnc_t code = d->code;
    const bool on_cpu = code->place == GFK_CPU;
    size_t bytes;
    RETURN_IF_ERROR(find_workspace(d, &d->scratch.workspace_bytes));
    RETURN_IF_ERROR(lay_out_decoder(d, NULL, &bytes));
    if (on_cpu) {
        d->memory = aligned_alloc(GFK_ALIGNMENT, bytes);
        d->scratch.outputs = malloc(d->shape.lanes * code->n * sizeof *d->scratch.outputs);
        d->staging.memory[0] = malloc(staging_bytes(d));
        if (d->memory == NULL || d->scratch.outputs == NULL || d->staging.memory[0] == NULL)
            return GFK_STATUS_OUT_OF_MEMORY;
        RETURN_IF_ERROR(gfk_arithmetic_create(&d->scratch.arithmetic, &code->field));
    } else {
        gfk_inverter_init(&d->device.inverter, &code->field);
        RETURN_IF_ERROR(gfk_device_alloc(&d->memory, bytes));
    }
    d->sorted.begins = malloc((d->shape.generations + 2) * sizeof *d->sorted.begins);
    if (d->sorted.begins == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    RETURN_IF_ERROR(lay_out_decoder(d, d->memory, &bytes));
    if (on_cpu) {
        gfk_rlnc_clear_on_cpu(d);
        return GFK_STATUS_SUCCESS;
    }
    RETURN_IF_ERROR(gfk_rlnc_open_on_device(d, bytes, staging_bytes(d)));
    RETURN_IF_ERROR(gfk_rlnc_clear_on_device(d, NULL));
    return gfk_device_drain(NULL);
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
    d->kernel = find_kernel(code, generations);
    d->shape = find_shape(code, d->kernel, generations, spare);
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
    if (d->shape.generations - 1 > UINT64_MAX - generation)
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
        free(d->staging.memory[0]);
    } else {
        gfk_device_free(d->code->place, d->memory);
        gfk_rlnc_close_on_device(d);
    }
    gfk_arithmetic_destroy(&d->scratch.arithmetic);
    free(d->sorted.begins);
    free(d->scratch.outputs);
    free(d);
}

/* ---- packets -------------------------------------------------------------------------------- */

/* Returns the index of the header's generation, or shape.generations if the decoder does not have
 * it. */
static size_t generation_of(const struct gfk_rlnc_decoder *d, const gfk_rlnc_header *header) {
    const uint64_t at = header->generation - d->first;
    return header->generation >= d->first && at < d->shape.generations ? (size_t)at
                                                                       : d->shape.generations;
}

/* Returns the end of the packets from i on that have the same generation. */
static size_t end_of_run(const gfk_rlnc_packets *packets, size_t i) {
    const gfk_rlnc_header *const headers = packets->headers;
    size_t end = i + 1;
    while (end < packets->count && headers[end].generation == headers[i].generation)
        end++;
    return end;
}

/* Lays out the lists of a call's packets in the staging memory. */
static void lay_out_sorted(struct gfk_rlnc_decoder *d, const gfk_rlnc_packets *packets) {
    gfk_rlnc_sorted *const s = &d->sorted;
    const size_t count = packets->count;
    const bool is_listed =
        d->code->place != GFK_CPU && d->code->bytes != 0 && packets->payloads.pointers != NULL;
    s->arrivals = (gfk_rlnc_arrival *)d->staging.memory[d->staging.turn];
    s->listed = is_listed ? (void **)(s->arrivals + count) : NULL;
    s->segments = is_listed ? (gfk_rlnc_segment *)(s->listed + count)
                            : (gfk_rlnc_segment *)(s->arrivals + count);
    if (is_listed)
        memcpy(s->listed, packets->payloads.pointers, count * sizeof *s->listed);
}

/* Sorts the packets by generation; those of a generation keep their order. */
static void sort(struct gfk_rlnc_decoder *d, const gfk_rlnc_packets *packets) {
    gfk_rlnc_sorted *const s = &d->sorted;
    const size_t count = packets->count, generations = d->shape.generations;
    lay_out_sorted(d, packets);
    memset(s->begins, 0, (generations + 2) * sizeof *s->begins);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_run(packets, i);
        s->begins[generation_of(d, &packets->headers[i]) + 1] += (uint32_t)(end - i);
    }
    for (size_t g = 0; g <= generations; g++)
        s->begins[g + 1] += s->begins[g];
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t *const begin = &s->begins[generation_of(d, &packets->headers[i])];
        gfk_rlnc_arrival *to = s->arrivals + *begin;
        end = end_of_run(packets, i);
        *begin += (uint32_t)(end - i);
        for (size_t j = i; j < end; j++)
            *to++ = (gfk_rlnc_arrival){.source = (uint32_t)j, .packet = packets->headers[j].packet};
    }
    /* Now the packets of generation g end at begins[g]. */
    s->segment_count = s->accepted = 0;
    for (size_t g = 0; g < generations; g++) {
        if (s->begins[g] == s->accepted)
            continue;
        s->segments[s->segment_count++] = (gfk_rlnc_segment){
            .generation = (uint32_t)g, .begin = (uint32_t)s->accepted, .end = s->begins[g]};
        s->accepted = s->begins[g];
    }
}

/* Takes packets [first, first + count) of a call. */
static gfk_rlnc_packets packets_from(const gfk_rlnc_packets *all, size_t first, size_t count) {
    return (gfk_rlnc_packets){
        .headers = all->headers + first,
        .count = count,
        .vectors = all->vectors != NULL ? all->vectors + first * all->vector_pitch : NULL,
        .vector_pitch = all->vector_pitch,
        .payloads = gfk_regions_from(&all->payloads, first),
        .outcomes = all->outcomes != NULL ? all->outcomes + first : NULL};
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
    const gfk_operand operands[] = {
        gfk_operand_range(headers, count * sizeof *headers, 1, GFK_HOST),
        gfk_operand_regions(payloads, count, code->bytes, GFK_READ),
        gfk_operand_optional(outcomes, count, 1, GFK_WRITE),
        gfk_rlnc_rows(code, vectors, count, stride, GFK_READ),
    };
    RETURN_IF_ERROR(gfk_rlnc_check_memory(code, operands, vectors != NULL ? 4 : 3));
    const gfk_rlnc_packets all = {.headers = headers,
                                  .count = count,
                                  .vectors = vectors,
                                  .vector_pitch = stride * d->shape.symbol,
                                  .payloads = code->bytes != 0 ? *payloads : gfk_no_regions,
                                  .outcomes = outcomes};
    for (size_t first = 0; first < count; first += d->shape.most) {
        const gfk_rlnc_packets packets =
            packets_from(&all, first, gfk_least(count - first, d->shape.most));
        if (code->place != GFK_CPU)
            RETURN_IF_ERROR(gfk_device_wait(d->staging.events[d->staging.turn]));
        sort(d, &packets);
        RETURN_IF_ERROR(code->place == GFK_CPU ? gfk_rlnc_add_on_cpu(d, &packets)
                                               : gfk_rlnc_add_on_device(d, &packets, stream));
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_decoder_decode(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                   uint8_t *decoded, gfk_stream_t stream) {
    if (d == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_rlnc_t code = d->code;
    const size_t all = d->shape.generations * code->n;
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    const gfk_operand operands[] = {gfk_operand_regions(sources, all, code->bytes, GFK_WRITE),
                                    gfk_operand_optional(decoded, all, 1, GFK_WRITE)};
    RETURN_IF_ERROR(gfk_rlnc_check_memory(code, operands, 2));
    if (code->bytes == 0)
        sources = &gfk_no_regions;
    return code->place == GFK_CPU ? gfk_rlnc_decode_on_cpu(d, sources, decoded)
                                  : gfk_rlnc_decode_on_device(d, sources, decoded, stream);
}

gfk_status gfk_rlnc_decoder_wait(gfk_rlnc_decoder_t d, gfk_stream_t stream, size_t first,
                                 size_t count, gfk_rlnc_record *records) {
    if (d == NULL || records == NULL || first > d->shape.generations ||
        count > d->shape.generations - first)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_device_check_stream(d->code->place, stream));
    if (d->code->place == GFK_CPU) {
        memcpy(records, d->state.records + first, count * sizeof *records);
    } else {
        const size_t bytes = count * sizeof *records;
        if (count != 0)
            RETURN_IF_ERROR(gfk_device_fetch(records, bytes, d->state.records + first, bytes, bytes,
                                             1, stream));
        RETURN_IF_ERROR(gfk_device_drain(stream));
    }
    gfk_status worst = GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < count; i++)
        if (records[i].status == GFK_STATUS_CORRUPT ||
            (records[i].status != GFK_STATUS_SUCCESS && worst == GFK_STATUS_SUCCESS))
            worst = (gfk_status)records[i].status;
    return worst;
}
