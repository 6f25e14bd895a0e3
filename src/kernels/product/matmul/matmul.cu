/* SPDX-License-Identifier: BSD-3-Clause */
/* A matmul part by part: the kernel that writes the data operand, and the order of all launches. */
#include "generate.cuh"

namespace gfk {
namespace matmul {
namespace {

struct DataJob {
    Regions b;
    uint8_t *data;
    Symbols symbols;
    size_t inputs;            /* of this launch and each product */
    size_t next_inputs;       /* regions from the inputs of a product to those of the next one */
    size_t first_step, steps; /* of this launch, of a part */
};

/* A block of write_data writes one half of a step, of `groups` times 32 symbols of a tile. */
template <int W, int LEVELS>
struct Slice {
    static constexpr int groups = LEVELS < 4 ? 8 : 4; /* of 32 symbols */
    static constexpr int count = 2 * 8 / groups;      /* of a step */
    static constexpr int inputs = Tile<W, LEVELS>::inputs / 2;
    static constexpr int group_bytes = 32 * W / 8, bytes = groups * group_bytes;
    static constexpr int pitch = groups * (group_bytes + 16); /* no conflicts of banks */
};

/* Calls write(part, words) for the words of each part that N times four words of symbols become:
 * fields of W bits of two words become twice as many fields of W / 2 bits. */
template <int W, int N, class F>
__device__ void split_symbols(const uint32_t (&x)[N][4], int part, const F &write) {
    if constexpr (N == 1) {
        write(part, x[0]);
    } else {
        constexpr uint32_t low = 0xffffffff / (1u << W / 2 | 1);
        uint32_t y[N / 2][4];
#pragma unroll
        for (int k = 0; k < 3; k++) {
#pragma unroll
            for (int i = 0; i < N / 2 * 4; i++) {
                const uint32_t a = x[i / 4 * 2][i % 4], b = x[i / 4 * 2 + 1][i % 4];
                const uint32_t lower = (a & low) | (b & low) << W / 2;
                const uint32_t upper = (a >> W / 2 & low) | (b & ~low);
                y[i / 4][i % 4] = k == 0 ? lower : k == 1 ? lower ^ upper : upper;
            }
            split_symbols<W / 2>(y, 3 * part + k, write);
        }
    }
}

template <int W, int LEVELS>
__global__
__launch_bounds__(32 *
                  Slice<W, LEVELS>::groups) void write_data(const __grid_constant__ DataJob job) {
    using T = Tile<W, LEVELS>;
    using S = Slice<W, LEVELS>;
    constexpr unsigned threads = 32 * S::groups, vectors = S::bytes / 16;
    __shared__ __align__(16) uint8_t x[S::inputs * S::pitch];
    const unsigned tile = blockIdx.y, slice = blockIdx.z;
    const unsigned half = slice % 2, first_group = slice / 2 * S::groups;
    const Symbols::Span span = job.symbols.of_tile(tile, T::region_bytes);
    const uint64_t begin = span.begin + first_group * (unsigned)S::group_bytes;
    const size_t first = (size_t)blockIdx.x * T::inputs + half * S::inputs;
    for (unsigned i = threadIdx.x; i < S::inputs * vectors; i += threads) {
        const unsigned input = i / vectors, at = i % vectors * 16;
        uint32_t v[4] = {};
        if (first + input < job.inputs) {
            const uint8_t *p =
                job.b.at(span.product * job.next_inputs + first + input, span.of_head);
            if (begin + at + 16 <= span.bytes && (uintptr_t)(p + begin) % 16 == 0)
                unpack(load_vector(p + begin + at), v);
            else
                for (int n = 0; n < 4; n++)
                    v[n] = load_word(p, begin + at + 4 * n, span.bytes);
        }
        *(uint4 *)(x + input * S::pitch + at / S::group_bytes * 16 + at) =
            make_uint4(v[0], v[1], v[2], v[3]);
    }
    __syncthreads();
    /* Neighbouring threads write neighbouring core matrices of one symbol each. */
    const unsigned group = threadIdx.x % S::groups, symbol = threadIdx.x / S::groups;
    const uint8_t *const mine = x + group * (S::group_bytes + 16) + symbol * T::symbol_bytes;
    uint32_t y[T::pieces][4] = {};
#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
        for (int n = 0; n < 32 / T::h; n++)
            y[n * W / 32][q] |= load_symbol<W>(mine + (q * 32 / T::h + n) * S::pitch) << n * W % 32;
    uint8_t *const to =
        job.data +
        (tile * (size_t)T::parts * job.steps + job.first_step + blockIdx.x) * T::data_bytes +
        symbol * 256 + half * 128 + (first_group + group) * 16;
    split_symbols<W>(y, 0, [&](int part, const uint32_t(&v)[4]) {
        *(uint4 *)(to + part * job.steps * T::data_bytes) = make_uint4(v[0], v[1], v[2], v[3]);
    });
}

template <int W, int LEVELS>
gfk_status write_symbols(const gfk_matmul_call *call, size_t first, size_t tiles) {
    using T = Tile<W, LEVELS>;
    const size_t steps = call->plan.k_blocks / T::parts * T::steps,
                 at_once = Regions::most / T::inputs;
    DataJob job;
    job.data = call->workspace;
    job.symbols = symbols_of<T>(call, first, tiles);
    job.next_inputs = call->a->cols;
    job.steps = steps;
    for (job.first_step = 0; job.first_step < steps; job.first_step += at_once) {
        const size_t input = job.first_step * T::inputs;
        const size_t left = call->a->cols > input ? call->a->cols - input : 0;
        job.inputs = left < Regions::most ? left : Regions::most;
        if (job.inputs > 0)
            set_regions(job.b, call->b, call->head.b, call->head.b_stride, input,
                        (call->plan.products - 1) * job.next_inputs + job.inputs);
        const size_t now = steps - job.first_step < at_once ? steps - job.first_step : at_once;
        using S = Slice<W, LEVELS>;
        const dim3 grid((unsigned)now, (unsigned)tiles, S::count);
        write_data<W, LEVELS><<<grid, 32 * S::groups, 0, call->stream>>>(job);
        const gfk_status status = status_of(cudaGetLastError());
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

} // namespace

template <int W, int LEVELS>
gfk_status run_wgmma(const gfk_matmul_call *call) {
    using T = Tile<W, LEVELS>;
    const gfk_matmul_plan &plan = call->plan;
    uint8_t *matrix = call->workspace + plan.data_space;
    GemmJob job;
    job.data = call->workspace;
    job.k_blocks = (uint32_t)(plan.k_blocks / T::parts);
    job.polynomial = lower_polynomial(W, call->field->polynomial);
    job.accumulate = call->accumulate;
    job.zero = 0;
    job.skip_if = call->skip_if;
    const gfk_status sent = send_points(call);
    if (sent != GFK_STATUS_SUCCESS)
        return sent;
    size_t symbol_tiles;
    for (size_t s = 0; s < plan.products * plan.symbol_tiles; s += symbol_tiles) {
        const size_t left = plan.products * plan.symbol_tiles - s;
        symbol_tiles = left < plan.symbol_tiles_at_once ? left : plan.symbol_tiles_at_once;
        gfk_status status = write_symbols<W, LEVELS>(call, s, symbol_tiles);
        job.symbols = symbols_of<T>(call, s, symbol_tiles);
        job.symbol_tiles = (uint32_t)symbol_tiles;
        const size_t at_once = plan.output_tiles_at_once * T::outputs;
        for (size_t row = 0; row < call->a->rows && status == GFK_STATUS_SUCCESS; row += at_once) {
            const size_t rows = call->a->rows - row < at_once ? call->a->rows - row : at_once;
            status = write_rows<T>(call, row, rows, plan.k_blocks / T::parts * T::steps,
                                   (uint32_t *)matrix);
            if (status != GFK_STATUS_SUCCESS)
                return status;
            const size_t most = call->c->pointers ? Regions::most / T::outputs * T::outputs : rows;
            for (size_t first = 0; first < rows && status == GFK_STATUS_SUCCESS; first += most) {
                job.matrix = matrix + first / T::outputs * plan.k_blocks * plan.matrix_bytes;
                job.rows = (uint32_t)(rows - first < most ? rows - first : most);
                job.output_tiles = (uint32_t)gfk_divide_up(job.rows, T::outputs);
                job.output_mask = call->output_mask ? call->output_mask + row + first : NULL;
                set_regions(job.c, call->c, call->head.c, call->head.c_stride, row + first,
                            plan.products * job.rows);
                status = gemm<W, LEVELS>(job, call->machine.processors, call->stream);
            }
        }
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

#define CLMAD_ROW(...)
#define WGMMA_ROW(...) template gfk_status run_wgmma<__VA_ARGS__>(const gfk_matmul_call *);
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    BUILD##_ROW(w, gfk_matmul_numbers{__VA_ARGS__}.levels)
#include "shapes.def"

} // namespace matmul
} // namespace gfk

extern "C" gfk_status gfk_matmul_run(const gfk_matmul_call *call) {
    return gfk::symbol_of<gfk::matmul::Run *>(call->plan.kernel)(call);
}
