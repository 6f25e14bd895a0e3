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
    memset(d->used, 0, (size_t)(d->tables - d->used));
    for (size_t g = 0; g < d->generations; g++)
        d->records[g].status = GFK_STATUS_SINGULAR;
    for (size_t i = 0; i < d->generations * d->rows; i++)
        d->pivots[i] = GFK_MATRIX_DEPENDENT;
}

/* ---- one generation ------------------------------------------------------------------------- */

typedef struct generation {
    gfk_rlnc_decoder_t d;
    gfk_elimination e;
    gfk_matmul_desc desc;
    gfk_matrix table;
    uint8_t *raw; /* a panel of vectors, as they came */
    uint8_t *payloads, *kept, *kept_vectors, *checked;
    gfk_rlnc_record *record;
} generation;

static gfk_status enter(generation *s, gfk_rlnc_decoder_t d, size_t lane, size_t g) {
    const size_t n = d->code->n;
    size_t bytes;
    s->d = d;
    RETURN_IF_ERROR(gfk_rlnc_elimination(d, d->scratch + lane * d->lane_bytes, &s->e, &bytes));
    s->desc = (gfk_matmul_desc){.size = sizeof s->desc,
                                .device = GFK_CPU,
                                .threads = d->lanes == 1 ? (unsigned)d->code->threads : 1};
    s->e.desc = &s->desc;
    s->e.a = &s->table;
    s->e.matrix = d->tables + g * d->rows * d->pitch;
    s->e.pivots = d->pivots + g * d->rows;
    s->e.used = d->used + g * n;
    s->e.rank = d->ranks + g;
    s->table = (gfk_matrix)GFK_MATRIX_DENSE_INIT(s->e.matrix, d->rows, n, d->pitch / d->symbol);
    s->raw = s->e.rows + 2 * d->panel * d->pitch;
    s->payloads = d->payloads + g * n * d->payload_pitch;
    s->kept = d->kept + g * d->spare * d->payload_pitch;
    s->kept_vectors = d->vectors + g * d->spare * d->pitch;
    s->checked = d->checked + lane * d->spare * d->payload_pitch;
    s->record = d->records + g;
    return GFK_STATUS_SUCCESS;
}

static gfk_status multiply(const generation *s, const gfk_matrix *a, const gfk_regions *b,
                           const gfk_regions *c, size_t bytes, gfk_accumulate mode) {
    return gfk_matmul_proven(s->e.field, a, b, c, bytes, mode, &s->desc, s->e.workspace,
                             s->e.workspace_bytes, NULL);
}

static bool is_zero(const uint8_t *p, size_t bytes) {
    return bytes == 0 || (*p == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

/* Where the payload of a packet goes; NULL: nowhere. Row first + row of the table, row `row` of the
 * panel, is its vector; innovative rows close the gaps that others leave. */
static uint8_t *place(generation *s, size_t first, size_t row, gfk_rlnc_outcome *outcome) {
    const size_t n = s->d->code->n, pitch = s->d->pitch;
    gfk_rlnc_record *const record = s->record;
    const uint32_t column = first < n ? s->e.pivots[first + row] : GFK_MATRIX_DEPENDENT;
    if (column != GFK_MATRIX_DEPENDENT) {
        const uint32_t slot = record->rank++;
        memmove(s->e.matrix + slot * pitch, s->e.matrix + (first + row) * pitch, pitch);
        s->e.pivots[slot] = column;
        *outcome = GFK_RLNC_INNOVATIVE;
        return s->payloads + slot * s->d->payload_pitch;
    }
    if (record->kept == s->d->spare) {
        record->dropped++;
        *outcome = GFK_RLNC_DROPPED;
        return NULL;
    }
    memcpy(s->kept_vectors + record->kept * pitch, s->raw + row * pitch, pitch);
    *outcome = GFK_RLNC_DEPENDENT;
    return s->kept + record->kept++ * s->d->payload_pitch;
}

/* Takes up to a panel of packets; their vectors are in s->raw. */
static gfk_status take_panel(generation *s, const gfk_rlnc_packets *packets,
                             const gfk_rlnc_arrival *arrivals, size_t rows) {
    const size_t n = s->d->code->n, pitch = s->d->pitch, first = s->record->rank;
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
        uint8_t *const to = place(s, first, i, &outcome);
        if (to != NULL && s->d->code->bytes != 0)
            memcpy(to, gfk_region_address(&packets->payloads, arrivals[i].source),
                   s->d->code->bytes);
        if (packets->outcomes != NULL)
            packets->outcomes[arrivals[i].source] = (uint8_t)outcome;
    }
    s->record->status = s->record->rank < n                       ? GFK_STATUS_SINGULAR
                        : s->record->status == GFK_STATUS_CORRUPT ? GFK_STATUS_CORRUPT
                                                                  : GFK_STATUS_SUCCESS;
    return GFK_STATUS_SUCCESS;
}

static gfk_status take_packets(generation *s, const gfk_rlnc_packets *packets, size_t begin,
                               size_t end) {
    const gfk_rlnc_decoder_t d = s->d;
    const size_t bytes = d->code->n * d->symbol;
    gfk_rlnc_arrival *const arrivals = d->arrivals;
    size_t rows = 0, first = begin;
    for (size_t i = begin; i < end; i++) {
        uint8_t *const raw = s->raw + rows * d->pitch;
        memset(raw + bytes, 0, d->pitch - bytes);
        const gfk_rlnc_vectors_job vector = {.rule = d->code->rule,
                                             .headers = &packets->headers[arrivals[i].source],
                                             .count = 1,
                                             .vectors = raw,
                                             .pitch = d->pitch};
        if (packets->vectors != NULL)
            memcpy(raw, packets->vectors + arrivals[i].source * packets->vector_pitch, bytes);
        else
            gfk_rlnc_fill_vectors(&vector, NULL, 1);
        if (is_zero(raw, bytes)) {
            s->record->refused++;
            if (packets->outcomes != NULL)
                packets->outcomes[arrivals[i].source] = GFK_RLNC_REFUSED;
        } else {
            arrivals[first + rows++] = arrivals[i]; /* refused ones leave their places */
        }
        if (rows == d->panel || (i + 1 == end && rows != 0)) {
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
        if (!s->e.used[c] && gfk_symbol_get(s->e.matrix + r * s->d->pitch, c, s->e.field->w) != 0)
            return false;
    return true;
}

/* The product of payloads, in the order of slots, that makes the sources that are determined. Writes
 * the factors into the lane's memory and the sources' addresses to `outputs`. */
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
                           gfk_symbol_get(s->e.matrix + r * s->d->pitch, s->e.pivots[i], w));
        outputs[count++] = gfk_region_address(sources, first + source);
        if (decoded != NULL)
            decoded[source] = 1;
    }
    s->record->determined = (uint32_t)count;
    return (gfk_matrix)GFK_MATRIX_DENSE_INIT(s->e.factors, count, rank, rank);
}

gfk_status gfk_rlnc_determine_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_matrix *factors, gfk_regions *to) {
    generation s = {0};
    RETURN_IF_ERROR(enter(&s, d, 0, 0));
    *factors = determine(&s, sources, 0, d->outputs, decoded);
    *to = (gfk_regions){d->outputs, NULL, 0};
    return GFK_STATUS_SUCCESS;
}

static gfk_status check_kept(generation *s, const gfk_regions *sources) {
    const gfk_rlnc_decoder_t d = s->d;
    const size_t kept = s->record->kept, pitch = d->payload_pitch;
    if (kept == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_matrix vectors =
        GFK_MATRIX_DENSE_INIT(s->kept_vectors, kept, d->code->n, d->pitch / d->symbol);
    const gfk_regions to = {NULL, s->checked, pitch};
    RETURN_IF_ERROR(multiply(s, &vectors, sources, &to, d->code->bytes, GFK_SET));
    for (size_t i = 0; i < kept; i++)
        if (memcmp(s->checked + i * pitch, s->kept + i * pitch, d->code->bytes) != 0)
            s->record->status = GFK_STATUS_CORRUPT;
    return GFK_STATUS_SUCCESS;
}

/* `outputs`: n pointers. */
static gfk_status decode(generation *s, const gfk_regions *sources, size_t first, void **outputs,
                         uint8_t *decoded) {
    const gfk_rlnc_decoder_t d = s->d;
    const size_t n = d->code->n;
    const gfk_matrix inverse = determine(s, sources, first, outputs, decoded);
    if (inverse.rows == 0 || d->code->bytes == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_regions from = {NULL, s->payloads, d->payload_pitch}, to = {outputs, NULL, 0};
    RETURN_IF_ERROR(multiply(s, &inverse, &from, &to, d->code->bytes, GFK_SET));
    if (s->record->rank < n)
        return GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < n; i++)
        outputs[i] = gfk_region_address(sources, first + i);
    return check_kept(s, &to);
}

/* ---- all generations ------------------------------------------------------------------------ */

typedef struct job {
    gfk_rlnc_decoder_t d;
    size_t count;                    /* of segments, or of generations */
    const gfk_rlnc_packets *packets; /* NULL: decode */
    const gfk_regions *sources;
    uint8_t *decoded;
    gfk_status status; /* of any lane that failed */
} job;

static gfk_status run_generation(const job *j, size_t lane, size_t i) {
    const gfk_rlnc_decoder_t d = j->d;
    const size_t n = d->code->n, g = j->packets != NULL ? d->segments[i].generation : i;
    generation s = {0};
    RETURN_IF_ERROR(enter(&s, d, lane, g));
    return j->packets != NULL
               ? take_packets(&s, j->packets, d->segments[i].begin, d->segments[i].end)
               : decode(&s, j->sources, g * n, d->outputs + lane * n,
                        j->decoded != NULL ? j->decoded + g * n : NULL);
}

static void run_lane(size_t lane, void *context) {
    job *const j = (job *)context;
    for (size_t i = lane; i < j->count; i += j->d->lanes) {
        const gfk_status status = run_generation(j, lane, i);
        if (status != GFK_STATUS_SUCCESS)
            __atomic_store_n(&j->status, status, __ATOMIC_RELAXED);
    }
}

static gfk_status share_generations(job *j) {
    if (j->d->lanes == 1)
        run_lane(0, j);
    else
        gfk_pool_run(j->d->code->pool, j->d->lanes, j->d->lanes, run_lane, j);
    return j->status;
}

gfk_status gfk_rlnc_add_on_cpu(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets) {
    for (size_t i = d->accepted; i < packets->count && packets->outcomes != NULL; i++)
        packets->outcomes[d->arrivals[i].source] = GFK_RLNC_REFUSED;
    return share_generations(&(job){.d = d, .count = d->segment_count, .packets = packets});
}

gfk_status gfk_rlnc_decode_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                  uint8_t *decoded) {
    return share_generations(
        &(job){.d = d, .count = d->generations, .sources = sources, .decoded = decoded});
}
