/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix operand: kernels that take elements from memory or generate them, and write their
 * sequences. src/host/product/generate.h has the functions that host and device share. */
#pragma once

#include "tile.cuh"

namespace gfk {
namespace matmul {

/* Rows of the matrix, from one of its rows on, and where their sequences go. Dense matrices may be
 * several, of whole products. */
struct MatrixJob {
    uint4 *matrix;
    size_t rows, cols, steps;
    uint64_t polynomial;
    size_t products;
};

/* Points that travel by value. */
struct PointsJob {
    static constexpr unsigned most = 4096;
    unsigned count;
    uint32_t points[most];
};

/* The columns whose elements a thread turns into 16 bytes: a word of elements for each half. */
template <int W>
struct Columns {
    static constexpr int count = 32 / W; /* of a half */
    static __device__ size_t first(size_t step, unsigned half, unsigned q) {
        return step * Tile<W>::inputs + half * Tile<W>::inputs / 2 + q * count;
    }
};

/* The sequence of an element is a linear map, taken from tables byte by byte. In shared memory. */
template <int W>
struct Sequences {
    uint64_t table[W / 8][256];

    __device__ void fill(uint64_t polynomial) {
        for (unsigned i = threadIdx.x; i < W / 8 * 256; i += blockDim.x) {
            uint32_t a = i % 256 << i / 256 * 8;
            uint64_t sequence = 0;
            for (int t = 0; t < 2 * W - 1; t++, a = gfk_poly_double(a, W, polynomial))
                sequence |= (uint64_t)(a >> (W - 1)) << t;
            table[i / 256][i % 256] = sequence;
        }
    }
    __device__ uint64_t of_word(uint32_t word) const {
        uint64_t sequences = 0;
        for (int byte = 0; byte < 4; byte++)
            sequences ^= table[byte % (W / 8)][word >> 8 * byte & 0xff]
                         << byte / (W / 8) * 2 * W % 64;
        return sequences;
    }
    __device__ void store(const MatrixJob &job, size_t row, size_t step, unsigned q, uint32_t low,
                          uint32_t high) const {
        using T = Tile<W>;
        const uint64_t a = of_word(low), b = of_word(high);
        job.matrix[((row / T::outputs * job.steps + step) * T::outputs + row % T::outputs) * 4 +
                   q] =
            make_uint4((uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32));
    }
};

template <int W>
__device__ size_t whole_tiles(size_t rows) {
    return (rows + Tile<W>::outputs - 1) / Tile<W>::outputs * Tile<W>::outputs;
}

/* ---- elements that one thread can know: word<W>(row, col, count) are elements from `col` on ---- */

struct Dense {
    const uint8_t *elements;
    size_t stride;

    template <int W>
    __device__ uint32_t word(const MatrixJob &, size_t row, size_t col, unsigned count) const {
        const uint8_t *p = elements + (row * stride + col) * (W / 8);
        return (uintptr_t)p % 4 == 0 && count == 32 / W ? *(const uint32_t *)p
                                                        : load_bytes(p, count * (W / 8));
    }
};

struct Cauchy {
    const uint32_t *x, *y;
    gfk_inverter inverter;

    template <int W>
    __device__ uint32_t word(const MatrixJob &job, size_t row, size_t col, unsigned count) const {
        uint32_t word = 0;
        for (unsigned n = 0; n < 32 / W; n++)
            if (n < count)
                word |= gfk_invert(&inverter, W, job.polynomial, x[row] ^ y[col + n]) << n * W % 32;
        return word;
    }
};

struct Uniform {
    uint64_t seed, first;

    template <int W>
    __device__ uint32_t word(const MatrixJob &, size_t row, size_t col, unsigned count) const {
        uint32_t words[4];
        gfk_random_bytes(seed, first + row, col / (128 / W), words);
        uint32_t word = words[0]; /* no array in local memory */
        for (unsigned i = 1; i < 4; i++)
            word = col / (32 / W) % 4 == i ? words[i] : word;
        return word & 0xffffffff >> (32 - W * count);
    }
};

/* One thread writes 16 bytes: the sequences of one output and one q. */
template <int W, class Source>
__global__ void write_matrix(const __grid_constant__ MatrixJob job,
                             const __grid_constant__ Source parameter) {
    __shared__ Sequences<W> sequences;
    __shared__ Source source; /* its tables are read at other places by each thread */
    for (unsigned i = threadIdx.x; i < sizeof source / 4; i += blockDim.x)
        ((uint32_t *)&source)[i] = ((const uint32_t *)&parameter)[i];
    sequences.fill(job.polynomial);
    __syncthreads();
    const size_t rows = whole_tiles<W>(job.rows), total = job.products * rows * job.steps * 4;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += (size_t)gridDim.x * blockDim.x) {
        /* Neighbouring threads read neighbouring elements of a row. */
        const unsigned q = i % 4;
        const size_t step = i / 4 % job.steps, to = i / 4 / job.steps;
        const size_t product = job.products > 1 ? to / rows : 0, row = to - product * rows;
        uint32_t words[2] = {};
        for (unsigned half = 0; half < 2; half++) {
            const size_t col = Columns<W>::first(step, half, q);
            if (row < job.rows && col < job.cols)
                words[half] =
                    source.template word<W>(job, product * job.rows + row, col,
                                            (unsigned)min((size_t)(32 / W), job.cols - col));
        }
        sequences.store(job, to, step, q, words[0], words[1]);
    }
}

/* ---- powers ----------------------------------------------------------------------------------- */

/* Powers of the points of columns, point^(first + row), or of rows, point^(first + col). A thread
 * keeps the elements of one q and multiplies them by their points, row by row of one step, or by a
 * power of their point, step by step of one row. */
template <int W, bool BY_ROWS>
__global__ __launch_bounds__(512) void write_powers(const __grid_constant__ MatrixJob job,
                                                    const uint32_t *points, uint64_t first) {
    using T = Tile<W>;
    constexpr size_t walk = 32;
    constexpr int count = 2 * Columns<W>::count;
    __shared__ Sequences<W> sequences;
    sequences.fill(job.polynomial);
    __syncthreads();
    const size_t rows = whole_tiles<W>(job.rows);
    const size_t length = BY_ROWS ? job.steps : rows, fixed = BY_ROWS ? rows : job.steps;
    const size_t total = (length + walk - 1) / walk * fixed * 4;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += (size_t)gridDim.x * blockDim.x) {
        const unsigned q = i % 4;
        const size_t begin = i / 4 / fixed * walk;
        size_t row = BY_ROWS ? i / 4 % fixed : begin, step = BY_ROWS ? begin : i / 4 % fixed;
        uint32_t element[count], factor[count];
        for (int n = 0; n < count; n++) {
            const size_t col = Columns<W>::first(step, n >= count / 2, q) + n % (count / 2);
            const bool inside = BY_ROWS ? row < job.rows : col < job.cols;
            const uint32_t point = inside ? points[BY_ROWS ? row : col] : 0;
            element[n] = gfk_poly_pow(point, first + (BY_ROWS ? col : row), W, job.polynomial);
            factor[n] = BY_ROWS ? gfk_poly_pow(point, T::inputs, W, job.polynomial) : point;
        }
        for (size_t k = begin; k < begin + walk && k < length; k++) {
            uint32_t words[2] = {};
            for (int n = 0; n < count; n++) {
                const size_t col = Columns<W>::first(step, n >= count / 2, q) + n % (count / 2);
                if (row < job.rows && col < job.cols)
                    words[n >= count / 2] |= element[n] << n * W % 32;
                element[n] = gfk_poly_product(element[n], factor[n], W, job.polynomial);
            }
            sequences.store(job, row, step, q, words[0], words[1]);
            if (BY_ROWS)
                step++;
            else
                row++;
        }
    }
}

/* ---- launches --------------------------------------------------------------------------------- */

static __global__ void store_points(const __grid_constant__ PointsJob job, uint32_t *to) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.count)
        to[i] = job.points[i];
}

inline uint32_t *points_of(const gfk_matmul_call *call) {
    return (uint32_t *)(call->workspace + call->plan.data_space + call->plan.matrix_space);
}

/* Sends the points that the kind has into the workspace: those of the columns, then of the rows. */
inline gfk_status send_points(const gfk_matmul_call *call) {
    if (call->generator == NULL || call->a->kind == GFK_MATRIX_RANDOM)
        return GFK_STATUS_SUCCESS;
    const gfk_matrix *a = &call->generator->matrix; /* without points that its kind does not read */
    PointsJob job;
    for (int of_rows = 0; of_rows < 2; of_rows++) {
        const size_t all = of_rows ? a->rows : a->cols;
        if (a->kind != GFK_MATRIX_CAUCHY && (a->row_points != NULL) != (bool)of_rows)
            continue;
        for (size_t first = 0; first < all; first += job.count) {
            job.count = (unsigned)(all - first < job.most ? all - first : job.most);
            (of_rows ? gfk_generator_row_points : gfk_generator_col_points)(call->generator, first,
                                                                            job.count, job.points);
            const gfk_status status =
                launch(store_points, (job.count + 255) / 256, 256, 0, call->stream, job,
                       points_of(call) + (of_rows ? a->cols : 0) + first);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    }
    return GFK_STATUS_SUCCESS;
}

/* Writes the sequences of `rows` rows from `row` on. */
template <int W>
gfk_status write_rows(const gfk_matmul_call *call, size_t row, size_t rows, uint4 *matrix) {
    const gfk_matrix *a = call->a;
    const MatrixJob job = {matrix,
                           rows,
                           a->cols,
                           call->plan.batches * Tile<W>::steps,
                           call->field->polynomial,
                           call->plan.products};
    const uint32_t *y = points_of(call), *x = y + a->cols + row;
    const auto run = [&](auto kernel, auto... more) {
        return launch(kernel, 4 * (uint64_t)call->processors, 512, 0, call->stream, job, more...);
    };
    switch (a->kind) {
    case GFK_MATRIX_DENSE:
        return run(write_matrix<W, Dense>,
                   Dense{(const uint8_t *)a->elements + row * a->stride * (W / 8), a->stride});
    case GFK_MATRIX_CAUCHY:
        return run(write_matrix<W, Cauchy>, Cauchy{x, y, call->generator->inverter});
    case GFK_MATRIX_RANDOM:
        return run(write_matrix<W, Uniform>, Uniform{a->seed, a->first + row});
    default: /* PAR2 has the points of its columns */
        return call->generator->matrix.row_points != NULL
                   ? run(write_powers<W, true>, x, a->first)
                   : run(write_powers<W, false>, y, a->first + row);
    }
}

} // namespace matmul
} // namespace gfk
