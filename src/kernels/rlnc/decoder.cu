/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders on a device. The packets of a call are taken by a kernel with a block for each
 * generation (take.cuh). If a generation does not fit into a block, the packets are taken in
 * panels: their vectors become rows after the table of their generation, the elimination of
 * gfk/matrix.h takes these rows, and the innovative ones move into the table. One kernel then
 * copies all payloads. */
#include "take.h"

#include "host/base/status.h"
#include "host/product/engine.h"
#include "host/product/matmul.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/word.cuh"
#include "kernels/matrix/panel.cuh"

namespace gfk {
namespace rlnc {
namespace {

constexpr uint32_t none = GFK_MATRIX_DEPENDENT;
constexpr unsigned threads = 256, warps = threads / 32;

__global__ void clear(gfk_rlnc_record *records, size_t count) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count)
        records[i] = {GFK_STATUS_SINGULAR, 0, 0, 0, 0, 0};
}

__global__ void refuse(const gfk_rlnc_arrival *arrivals, size_t count, uint8_t *outcomes) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count)
        outcomes[arrivals[i].source] = GFK_RLNC_REFUSED;
}

/* A block writes the headers of a segment. */
__global__ void write_headers(const gfk_rlnc_segment *segments, const gfk_rlnc_arrival *arrivals,
                              uint64_t first, gfk_rlnc_header *headers) {
    const gfk_rlnc_segment segment = segments[blockIdx.x];
    for (uint32_t i = segment.begin + threadIdx.x; i < segment.end; i += blockDim.x)
        headers[i] = {first + segment.generation, arrivals[i].packet, 0};
}

/* Copies bytes, 16 or 4 at a time where both addresses allow it. */
template <class V>
__device__ void copy_as(uint8_t *to, const uint8_t *from, size_t bytes, unsigned lane) {
    for (size_t i = lane; i < bytes / sizeof(V); i += 32)
        ((V *)to)[i] = ((const V *)from)[i];
    for (size_t i = bytes / sizeof(V) * sizeof(V) + lane; i < bytes; i += 32)
        to[i] = from[i];
}
__device__ void copy(uint8_t *to, const uint8_t *from, size_t bytes, unsigned lane) {
    const unsigned offset = (unsigned)((uintptr_t)to | (uintptr_t)from);
    if (offset % 16 == 0)
        copy_as<uint4>(to, from, bytes, lane);
    else if (offset % 4 == 0)
        copy_as<uint32_t>(to, from, bytes, lane);
    else
        copy_as<uint8_t>(to, from, bytes, lane);
}

/* ---- the payloads of all packets of a call --------------------------------------------------- */

struct Packets {
    const gfk_rlnc_arrival *arrivals;
    const gfk_rlnc_destination *destinations;
    size_t count;
    bool given; /* the vectors are in the order of the call, not of `arrivals` */
    const uint8_t *vectors;
    size_t vector_pitch, vector_bytes;
    uint8_t *const *pointers; /* to the call's payloads, or NULL: base and stride */
    const uint8_t *base;
    size_t stride, bytes;
    uint8_t *payloads, *kept, *kept_vectors; /* of the decoder */
    size_t payload_pitch, pitch;
};

constexpr size_t part_bytes = 2048; /* a warp copies such a part of a payload */

__global__ __launch_bounds__(threads) void move(const __grid_constant__ Packets p, unsigned parts) {
    const size_t at = blockIdx.x * (size_t)warps + threadIdx.x / 32, i = at / parts;
    const size_t begin = at % parts * part_bytes;
    const unsigned lane = threadIdx.x % 32;
    if (i >= p.count)
        return;
    const gfk_rlnc_destination to = p.destinations[i];
    if (to.slot == none)
        return;
    const bool is_kept = to.outcome == GFK_RLNC_DEPENDENT;
    const size_t from = p.arrivals[i].source;
    if (is_kept && begin == 0)
        copy(p.kept_vectors + to.slot * p.pitch, p.vectors + (p.given ? from : i) * p.vector_pitch,
             p.vector_bytes, lane);
    if (begin < p.bytes)
        copy((is_kept ? p.kept : p.payloads) + to.slot * p.payload_pitch + begin,
             (p.pointers != nullptr ? p.pointers[from] : p.base + from * p.stride) + begin,
             p.bytes - begin < part_bytes ? p.bytes - begin : part_bytes, lane);
}

/* ---- a panel of packets of one generation ---------------------------------------------------- */

struct Panel {
    uint8_t *table;
    size_t pitch;
    uint32_t n, rows, generation, spare;
    uint32_t *pivots;
    gfk_rlnc_record *record;
    const gfk_rlnc_arrival *arrivals; /* the panel's packets */
    gfk_rlnc_destination *destinations;
    bool given;
    const uint8_t *vectors; /* of the call if they are given, otherwise of the panel */
    size_t vector_pitch, vector_bytes;
    uint8_t *outcomes;
};

/* A block copies a vector to its row after the table. */
__global__ __launch_bounds__(threads) void enter_rows(const __grid_constant__ Panel p) {
    const uint32_t i = blockIdx.x;
    const uint8_t *const vector = p.vectors + (p.given ? p.arrivals[i].source : i) * p.vector_pitch;
    uint8_t *const row = p.table + (p.n + i) * p.pitch;
    bool is_zero = true;
    for (size_t at = threadIdx.x; at < p.vector_bytes; at += threads) {
        const uint8_t x = vector[at];
        is_zero = is_zero && x == 0;
        row[at] = x;
    }
    is_zero = __syncthreads_and(is_zero);
    if (threadIdx.x == 0)
        p.destinations[i].outcome = is_zero ? GFK_RLNC_REFUSED : GFK_RLNC_DEPENDENT;
}

/* One block decides where the packets of a panel go: thread i has row i. */
__global__ void settle(const __grid_constant__ Panel p) {
    __shared__ uint32_t counts[4];
    const uint32_t i = threadIdx.x;
    const bool is_row = i < p.rows, is_innovative = is_row && p.pivots[p.n + i] != none;
    const bool is_dependent =
        is_row && !is_innovative && p.destinations[i].outcome != GFK_RLNC_REFUSED;
    gfk_rlnc_record record = *p.record;
    const auto innovative = matrix::count_before(is_innovative, counts);
    const auto extra = matrix::count_before(is_dependent, counts);
    const uint32_t room = p.spare - record.kept, slot = record.rank + innovative.before;
    const gfk_rlnc_destination to =
        gfk_rlnc_destination_of(is_innovative  ? GFK_RLNC_HAS_PIVOT
                                : is_dependent ? GFK_RLNC_NO_PIVOT
                                               : GFK_RLNC_ZERO_VECTOR,
                                {.slot = p.generation * p.n + slot,
                                 .first_kept = p.generation * p.spare + record.kept,
                                 .room = room,
                                 .before = extra.before});
    if (is_innovative)
        p.pivots[slot] = p.pivots[p.n + i];
    if (is_row)
        p.destinations[i] = to;
    if (is_row && p.outcomes != nullptr)
        p.outcomes[p.arrivals[i].source] = (uint8_t)to.outcome;
    if (i != 0)
        return;
    gfk_rlnc_count(&record, {.innovative = innovative.all, .dependent = extra.all, .all = p.rows},
                   room);
    gfk_rlnc_note_rank(&record, p.n);
    *p.record = record;
}

/* A block moves a row with a pivot into the table. */
__global__ __launch_bounds__(threads) void move_rows(const __grid_constant__ Panel p) {
    const gfk_rlnc_destination to = p.destinations[blockIdx.x];
    if (to.outcome != GFK_RLNC_INNOVATIVE)
        return;
    const uint32_t *const from = (const uint32_t *)(p.table + (p.n + blockIdx.x) * p.pitch);
    uint32_t *const row = (uint32_t *)(p.table + (to.slot - p.generation * p.n) * p.pitch);
    for (size_t at = threadIdx.x; at < (p.vector_bytes + 3) / 4; at += threads)
        row[at] = from[at];
}

/* ---- the sources ---------------------------------------------------------------------------- */

/* The sources of a group of generations. */
struct Sources {
    const uint8_t *tables;
    size_t pitch, table_rows;
    uint32_t n, spare;
    size_t count; /* generations */
    const uint32_t *pivots;
    const uint8_t *used;
    gfk_rlnc_record *records;
    uint8_t *inverses, *wanted; /* of the sources, in their order */
    const uint8_t *kept, *checked;
    size_t payload_pitch, bytes;
};

/* A warp takes a row of a table. If the row's source is determined, the row, with its columns in
 * the order of slots, is the source's row of the inverse. */
template <int W>
__global__ __launch_bounds__(threads) void determine(const __grid_constant__ Sources s) {
    const size_t at = blockIdx.x * (size_t)warps + threadIdx.x / 32, g = at / s.n, r = at % s.n;
    const unsigned lane = threadIdx.x % 32;
    if (g >= s.count)
        return;
    const uint32_t *const pivots = s.pivots + g * s.table_rows;
    const uint32_t source = pivots[r];
    if (source == none)
        return;
    const uint8_t *const row = s.tables + (g * s.table_rows + r) * s.pitch;
    bool is_known = true;
    if (s.records[g].rank < s.n)
        for (uint32_t c = lane; c < s.n; c += 32)
            is_known = is_known && (s.used[g * s.n + c] || load_symbol<W>(row, c) == 0);
    if (!__all_sync(0xffffffff, is_known))
        return;
    uint8_t *const inverse = s.inverses + (g * s.n + source) * s.pitch;
    for (uint32_t i = lane; i < s.n; i += 32)
        store_symbol<W>(inverse, i, pivots[i] != none ? load_symbol<W>(row, pivots[i]) : 0);
    if (lane == 0) {
        s.wanted[g * s.n + source] = 1;
        atomicAdd(&s.records[g].determined, 1u);
    }
}

/* A block compares a kept packet. */
__global__ __launch_bounds__(threads) void compare(const __grid_constant__ Sources s) {
    const size_t i = blockIdx.x, g = i / s.spare;
    if (i % s.spare >= s.records[g].kept || s.records[g].rank < s.n)
        return;
    bool differs = false;
    for (size_t at = threadIdx.x; at < s.bytes; at += threads)
        differs =
            differs || s.checked[i * s.payload_pitch + at] != s.kept[i * s.payload_pitch + at];
    if (differs)
        s.records[g].status = GFK_STATUS_CORRUPT;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Takes the packets of a segment in panels. */
gfk_status take_segment(gfk_rlnc_decoder_t d, const Packets &packets,
                        const gfk_rlnc_segment &segment, uint8_t *outcomes, gfk_stream_t stream) {
    const gfk_rlnc_shape &shape = d->shape;
    const size_t n = d->code->n, stride = shape.pitch / shape.symbol;
    gfk_elimination e = gfk_rlnc_elimination(d, 0, segment.generation);
    e.stream = stream;
    for (size_t first = segment.begin, rows; first < segment.end; first += rows) {
        rows = segment.end - first < shape.panel ? segment.end - first : shape.panel;
        const gfk_matrix table = GFK_MATRIX_DENSE_INIT(e.matrix, n + rows, n, stride);
        const size_t skipped = packets.given ? 0 : first * packets.vector_pitch;
        const Panel p = {.table = e.matrix,
                         .pitch = shape.pitch,
                         .n = (uint32_t)n,
                         .rows = (uint32_t)rows,
                         .generation = segment.generation,
                         .spare = (uint32_t)shape.spare,
                         .pivots = e.pivots,
                         .record = d->state.records + segment.generation,
                         .arrivals = packets.arrivals + first,
                         .destinations = d->device.destinations + first,
                         .given = packets.given,
                         .vectors = packets.vectors + skipped,
                         .vector_pitch = packets.vector_pitch,
                         .vector_bytes = packets.vector_bytes,
                         .outcomes = outcomes};
        e.a = &table;
        RETURN_IF_ERROR(launch(enter_rows, rows, threads, 0, stream, p));
        RETURN_IF_ERROR(gfk_eliminate_on_device.spread(&e, 0, n, n));
        RETURN_IF_ERROR(gfk_eliminate_on_device.panel(&e, n, rows));
        RETURN_IF_ERROR(gfk_eliminate_on_device.exchange(&e, n, rows, 0, n + rows));
        RETURN_IF_ERROR(launch(settle, 1, 128, 0, stream, p));
        RETURN_IF_ERROR(launch(move_rows, rows, threads, 0, stream, p));
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status take_segments(gfk_rlnc_decoder_t d, const Packets &packets,
                         const gfk_rlnc_segment *segments, uint8_t *outcomes, gfk_stream_t stream) {
    const gfk_rlnc_sorted &sorted = d->sorted;
    if (d->kernel == NULL) {
        for (size_t i = 0; i < sorted.segment_count; i++)
            RETURN_IF_ERROR(take_segment(d, packets, sorted.segments[i], outcomes, stream));
        return GFK_STATUS_SUCCESS;
    }
    const gfk_field &field = d->code->field;
    const TakeJob job = {.n = (uint32_t)d->code->n,
                         .spare = (uint32_t)d->shape.spare,
                         .polynomial = lower_polynomial(field.w, field.polynomial),
                         .tables = d->state.tables,
                         .used = d->state.used,
                         .pitch = d->shape.pitch,
                         .pivots = d->state.pivots,
                         .records = d->state.records,
                         .segments = segments,
                         .arrivals = packets.arrivals,
                         .given = packets.given,
                         .vectors = packets.vectors,
                         .vector_pitch = packets.vector_pitch,
                         .destinations = d->device.destinations,
                         .outcomes = outcomes,
                         .inverter = d->device.inverter};
    return symbol_of<Take *>(d->kernel)(job, sorted.segment_count, stream);
}

/* Sends the lists that the host has sorted. */
gfk_status upload(gfk_rlnc_decoder_t d, gfk_stream_t stream) {
    gfk_rlnc_staging &staging = d->staging;
    const uint8_t *const from = staging.memory[staging.turn];
    const uint8_t *const end = (const uint8_t *)(d->sorted.segments + d->sorted.segment_count);
    void *const event = staging.events[staging.turn];
    staging.turn ^= 1;
    RETURN_IF_ERROR(status_of(cudaMemcpyAsync(d->device.upload, from, (size_t)(end - from),
                                              cudaMemcpyHostToDevice, stream)));
    return gfk_device_record(event, stream);
}

/* The addresses on the device of the lists that the host has sorted in the staging memory. */
struct Lists {
    const gfk_rlnc_arrival *arrivals;
    const gfk_rlnc_segment *segments;
    uint8_t *const *listed; /* or NULL */
};
Lists uploaded_lists(gfk_rlnc_decoder_t d) {
    const gfk_rlnc_sorted &sorted = d->sorted;
    const auto there = [&](const void *staged) {
        return d->device.upload + ((const uint8_t *)staged - (const uint8_t *)sorted.arrivals);
    };
    return {.arrivals = (const gfk_rlnc_arrival *)d->device.upload,
            .segments = (const gfk_rlnc_segment *)there(sorted.segments),
            .listed = sorted.listed != nullptr ? (uint8_t *const *)there(sorted.listed) : nullptr};
}

/* The sources of generations [first, first + count). */
Sources sources_of(gfk_rlnc_decoder_t d, size_t first, size_t count) {
    const gfk_rlnc_shape &shape = d->shape;
    const gfk_rlnc_state &state = d->state;
    return {.tables = state.tables + first * shape.rows * shape.pitch,
            .pitch = shape.pitch,
            .table_rows = shape.rows,
            .n = (uint32_t)d->code->n,
            .spare = (uint32_t)shape.spare,
            .count = count,
            .pivots = state.pivots + first * shape.rows,
            .used = state.used + first * d->code->n,
            .records = state.records + first,
            .inverses = d->device.inverses,
            .wanted = d->device.wanted,
            .kept = state.kept + first * shape.spare * shape.payload_pitch,
            .checked = d->scratch.checked,
            .payload_pitch = shape.payload_pitch,
            .bytes = d->code->bytes};
}

/* Decodes generations [first, first + count). */
gfk_status decode_group(gfk_rlnc_decoder_t d, size_t first, size_t count,
                        const gfk_regions &sources, uint8_t *decoded, gfk_stream_t stream) {
    const size_t n = d->code->n, spare = d->shape.spare, pitch = d->shape.payload_pitch;
    const unsigned w = d->code->field.w;
    uint8_t *const wanted = d->device.wanted;
    gfk_matmul_call products[2];
    gfk_matrix factors[2];
    size_t space;
    RETURN_IF_ERROR(gfk_rlnc_plan_products(d, products, factors, &space));
    const Sources job = sources_of(d, first, count);
    RETURN_IF_ERROR(status_of(cudaMemsetAsync(wanted, 0, count * n, stream)));
    RETURN_IF_ERROR(status_of(cudaMemset2DAsync(&job.records->determined, sizeof *job.records, 0,
                                                sizeof job.records->determined, count, stream)));
    RETURN_IF_ERROR(launch(w == 8    ? determine<8>
                           : w == 16 ? determine<16>
                                     : determine<32>,
                           gfk_divide_up(count * n, warps), threads, 0, stream, job));
    if (decoded != nullptr)
        RETURN_IF_ERROR(status_of(cudaMemcpyAsync(decoded + first * n, wanted, count * n,
                                                  cudaMemcpyDeviceToDevice, stream)));
    if (d->code->bytes == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_regions to = gfk_regions_from(&sources, first * n);
    const gfk_regions payloads = {nullptr, d->state.payloads + first * n * pitch, pitch};
    const gfk_regions checked = {nullptr, d->scratch.checked, pitch};
    const auto run = [&](gfk_matmul_call &product, const gfk_regions &b, const gfk_regions &c) {
        product.b = &b;
        product.c = &c;
        product.workspace = d->scratch.lanes;
        product.stream = stream;
        return gfk_matmul_run_batch(&product, count, nullptr, 1);
    };
    products[0].output_mask = wanted;
    RETURN_IF_ERROR(run(products[0], payloads, to));
    if (spare == 0)
        return GFK_STATUS_SUCCESS;
    factors[1].elements = d->state.kept_vectors + first * spare * d->shape.pitch;
    RETURN_IF_ERROR(run(products[1], to, checked));
    return launch(compare, count * spare, threads, 0, stream, job);
}

} // namespace
} // namespace rlnc
} // namespace gfk

gfk_status gfk_rlnc_open_on_device(gfk_rlnc_decoder_t d, size_t bytes, size_t staging_bytes) {
    using namespace gfk;
    for (int i = 0; i < 2; i++) {
        RETURN_IF_ERROR(status_of(
            cudaHostAlloc((void **)&d->staging.memory[i], staging_bytes, cudaHostAllocDefault)));
        RETURN_IF_ERROR(status_of(cudaEventCreateWithFlags((cudaEvent_t *)&d->staging.events[i],
                                                           cudaEventDisableTiming)));
    }
    return status_of(cudaMemset(d->memory, 0, bytes));
}

void gfk_rlnc_close_on_device(gfk_rlnc_decoder_t d) {
    for (int i = 0; i < 2; i++) {
        if (d->staging.memory[i] != nullptr)
            cudaFreeHost(d->staging.memory[i]);
        if (d->staging.events[i] != nullptr)
            cudaEventDestroy((cudaEvent_t)d->staging.events[i]);
    }
}

gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d, gfk_stream_t stream) {
    using namespace gfk;
    static_assert(GFK_MATRIX_DEPENDENT == UINT32_MAX, "the byte of memset");
    const gfk_rlnc_state &state = d->state;
    const size_t all = d->shape.generations;
    RETURN_IF_ERROR(status_of(
        cudaMemsetAsync(state.pivots, 0xff, all * d->shape.rows * sizeof *state.pivots, stream)));
    RETURN_IF_ERROR(
        status_of(cudaMemsetAsync(state.counters.start, 0, state.counters.bytes, stream)));
    return launch(rlnc::clear, gfk_divide_up(all, rlnc::threads), rlnc::threads, 0, stream,
                  state.records, all);
}

gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream) {
    using namespace gfk;
    const gfk_rlnc_shape &shape = d->shape;
    const gfk_rlnc_on_device &device = d->device;
    const size_t accepted = d->sorted.accepted, refused = packets->count - accepted;
    const bool given = packets->vectors != nullptr;
    const rlnc::Lists lists = rlnc::uploaded_lists(d);
    const rlnc::Packets job = {.arrivals = lists.arrivals,
                               .destinations = device.destinations,
                               .count = accepted,
                               .given = given,
                               .vectors = given ? packets->vectors : device.vectors,
                               .vector_pitch = given ? packets->vector_pitch : shape.pitch,
                               .vector_bytes = d->code->n * shape.symbol,
                               .pointers = lists.listed,
                               .base = (const uint8_t *)packets->payloads.base,
                               .stride = packets->payloads.stride,
                               .bytes = d->code->bytes,
                               .payloads = d->state.payloads,
                               .kept = d->state.kept,
                               .kept_vectors = d->state.kept_vectors,
                               .payload_pitch = shape.payload_pitch,
                               .pitch = shape.pitch};
    RETURN_IF_ERROR(rlnc::upload(d, stream));
    if (refused != 0 && packets->outcomes != nullptr)
        RETURN_IF_ERROR(launch(rlnc::refuse, gfk_divide_up(refused, 128), 128, 0, stream,
                               lists.arrivals + accepted, refused, packets->outcomes));
    if (accepted == 0)
        return GFK_STATUS_SUCCESS;
    if (!given) {
        RETURN_IF_ERROR(launch(rlnc::write_headers, d->sorted.segment_count, 64, 0, stream,
                               lists.segments, lists.arrivals, d->first, device.headers));
        RETURN_IF_ERROR(gfk_rlnc_write_vectors(d->code, device.headers, accepted, device.vectors,
                                               shape.pitch / shape.symbol, stream));
    }
    RETURN_IF_ERROR(rlnc::take_segments(d, job, lists.segments, packets->outcomes, stream));
    const size_t parts = job.bytes / rlnc::part_bytes + 1;
    return launch(rlnc::move, gfk_divide_up(accepted * parts, rlnc::warps), rlnc::threads, 0,
                  stream, job, (unsigned)parts);
}

gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream) {
    const size_t all = d->shape.generations, group = d->shape.group;
    for (size_t first = 0; first < all; first += group) {
        const size_t count = all - first < group ? all - first : group;
        RETURN_IF_ERROR(gfk::rlnc::decode_group(d, first, count, *sources, decoded, stream));
    }
    return GFK_STATUS_SUCCESS;
}
