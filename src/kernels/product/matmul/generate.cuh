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
    uint32_t *matrix;
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

/* Returns the first column whose elements a thread turns into rows. The elements are T::pieces
 * words. */
template <class T>
__device__ size_t first_column(size_t step, unsigned half, unsigned q) {
    return step * T::inputs + half * T::inputs / 2 + q * 32 / T::h;
}

/* Calls write(part, sequences) for the sequences of each part that N words of elements become:
 * fields of 2 W bits of two words become twice as many fields of W bits. */
template <int W, int N, class F>
__device__ void split_sequences(const uint64_t (&x)[N], int part, const F &write) {
    if constexpr (N == 1) {
        write(part, x[0]);
    } else {
        constexpr uint64_t low = ~0ull / ((1ull << W) + 1);
        uint64_t y[N / 2];
#pragma unroll
        for (int k = 0; k < 3; k++) {
#pragma unroll
            for (int i = 0; i < N / 2; i++) {
                const uint64_t a = x[2 * i], b = x[2 * i + 1];
                const uint64_t lower = (a & low) | (b & low) << W;
                const uint64_t middle = (a >> W / 2 & low) | (b >> W / 2 & low) << W;
                const uint64_t upper = (a >> W & low) | (b & ~low);
                y[i] = k == 0 ? lower ^ middle : k == 1 ? middle : upper ^ middle;
            }
            split_sequences<W / 2>(y, 3 * part + k, write);
        }
    }
}

/* Returns the lower H bits of each 2 H bits. */
template <int H>
__device__ uint32_t lower_halves(uint64_t x) {
    constexpr uint32_t mask = 0xffffffff / (1u << H | 1);
    uint32_t y[2] = {(uint32_t)x & mask, (uint32_t)(x >> 32) & mask};
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (H == 1)
            y[i] = (y[i] | y[i] >> 1) & 0x33333333;
        if (H <= 2)
            y[i] = (y[i] | y[i] >> 2) & 0x0f0f0f0f;
        if (H <= 4)
            y[i] |= y[i] >> 4;
    }
    return prmt(y[0], y[1], 0x6420);
}

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
    /* Writes the rows, or the sequences if there are no levels, of one output in one half of one
     * q. */
    template <class T>
    __device__ void store(const MatrixJob &job, size_t row, size_t step, unsigned q, unsigned half,
                          const uint32_t (&words)[T::pieces]) const {
        uint64_t x[T::pieces];
#pragma unroll
        for (int n = 0; n < T::pieces; n++)
            x[n] = of_word(words[n]);
        const size_t k_block = row / T::outputs * T::parts * job.steps + step;
        uint32_t *to = job.matrix + k_block * (T::matrix_bytes / 4) +
                       row % T::outputs * (T::matrix_bytes / T::outputs / 4);
        if constexpr (T::pieces == 1)
            ((uint2 *)to)[q * 2 + half] = make_uint2((uint32_t)x[0], (uint32_t)(x[0] >> 32));
        else
            split_sequences<W>(x, 0, [&](int part, uint64_t y) {
#pragma unroll
                for (int i = 0; i < T::h; i++)
                    to[part * job.steps * (T::matrix_bytes / 4) + i * 8 + q * 2 + half] =
                        lower_halves<T::h>(y >> (T::h - 1 - i));
            });
    }
};

/* The elements themselves, row by row, for the kernels on the carry-less multiply-add. */
struct Elements {
    __device__ void fill(uint64_t) {}
    template <class T>
    __device__ void store(const MatrixJob &job, size_t row, size_t step, unsigned q, unsigned half,
                          const uint32_t (&words)[1]) const {
        job.matrix[(row * job.steps + step) * 8 + half * 4 + q] = words[0];
    }
};
template <class T>
struct OperandOf {
    using type = Sequences<T::w>;
};
template <int W>
struct OperandOf<ClmadTile<W>> {
    using type = Elements;
};

template <class T>
__device__ size_t whole_tiles(size_t rows) {
    return round_up<T::outputs>(rows);
}

/* ---- elements that one thread can know: word<W>(row, col, count) are elements from `col` on -- */

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

/* A thread writes one half of one q of an output, of each part. */
template <class T, class Source>
__global__ __launch_bounds__(512) void write_matrix(const __grid_constant__ MatrixJob job,
                                                    const __grid_constant__ Source parameter) {
    constexpr int W = T::w;
    __shared__ typename OperandOf<T>::type operand;
    __shared__ Source source; /* its tables are read at other places by each thread */
    for (unsigned i = threadIdx.x; i < sizeof source / 4; i += blockDim.x)
        ((uint32_t *)&source)[i] = ((const uint32_t *)&parameter)[i];
    operand.fill(job.polynomial);
    __syncthreads();
    const size_t rows = whole_tiles<T>(job.rows), total = job.products * rows * job.steps * 8;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += (size_t)gridDim.x * blockDim.x) {
        /* Neighbouring threads read neighbouring elements of a row. */
        const unsigned q = i % 4, half = i / 4 % 2;
        const size_t step = i / 8 % job.steps, to = i / 8 / job.steps;
        const size_t product = job.products > 1 ? to / rows : 0, row = to - product * rows;
        uint32_t words[T::pieces] = {};
#pragma unroll
        for (int n = 0; n < T::pieces; n++) {
            const size_t col = first_column<T>(step, half, q) + n * 32 / W;
            if (row < job.rows && col < job.cols)
                words[n] = source.template word<W>(job, product * job.rows + row, col,
                                                   (unsigned)min((size_t)(32 / W), job.cols - col));
        }
        operand.template store<T>(job, to, step, q, half, words);
    }
}

/* ---- powers ---------------------------------------------------------------------------------- */

/* Returns the products of the elements of two words. */
template <int W>
__device__ uint32_t multiply_words(uint32_t a, uint32_t b, uint64_t polynomial) {
    constexpr uint32_t all = symbol_mask<W>;
    uint32_t product = 0;
#pragma unroll
    for (int at = 0; at < 32; at += W)
        product |= gfk_poly_product(a >> at & all, b >> at & all, W, polynomial) << at;
    return product;
}

/* Powers of the points of columns, point^(first + row), or of rows, point^(first + col). A thread
 * keeps the elements of one q and multiplies them by their points, row by row of one step, or by a
 * power of their point, step by step of one row. */
template <class T, bool BY_ROWS>
__global__ __launch_bounds__(512) void write_powers(const __grid_constant__ MatrixJob job,
                                                    const uint32_t *points, uint64_t first) {
    constexpr int W = T::w;
    constexpr size_t walk = 32, in_word = 32 / W;
    __shared__ typename OperandOf<T>::type operand;
    operand.fill(job.polynomial);
    __syncthreads();
    const size_t rows = whole_tiles<T>(job.rows);
    const size_t length = BY_ROWS ? job.steps : rows, fixed = BY_ROWS ? rows : job.steps;
    const size_t total = divide_up<walk>(length) * fixed * 8;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += (size_t)gridDim.x * blockDim.x) {
        const unsigned q = i % 4, half = i / 4 % 2;
        const size_t begin = i / 8 / fixed * walk;
        size_t row = BY_ROWS ? i / 8 % fixed : begin, step = BY_ROWS ? begin : i / 8 % fixed;
        uint32_t elements[T::pieces] = {}, factors[T::pieces] = {};
#pragma unroll
        for (int n = 0; n < T::pieces; n++)
#pragma unroll 1
            for (unsigned k = 0; k < in_word; k++) {
                const size_t col = first_column<T>(step, half, q) + n * in_word + k;
                if (BY_ROWS ? row >= job.rows : col >= job.cols)
                    continue;
                const uint32_t point = points[BY_ROWS ? row : col];
                const uint32_t element =
                    gfk_poly_pow(point, first + (BY_ROWS ? col : row), W, job.polynomial);
                const uint32_t factor =
                    BY_ROWS ? gfk_poly_pow(point, T::inputs, W, job.polynomial) : point;
                elements[n] |= element << k * W;
                factors[n] |= factor << k * W;
            }
        for (size_t k = begin; k < begin + walk && k < length; k++) {
            uint32_t words[T::pieces];
#pragma unroll
            for (int n = 0; n < T::pieces; n++) {
                const size_t col = first_column<T>(step, half, q) + n * in_word;
                const size_t left = row < job.rows && col < job.cols ? job.cols - col : 0;
                words[n] = left >= in_word ? elements[n] : elements[n] & ((1u << left * W) - 1);
                elements[n] = multiply_words<W>(elements[n], factors[n], job.polynomial);
            }
            operand.template store<T>(job, row, step, q, half, words);
            if (BY_ROWS)
                step++;
            else
                row++;
        }
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

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
                launch(store_points, gfk_divide_up(job.count, 256), 256, 0, call->stream, job,
                       points_of(call) + (of_rows ? a->cols : 0) + first);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    }
    return GFK_STATUS_SUCCESS;
}

/* Writes the matrix operand of `rows` rows from `row` on, whose parts have `steps` steps of 256
 * bits. */
template <class T>
gfk_status write_rows(const gfk_matmul_call *call, size_t row, size_t rows, size_t steps,
                      uint32_t *matrix) {
    const gfk_matrix *a = call->a;
    constexpr int W = T::w;
    const MatrixJob job = {
        matrix, rows, a->cols, steps, call->field->polynomial, call->plan.products};
    const uint32_t *y = points_of(call), *x = y + a->cols + row;
    const auto run = [&](auto kernel, auto... more) {
        return launch(kernel, 4 * (uint64_t)call->machine.processors, 512, 0, call->stream, job,
                      more...);
    };
    switch (a->kind) {
    case GFK_MATRIX_DENSE:
        return run(write_matrix<T, Dense>,
                   Dense{(const uint8_t *)a->elements + row * a->stride * (W / 8), a->stride});
    case GFK_MATRIX_CAUCHY:
        return run(write_matrix<T, Cauchy>, Cauchy{x, y, call->generator->inverter});
    case GFK_MATRIX_RANDOM:
        return run(write_matrix<T, Uniform>, Uniform{a->seed, a->first + row});
    default: /* PAR2 has the points of its columns */
        return call->generator->matrix.row_points != NULL
                   ? run(write_powers<T, true>, x, a->first)
                   : run(write_powers<T, false>, y, a->first + row);
    }
}

} // namespace matmul
} // namespace gfk
