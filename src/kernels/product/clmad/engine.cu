/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines clmad_w8, clmad_w16 and clmad_w32: from a call to launches of the kernels of
 * shapes.def. The coefficients travel in the kernels' parameters; only `4_wide` has a table. A
 * matrix with more coefficients than one launch holds takes several launches: first for groups of
 * outputs, then for groups of inputs, whose products are added to the outputs. A product with more
 * inputs than the parameters hold has its coefficients in device memory too, for the kernel
 * `4_wide`: regions at phases of their own, and checks, which must take all inputs in one
 * launch. */
#include <limits.h>
#include <stdlib.h>

#include "host/device/device.h"
#include "short.cuh"

using namespace gfk;
using namespace gfk::clmad_engine;

namespace {

constexpr unsigned aligned = GFK_KERNEL_ALIGNED, is_short = GFK_KERNEL_SHORT;
constexpr unsigned sets = GFK_KERNEL_SETS;

/* The part of a product that one launch computes: outputs [row, row + rows) from inputs [col, col +
 * cols). */
struct Part {
    size_t row, rows, col, cols;
};

/* A compiled kernel, to which the symbol of a row points: the numbers that a launch has room for,
 * and the launch. */
struct Compiled {
    unsigned panel_outputs, inputs, outputs, coefficients;
    gfk_status (*start)(const gfk_product_call *call, const Vectors &vectors, const Part &part);
};

unsigned panels_of(size_t rows, unsigned panel_outputs) {
    return (unsigned)gfk_divide_up(rows, panel_outputs);
}

/* Returns 0 after the last output. */
uint32_t coefficient_of(const gfk_product_t product, const Part &part, size_t j, size_t i) {
    return j < part.rows ? product->matrix[(part.row + j) * product->info.cols + part.col + i] : 0;
}

/* Fills the parameters that all kernels have, except the coefficients. */
template <class J>
void describe(J &job, const gfk_product_call *call, const Vectors &vectors, const Part &part) {
    const gfk_product_info &info = call->product->info;
    job.rows = (uint32_t)part.rows;
    job.cols = (uint32_t)part.cols;
    job.barrett = gfk_barrett_of(info.field.w, info.field.polynomial);
    list_regions(job.regions.in, call->in, part.col, part.cols, vectors.phase);
    list_regions(job.regions.out, call->out, part.row, part.rows, vectors.phase);
    for (size_t j = part.rows; j < job.regions.most_outputs; j++)
        job.regions.out[j] = NULL;
}

/* Returns the threads of a panel, which takes whole warps of the block. */
template <class K>
unsigned width_of(unsigned panels) {
    return K::threads / panels / 32 * 32;
}

/* Copies the coefficients panel by panel, in a panel input by input. */
template <unsigned Outputs>
void copy_panels(uint32_t *to, const gfk_product_t product, const Part &part) {
    for (size_t first = 0; first < part.rows; first += Outputs)
        for (size_t i = 0; i < part.cols; i++)
            for (size_t j = first; j < first + Outputs; j++)
                *to++ = coefficient_of(product, part, j, i);
}

template <class K>
gfk_status start(const gfk_product_call *call, const Vectors &vectors, const Part &part) {
    const unsigned panels = panels_of(part.rows, K::outputs), width = width_of<K>(panels);
    Job<K> job;
    make_extent(job, call, vectors);
    job.epilogue.accumulate |= part.col != 0;
    describe(job, call, vectors, part);
    if constexpr (K::wide)
        job.coefficients = (const uint32_t *)call->product->tables + part.row * part.cols;
    else
        copy_panels<K::outputs>(job.coefficients, call->product, part);
    const uint64_t each = K::aligned ? width * K::vectors : width / 32 * K::stride; /* of a block */
    const uint64_t whole = gfk_divide_up(job.count, each);
    const uint64_t cut = gfk_divide_up(partial_threads(job, K::width), width * panels);
    return launch_maybe_early(
        call->product->cc >= 90, multiply<K>, whole > cut ? whole : cut, dim3(width, panels),
        shared_bytes<K>(
            panels * panel_coefficients<K>(K::wide ? (unsigned)gfk_least(part.cols, wide_pass)
                                                   : job.cols),
            width * panels),
        call->stream, job);
}

/* Starts a short kernel, which computes only the whole vectors. */
template <class K>
gfk_status start_short(const gfk_product_call *call, const Vectors &vectors, const Part &part) {
    ShortJob<K> job;
    describe(job, call, vectors, part);
    const uint64_t first = vectors.whole_begin, whole = vectors.whole_end - first;
    for (size_t i = 0; i < part.cols; i++)
        job.regions.in[i] += 16 * first;
    for (size_t j = 0; j < part.rows; j++)
        job.regions.out[j] += 16 * first;
    job.count = whole * (4 / K::words);
    for (size_t i = part.cols; i < K::inputs; i++)
        job.regions.in[i] = job.regions.in[0];
    memset(job.coefficients, 0, sizeof job.coefficients);
    for (size_t i = 0; i < part.cols; i++)
        for (size_t j = 0; j < part.rows; j++) {
            const size_t bit = j % K::outputs * K::width;
            job.coefficients[j / K::outputs][i][bit / 32] |=
                coefficient_of(call->product, part, j, i) << bit % 32;
        }
    const unsigned panels = panels_of(part.rows, K::outputs), width = width_of<K>(panels);
    return launch_maybe_early(call->product->cc >= 90, multiply_short<K>,
                              gfk_divide_up(job.count, width), dim3(width, panels), 0, call->stream,
                              job);
}

template <class K, unsigned Labels>
constexpr Compiled compile() {
    if constexpr ((Labels & is_short) != 0) {
        return {K::outputs, K::inputs, K::panels * K::outputs, K::inputs * K::panels * K::outputs,
                start_short<K>};
    } else {
        static_assert(K::aligned == ((Labels & aligned) != 0), "");
        return {K::outputs, K::Room::inputs, K::Room::outputs,
                K::wide ? UINT_MAX : K::Room::coefficients, start<K>};
    }
}
template <class K, unsigned Labels>
constexpr Compiled compiled = compile<K, Labels>();

/* The first row with these labels that takes the shape; with `whole`, the first one whose launch
 * also holds the coefficients of all inputs. The last row takes any shape. */
const gfk_compiled_kernel_info *find(const gfk_product_info &info, unsigned labels, bool whole) {
    size_t count;
    const gfk_kernel_row *rows = gfk_rows_of(info.engine->id, &count);
    for (size_t i = 0; i < count; i++) {
        const Compiled &kernel = symbol_of<Compiled>(&rows[i]);
        if ((rows[i].info.labels & (aligned | is_short)) == labels &&
            gfk_row_takes(&rows[i].info, info.cols, info.rows) &&
            (!whole || info.cols * kernel.panel_outputs <= kernel.coefficients))
            return &rows[i].info;
    }
    return NULL;
}

/* Regions for the short kernels: of up to 4 MiB with one panel, 128 KiB with two, on a device with
 * 132 multiprocessors. */
bool are_short(const gfk_product_t product, const Vectors &vectors) {
    const uint64_t most = product->info.rows <= 4 ? 2000 : 62;
    return vectors.count < most * (uint64_t)product->processors;
}

/* Do the regions' ends cut a vector? */
bool has_ends(const Vectors &vectors) {
    return vectors.whole_begin != 0 || vectors.whole_end < vectors.count;
}

/* The row for a call's regions; NULL: the kernel that the descriptor names does not take them. A
 * check has no sums in its outputs, so one launch must take all inputs. */
const gfk_compiled_kernel_info *choose(const gfk_product_call *call, const Vectors &vectors) {
    const gfk_product_t product = call->product;
    const gfk_compiled_kernel_info *row = product->named;
    const bool check = call->mismatch_map != NULL, reads = reads_outputs(call);
    if (row != NULL)
        return (vectors.aligned || !(row->labels & aligned)) && !(reads && row->labels & sets)
                   ? row
                   : NULL;
    if (vectors.aligned && !reads && !has_ends(vectors) && are_short(product, vectors))
        row = find(product->info, aligned | is_short, false);
    if (vectors.aligned && row == NULL)
        row = find(product->info, aligned, check);
    return row != NULL ? row : find(product->info, 0, check);
}

/* The largest part of a product that one launch computes. A check takes all inputs, with fewer
 * outputs; else adding to the outputs again takes less time than reading the inputs again. */
Part largest_part(const Compiled &kernel, const gfk_product_info &info, bool check) {
    size_t panels =
        panels_of(gfk_least(gfk_least(info.rows, 4 * kernel.panel_outputs), kernel.outputs),
                  kernel.panel_outputs);
    const size_t most = kernel.coefficients / kernel.panel_outputs;
    if (check && info.cols * panels > most && info.cols <= most)
        panels = most / info.cols;
    return {0, gfk_least(info.rows, panels * kernel.panel_outputs), 0,
            gfk_least(info.cols, gfk_least(most / panels, kernel.inputs))};
}

gfk_status accepts(gfk_product_info *info, const char **) {
    if (info->kernel == NULL)
        info->kernel = find(*info, aligned, false);
    if (info->cols > Many::inputs && info->cols <= Wide::inputs)
        info->table_bytes = gfk_round_up(info->rows, wide_outputs) * info->cols * sizeof(uint32_t);
    return GFK_STATUS_SUCCESS;
}

gfk_status create(gfk_product_t product, const gfk_product_desc *) {
    const size_t bytes = (size_t)product->info.table_bytes;
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    uint32_t *const panels = (uint32_t *)malloc(bytes);
    if (panels == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    copy_panels<wide_outputs>(panels, product, {0, product->info.rows, 0, product->info.cols});
    const gfk_status status = gfk_device_upload(product->tables, panels, bytes);
    free(panels);
    return status;
}

gfk_status run_row(const gfk_product_call *call, const Vectors &vectors,
                   const gfk_compiled_kernel_info *row) {
    const gfk_product_info &info = call->product->info;
    const Compiled &kernel = symbol_of<Compiled>(row);
    const Part most = largest_part(kernel, info, call->mismatch_map != NULL);
    if (call->mismatch_map != NULL && most.cols < info.cols)
        return GFK_STATUS_NOT_SUPPORTED;
    for (size_t j = 0; j < info.rows; j += most.rows)
        for (size_t i = 0; i < info.cols; i += most.cols) {
            const gfk_status status = kernel.start(
                call, vectors,
                {j, gfk_least(info.rows - j, most.rows), i, gfk_least(info.cols - i, most.cols)});
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    return GFK_STATUS_SUCCESS;
}

gfk_status run(const gfk_product_call *call) {
    const Vectors vectors = vectors_of(call);
    const gfk_compiled_kernel_info *row = choose(call, vectors);
    if (row == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    /* A short kernel that the descriptor names leaves the ends to a kernel for long regions. */
    if (row->labels & is_short && has_ends(vectors)) {
        const gfk_status status = run_row(call, vectors, find(call->product->info, aligned, false));
        if (status != GFK_STATUS_SUCCESS || vectors.whole_end <= vectors.whole_begin)
            return status;
    }
    return run_row(call, vectors, row);
}

} // namespace

namespace gfk {
namespace clmad_engine {
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    GFK_KERNEL_SYMBOL(                                                                             \
        owner, kernel,                                                                             \
        (&compiled<__VA_ARGS__,                                                                    \
                   gfk_compiled_kernel_info GFK_KERNEL_INFO(owner, kernel, w, fields).labels>))
#include "shapes.def"
} // namespace clmad_engine
} // namespace gfk

#define ENGINE(id)                                                                                 \
    extern "C" gfk_status gfk_##id##_accepts(gfk_product_info *info, const char **reason) {        \
        return accepts(info, reason);                                                              \
    }                                                                                              \
    extern "C" gfk_status gfk_##id##_create(gfk_product_t product, const gfk_product_desc *desc) { \
        return create(product, desc);                                                              \
    }                                                                                              \
    extern "C" gfk_status gfk_##id##_run(const gfk_product_call *call) {                           \
        return run(call);                                                                          \
    }
ENGINE(clmad_w8)
ENGINE(clmad_w16)
ENGINE(clmad_w32)
