/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of an elimination on a device. */
#include "matrix.h"
#include "panel.cuh"

#include "host/matrix/eliminate.h"
#include "host/product/matmul.h"
#include "kernels/common/launch.cuh"

namespace gfk {
namespace matrix {
namespace {

constexpr uint32_t none = GFK_MATRIX_DEPENDENT;
constexpr unsigned warps = 8; /* of a block of the kernels here */

struct Job {
    uint8_t *matrix;
    size_t pitch;
    uint32_t begin, end, first, rows; /* rows of the matrix; of the panel or the group */
    uint32_t polynomial;              /* replicated, without its leading term */
    const uint8_t *transform;
    uint8_t *factors;
    size_t stride; /* of the factors, elements */
    const uint32_t *pivots;
};

/* A warp makes one row of factors: the row's elements in the pivots' columns times the transform;
 * for a row of the panel with a pivot, the transform's row plus the unit. Those elements become 0,
 * in the panel the unit matrix, so that the product by the panel's rows adds the exchanged row. */
template <int W>
__global__ __launch_bounds__(32 * warps) void write_factors(const __grid_constant__ Job job) {
    using P = Panel<W>;
    __shared__ uint32_t transform[P::rows * P::row_words], columns[P::rows];
    __shared__ uint32_t elements[warps][P::rows];
    for (unsigned i = threadIdx.x; i < P::rows * P::row_words; i += blockDim.x)
        transform[i] = ((const uint32_t *)job.transform)[i];
    for (unsigned i = threadIdx.x; i < P::rows; i += blockDim.x)
        columns[i] = i < job.rows ? job.pivots[job.first + i] : none;
    __syncthreads();
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t *const mine = elements[warp];
    for (uint32_t row = job.begin + blockIdx.x * warps + warp; row < job.end;
         row += gridDim.x * warps) {
        uint8_t *const p = job.matrix + row * job.pitch;
        const uint32_t own = row - job.first; /* of the panel, if less than its rows */
        const bool is_pivot = own < job.rows && columns[own] != none;
        for (unsigned i = lane; i < P::rows; i += 32) {
            const uint32_t column = columns[i];
            mine[i] = 0;
            if (column != none) {
                mine[i] = load_symbol<W>(p, column);
                store_symbol<W>(p, column, is_pivot && i == own);
            }
        }
        __syncwarp();
        uint32_t x;
        if (is_pivot) {
            x = transform[own * P::row_words + lane];
            if (own / P::symbols == lane)
                x ^= 1u << own % P::symbols * W % 32;
        } else {
            Sum<W> sum;
#pragma unroll 4
            for (unsigned k = 0; k < P::rows; k++)
                sum.add(mine[k], transform[k * P::row_words + lane]);
            x = sum.reduce(job.polynomial);
        }
        ((uint32_t *)(job.factors + (row - job.begin) * job.stride * P::symbol_bytes))[lane] = x;
        __syncwarp();
    }
}

/* Takes the elements in the pivots' columns of a group out of the other rows; they become 0. */
template <int W>
__global__ void take_factors(const __grid_constant__ Job job) {
    const uint64_t total = (uint64_t)(job.end - job.begin) * job.rows;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < total;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const uint32_t row = job.begin + (uint32_t)(i / job.rows), j = (uint32_t)(i % job.rows);
        const uint32_t column = job.pivots[job.first + j];
        uint8_t *const p = job.matrix + row * job.pitch;
        uint32_t x = 0;
        if (column != none && row - job.first >= job.rows) {
            x = load_symbol<W>(p, column);
            store_symbol<W>(p, column, 0);
        }
        store_symbol<W>(job.factors, (row - job.begin) * job.stride + j, x);
    }
}

struct FinishJob {
    const uint8_t *matrix;
    size_t pitch;
    uint32_t rows, cols;
    const uint32_t *rank;
    const uint32_t *pivots;
    uint8_t *inverse; /* NULL: only the rank */
    size_t stride;
    gfk_matrix_record *record;
    uint32_t *list; /* or NULL */
};

/* Element [pivot of row i][j] of the inverse is element [i][pivot of row j]. */
template <int W>
__global__ void finish_kernel(const __grid_constant__ FinishJob job) {
    const bool is_regular = *job.rank == job.rows;
    const uint64_t begin = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    if (begin == 0) {
        job.record->status =
            is_regular || job.inverse == nullptr ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR;
        job.record->rank = *job.rank;
    }
    if (job.list != nullptr)
        for (uint64_t i = begin; i < job.rows; i += step)
            job.list[i] = job.pivots[i];
    if (job.inverse == nullptr || !is_regular)
        return;
    for (uint64_t i = begin; i < (uint64_t)job.rows * job.cols; i += step) {
        const uint32_t row = (uint32_t)(i / job.cols), col = (uint32_t)(i % job.cols);
        const uint32_t x = load_symbol<W>(job.matrix + row * job.pitch, job.pivots[col]);
        store_symbol<W>(job.inverse, job.pivots[row] * job.stride + col, x);
    }
}

uint32_t replicated_polynomial(const gfk_field *field) {
    const uint32_t polynomial = lower_polynomial(field->w, field->polynomial);
    return field->w == 8    ? replicate<8>(polynomial)
           : field->w == 16 ? replicate<16>(polynomial)
                            : polynomial;
}

gfk_status load(const gfk_elimination *e) {
    gfk_status status = status_of(
        cudaMemcpy2DAsync(e->matrix, e->pitch, e->a->elements, e->a->stride * e->symbol,
                          e->a->cols * e->symbol, e->a->rows, cudaMemcpyDefault, e->stream));
    if (status == GFK_STATUS_SUCCESS)
        status = status_of(cudaMemsetAsync(e->used, 0, e->a->cols, e->stream));
    if (status == GFK_STATUS_SUCCESS)
        status = status_of(cudaMemsetAsync(e->rank, 0, sizeof *e->rank, e->stream));
    return status;
}

gfk_status panel(const gfk_elimination *e, size_t first, size_t rows) {
    const PanelJob job = {.matrix = e->matrix,
                          .pitch = e->pitch,
                          .cols = (uint32_t)e->a->cols,
                          .first = (uint32_t)first,
                          .rows = (uint32_t)rows,
                          .polynomial = replicated_polynomial(e->field),
                          .used = e->used,
                          .transform = e->transform,
                          .pivots = e->pivots,
                          .rank = e->rank,
                          .inverter = e->inverter};
    return run_panel(e->field->w, job, e->stream);
}

/* Adds the factors times rows [first, first + rows) to rows [begin, end). */
gfk_status multiply(const gfk_elimination *e, size_t stride, size_t first, size_t rows,
                    size_t begin, size_t end) {
    const gfk_matrix factors = GFK_MATRIX_DENSE_INIT(e->factors, end - begin, rows, stride);
    const gfk_regions from = {nullptr, e->matrix + first * e->pitch, e->pitch};
    const gfk_regions to = {nullptr, e->matrix + begin * e->pitch, e->pitch};
    return gfk_eliminate_multiply(e, &factors, &from, &to, e->a->cols * e->symbol, GFK_XOR, true,
                                  nullptr);
}

Job make_job(const gfk_elimination *e, size_t stride, size_t first, size_t rows, size_t begin,
             size_t end) {
    return {.matrix = e->matrix,
            .pitch = e->pitch,
            .begin = (uint32_t)begin,
            .end = (uint32_t)end,
            .first = (uint32_t)first,
            .rows = (uint32_t)rows,
            .polynomial = replicated_polynomial(e->field),
            .transform = e->transform,
            .factors = e->factors,
            .stride = stride,
            .pivots = e->pivots};
}

gfk_status exchange(const gfk_elimination *e, size_t first, size_t rows, size_t begin, size_t end) {
    const unsigned w = e->field->w;
    const uint64_t blocks = gfk_divide_up(end - begin, warps),
                   most = 4 * (uint64_t)e->machine.processors;
    const gfk_status status = launch(w == 8    ? write_factors<8>
                                     : w == 16 ? write_factors<16>
                                               : write_factors<32>,
                                     blocks < most ? blocks : most, 32 * warps, 0, e->stream,
                                     make_job(e, e->panel, first, rows, begin, end));
    return status == GFK_STATUS_SUCCESS ? multiply(e, e->panel, first, rows, begin, end) : status;
}

gfk_status spread(const gfk_elimination *e, size_t first, size_t rows, size_t begin) {
    const unsigned w = e->field->w;
    const gfk_status status = launch(w == 8    ? take_factors<8>
                                     : w == 16 ? take_factors<16>
                                               : take_factors<32>,
                                     4 * (uint64_t)e->machine.processors, 512, 0, e->stream,
                                     make_job(e, e->group, first, rows, begin, e->a->rows));
    return status == GFK_STATUS_SUCCESS ? multiply(e, e->group, first, rows, begin, e->a->rows)
                                        : status;
}

gfk_status finish(const gfk_elimination *e, uint8_t *inverse, size_t stride,
                  gfk_matrix_record *record, uint32_t *pivots) {
    const unsigned w = e->field->w;
    const FinishJob job = {.matrix = e->matrix,
                           .pitch = e->pitch,
                           .rows = (uint32_t)e->a->rows,
                           .cols = (uint32_t)e->a->cols,
                           .rank = e->rank,
                           .pivots = e->pivots,
                           .inverse = inverse,
                           .stride = stride,
                           .record = record,
                           .list = pivots};
    return launch(w == 8    ? finish_kernel<8>
                  : w == 16 ? finish_kernel<16>
                            : finish_kernel<32>,
                  4 * (uint64_t)e->machine.processors, 512, 0, e->stream, job);
}

} // namespace
} // namespace matrix
} // namespace gfk

extern "C" {
extern const gfk_elimination_steps gfk_eliminate_on_device;
}
const gfk_elimination_steps gfk_eliminate_on_device = {.load = gfk::matrix::load,
                                                       .panel = gfk::matrix::panel,
                                                       .exchange = gfk::matrix::exchange,
                                                       .spread = gfk::matrix::spread,
                                                       .finish = gfk::matrix::finish};
