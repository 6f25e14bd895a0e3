/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders on a device. The packets of a call are taken by a kernel with a block for each generation
 * (take.cuh) or, where a generation does not fit into a block, in panels: they go behind the table of
 * their generation, the elimination of gfk/matrix.h takes them, and the innovative ones move into the
 * table. One kernel then copies all payloads. */
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

using matrix::load_element;
using matrix::store_element;

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

/* A block per segment. */
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

/* ---- the payloads of all packets of a call ----------------------------------------------------- */

struct Packets {
    const gfk_rlnc_arrival *arrivals;
    const gfk_rlnc_destination *destinations;
    size_t count;
    bool given; /* vectors are in the order of the call, not of `arrivals` */
    const uint8_t *vectors;
    size_t vector_pitch, vector_bytes;
    uint8_t *const *pointers; /* to payloads, or NULL: base and stride */
    const uint8_t *base;
    size_t stride, bytes;
    uint8_t *payloads, *kept, *kept_vectors;
    size_t payload_pitch, pitch;
};

constexpr size_t part_bytes = 2048; /* of a payload, that a warp copies */

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

/* ---- a panel of packets of one generation ------------------------------------------------------ */

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

/* A block copies a vector to the new row behind the table. */
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
__global__ void place(const __grid_constant__ Panel p) {
    __shared__ uint32_t counts[4];
    const uint32_t i = threadIdx.x;
    const bool is_row = i < p.rows, is_innovative = is_row && p.pivots[p.n + i] != none;
    const bool is_dependent =
        is_row && !is_innovative && p.destinations[i].outcome != GFK_RLNC_REFUSED;
    gfk_rlnc_record record = *p.record;
    const auto innovative = matrix::count_before(is_innovative, counts);
    const auto extra = matrix::count_before(is_dependent, counts);
    const uint32_t room = p.spare - record.kept, stay = extra.all < room ? extra.all : room;
    gfk_rlnc_destination to = {none, GFK_RLNC_REFUSED};
    if (is_innovative) {
        const uint32_t slot = record.rank + innovative.before;
        to = {p.generation * p.n + slot, GFK_RLNC_INNOVATIVE};
        p.pivots[slot] = p.pivots[p.n + i];
    } else if (is_dependent && extra.before < room) {
        to = {p.generation * p.spare + record.kept + extra.before, GFK_RLNC_DEPENDENT};
    } else if (is_dependent) {
        to.outcome = GFK_RLNC_DROPPED;
    }
    if (is_row)
        p.destinations[i] = to;
    if (is_row && p.outcomes != nullptr)
        p.outcomes[p.arrivals[i].source] = (uint8_t)to.outcome;
    if (i != 0)
        return;
    record.rank += innovative.all;
    record.kept += stay;
    record.dropped += extra.all - stay;
    record.refused += p.rows - innovative.all - extra.all;
    if (record.rank == p.n && record.status == GFK_STATUS_SINGULAR)
        record.status = GFK_STATUS_SUCCESS;
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

/* A group of generations. */
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

/* A warp takes a row of a table: is the source determined? Then the row, with its columns in the order of
 * slots, is the source's row of the inverse. */
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
            is_known = is_known && (s.used[g * s.n + c] || load_element<W>(row, c) == 0);
    if (!__all_sync(0xffffffff, is_known))
        return;
    uint8_t *const inverse = s.inverses + (g * s.n + source) * s.pitch;
    for (uint32_t i = lane; i < s.n; i += 32)
        store_element<W>(inverse, i, pivots[i] != none ? load_element<W>(row, pivots[i]) : 0);
    if (lane == 0) {
        s.wanted[g * s.n + source] = 1;
        atomicAdd(&s.records[g].determined, 1u);
    }
}

/* A block per kept packet. */
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

/* A segment that does not fit into a block. */
gfk_status take_segment(gfk_rlnc_decoder_t d, const Packets &packets,
                        const gfk_rlnc_segment &segment, uint8_t *outcomes, gfk_stream_t stream) {
    const size_t n = d->code->n, g = segment.generation;
    size_t bytes;
    gfk_elimination e = {};
    RETURN_IF_ERROR(gfk_rlnc_elimination(d, d->scratch, &e, &bytes));
    e.stream = stream;
    e.matrix = d->tables + g * d->rows * d->pitch;
    e.pivots = d->pivots + g * d->rows;
    e.used = d->used + g * n;
    e.rank = d->ranks + g;
    for (size_t first = segment.begin, rows; first < segment.end; first += rows) {
        rows = segment.end - first < d->panel ? segment.end - first : d->panel;
        const gfk_matrix table = GFK_MATRIX_DENSE_INIT(e.matrix, n + rows, n, d->pitch / d->symbol);
        const Panel p = {e.matrix,
                         d->pitch,
                         (uint32_t)n,
                         (uint32_t)rows,
                         (uint32_t)g,
                         (uint32_t)d->spare,
                         e.pivots,
                         d->records + g,
                         packets.arrivals + first,
                         d->destinations + first,
                         packets.given,
                         packets.vectors + (packets.given ? 0 : first * packets.vector_pitch),
                         packets.vector_pitch,
                         packets.vector_bytes,
                         outcomes};
        e.a = &table;
        RETURN_IF_ERROR(launch(enter_rows, rows, threads, 0, stream, p));
        RETURN_IF_ERROR(gfk_eliminate_on_device.spread(&e, 0, n, n));
        RETURN_IF_ERROR(gfk_eliminate_on_device.panel(&e, n, rows));
        RETURN_IF_ERROR(gfk_eliminate_on_device.exchange(&e, n, rows, 0, n + rows));
        RETURN_IF_ERROR(launch(place, 1, 128, 0, stream, p));
        RETURN_IF_ERROR(launch(move_rows, rows, threads, 0, stream, p));
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status take_segments(gfk_rlnc_decoder_t d, const Packets &packets,
                         const gfk_rlnc_segment *segments, uint8_t *outcomes, gfk_stream_t stream) {
    if (d->kernel == GFK_RLNC_NO_KERNEL) {
        for (size_t i = 0; i < d->segment_count; i++)
            RETURN_IF_ERROR(take_segment(d, packets, d->segments[i], outcomes, stream));
        return GFK_STATUS_SUCCESS;
    }
    const gfk_field &field = d->code->field;
    const TakeJob job = {(uint32_t)d->code->n,
                         (uint32_t)d->spare,
                         (uint32_t)(field.polynomial & (((uint64_t)1 << field.w) - 1)),
                         d->tables,
                         d->used,
                         d->pitch,
                         d->pivots,
                         d->records,
                         segments,
                         packets.arrivals,
                         packets.given,
                         packets.vectors,
                         packets.vector_pitch,
                         d->destinations,
                         outcomes,
                         d->inverter};
    return run_take(d->kernel, job, d->segment_count, stream);
}

/* Sends what the host has sorted. */
gfk_status upload(gfk_rlnc_decoder_t d, gfk_stream_t stream) {
    const uint8_t *const from = d->staging[d->turn];
    const size_t bytes = (size_t)((uint8_t *)(d->segments + d->segment_count) - from);
    void *const event = d->events[d->turn];
    d->turn ^= 1;
    RETURN_IF_ERROR(
        status_of(cudaMemcpyAsync(d->upload, from, bytes, cudaMemcpyHostToDevice, stream)));
    return gfk_device_record(event, stream);
}

gfk_regions regions_from(const gfk_regions &regions, size_t first) {
    return regions.pointers != nullptr
               ? gfk_regions{regions.pointers + first, nullptr, 0}
               : gfk_regions{nullptr, gfk_region_address(&regions, first), regions.stride};
}

/* Generations [first, first + count). */
gfk_status decode_group(gfk_rlnc_decoder_t d, size_t first, size_t count,
                        const gfk_regions &sources, uint8_t *decoded, gfk_stream_t stream) {
    const size_t n = d->code->n, bytes = d->code->bytes, spare = d->spare;
    const unsigned w = d->code->field.w;
    gfk_matmul_call products[2];
    gfk_matrix factors[2];
    size_t space;
    RETURN_IF_ERROR(gfk_rlnc_plan_products(d, products, factors, &space));
    const Sources job = {d->tables + first * d->rows * d->pitch,
                         d->pitch,
                         d->rows,
                         (uint32_t)n,
                         (uint32_t)spare,
                         count,
                         d->pivots + first * d->rows,
                         d->used + first * n,
                         d->records + first,
                         d->inverses,
                         d->wanted,
                         d->kept + first * spare * d->payload_pitch,
                         d->checked,
                         d->payload_pitch,
                         bytes};
    RETURN_IF_ERROR(status_of(cudaMemsetAsync(d->wanted, 0, count * n, stream)));
    RETURN_IF_ERROR(status_of(cudaMemset2DAsync(&job.records->determined, sizeof *job.records, 0,
                                                sizeof job.records->determined, count, stream)));
    RETURN_IF_ERROR(launch(w == 8    ? determine<8>
                           : w == 16 ? determine<16>
                                     : determine<32>,
                           (count * n + warps - 1) / warps, threads, 0, stream, job));
    if (decoded != nullptr)
        RETURN_IF_ERROR(status_of(cudaMemcpyAsync(decoded + first * n, d->wanted, count * n,
                                                  cudaMemcpyDeviceToDevice, stream)));
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_regions to = regions_from(sources, first * n);
    const gfk_regions payloads = {nullptr, d->payloads + first * n * d->payload_pitch,
                                  d->payload_pitch};
    const gfk_regions checked = {nullptr, d->checked, d->payload_pitch};
    const auto run = [&](gfk_matmul_call &product, const gfk_regions &b, const gfk_regions &c) {
        product.b = &b;
        product.c = &c;
        product.workspace = d->scratch;
        product.stream = stream;
        return gfk_matmul_run_batch(&product, count, nullptr, 1);
    };
    products[0].wanted = d->wanted;
    RETURN_IF_ERROR(run(products[0], payloads, to));
    if (spare == 0)
        return GFK_STATUS_SUCCESS;
    factors[1].elements = d->vectors + first * spare * d->pitch;
    RETURN_IF_ERROR(run(products[1], to, checked));
    return launch(compare, count * spare, threads, 0, stream, job);
}

} // namespace
} // namespace rlnc
} // namespace gfk

gfk_status gfk_rlnc_open_on_device(gfk_rlnc_decoder_t d, size_t bytes, size_t staging_bytes) {
    using namespace gfk;
    for (int i = 0; i < 2; i++) {
        RETURN_IF_ERROR(
            status_of(cudaHostAlloc((void **)&d->staging[i], staging_bytes, cudaHostAllocDefault)));
        RETURN_IF_ERROR(status_of(
            cudaEventCreateWithFlags((cudaEvent_t *)&d->events[i], cudaEventDisableTiming)));
    }
    return status_of(cudaMemset(d->memory, 0, bytes));
}

void gfk_rlnc_close_on_device(gfk_rlnc_decoder_t d) {
    for (int i = 0; i < 2; i++) {
        if (d->staging[i] != nullptr)
            cudaFreeHost(d->staging[i]);
        if (d->events[i] != nullptr)
            cudaEventDestroy((cudaEvent_t)d->events[i]);
    }
}

gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d, gfk_stream_t stream) {
    using namespace gfk;
    static_assert(GFK_MATRIX_DEPENDENT == UINT32_MAX, "the byte of memset");
    RETURN_IF_ERROR(status_of(
        cudaMemsetAsync(d->pivots, 0xff, (size_t)(d->used - (uint8_t *)d->pivots), stream)));
    RETURN_IF_ERROR(status_of(cudaMemsetAsync(d->used, 0, (size_t)(d->tables - d->used), stream)));
    return launch(rlnc::clear, (d->generations + rlnc::threads - 1) / rlnc::threads, rlnc::threads,
                  0, stream, d->records, d->generations);
}

gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream) {
    using namespace gfk;
    const size_t count = packets->count, n = d->code->n, bytes = d->code->bytes;
    const bool given = packets->vectors != nullptr;
    /* As in the staging memory. */
    const auto there = [&](const void *staged) {
        return d->upload + ((const uint8_t *)staged - (const uint8_t *)d->arrivals);
    };
    const auto *const arrivals = (const gfk_rlnc_arrival *)d->upload;
    const auto *const segments = (const gfk_rlnc_segment *)there(d->segments);
    const rlnc::Packets job = {arrivals,
                               d->destinations,
                               d->accepted,
                               given,
                               given ? packets->vectors : d->raw,
                               given ? packets->vector_pitch : d->pitch,
                               n * d->symbol,
                               d->listed != nullptr ? (uint8_t *const *)there(d->listed) : nullptr,
                               (const uint8_t *)packets->payloads.base,
                               packets->payloads.stride,
                               bytes,
                               d->payloads,
                               d->kept,
                               d->vectors,
                               d->payload_pitch,
                               d->pitch};
    RETURN_IF_ERROR(rlnc::upload(d, stream));
    if (d->accepted < count && packets->outcomes != nullptr)
        RETURN_IF_ERROR(launch(rlnc::refuse, (count - d->accepted + 127) / 128, 128, 0, stream,
                               arrivals + d->accepted, count - d->accepted, packets->outcomes));
    if (d->accepted == 0)
        return GFK_STATUS_SUCCESS;
    if (!given) {
        RETURN_IF_ERROR(launch(rlnc::write_headers, d->segment_count, 64, 0, stream, segments,
                               arrivals, d->first, d->headers));
        RETURN_IF_ERROR(gfk_rlnc_write_vectors(d->code, d->headers, d->accepted, d->raw,
                                               d->pitch / d->symbol, stream));
    }
    RETURN_IF_ERROR(rlnc::take_segments(d, job, segments, packets->outcomes, stream));
    const size_t parts = bytes / rlnc::part_bytes + 1;
    return launch(rlnc::move, (d->accepted * parts + rlnc::warps - 1) / rlnc::warps, rlnc::threads,
                  0, stream, job, (unsigned)parts);
}

gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream) {
    for (size_t first = 0; first < d->generations; first += d->group) {
        const size_t left = d->generations - first;
        RETURN_IF_ERROR(gfk::rlnc::decode_group(d, first, left < d->group ? left : d->group,
                                                *sources, decoded, stream));
    }
    return GFK_STATUS_SUCCESS;
}
