/* SPDX-License-Identifier: BSD-3-Clause */
/* PRMT, w = 8: SPLIT in parts of 3, 3 and 2 bits for every coefficient, with the tables, 20 bytes
 * each, in the kernel's parameters and so in the constant bank. What a lookup needs of an input
 * word, its indices, is worked out once for all outputs. */
#include <stdlib.h>
#include <string.h>

#include "../../host/poly.h"
#include "cut_cells.cuh"

namespace {

/* Byte i of a pair of words is entry i; high has four. */
struct Tables {
    uint32_t low[2], middle[2], high;
};

constexpr size_t most_coefficients = 200, most_inputs = 200, group = 4;

template <size_t Inputs, size_t Coefficients>
struct JobOf : gfk::Walk {
    /* 2^32 / 2^n, for shifts to the right on the FMA pipe: as constants of the program they would
     * become shifts again, on the pipe that the lookups fill. */
    uint32_t shift2, shift3, shift4, shift16;
    const uint8_t *in[Inputs];
    uint8_t *out[group];
    Tables tables[Coefficients]; /* input by input */

    __device__ uint32_t coefficient(unsigned j, unsigned i) const {
        return tables[i * rows + j].low[0] >> 8 & 0xff;
    }
};

/* The indices of eight symbols, of words a and b, as selectors of PRMT: [0] for the symbols
 * a0 b0 a1 b1, [1] for a2 b2 a3 b3. */
struct Indices {
    uint32_t low[2], middle[2], high[2];

    template <class J>
    __device__ Indices(uint32_t a, uint32_t b, const J &job) {
        const uint32_t lower = (a & 0x0f0f0f0f) | (b << 4 & 0xf0f0f0f0);
        const uint32_t upper = (__umulhi(a, job.shift4) & 0x0f0f0f0f) | (b & 0xf0f0f0f0);
        low[0] = lower & 0x77777777;
        middle[0] = (__umulhi(lower, job.shift3) & 0x11111111) | (upper << 1 & 0x66666666);
        high[0] = __umulhi(upper, job.shift2) & 0x33333333;
        low[1] = __umulhi(low[0], job.shift16);
        middle[1] = __umulhi(middle[0], job.shift16);
        high[1] = __umulhi(high[0], job.shift16);
    }
    __device__ uint32_t product(const Tables &t, int half) const {
        return gfk::prmt(t.low[0], t.low[1], low[half]) ^
               gfk::prmt(t.middle[0], t.middle[1], middle[half]) ^ gfk::prmt(t.high, 0, high[half]);
    }
};

/* Inputs: 0 for any number, else all of them are loaded before the first is used. Cells: of every
 * thread. */
template <int Inputs_, int Outputs, int Cells_, int Blocks, bool Aligned_>
struct Shape {
    static constexpr int inputs = Inputs_, outputs = Outputs, cells = Cells_, threads = 128,
                         blocks = Blocks;
    static constexpr bool aligned = Aligned_;
    using Job = JobOf<inputs ? inputs : most_inputs, inputs ? inputs * outputs : most_coefficients>;
};

template <class S>
__device__ inline void add(uint32_t (&sums)[S::outputs][S::cells][4],
                           const uint32_t (&x)[S::cells][4], const typename S::Job &job,
                           unsigned input) {
#pragma unroll
    for (int c = 0; c < S::cells; c++)
#pragma unroll
        for (int pair = 0; pair < 4; pair += 2) {
            const Indices indices(x[c][pair], x[c][pair + 1], job);
#pragma unroll
            for (int j = 0; j < S::outputs; j++)
#pragma unroll
                for (int half = 0; half < 2; half++)
                    sums[j][c][pair + half] ^=
                        indices.product(job.tables[input * S::outputs + j], half);
        }
}

template <class S, bool Reads>
__global__ __launch_bounds__(S::threads,
                             S::blocks) void multiply(const __grid_constant__ typename S::Job job) {
    const uint64_t thread = (uint64_t)blockIdx.x * S::threads + threadIdx.x;
    if (job.cut_head + job.cut_tail)
        gfk::cut_cells<8>(job, thread, (uint64_t)gridDim.x * S::threads);
    if (job.count == 0)
        return;
    const uint64_t first = (uint64_t)blockIdx.x * (S::threads * S::cells) + threadIdx.x;
    /* Beyond the last whole cell a thread loads that one again, and does not store. */
    uint64_t at[S::cells];
#pragma unroll
    for (int c = 0; c < S::cells; c++) {
        const uint64_t cell = first + c * S::threads;
        at[c] = 16 * (job.first + (cell < job.count ? cell : job.count - 1));
    }
    if constexpr (Reads) {
#pragma unroll
        for (int j = 0; j < S::outputs; j++)
#pragma unroll
            for (int c = 0; c < S::cells; c++)
                job.sink.prefetch(job.out[j] + at[c]);
    }
    uint32_t sums[S::outputs][S::cells][4] = {};
    if constexpr (S::inputs != 0) {
        uint32_t x[S::inputs][S::cells][4];
#pragma unroll
        for (int i = 0; i < S::inputs; i++)
#pragma unroll
            for (int c = 0; c < S::cells; c++)
                gfk::load_whole<S::aligned>(job.in[i] + at[c], x[i][c]);
#pragma unroll
        for (int i = 0; i < S::inputs; i++)
            add<S>(sums, x[i], job, i);
    } else {
#pragma unroll 2
        for (unsigned i = 0; i < job.cols; i++) {
            uint32_t x[S::cells][4];
#pragma unroll
            for (int c = 0; c < S::cells; c++)
                gfk::load_whole<S::aligned>(job.in[i] + at[c], x[c]);
            add<S>(sums, x, job, i);
        }
    }
#pragma unroll
    for (int j = 0; j < S::outputs; j++)
#pragma unroll
        for (int c = 0; c < S::cells; c++) {
            if (first + c * S::threads >= job.count)
                continue;
            uint32_t y[4];
#pragma unroll
            for (int pair = 0; pair < 4; pair += 2) {
                y[pair] = gfk::prmt(sums[j][c][pair], sums[j][c][pair + 1], 0x6420);
                y[pair + 1] = gfk::prmt(sums[j][c][pair], sums[j][c][pair + 1], 0x7531);
            }
            gfk::store_words<S::aligned, Reads>(job.out[j] + at[c], y, job.sink, at[c] - job.phase);
        }
}

/* Outputs [first, first + rows), with their tables. */
struct Part {
    size_t first, rows;
    const Tables *tables;
};

template <class S>
gfk_status start(const gfk_product_call *call, const gfk::Cells &c, const Part &part) {
    const size_t cols = call->product->info.cols;
    typename S::Job job;
    gfk::describe(job, call, c);
    job.shift2 = 1u << 30;
    job.shift3 = 1u << 29;
    job.shift4 = 1u << 28;
    job.shift16 = 1u << 16;
    job.cols = (uint32_t)cols;
    job.rows = (uint32_t)part.rows;
    for (size_t i = 0; i < cols; i++)
        job.in[i] = gfk_region_address(call->in, i) - c.phase;
    for (size_t j = 0; j < part.rows; j++)
        job.out[j] = gfk_region_address(call->out, part.first + j) - c.phase;
    memcpy(job.tables, part.tables, part.rows * cols * sizeof *part.tables);
    const uint64_t cells = S::threads * S::cells;
    uint64_t blocks = (job.count + cells - 1) / cells;
    const uint64_t cut = (gfk::cut_threads(job, 8) + S::threads - 1) / S::threads;
    return gfk::launch(gfk::reads_outputs(call) ? multiply<S, true> : multiply<S, false>,
                       blocks > cut ? blocks : cut, S::threads, 0, call->stream, job);
}

using Start = gfk_status(const gfk_product_call *call, const gfk::Cells &c, const Part &part);

/* As many blocks as the registers allow, which all inputs at once take: more of them hide more of
 * the latency than several cells per thread do. */
template <int Inputs, int Outputs>
constexpr Start *fixed() {
    constexpr int most = Inputs > 5 || Outputs > 3 ? 8 : Inputs > 4 || Outputs > 2 ? 10 : 12;
    return start<Shape<Inputs, Outputs, 1, most, true>>;
}

#define GFK_PRMT_INPUTS(k) {fixed<k, 1>(), fixed<k, 2>(), fixed<k, 3>(), fixed<k, 4>()}
Start *const for_few[8][group] = {GFK_PRMT_INPUTS(1), GFK_PRMT_INPUTS(2), GFK_PRMT_INPUTS(3),
                                  GFK_PRMT_INPUTS(4), GFK_PRMT_INPUTS(5), GFK_PRMT_INPUTS(6),
                                  GFK_PRMT_INPUTS(7), GFK_PRMT_INPUTS(8)};
Start *const for_any[2][group] = {{start<Shape<0, 1, 1, 8, false>>, start<Shape<0, 2, 1, 8, false>>,
                                   start<Shape<0, 3, 1, 8, false>>,
                                   start<Shape<0, 4, 1, 8, false>>},
                                  {start<Shape<0, 1, 2, 8, true>>, start<Shape<0, 2, 2, 6, true>>,
                                   start<Shape<0, 3, 2, 6, true>>, start<Shape<0, 4, 2, 6, true>>}};

uint32_t byte_of(uint32_t c, uint32_t x, uint64_t polynomial, int at) {
    return gfk_poly_multiply(c, x, 8, polynomial) << (8 * at);
}

Tables tables_of(uint32_t c, uint64_t polynomial) {
    Tables t = {};
    for (uint32_t v = 0; v < 8; v++) {
        t.low[v / 4] |= byte_of(c, v, polynomial, v % 4);
        t.middle[v / 4] |= byte_of(c, v << 3, polynomial, v % 4);
        if (v < 4)
            t.high |= byte_of(c, v << 6, polynomial, v);
    }
    return t;
}

} // namespace

extern "C" gfk_status gfk_prmt_w8_accepts(const gfk_field *, size_t rows, size_t cols,
                                          uint64_t *table_bytes, const char **reason) {
    *table_bytes = 0; /* they are in host memory until a run passes them on */
    *reason = "";
    if (cols > most_inputs || rows > most_coefficients / cols) {
        *reason = "the tables of more than 200 coefficients do not fit";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    return GFK_STATUS_SUCCESS;
}

/* The state is the tables in the order of the launches: groups of outputs, inputs, outputs. */
extern "C" gfk_status gfk_prmt_w8_create(gfk_product_t p, const gfk_product_desc *) {
    const size_t rows = p->info.rows, cols = p->info.cols;
    Tables *t = (Tables *)malloc(rows * cols * sizeof *t);
    if (t == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->state = t;
    for (size_t first = 0; first < rows; first += group)
        for (size_t i = 0; i < cols; i++)
            for (size_t j = first; j < rows && j < first + group; j++)
                *t++ = tables_of(p->matrix[j * cols + i], p->info.field.polynomial);
    return GFK_STATUS_SUCCESS;
}

extern "C" void gfk_prmt_w8_destroy(gfk_product_t p) {
    free(p->state);
    p->state = NULL;
}

extern "C" gfk_status gfk_prmt_w8_run(const gfk_product_call *call) {
    const gfk_product_info &info = call->product->info;
    const Tables *t = (const Tables *)call->product->state;
    const gfk::Cells c = gfk::cells_of(call);
    for (size_t first = 0; first < info.rows; first += group) {
        const size_t rows = info.rows - first < group ? info.rows - first : group;
        const Part part = {first, rows, t + first * info.cols};
        Start *const start = c.aligned && info.cols <= 8 ? for_few[info.cols - 1][rows - 1]
                                                         : for_any[c.aligned][rows - 1];
        const gfk_status status = start(call, c, part);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}
