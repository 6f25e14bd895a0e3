/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders on a device: the packets of a panel go behind the table of their generation, the
 * elimination of gfk/matrix.h takes them, and the innovative ones move into the table. */
#include "host/base/status.h"
#include "host/product/matmul.h"
#include "host/rlnc/decoder.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/word.cuh"
#include "kernels/matrix/panel.cuh"

namespace gfk {
namespace rlnc {
namespace {

using matrix::load_element;
using matrix::store_element;

constexpr uint32_t none = GFK_MATRIX_DEPENDENT;
constexpr unsigned threads = 256;

/* A panel of packets of one generation. */
struct Panel {
    uint8_t *table, *raw;
    size_t pitch;
    uint32_t n, rows, symbol;
    uint32_t *pivots;
    uint8_t *factors;
    gfk_rlnc_record *record;
    gfk_rlnc_destination *destinations;
    const gfk_rlnc_arrival *arrivals;
    uint8_t *payloads, *vectors, *outcomes;
    size_t payload_pitch, bytes;
    uint32_t spare;
};

__global__ void clear(uint32_t *pivots, uint64_t count, gfk_rlnc_record *records,
                      uint64_t generations) {
    const uint64_t first = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    for (uint64_t i = first; i < count; i += (uint64_t)gridDim.x * blockDim.x) {
        pivots[i] = none;
        if (i < generations)
            records[i].status = GFK_STATUS_SINGULAR;
    }
}

__global__ void refuse(const gfk_rlnc_arrival *arrivals, size_t count, uint8_t *outcomes) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count)
        outcomes[arrivals[i].source] = GFK_RLNC_REFUSED;
}

/* Rows of the caller, in the order of generations. */
__global__ void gather(const uint8_t *from, size_t from_pitch, const gfk_rlnc_arrival *arrivals,
                       uint8_t *to, size_t pitch, size_t bytes) {
    const uint8_t *const row = from + arrivals[blockIdx.x].source * from_pitch;
    for (size_t i = threadIdx.x; i < bytes; i += blockDim.x)
        to[blockIdx.x * pitch + i] = row[i];
}

/* A block takes a vector: the elements in the columns of pivots become factors, the others the new row
 * behind the table. */
template <int W>
__global__ __launch_bounds__(threads) void stage(const __grid_constant__ Panel p) {
    const uint32_t i = blockIdx.x;
    const uint8_t *const raw = p.raw + i * p.pitch;
    uint8_t *const row = p.table + (p.n + i) * p.pitch, *const factors =
                                                            p.factors + (size_t)i * p.n * (W / 8);
    const uint32_t rank = p.record->rank;
    bool is_zero = true;
    for (uint32_t c = threadIdx.x; c < p.n; c += threads) {
        const uint32_t x = load_element<W>(raw, c);
        is_zero = is_zero && x == 0;
        store_element<W>(row, c, x);
        store_element<W>(factors, c, 0);
    }
    is_zero = __syncthreads_and(is_zero);
    if (threadIdx.x == 0)
        p.destinations[i].outcome = is_zero ? GFK_RLNC_REFUSED : GFK_RLNC_DEPENDENT;
    for (uint32_t r = threadIdx.x; r < rank; r += threads) {
        const uint32_t c = p.pivots[r];
        store_element<W>(factors, r, load_element<W>(raw, c));
        store_element<W>(row, c, 0);
    }
}

/* One block decides where the packets of a panel go: thread i has row i. */
__global__ void place(const __grid_constant__ Panel p) {
    __shared__ uint32_t innovative[128], dependent[128];
    const uint32_t i = threadIdx.x;
    if (i < p.rows) {
        innovative[i] = p.pivots[p.n + i] != none;
        dependent[i] = !innovative[i] && p.destinations[i].outcome != GFK_RLNC_REFUSED;
    }
    __syncthreads();
    const uint32_t rank = p.record->rank, kept = p.record->kept;
    __syncthreads();
    if (i >= p.rows)
        return;
    uint32_t before = 0, dependent_before = 0;
    for (uint32_t j = 0; j < i; j++) {
        before += innovative[j];
        dependent_before += dependent[j];
    }
    gfk_rlnc_destination to = {none, GFK_RLNC_REFUSED};
    if (innovative[i]) {
        to = {rank + before, GFK_RLNC_INNOVATIVE};
        p.pivots[to.slot] = p.pivots[p.n + i];
    } else if (dependent[i]) {
        const bool fits = kept + dependent_before < p.spare;
        to = {fits ? p.n + kept + dependent_before : none,
              fits ? (uint32_t)GFK_RLNC_DEPENDENT : (uint32_t)GFK_RLNC_DROPPED};
    }
    p.destinations[i] = to;
    if (p.outcomes != nullptr)
        p.outcomes[p.arrivals[i].source] = (uint8_t)to.outcome;
    if (i + 1 == p.rows) {
        const uint32_t found = before + innovative[i], extra = dependent_before + dependent[i];
        const uint32_t room = p.spare - kept, stays = extra < room ? extra : room;
        p.record->rank = rank + found;
        p.record->kept = kept + stays;
        p.record->dropped += extra - stays;
        p.record->refused += p.rows - found - extra;
        if (rank + found == p.n && p.record->status == GFK_STATUS_SINGULAR)
            p.record->status = GFK_STATUS_SUCCESS;
    }
}

/* Copies bytes, 16 at a time where both addresses allow it. */
__device__ void copy(uint8_t *to, const uint8_t *from, size_t bytes, size_t first, size_t step) {
    const bool is_aligned = ((uintptr_t)to | (uintptr_t)from) % 16 == 0;
    const size_t vectors = is_aligned ? bytes / 16 : 0;
    for (size_t i = first; i < vectors; i += step)
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    for (size_t i = 16 * vectors + first; i < bytes; i += step)
        to[i] = from[i];
}

/* Blocks (packet, part): the row moves into the table, or the vector to the kept ones; the payload is
 * copied. */
__global__ __launch_bounds__(threads) void move(const __grid_constant__ Panel p, unsigned parts) {
    const uint32_t i = blockIdx.x / parts, part = blockIdx.x % parts;
    const gfk_rlnc_destination to = p.destinations[i];
    if (to.slot == none)
        return;
    if (part == 0) {
        const bool is_row = to.outcome == GFK_RLNC_INNOVATIVE;
        copy(is_row ? p.table + to.slot * p.pitch : p.vectors + (to.slot - p.n) * p.pitch,
             is_row ? p.table + (p.n + i) * p.pitch : p.raw + i * p.pitch, p.n * p.symbol,
             threadIdx.x, threads);
    }
    copy(p.payloads + to.slot * p.payload_pitch, p.arrivals[i].payload, p.bytes,
         part * threads + threadIdx.x, (size_t)parts * threads);
}

/* ---- the sources ---------------------------------------------------------------------------- */

struct Sources {
    const uint8_t *table;
    size_t pitch;
    uint32_t n, spare;
    const uint32_t *pivots;
    const uint8_t *used;
    gfk_rlnc_record *record;
    uint8_t *inverse, *is_determined; /* of the generation's sources */
    uint8_t *decoded;                 /* the caller's, or NULL */
    const uint8_t *from;              /* the sources as they have been computed */
    size_t from_pitch, bytes;
    void *const *pointers; /* on the device, or NULL: base and stride */
    uint8_t *base;
    size_t stride;
    const uint8_t *payloads, *checked; /* of the kept packets */
};

/* A block per row of the table: is the source determined? Then the row, with its columns in the order of
 * slots, is the source's row of the inverse. */
template <int W>
__global__ __launch_bounds__(threads) void determine(const __grid_constant__ Sources s) {
    const uint32_t r = blockIdx.x, rank = s.record->rank;
    if (r >= rank)
        return;
    const uint8_t *const row = s.table + r * s.pitch;
    bool is_known = true;
    if (rank < s.n)
        for (uint32_t c = threadIdx.x; c < s.n; c += threads)
            is_known = is_known && (s.used[c] || load_element<W>(row, c) == 0);
    if (!__syncthreads_and(is_known))
        return;
    const uint32_t source = s.pivots[r];
    for (uint32_t i = threadIdx.x; i < rank; i += threads)
        store_element<W>(s.inverse, (size_t)source * s.n + i, load_element<W>(row, s.pivots[i]));
    if (threadIdx.x == 0) {
        s.is_determined[source] = 1;
        atomicAdd(&s.record->determined, 1u);
    }
}

__global__ __launch_bounds__(threads) void write_sources(const __grid_constant__ Sources s,
                                                         unsigned parts) {
    const uint32_t i = blockIdx.x / parts, part = blockIdx.x % parts;
    const bool is_determined = s.is_determined[i];
    if (s.decoded != nullptr && part == 0 && threadIdx.x == 0)
        s.decoded[i] = is_determined;
    if (is_determined)
        copy(s.pointers ? (uint8_t *)s.pointers[i] : s.base + i * s.stride,
             s.from + i * s.from_pitch, s.bytes, part * threads + threadIdx.x,
             (size_t)parts * threads);
}

/* A block per kept packet. */
__global__ __launch_bounds__(threads) void compare(const __grid_constant__ Sources s) {
    const uint32_t i = blockIdx.x;
    if (i >= s.record->kept || s.record->rank < s.n)
        return;
    bool differs = false;
    for (size_t at = threadIdx.x; at < s.bytes; at += threads)
        differs = differs || s.checked[i * s.from_pitch + at] != s.payloads[i * s.from_pitch + at];
    if (differs)
        s.record->status = GFK_STATUS_CORRUPT;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Products of `rows` x n elements and `bytes` bytes, with the lane's workspace. */
gfk_status multiply(const gfk_elimination &e, const uint8_t *elements, size_t rows, size_t n,
                    size_t stride, const uint8_t *from, size_t from_pitch, uint8_t *to,
                    size_t to_pitch, size_t bytes, bool accumulate) {
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements, rows, n, stride);
    const gfk_regions in = {nullptr, (void *)from, from_pitch}, out = {nullptr, to, to_pitch};
    gfk_matmul_call call = {};
    call.field = e.field;
    call.a = &a;
    call.b = &in;
    call.c = &out;
    call.bytes = bytes;
    call.accumulate = accumulate;
    call.workspace = e.workspace;
    call.processors = e.processors;
    call.stream = e.stream;
    const gfk_status status = gfk_matmul_make_plan(&call);
    return status == GFK_STATUS_SUCCESS ? gfk_matmul_run(&call) : status;
}

struct Generation {
    gfk_elimination e;
    gfk_matrix table;
};

gfk_status enter(gfk_rlnc_decoder_t d, size_t g, gfk_stream_t stream, Generation *s) {
    size_t bytes;
    *s = {};
    RETURN_IF_ERROR(gfk_rlnc_elimination(d, d->scratch, &s->e, &bytes));
    s->e.stream = stream;
    s->e.matrix = d->tables + g * d->rows * d->pitch;
    s->e.pivots = d->pivots + g * d->rows;
    s->e.used = d->used + g * d->code->n;
    s->e.rank = d->ranks + g;
    s->e.a = &s->table;
    s->table = GFK_MATRIX_DENSE_INIT(s->e.matrix, d->rows, d->code->n, d->pitch / d->symbol);
    return GFK_STATUS_SUCCESS;
}

unsigned parts_of(size_t bytes) {
    return (unsigned)(bytes / (16 * threads * 4) + 1);
}

/* Packets [first, first + rows) of the sorted ones, of one generation. */
gfk_status take_panel(gfk_rlnc_decoder_t d, const Generation &s, size_t g, size_t first,
                      size_t rows, uint8_t *outcomes) {
    const size_t n = d->code->n;
    const unsigned w = d->code->field.w, parts = parts_of(d->code->bytes);
    const Panel p = {s.e.matrix,
                     d->raw + first * d->pitch,
                     d->pitch,
                     (uint32_t)n,
                     (uint32_t)rows,
                     (uint32_t)d->symbol,
                     s.e.pivots,
                     s.e.factors,
                     d->records + g,
                     d->destinations,
                     d->arrivals + first,
                     d->payloads + g * (n + d->spare) * d->payload_pitch,
                     d->vectors + g * d->spare * d->pitch,
                     outcomes,
                     d->payload_pitch,
                     d->code->bytes,
                     (uint32_t)d->spare};
    uint8_t *const behind = s.e.matrix + n * d->pitch;
    RETURN_IF_ERROR(launch(w == 8    ? stage<8>
                           : w == 16 ? stage<16>
                                     : stage<32>,
                           rows, threads, 0, s.e.stream, p));
    RETURN_IF_ERROR(multiply(s.e, s.e.factors, rows, n, n, s.e.matrix, d->pitch, behind, d->pitch,
                             n * d->symbol, true));
    RETURN_IF_ERROR(gfk_eliminate_on_device.panel(&s.e, n, rows));
    RETURN_IF_ERROR(gfk_eliminate_on_device.exchange(&s.e, n, rows, 0, n + rows));
    RETURN_IF_ERROR(launch(place, 1, 128, 0, s.e.stream, p));
    return launch(move, rows * parts, threads, 0, s.e.stream, p, parts);
}

gfk_status decode_generation(gfk_rlnc_decoder_t d, size_t g, const gfk_regions *sources,
                             uint8_t *decoded, gfk_stream_t stream) {
    Generation s;
    RETURN_IF_ERROR(enter(d, g, stream, &s));
    const size_t n = d->code->n, bytes = d->code->bytes;
    const unsigned w = d->code->field.w, parts = parts_of(bytes);
    const uint8_t *const payloads = d->payloads + g * (n + d->spare) * d->payload_pitch;
    const Sources job = {s.e.matrix,
                         d->pitch,
                         (uint32_t)n,
                         (uint32_t)d->spare,
                         s.e.pivots,
                         s.e.used,
                         d->records + g,
                         s.e.factors,
                         d->is_determined,
                         decoded != nullptr ? decoded + g * n : nullptr,
                         d->decoded,
                         d->payload_pitch,
                         bytes,
                         sources->pointers != nullptr ? d->outputs_there + g * n : nullptr,
                         (uint8_t *)sources->base + g * n * sources->stride,
                         sources->stride,
                         payloads + n * d->payload_pitch,
                         d->checked};
    RETURN_IF_ERROR(status_of(cudaMemsetAsync(s.e.factors, 0, n * n * d->symbol, stream)));
    RETURN_IF_ERROR(status_of(cudaMemsetAsync(d->is_determined, 0, n, stream)));
    RETURN_IF_ERROR(status_of(
        cudaMemsetAsync(&d->records[g].determined, 0, sizeof d->records[g].determined, stream)));
    RETURN_IF_ERROR(launch(w == 8    ? determine<8>
                           : w == 16 ? determine<16>
                                     : determine<32>,
                           n, threads, 0, stream, job));
    if (bytes != 0)
        RETURN_IF_ERROR(multiply(s.e, s.e.factors, n, n, n, payloads, d->payload_pitch, d->decoded,
                                 d->payload_pitch, bytes, false));
    RETURN_IF_ERROR(launch(write_sources, n * parts, threads, 0, stream, job, parts));
    if (d->spare == 0 || bytes == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(multiply(s.e, d->vectors + g * d->spare * d->pitch, d->spare, n,
                             d->pitch / d->symbol, d->decoded, d->payload_pitch, d->checked,
                             d->payload_pitch, bytes, false));
    return launch(compare, d->spare, threads, 0, stream, job);
}

} // namespace
} // namespace rlnc
} // namespace gfk

gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d) {
    using namespace gfk;
    RETURN_IF_ERROR(status_of(cudaMemset(d->tables, 0, (size_t)(d->scratch - d->tables))));
    RETURN_IF_ERROR(launch(rlnc::clear, 128, rlnc::threads, 0, nullptr, d->pivots,
                           (uint64_t)d->generations * d->rows, d->records,
                           (uint64_t)d->generations));
    return status_of(cudaStreamSynchronize(nullptr));
}

gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream) {
    using namespace gfk;
    const size_t count = d->begins[d->generations], all = d->begins[d->generations + 1];
    RETURN_IF_ERROR(status_of(cudaMemcpyAsync(d->headers, d->sorted, all * sizeof *d->headers,
                                              cudaMemcpyHostToDevice, stream)));
    RETURN_IF_ERROR(
        status_of(cudaMemcpyAsync(d->arrivals, d->sorted_arrivals, all * sizeof *d->arrivals,
                                  cudaMemcpyHostToDevice, stream)));
    if (count < all && packets->outcomes != nullptr)
        RETURN_IF_ERROR(launch(rlnc::refuse, (all - count + 127) / 128, 128, 0, stream,
                               d->arrivals + count, all - count, packets->outcomes));
    if (count == 0)
        return GFK_STATUS_SUCCESS;
    if (packets->vectors == nullptr)
        RETURN_IF_ERROR(gfk_rlnc_write_vectors(d->code, d->headers, count, d->raw,
                                               d->pitch / d->symbol, stream));
    else
        RETURN_IF_ERROR(launch(rlnc::gather, count, rlnc::threads, 0, stream, packets->vectors,
                               packets->vector_pitch, d->arrivals, d->raw, d->pitch,
                               d->code->n * d->symbol));
    for (size_t g = 0; g < d->generations; g++) {
        rlnc::Generation s;
        if (d->begins[g] != d->begins[g + 1])
            RETURN_IF_ERROR(rlnc::enter(d, g, stream, &s));
        for (size_t first = d->begins[g], rows; first < d->begins[g + 1]; first += rows) {
            rows = d->begins[g + 1] - first;
            rows = rows < d->panel ? rows : d->panel;
            RETURN_IF_ERROR(rlnc::take_panel(d, s, g, first, rows, packets->outcomes));
        }
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream) {
    using namespace gfk;
    if (sources->pointers != nullptr)
        RETURN_IF_ERROR(
            status_of(cudaMemcpyAsync(d->outputs_there, sources->pointers,
                                      d->generations * d->code->n * sizeof *d->outputs_there,
                                      cudaMemcpyHostToDevice, stream)));
    for (size_t g = 0; g < d->generations; g++)
        RETURN_IF_ERROR(rlnc::decode_generation(d, g, sources, decoded, stream));
    return GFK_STATUS_SUCCESS;
}
