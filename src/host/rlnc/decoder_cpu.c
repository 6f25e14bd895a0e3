/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders on the CPU. The pool's threads share the generations; with one generation they share its
 * products. */
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "host/base/status.h"
#include "host/base/symbol.h"
#include "host/product/engine.h"

void gfk_rlnc_clear_on_cpu(gfk_rlnc_decoder_t d) {
    gfk_rlnc_state *const s = &d->state;
    memset(s->counters.start, 0, s->counters.bytes);
    for (size_t g = 0; g < d->shape.generations; g++)
        s->records[g].status = GFK_STATUS_SINGULAR;
    for (size_t i = 0; i < d->shape.generations * d->shape.rows; i++)
        s->pivots[i] = GFK_MATRIX_DEPENDENT;
}

/* ---- one generation ------------------------------------------------------------------------- */

typedef struct generation {
    gfk_rlnc_decoder_t d;
    gfk_elimination e;
    gfk_matmul_desc desc;
    gfk_matrix table;
    uint8_t *raw; /* the vectors of a panel, before the elimination */
    uint8_t *payloads, *kept, *kept_vectors, *checked;
    gfk_rlnc_record *record;
} generation;

static void enter(generation *s, gfk_rlnc_decoder_t d, size_t lane, size_t g) {
    const gfk_rlnc_shape *const shape = &d->shape;
    const gfk_rlnc_state *const state = &d->state;
    const size_t n = d->code->n;
    *s = (generation){
        .d = d,
        .e = gfk_rlnc_elimination(d, lane, g),
        .desc = {.size = sizeof s->desc,
                 .device = GFK_CPU,
                 .threads = shape->lanes == 1 ? (unsigned)d->code->threads : 1},
        .payloads = state->payloads + g * n * shape->payload_pitch,
        .kept = state->kept + g * shape->spare * shape->payload_pitch,
        .kept_vectors = state->kept_vectors + g * shape->spare * shape->pitch,
        .checked = d->scratch.checked + lane * shape->spare * shape->payload_pitch,
        .record = state->records + g,
    };
    s->raw = s->e.rows + 2 * shape->panel * shape->pitch;
    s->table = (gfk_matrix)GFK_MATRIX_DENSE_INIT(s->e.matrix, shape->rows, n,
                                                 shape->pitch / shape->symbol);
    s->e.desc = &s->desc;
    s->e.a = &s->table;
}

static gfk_status multiply_generation(const generation *s, const gfk_matrix *a,
                                      const gfk_regions *b, const gfk_regions *c, size_t bytes,
                                      gfk_accumulate mode) {
    return gfk_matmul_proven(s->e.field, a, b, c, bytes, mode, &s->desc, s->e.workspace,
                             s->e.workspace_bytes, NULL);
}

/* Moves the vector of a packet into the table or to the kept vectors, and returns the address for
 * the packet's payload, or NULL. The vector is row first + row of the table, and row `row` of the
 * panel. Innovative rows close the gaps that other rows leave. */
static uint8_t *settle(generation *s, size_t first, size_t row, gfk_rlnc_outcome *outcome) {
    const gfk_rlnc_shape *const shape = &s->d->shape;
    const size_t n = s->d->code->n, pitch = shape->pitch;
    gfk_rlnc_record *const record = s->record;
    const uint32_t column = first < n ? s->e.pivots[first + row] : GFK_MATRIX_DEPENDENT;
    const uint32_t room = (uint32_t)shape->spare - record->kept;
    const bool is_innovative = column != GFK_MATRIX_DEPENDENT;
    const gfk_rlnc_destination to = gfk_rlnc_destination_of(
        is_innovative ? GFK_RLNC_HAS_PIVOT : GFK_RLNC_NO_PIVOT,
        (gfk_rlnc_vacancy){.slot = record->rank, .first_kept = record->kept, .room = room});
    const gfk_rlnc_counts one = {
        .innovative = is_innovative, .dependent = !is_innovative, .all = 1};
    gfk_rlnc_count(record, one, room);
    *outcome = (gfk_rlnc_outcome)to.outcome;
    if (to.slot == GFK_MATRIX_DEPENDENT)
        return NULL;
    if (!is_innovative) {
        memcpy(s->kept_vectors + to.slot * pitch, s->raw + row * pitch, pitch);
        return s->kept + to.slot * shape->payload_pitch;
    }
    memmove(s->e.matrix + to.slot * pitch, s->e.matrix + (first + row) * pitch, pitch);
    s->e.pivots[to.slot] = column;
    return s->payloads + to.slot * shape->payload_pitch;
}

/* Takes up to a panel of packets; their vectors are in s->raw. */
static gfk_status take_panel(generation *s, const gfk_rlnc_packets *packets,
                             const gfk_rlnc_arrival *arrivals, size_t rows) {
    const size_t n = s->d->code->n, pitch = s->d->shape.pitch, first = s->record->rank;
    if (first < n) {
        memcpy(s->e.matrix + first * pitch, s->raw, rows * pitch);
        s->table.rows = first + rows;
        if (first != 0)
            RETURN_IF_ERROR(gfk_eliminate_on_cpu.spread(&s->e, 0, first, first));
        RETURN_IF_ERROR(gfk_eliminate_on_cpu.panel(&s->e, first, rows));
        RETURN_IF_ERROR(gfk_eliminate_on_cpu.exchange(&s->e, first, rows, 0, first + rows));
    }
    for (size_t i = 0; i < rows; i++) {
        gfk_rlnc_outcome outcome;
        uint8_t *const to = settle(s, first, i, &outcome);
        if (to != NULL && s->d->code->bytes != 0)
            memcpy(to, gfk_region_address(&packets->payloads, arrivals[i].source),
                   s->d->code->bytes);
        if (packets->outcomes != NULL)
            packets->outcomes[arrivals[i].source] = (uint8_t)outcome;
    }
    gfk_rlnc_note_rank(s->record, (uint32_t)n);
    return GFK_STATUS_SUCCESS;
}

static gfk_status take_packets(generation *s, const gfk_rlnc_packets *packets, size_t begin,
                               size_t end) {
    const gfk_rlnc_decoder_t d = s->d;
    const size_t pitch = d->shape.pitch, bytes = d->code->n * d->shape.symbol;
    gfk_rlnc_arrival *const arrivals = d->sorted.arrivals;
    size_t rows = 0, first = begin;
    for (size_t i = begin; i < end; i++) {
        uint8_t *const raw = s->raw + rows * pitch;
        memset(raw + bytes, 0, pitch - bytes);
        const gfk_rlnc_vectors_job vector = {.rule = d->code->rule,
                                             .headers = &packets->headers[arrivals[i].source],
                                             .count = 1,
                                             .vectors = raw,
                                             .pitch = pitch};
        if (packets->vectors != NULL)
            memcpy(raw, packets->vectors + arrivals[i].source * packets->vector_pitch, bytes);
        else
            gfk_rlnc_fill_vectors(&vector, NULL, 1);
        if (gfk_is_zero(raw, bytes)) {
            s->record->refused++;
            if (packets->outcomes != NULL)
                packets->outcomes[arrivals[i].source] = GFK_RLNC_REFUSED;
        } else {
            arrivals[first + rows++] = arrivals[i]; /* refused packets are removed from the list */
        }
        if (rows == d->shape.panel || (i + 1 == end && rows != 0)) {
            RETURN_IF_ERROR(take_panel(s, packets, arrivals + first, rows));
            first = i + 1;
            rows = 0;
        }
    }
    return GFK_STATUS_SUCCESS;
}

/* ---- the sources ---------------------------------------------------------------------------- */

/* Does row r of the table have no unknown source? */
static bool is_determined(const generation *s, size_t r) {
    const size_t n = s->d->code->n;
    if (s->record->rank == n)
        return true;
    for (size_t c = 0; c < n; c++)
        if (!s->e.used[c] && gfk_symbol_get(s->e.matrix + r * s->e.pitch, c, s->e.field->w) != 0)
            return false;
    return true;
}

/* Returns the product that computes the determined sources from payloads, in the order of slots.
 * Writes the factors into the lane's memory and the sources' addresses to `outputs`. */
static gfk_matrix determine(generation *s, const gfk_regions *sources, size_t first, void **outputs,
                            uint8_t *decoded) {
    const size_t rank = s->record->rank;
    const unsigned w = s->e.field->w;
    size_t count = 0;
    if (decoded != NULL)
        memset(decoded, 0, s->d->code->n);
    for (size_t r = 0; r < rank; r++) {
        if (!is_determined(s, r))
            continue;
        const size_t source = s->e.pivots[r];
        for (size_t i = 0; i < rank; i++)
            gfk_symbol_set(s->e.factors, count * rank + i, w,
                           gfk_symbol_get(s->e.matrix + r * s->e.pitch, s->e.pivots[i], w));
        outputs[count++] = gfk_region_address(sources, first + source);
        if (decoded != NULL)
            decoded[source] = 1;
    }
    s->record->determined = (uint32_t)count;
    return (gfk_matrix)GFK_MATRIX_DENSE_INIT(s->e.factors, count, rank, rank);
}

gfk_status gfk_rlnc_determine_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_matrix *factors, gfk_regions *to) {
    generation s;
    enter(&s, d, 0, 0);
    *factors = determine(&s, sources, 0, d->scratch.outputs, decoded);
    *to = (gfk_regions){.pointers = d->scratch.outputs};
    return GFK_STATUS_SUCCESS;
}

static gfk_status check_kept(generation *s, const gfk_regions *sources) {
    const gfk_rlnc_decoder_t d = s->d;
    const size_t kept = s->record->kept, pitch = d->shape.payload_pitch;
    if (kept == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_matrix vectors =
        GFK_MATRIX_DENSE_INIT(s->kept_vectors, kept, d->code->n, s->table.stride);
    const gfk_regions to = {.base = s->checked, .stride = pitch};
    RETURN_IF_ERROR(multiply_generation(s, &vectors, sources, &to, d->code->bytes, GFK_SET));
    for (size_t i = 0; i < kept; i++)
        if (memcmp(s->checked + i * pitch, s->kept + i * pitch, d->code->bytes) != 0)
            s->record->status = GFK_STATUS_CORRUPT;
    return GFK_STATUS_SUCCESS;
}

/* Decodes one generation. `outputs` has room for n addresses. */
static gfk_status decode(generation *s, const gfk_regions *sources, size_t first, void **outputs,
                         uint8_t *decoded) {
    const gfk_rlnc_decoder_t d = s->d;
    const size_t n = d->code->n;
    const gfk_matrix inverse = determine(s, sources, first, outputs, decoded);
    if (inverse.rows == 0 || d->code->bytes == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_regions from = {.base = s->payloads, .stride = d->shape.payload_pitch};
    const gfk_regions to = {.pointers = outputs};
    RETURN_IF_ERROR(multiply_generation(s, &inverse, &from, &to, d->code->bytes, GFK_SET));
    if (s->record->rank < n)
        return GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < n; i++)
        outputs[i] = gfk_region_address(sources, first + i);
    return check_kept(s, &to);
}

/* ---- all generations ------------------------------------------------------------------------ */

typedef struct job {
    gfk_rlnc_decoder_t d;
    size_t count;                    /* number of segments, or of generations */
    const gfk_rlnc_packets *packets; /* NULL: decode */
    const gfk_regions *sources;
    uint8_t *decoded;
    gfk_status status; /* the status of a lane that failed */
} job;

static gfk_status run_generation(const job *j, size_t lane, size_t i) {
    const gfk_rlnc_decoder_t d = j->d;
    const size_t n = d->code->n, g = j->packets != NULL ? d->sorted.segments[i].generation : i;
    generation s;
    enter(&s, d, lane, g);
    if (j->packets != NULL)
        return take_packets(&s, j->packets, d->sorted.segments[i].begin, d->sorted.segments[i].end);
    return decode(&s, j->sources, g * n, d->scratch.outputs + lane * n,
                  j->decoded != NULL ? j->decoded + g * n : NULL);
}

static void run_lane(size_t lane, void *context) {
    job *const j = (job *)context;
    for (size_t i = lane; i < j->count; i += j->d->shape.lanes) {
        const gfk_status status = run_generation(j, lane, i);
        if (status != GFK_STATUS_SUCCESS)
            __atomic_store_n(&j->status, status, __ATOMIC_RELAXED);
    }
}

static gfk_status share_generations(job *j) {
    const size_t lanes = j->d->shape.lanes;
    if (lanes == 1)
        run_lane(0, j);
    else
        gfk_pool_run(j->d->code->pool, lanes, lanes, run_lane, j);
    return j->status;
}

gfk_status gfk_rlnc_add_on_cpu(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets) {
    const gfk_rlnc_sorted *const sorted = &d->sorted;
    for (size_t i = sorted->accepted; i < packets->count && packets->outcomes != NULL; i++)
        packets->outcomes[sorted->arrivals[i].source] = GFK_RLNC_REFUSED;
    return share_generations(&(job){.d = d, .count = sorted->segment_count, .packets = packets});
}

gfk_status gfk_rlnc_decode_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                  uint8_t *decoded) {
    return share_generations(
        &(job){.d = d, .count = d->shape.generations, .sources = sources, .decoded = decoded});
}
