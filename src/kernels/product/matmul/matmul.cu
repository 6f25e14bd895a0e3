/* SPDX-License-Identifier: BSD-3-Clause */
/* A matmul part by part: the kernel that writes the data operand, and the order of all launches. */
#include "generate.cuh"

namespace gfk {
namespace matmul {
namespace {

struct DataJob {
    Regions b;
    uint8_t *data;
    uint64_t first_byte, bytes; /* as of GemmJob */
    uint32_t tiles_each;        /* likewise */
    size_t inputs;              /* of this launch and each product */
    size_t next_inputs;         /* regions from the inputs of a product to those of the next one */
    size_t first_step, steps;   /* of this launch, of all */
};

template <int W>
__device__ uint32_t load_symbol(const uint8_t *p) {
    return W == 8 ? *p : W == 16 ? *(const uint16_t *)p : *(const uint32_t *)p;
}

/* Four bytes of an input; zeros behind its end. */
__device__ uint32_t load_word(const uint8_t *p, uint64_t at, uint64_t bytes) {
    if (at + 4 <= bytes && (uintptr_t)(p + at) % 4 == 0)
        return *(const uint32_t *)(p + at);
    return at < bytes ? load_bytes(p + at, bytes - at < 4 ? (unsigned)(bytes - at) : 4) : 0;
}

/* A block writes one step of a tile of symbols. */
template <int W>
__global__ __launch_bounds__(256) void write_data(const __grid_constant__ DataJob job) {
    using T = Tile<W>;
    constexpr int words = T::region_bytes / 4, pitch = T::region_bytes + 4 * T::symbol_bytes;
    __shared__ __align__(16) uint8_t x[T::inputs * pitch];
    const unsigned product = blockIdx.y / job.tiles_each;
    const uint64_t begin = job.first_byte + blockIdx.y % job.tiles_each * (uint64_t)T::region_bytes;
    const size_t first = (size_t)blockIdx.x * T::inputs;
    for (unsigned i = threadIdx.x; i < T::inputs * words / 4; i += 256) {
        const unsigned input = i / (words / 4), at = i % (words / 4) * 16;
        uint32_t v[4] = {};
        if (first + input < job.inputs) {
            const uint8_t *p = job.b.at(product * job.next_inputs + first + input);
            if (begin + at + 16 <= job.bytes && (uintptr_t)(p + begin) % 16 == 0)
                unpack(load_vector(p + begin + at), v);
            else
                for (int n = 0; n < 4; n++)
                    v[n] = load_word(p, begin + at + 4 * n, job.bytes);
        }
        for (int n = 0; n < 4; n++)
            *(uint32_t *)(x + input * pitch + at + 4 * n) = v[n];
    }
    __syncthreads();
    uint8_t *to = job.data + (blockIdx.y * job.steps + job.first_step + blockIdx.x) * T::data_bytes;
    for (unsigned i = threadIdx.x; i < T::data_bytes / 16; i += 256) {
        const unsigned symbol = i / 2, half = i % 2;
        uint32_t v[4] = {};
        for (int n = 0; n < T::inputs / 2; n++) {
            const uint32_t y =
                load_symbol<W>(x + (half * T::inputs / 2 + n) * pitch + symbol * T::symbol_bytes);
            v[n * W / 32] |= y << n * W % 32;
        }
        *(uint4 *)(to + symbol % 32 * 256 + half * 128 + symbol / 32 * 16) =
            make_uint4(v[0], v[1], v[2], v[3]);
    }
}

template <int W>
gfk_status write_symbols(const gfk_matmul_call *call, size_t first, size_t tiles) {
    using T = Tile<W>;
    const size_t steps = call->plan.batches * T::steps, at_once = Regions::most / T::inputs;
    DataJob job;
    job.data = call->workspace;
    job.first_byte = first * T::region_bytes;
    job.bytes = call->bytes;
    job.tiles_each = (uint32_t)(tiles / call->plan.products);
    job.next_inputs = call->a->cols;
    job.steps = steps;
    for (job.first_step = 0; job.first_step < steps; job.first_step += at_once) {
        const size_t input = job.first_step * T::inputs;
        const size_t left = call->a->cols > input ? call->a->cols - input : 0;
        job.inputs = left < Regions::most ? left : Regions::most;
        if (job.inputs > 0)
            set_regions(job.b, call->b, input, job.inputs);
        const size_t now = steps - job.first_step < at_once ? steps - job.first_step : at_once;
        write_data<W><<<dim3((unsigned)now, (unsigned)tiles), 256, 0, call->stream>>>(job);
        const gfk_status status = status_of(cudaGetLastError());
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

template <int W>
gfk_status run(const gfk_matmul_call *call) {
    using T = Tile<W>;
    const gfk_matmul_plan &plan = call->plan;
    uint8_t *matrix = call->workspace + plan.data_space;
    GemmJob job;
    job.data = call->workspace;
    job.bytes = call->bytes;
    job.batches = (uint32_t)plan.batches;
    job.polynomial = (uint32_t)(call->field->polynomial & (((uint64_t)1 << W) - 1));
    job.accumulate = call->accumulate;
    job.zero = 0;
    job.condition = call->condition;
    const gfk_status sent = send_points(call);
    if (sent != GFK_STATUS_SUCCESS)
        return sent;
    size_t symbol_tiles;
    for (size_t s = 0; s < plan.products * plan.symbol_tiles; s += symbol_tiles) {
        const size_t left = plan.products * plan.symbol_tiles - s;
        symbol_tiles = left < plan.symbol_tiles_at_once ? left : plan.symbol_tiles_at_once;
        gfk_status status = write_symbols<W>(call, s, symbol_tiles);
        job.first_byte = s * T::region_bytes;
        job.symbol_tiles = (uint32_t)symbol_tiles;
        job.tiles_each = (uint32_t)(symbol_tiles / plan.products);
        const size_t at_once = plan.output_tiles_at_once * T::outputs;
        for (size_t row = 0; row < call->a->rows && status == GFK_STATUS_SUCCESS; row += at_once) {
            const size_t rows = call->a->rows - row < at_once ? call->a->rows - row : at_once;
            status = write_rows<W>(call, row, rows, (uint4 *)matrix);
            if (status != GFK_STATUS_SUCCESS)
                return status;
            const size_t most = call->c->pointers ? Regions::most : rows;
            for (size_t first = 0; first < rows && status == GFK_STATUS_SUCCESS; first += most) {
                job.matrix = matrix + first / T::outputs * plan.batches * plan.matrix_bytes;
                job.rows = (uint32_t)(rows - first < most ? rows - first : most);
                job.output_tiles = (uint32_t)((job.rows + T::outputs - 1) / T::outputs);
                job.wanted = call->wanted ? call->wanted + row + first : NULL;
                set_regions(job.c, call->c, row + first, job.rows);
                status = gemm(W, job, call->processors, call->stream);
            }
        }
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

} // namespace
} // namespace matmul
} // namespace gfk

extern "C" gfk_status gfk_matmul_run(const gfk_matmul_call *call) {
    switch (call->field->w) {
#define GFK_MATMUL_KERNEL(kernel, w, ...)                                                          \
    case w:                                                                                        \
        return gfk::matmul::run<w>(call);
#include "shapes.def"
    }
    return GFK_STATUS_INTERNAL;
}
