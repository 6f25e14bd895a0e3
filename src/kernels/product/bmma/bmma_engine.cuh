/* SPDX-License-Identifier: BSD-3-Clause */
/* The host side of the BMMA engines: which kernel takes a shape, its tables, its launches.
 *
 * A product's tables are the matrix operands of the narrow kernel and of one for short regions, if
 * the shape has these, the wide kernel's, and the coefficients. Everything follows from the shape,
 * so a product keeps no state of its own. */
#pragma once

#include <stdlib.h>

#include "bmma.cuh"
#include "bmma_brief.cuh"
#include "bmma_tables.h"

extern "C" {
#include "host/device/device.h"
}

namespace gfk {
namespace bmma {

/* A kernel of either kind, as the choice sees it. */
struct Row {
    size_t inputs, outputs; /* narrow: the largest shape; wide: what a pass and a group take */
    size_t shared;          /* bytes of a block */
    size_t (*words)(size_t rows, size_t cols);
    void (*build)(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                  const uint32_t *matrix);
    gfk_status (*prepare)(); /* once, before the first run on a device; NULL: nothing */
    gfk_status (*run)(const gfk_product_call *call, const Vectors &cells, const uint32_t *matrix,
                      const uint32_t *coefficients);
};

/* Bytes of shared memory for the matrix operand. */
template <class K>
constexpr int table_size() {
    return (int)(4 * K::table * group_words<typename K::T>());
}

/* What a block may have. Beyond it the shape's wide kernel takes over. */
inline bool fits(const Row &row, int cc) {
    return row.shared <= (size_t)(cc >= 90 ? 227 : cc == 80 || cc == 87 ? 163 : 99) * 1024;
}

/* Shared memory for as many blocks as the registers allow: left to itself, a device may give more
 * of it to L1. The percentage is rounded up; a device with less takes what it has. */
template <class K>
gfk_status prepare_table() {
    constexpr int block_bytes = table_size<K>() + 1024, most = 228 * 1024;
    static_assert(K::blocks * block_bytes <= most, "");
    cudaError_t error =
        cudaFuncSetAttribute(wide<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, table_size<K>());
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(wide<K>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     (int)divide_up(100 * K::blocks * block_bytes, most));
    return status_of(error);
}

template <class K, class J>
gfk_status launch_job(void (*kernel)(const J), J &job, const gfk_product_call *call,
                      uint64_t unit_cells, size_t shared) {
    const uint64_t units = divide_up(job.count, unit_cells);
    const uint64_t cut = partial_threads(job, K::T::w);
    uint64_t blocks = divide_up(units, K::threads / 32);
    if (blocks < divide_up(cut, K::threads))
        blocks = divide_up(cut, K::threads);
    const uint64_t resident = (uint64_t)call->product->processors * K::blocks;
    if (K::trips != Trips::once && blocks > resident)
        blocks = resident;
    return launch(kernel, blocks, K::threads, shared, call->stream, job);
}

template <class K>
gfk_status run_narrow(const gfk_product_call *call, const Vectors &c, const uint32_t *matrix,
                      const uint32_t *coefficients) {
    using T = typename K::T;
    const gfk_product_info &info = call->product->info;
    NarrowJob job = {};
    make_extent(job, call, c);
    job.matrix = matrix;
    job.coefficients = coefficients;
    job.rows = (uint32_t)info.rows;
    job.cols = job.stride = (uint32_t)info.cols;
    /* A missing input stands for one that its neighbour loads in the same instruction. */
    for (size_t i = 0; i < (size_t)T::inputs; i++)
        job.in[i] = i < info.cols ? gfk_region_address(call->in, i) - c.phase
                                  : job.in[i - i % T::lanes < info.cols ? i - i % T::lanes : 0];
    for (size_t j = 0; j < info.rows; j++)
        job.out[j] = gfk_region_address(call->out, j) - c.phase;
    return launch_job<K>(narrow<K>, job, call, T::cells, 0);
}

/* The first byte of the region that lies lowest in memory, and how far away the highest begins. */
struct Span {
    uintptr_t lowest, bytes;
};

inline Span span_of(const gfk_product_call *call) {
    const gfk_product_info &info = call->product->info;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (size_t i = 0; i < info.cols + info.rows; i++) {
        const uintptr_t p =
            (uintptr_t)(i < info.cols ? gfk_region_address(call->in, i)
                                      : gfk_region_address(call->out, i - info.cols));
        low = p < low ? p : low;
        high = p > high ? p : high;
    }
    return {low, high - low};
}

/* Are the distances numbers of 32 bits? */
inline bool fits_brief(const gfk_product_call *call) {
    return span_of(call).bytes >> 36 == 0;
}

template <class K>
gfk_status run_brief(const gfk_product_call *call, const Vectors &c, const uint32_t *matrix,
                     const uint32_t *coefficients) {
    using T = typename K::T;
    static_assert(T::inputs <= brief_inputs && K::groups * K::split * T::outputs <= brief_outputs);
    const gfk_product_info &info = call->product->info;
    const uintptr_t lowest = span_of(call).lowest;
    BriefJob job;
    make_extent(job, call, c);
    job.coefficients = coefficients;
    job.rows = job.outputs = (uint32_t)info.rows;
    job.cols = (uint32_t)info.cols;
    job.base = (uint8_t *)lowest - c.phase + 16 * job.first;
    job.matrix = matrix;
    job.end = (uint32_t)(16 * job.count);
    job.reads = reads_outputs(call);
    job.cut = job.partial_head + job.partial_tail != 0;
    for (size_t j = 0; j < info.rows; j++)
        job.to_out[j] = (uint32_t)(((uintptr_t)gfk_region_address(call->out, j) - lowest) / 16);
    for (size_t i = 0; i < (size_t)T::inputs; i++) {
        const size_t input = i < info.cols                  ? i
                             : i - i % T::lanes < info.cols ? i - i % T::lanes
                                                            : 0;
        job.to_in[i] = (uint32_t)(((uintptr_t)gfk_region_address(call->in, input) - lowest) / 16);
    }
    const uint64_t warps = divide_up(job.end, K::unit_bytes * K::units) * K::split;
    uint64_t blocks = divide_up(warps, K::threads / 32);
    const uint64_t cut = divide_up(partial_threads(job, T::w), K::threads);
    return launch(brief<K>, blocks > cut ? blocks : cut, K::threads, 0, call->stream, job);
}

/* As many launches as the pointers need. */
template <class K>
gfk_status run_wide(const gfk_product_call *call, const Vectors &c, const uint32_t *matrix,
                    const uint32_t *coefficients) {
    using T = typename K::T;
    static_assert(wide_outputs % T::outputs == 0, "");
    constexpr size_t inputs = wide_inputs / T::inputs * T::inputs;
    const gfk_product_info &info = call->product->info;
    WideJob job;
    make_extent(job, call, c);
    job.stride = (uint32_t)info.cols;
    job.pass_words = divide_up(info.rows, T::outputs) * group_words<T>();
    for (size_t first_out = 0; first_out < info.rows; first_out += wide_outputs) {
        const size_t rows =
            info.rows - first_out < wide_outputs ? info.rows - first_out : wide_outputs;
        for (size_t j = 0; j < rows; j++)
            job.out[j] = gfk_region_address(call->out, first_out + j) - c.phase;
        job.rows = (uint32_t)rows;
        job.groups = (uint32_t)divide_up(rows, T::outputs);
        for (size_t first_in = 0; first_in < info.cols; first_in += inputs) {
            const size_t cols = info.cols - first_in < inputs ? info.cols - first_in : inputs;
            job.cols = (uint32_t)cols;
            job.passes = (uint32_t)divide_up(cols, T::inputs);
            for (size_t i = 0; i < (size_t)job.passes * T::inputs; i++)
                job.in[i] = i < cols ? gfk_region_address(call->in, first_in + i) - c.phase
                                     : job.in[i - i % T::lanes < cols ? i - i % T::lanes : 0];
            job.matrix = matrix + first_in / T::inputs * job.pass_words +
                         first_out / T::outputs * group_words<T>();
            job.coefficients = coefficients + first_out * info.cols + first_in;
            job.epilogue.accumulate = call->accumulate || first_in != 0;
            const gfk_status status =
                launch_job<K>(wide<K>, job, call, T::cells * K::units,
                              K::table ? 4 * job.groups * group_words<T>() : 0);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    }
    return GFK_STATUS_SUCCESS;
}

/* Compares, where run_wide would need several passes. */
template <class T>
gfk_status check_wide(const gfk_product_call *call, const Vectors &c, const uint32_t *matrix,
                      const uint32_t *coefficients) {
    using K = Wide<T, 1, 128, 1, Trips::loop, false>;
    const gfk_product_info &info = call->product->info;
    if (info.cols > check_inputs)
        return GFK_STATUS_NOT_SUPPORTED;
    CheckJob job;
    make_extent(job, call, c);
    job.stride = job.cols = (uint32_t)info.cols;
    job.pass_words = divide_up(info.rows, T::outputs) * group_words<T>();
    job.passes = (uint32_t)divide_up(info.cols, T::inputs);
    static_assert(check_inputs % T::inputs == 0, "");
    for (size_t i = 0; i < (size_t)job.passes * T::inputs; i++)
        job.in[i] = i < info.cols ? gfk_region_address(call->in, i) - c.phase
                                  : job.in[i - i % T::lanes < info.cols ? i - i % T::lanes : 0];
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t first = 0; first < info.rows && status == GFK_STATUS_SUCCESS;
         first += wide_outputs) {
        const size_t rows = info.rows - first < wide_outputs ? info.rows - first : wide_outputs;
        for (size_t j = 0; j < rows; j++)
            job.out[j] = gfk_region_address(call->out, first + j) - c.phase;
        job.rows = (uint32_t)rows;
        job.groups = (uint32_t)divide_up(rows, T::outputs);
        job.matrix = matrix + first / T::outputs * group_words<T>();
        job.coefficients = coefficients + first * info.cols;
        status = launch_job<K>(wide_check<K>, job, call, T::cells * K::units, 0);
    }
    return status;
}

/* A kernel loads the operands of all its groups, however many outputs there are. */
template <class T, int Groups>
size_t words_of_groups(size_t, size_t cols) {
    return matrix_words<T>(Groups * T::outputs, cols);
}

template <class K>
constexpr Row narrow_row() {
    using T = typename K::T;
    return {(size_t)K::inputs,
            (size_t)(K::groups * T::outputs),
            0,
            words_of_groups<T, K::groups>,
            build_matrix<T>,
            NULL,
            run_narrow<K>};
}

/* A kernel for short regions. */
struct BriefRow {
    Row row;
    unsigned most_cells; /* for each multiprocessor */
    size_t least_inputs, least_outputs;
};

template <class K>
constexpr Row one_brief_row() {
    using T = typename K::T;
    return {(size_t)K::inputs,
            (size_t)(K::groups * K::split * T::outputs),
            0,
            words_of_groups<T, K::groups * K::split>,
            build_matrix<T>,
            NULL,
            run_brief<K>};
}

/* Aligned and not: the same layout. */
struct WideRow {
    Row aligned, unaligned;
};

/* A wide kernel with its table in shared memory has a largest shape, as a narrow one. */
template <class K>
constexpr Row table_row() {
    using T = typename K::T;
    return {(size_t)T::inputs,
            (size_t)(K::table * T::outputs),
            (size_t)table_size<K>(),
            matrix_words<T>,
            build_matrix<T>,
            prepare_table<K>,
            run_wide<K>};
}

template <class K>
constexpr Row one_wide_row() {
    using T = typename K::T;
    return {(size_t)T::inputs, (size_t)T::outputs, 0, matrix_words<T>, build_matrix<T>, NULL,
            run_wide<K>};
}
template <class T, int Units, int Threads, int Blocks, Trips Trips_>
constexpr WideRow wide_row() {
    return {one_wide_row<Wide<T, Units, Threads, Blocks, Trips_, true>>(),
            one_wide_row<Wide<T, Units, Threads, Blocks, Trips_, false>>()};
}

/* The kernels of one width: narrow ones with the best first, wide ones by growing inputs, brief
 * ones by growing regions and inputs. */
template <size_t N, size_t B, size_t M>
struct Engine {
    Row narrow[N];
    BriefRow brief[B];
    WideRow wide[M];
    /* Compares when the last wide kernel would need several passes. */
    gfk_status (*check)(const gfk_product_call *call, const Vectors &cells, const uint32_t *matrix,
                        const uint32_t *coefficients);
    size_t first_wide, last_wide; /* numbers of inputs that the wide kernels take first anyway */

    struct Choice {
        const Row *narrow; /* NULL: the shape has none */
        const WideRow *wide;
        /* For short and for not so short regions; NULL: the narrow one. */
        const BriefRow *brief[2];
        size_t narrow_words, wide_words, brief_words[2];
        uint64_t bytes;
    };

    Choice choose(size_t rows, size_t cols) const {
        Choice c = {};
        const bool wide_first = cols >= first_wide && cols <= last_wide;
        for (size_t i = 0; i < N && c.narrow == NULL && !wide_first; i++)
            if (cols <= narrow[i].inputs && rows <= narrow[i].outputs)
                c.narrow = &narrow[i];
        const BriefRow **next = c.brief;
        for (size_t i = 0; i < B && next < c.brief + 2; i++)
            if (cols <= brief[i].row.inputs && rows <= brief[i].row.outputs &&
                cols >= brief[i].least_inputs && rows >= brief[i].least_outputs &&
                (next == c.brief || brief[i].most_cells > next[-1]->most_cells))
                *next++ = &brief[i];
        size_t i = 0;
        while (i + 1 < M && cols > wide[i].aligned.inputs)
            i++;
        c.wide = &wide[i];
        c.narrow_words = c.narrow ? c.narrow->words(rows, cols) : 0;
        c.wide_words = c.wide->aligned.words(rows, cols);
        for (int k = 0; k < 2; k++)
            c.brief_words[k] = c.brief[k] ? c.brief[k]->row.words(rows, cols) : 0;
        c.bytes = 4 * ((uint64_t)c.narrow_words + c.wide_words + c.brief_words[0] +
                       c.brief_words[1] + (uint64_t)rows * cols);
        return c;
    }

    /* 2^31 is where the kernels' counters of rows, columns and groups end. */
    gfk_status accepts(size_t rows, size_t cols, uint64_t *table_bytes, const char **reason) const {
        *table_bytes = 0;
        *reason = "";
        if (rows >= (size_t)1 << 24 || cols >= (size_t)1 << 24) {
            *reason = "binary tensor cores take at most 2^24 rows and columns";
            return GFK_STATUS_NOT_SUPPORTED;
        }
        *table_bytes = choose(rows, cols).bytes;
        return GFK_STATUS_SUCCESS;
    }

    gfk_status create(gfk_product_t p) const {
        const size_t rows = p->info.rows, cols = p->info.cols;
        const Choice c = choose(rows, cols);
        gfk_status status = GFK_STATUS_SUCCESS;
        if (c.narrow && c.narrow->prepare && fits(*c.narrow, p->cc))
            status = c.narrow->prepare();
        if (status != GFK_STATUS_SUCCESS)
            return status;
        uint32_t *table = (uint32_t *)calloc(1, c.bytes);
        if (table == NULL)
            return GFK_STATUS_OUT_OF_MEMORY;
        const uint64_t polynomial = p->info.field.polynomial;
        if (c.narrow)
            c.narrow->build(table, polynomial, rows, cols, p->matrix);
        uint32_t *end = table + c.narrow_words;
        for (int k = 0; k < 2; end += c.brief_words[k++])
            if (c.brief[k])
                c.brief[k]->row.build(end, polynomial, rows, cols, p->matrix);
        c.wide->aligned.build(end, polynomial, rows, cols, p->matrix);
        memcpy(end + c.wide_words, p->matrix, 4 * rows * cols);
        status = gfk_device_upload(p->tables, table, c.bytes);
        free(table);
        return status;
    }

    gfk_status run(const gfk_product_call *call) const {
        const gfk_product_info &info = call->product->info;
        const Choice c = choose(info.rows, info.cols);
        const Vectors cells = vectors_of(call);
        const uint32_t *table = (const uint32_t *)call->product->tables;
        const uint32_t *brief_table = table + c.narrow_words;
        const uint32_t *wide_table = brief_table + c.brief_words[0] + c.brief_words[1];
        const uint32_t *coefficients = wide_table + c.wide_words;
        if (cells.aligned)
            for (int k = 0; k < 2 && c.brief[k]; brief_table += c.brief_words[k++])
                if (cells.count < (uint64_t)c.brief[k]->most_cells * call->product->processors &&
                    fits_brief(call))
                    return c.brief[k]->row.run(call, cells, brief_table, coefficients);
        if (cells.aligned && c.narrow && fits(*c.narrow, call->product->cc))
            return c.narrow->run(call, cells, table, coefficients);
        const Row &row = cells.aligned ? c.wide->aligned : c.wide->unaligned;
        if (call->mismatch_map && info.cols > row.inputs)
            return check(call, cells, wide_table, coefficients);
        return row.run(call, cells, wide_table, coefficients);
    }
};

} // namespace bmma
} // namespace gfk
