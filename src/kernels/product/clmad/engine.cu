/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines clmad_w8, clmad_w16 and clmad_w32: from a call to launches of the kernels of
 * shapes.def. The coefficients travel in the kernels' parameters, so the engines keep no tables and
 * no state. A matrix with more coefficients than one launch holds takes several launches: first for
 * groups of outputs, then for groups of inputs, whose products are added to the outputs. */
#include "host/base/sizes.h"
#include "short.cuh"

using namespace gfk;
using namespace gfk::clmad_engine;

namespace {

constexpr unsigned aligned = GFK_ENGINE_KERNEL_ALIGNED, is_short = GFK_ENGINE_KERNEL_SHORT;

template <class K>
constexpr bool is_short_kernel = false;
template <int W, int Inputs, int Words>
constexpr bool is_short_kernel<Short<W, Inputs, Words>> = true;

/* What one launch computes: outputs [row, row + rows) from inputs [col, col + cols). */
struct Part {
    size_t row, rows, col, cols;
};

/* A row of shapes.def on the host: what a launch holds, and the launch. */
struct Compiled {
    unsigned panel_outputs, inputs, outputs, coefficients;
    gfk_status (*start)(const gfk_product_call *call, const Vectors &vectors, const Part &part);
};

unsigned panels_of(size_t rows, unsigned panel_outputs) {
    return (unsigned)gfk_divide_up(rows, panel_outputs);
}

/* What all kernels' parameters have in common, but for the coefficients. */
template <class J>
void describe(J &job, const gfk_product_call *call, const Vectors &vectors, const Part &part) {
    const gfk_product_info &info = call->product->info;
    make_extent(job, call, vectors);
    job.epilogue.accumulate |= part.col != 0;
    job.rows = (uint32_t)part.rows;
    job.cols = (uint32_t)part.cols;
    job.barrett = gfk_barrett_of(info.field.w, info.field.polynomial);
    for (size_t i = 0; i < part.cols; i++)
        job.in[i] = gfk_region_address(call->in, part.col + i) - vectors.phase;
    const size_t outputs = sizeof job.out / sizeof *job.out;
    for (size_t j = 0; j < outputs; j++)
        job.out[j] =
            j < part.rows ? gfk_region_address(call->out, part.row + j) - vectors.phase : NULL;
}

uint32_t coefficient_of(const gfk_product_t product, const Part &part, size_t j, size_t i) {
    return j < part.rows ? product->matrix[(part.row + j) * product->info.cols + part.col + i] : 0;
}

/* Threads of a block's panel, and blocks, for so many parts of the regions. */
template <class K, class J>
gfk_status launch_panels(void (*kernel)(const J), const J &job, unsigned panels, uint64_t parts,
                         unsigned coefficients, const gfk_product_call *call) {
    /* A panel takes whole warps of the block. */
    const unsigned width = K::threads / panels / 32 * 32, threads = width * panels;
    uint64_t whole = gfk_divide_up(parts, width);
    if constexpr (!K::aligned)
        whole = gfk_divide_up(parts, width / 32 * K::stride);
    const uint64_t cut = gfk_divide_up(partial_threads(job, K::width), threads);
    unsigned shared = 0;
    if constexpr (!is_short_kernel<K>)
        shared = shared_bytes<K>(coefficients, threads);
    return launch_maybe_early(call->product->cc >= 90, kernel, whole > cut ? whole : cut,
                              dim3(width, panels), shared, call->stream, job);
}

template <class K>
gfk_status start(const gfk_product_call *call, const Vectors &vectors, const Part &part) {
    const unsigned panels = panels_of(part.rows, K::outputs);
    std::conditional_t<is_short_kernel<K>, ShortJob<K>, Job<K>> job;
    describe(job, call, vectors, part);
    if constexpr (is_short_kernel<K>) {
        for (size_t i = part.cols; i < K::inputs; i++)
            job.in[i] = job.in[0];
        memset(job.coefficients, 0, sizeof job.coefficients);
        for (size_t i = 0; i < part.cols; i++)
            for (size_t j = 0; j < part.rows; j++) {
                const size_t bit = j % K::outputs * K::width;
                job.coefficients[j / K::outputs][i][bit / 32] |=
                    coefficient_of(call->product, part, j, i) << bit % 32;
            }
        return launch_panels<K>(multiply_short<K>, job, panels, K::parts * job.count, 0, call);
    } else {
        uint32_t *c = job.coefficients;
        for (size_t first = 0; first < panels * K::outputs; first += K::outputs)
            for (size_t i = 0; i < part.cols; i++)
                for (size_t j = first; j < first + K::outputs; j++)
                    *c++ = coefficient_of(call->product, part, j, i);
        return launch_panels<K>(multiply<K>, job, panels, gfk_divide_up(job.count, K::vectors),
                                panels * panel_coefficients<K>(job.cols), call);
    }
}

template <class K, unsigned Labels>
constexpr Compiled compiled() {
    static_assert(K::aligned == ((Labels & aligned) != 0), "");
    static_assert(is_short_kernel<K> == ((Labels & is_short) != 0), "");
    if constexpr (is_short_kernel<K>)
        return {K::outputs, K::inputs, K::panels * K::outputs, K::inputs * K::panels * K::outputs,
                start<K>};
    else
        return {K::outputs, K::Room::inputs, K::Room::outputs, K::Room::coefficients, start<K>};
}

const Compiled kernels[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, min_inputs, max_inputs, min_outputs, max_outputs,        \
                          labels, cc_min, cc_max, ...)                                             \
    compiled<__VA_ARGS__, labels>(),
#include "shapes.def"
#undef GFK_ENGINE_KERNEL
};

const gfk_engine_kernel_info *first_row() {
    size_t count;
    return gfk_engine_kernels(gfk_engine_find("clmad_w8"), &count);
}

/* The first row with these labels that takes the shape; with `whole`, the first one whose launch also
 * holds the coefficients of all inputs. The last row takes any shape. */
const gfk_engine_kernel_info *find(const gfk_product_info &info, unsigned labels, bool whole) {
    size_t count;
    const gfk_engine_kernel_info *rows = gfk_engine_kernels(info.engine, &count);
    for (size_t i = 0; i < count; i++) {
        const Compiled &kernel = kernels[&rows[i] - first_row()];
        if ((rows[i].labels & (aligned | is_short)) == labels &&
            gfk_engine_kernel_takes(&rows[i], info.cols, info.rows) &&
            (!whole || info.cols * kernel.panel_outputs <= kernel.coefficients))
            return &rows[i];
    }
    return NULL;
}

/* Regions for the short kernels: of up to 4 MiB with one panel, 128 KiB with two, on a device with 132
 * multiprocessors. */
bool are_short(const gfk_product_t product, const Vectors &vectors) {
    const uint64_t most = product->info.rows <= 4 ? 2000 : 62;
    return vectors.count < most * (uint64_t)product->processors;
}

/* The row for a call's regions; NULL: the kernel that the descriptor names does not take them. A check
 * has no sums in its outputs, so one launch must take all inputs. */
const gfk_engine_kernel_info *choose(const gfk_product_call *call, const Vectors &vectors) {
    const gfk_product_t product = call->product;
    const bool check = call->mismatch_map != NULL;
    if (product->named != NULL)
        return vectors.aligned || !(product->named->labels & aligned) ? product->named : NULL;
    const gfk_engine_kernel_info *row = NULL;
    if (vectors.aligned && are_short(product, vectors))
        row = find(product->info, aligned | is_short, check);
    if (vectors.aligned && row == NULL)
        row = find(product->info, aligned, check);
    return row != NULL ? row : find(product->info, 0, check);
}

size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The largest part of a product that one launch computes. A check takes all inputs, with fewer
 * outputs; else adding to the outputs again takes less time than reading the inputs again. */
Part largest_part(const Compiled &kernel, const gfk_product_info &info, bool check) {
    size_t panels = panels_of(least(least(info.rows, 4 * kernel.panel_outputs), kernel.outputs),
                              kernel.panel_outputs);
    const size_t most = kernel.coefficients / kernel.panel_outputs;
    if (check && info.cols * panels > most && info.cols <= most)
        panels = most / info.cols;
    return {0, least(info.rows, panels * kernel.panel_outputs), 0,
            least(info.cols, least(most / panels, kernel.inputs))};
}

gfk_status accepts(gfk_product_info *info, const char **reason) {
    if (info->cols > Many::inputs) {
        *reason = "a launch takes at most 256 inputs";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    if (info->kernel == NULL)
        info->kernel = find(*info, aligned, false);
    return GFK_STATUS_SUCCESS;
}

gfk_status run(const gfk_product_call *call) {
    const gfk_product_info &info = call->product->info;
    const Vectors vectors = vectors_of(call);
    const gfk_engine_kernel_info *row = choose(call, vectors);
    if (row == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    const Compiled &kernel = kernels[row - first_row()];
    const Part most = largest_part(kernel, info, call->mismatch_map != NULL);
    if (call->mismatch_map != NULL && most.cols < info.cols)
        return GFK_STATUS_NOT_SUPPORTED;
    for (size_t j = 0; j < info.rows; j += most.rows)
        for (size_t i = 0; i < info.cols; i += most.cols) {
            const size_t rows = info.rows - j < most.rows ? info.rows - j : most.rows;
            const size_t cols = info.cols - i < most.cols ? info.cols - i : most.cols;
            const gfk_status status = kernel.start(call, vectors, {j, rows, i, cols});
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    return GFK_STATUS_SUCCESS;
}

} // namespace

#define ENGINE(id)                                                                                 \
    extern "C" gfk_status gfk_##id##_accepts(gfk_product_info *info, const char **reason) {        \
        return accepts(info, reason);                                                              \
    }                                                                                              \
    extern "C" gfk_status gfk_##id##_run(const gfk_product_call *call) {                           \
        return run(call);                                                                          \
    }
ENGINE(clmad_w8)
ENGINE(clmad_w16)
ENGINE(clmad_w32)
