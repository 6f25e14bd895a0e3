/* SPDX-License-Identifier: BSD-3-Clause */
/* PRMT, w = 8: its tables, and the kernel of shapes.def for each panel of outputs. */
#include <stdlib.h>
#include <string.h>

#include "host/base/poly.h"
#include "prmt.cuh"

namespace {

using namespace gfk::prmt_w8;

/* Outputs [first, first + outputs), with their tables. */
struct Panel {
    size_t first, outputs;
    const Tables *tables;
};

template <class K>
gfk_status start(const gfk_product_call *call, const gfk::Vectors &c, const Panel &panel) {
    const size_t cols = call->product->info.cols;
    Job job;
    gfk::make_extent(job, call, c);
    job.reads_outputs = gfk::reads_outputs(call);
    job.f = factors;
    job.cols = (uint32_t)cols;
    job.rows = (uint32_t)panel.outputs;
    gfk::list_regions(job.regions.in, call->in, 0, cols, c.phase);
    gfk::list_regions(job.regions.out, call->out, panel.first, panel.outputs, c.phase);
    memcpy(job.tables, panel.tables, panel.outputs * cols * sizeof *panel.tables);
    const uint64_t blocks = gfk_divide_up(job.count, K::block_vectors);
    const uint64_t cut = gfk_divide_up(gfk::partial_threads(job, 8), K::threads);
    return gfk::launch(looped<K>, blocks > cut ? blocks : cut, K::threads, 0, call->stream, job);
}

using Start = gfk_status(const gfk_product_call *, const gfk::Vectors &, const Panel &);
template <class K>
constexpr Start *start_of = start<K>;

/* The row of the list for a panel of `outputs` outputs. */
const gfk_compiled_kernel_info *find(const gfk_product_info &info, size_t outputs, bool aligned) {
    size_t count;
    const gfk_kernel_row *row = gfk_rows_of(info.engine->id, &count);
    while (row->info.outputs.min != outputs ||
           ((row->info.labels & GFK_KERNEL_ALIGNED) != 0) != aligned)
        row++;
    return &row->info;
}

uint32_t byte_of(uint32_t c, uint32_t x, uint64_t polynomial, int at) {
    return gfk_poly_multiply(c, x, 8, polynomial) << (8 * at);
}

Tables tables_of(uint32_t c, uint64_t polynomial) {
    Tables t = {};
    for (uint32_t v = 0; v < 8; v++) {
        t.low[v / 4] |= byte_of(c, v, polynomial, v % 4);
        t.middle[v / 4] |= byte_of(c, v % 4 << 4 | v / 4 << 3, polynomial, v % 4);
        if (v < 4)
            t.high |= byte_of(c, v << 6, polynomial, v);
    }
    return t;
}

size_t outputs_from(size_t first, const gfk_product_info &info) {
    return info.rows - first < panel_outputs ? info.rows - first : panel_outputs;
}

} // namespace

namespace gfk {
namespace prmt_w8 {
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    GFK_KERNEL_SYMBOL(owner, kernel, (&start_of<__VA_ARGS__>))                                     \
    constexpr gfk_compiled_kernel_info kernel = GFK_KERNEL_INFO(owner, kernel, w, fields);         \
    static_assert(__VA_ARGS__::max_inputs == kernel.inputs.max &&                                  \
                      __VA_ARGS__::outputs == kernel.outputs.max &&                                \
                      __VA_ARGS__::outputs <= panel_outputs &&                                     \
                      kernel.labels == (__VA_ARGS__::aligned ? GFK_KERNEL_ALIGNED : 0),            \
                  "the kernel does not take so much");
#include "shapes.def"
} // namespace prmt_w8
} // namespace gfk

extern "C" gfk_status gfk_prmt_w8_accepts(gfk_product_info *info, const char **reason) {
    if (info->cols > most_inputs || info->rows > most_coefficients / info->cols) {
        *reason = "the tables of more than 200 coefficients do not fit";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    if (info->kernel == NULL)
        info->kernel = find(*info, outputs_from(0, *info), true);
    return GFK_STATUS_SUCCESS;
}

extern "C" gfk_status gfk_prmt_w8_create(gfk_product_t p, const gfk_product_desc *) {
    const gfk_product_info &info = p->info;
    Tables *t = (Tables *)malloc(info.rows * info.cols * sizeof *t);
    if (t == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->state = t; /* in the order of the launches: panels, inputs, outputs */
    for (size_t first = 0; first < info.rows; first += panel_outputs)
        for (size_t i = 0; i < info.cols; i++)
            for (size_t j = first; j < first + outputs_from(first, info); j++)
                *t++ = tables_of(p->matrix[j * info.cols + i], info.field.polynomial);
    return GFK_STATUS_SUCCESS;
}

extern "C" void gfk_prmt_w8_destroy(gfk_product_t p) {
    free(p->state);
}

extern "C" gfk_status gfk_prmt_w8_run(const gfk_product_call *call) {
    const gfk_product_t p = call->product;
    const Tables *tables = (const Tables *)p->state;
    const gfk::Vectors c = gfk::vectors_of(call);
    if (p->named != NULL && p->named->labels & GFK_KERNEL_ALIGNED && !c.aligned)
        return GFK_STATUS_NOT_SUPPORTED;
    for (size_t first = 0; first < p->info.rows; first += panel_outputs) {
        const Panel panel = {first, outputs_from(first, p->info), tables + first * p->info.cols};
        const gfk_compiled_kernel_info *const row =
            p->named != NULL ? p->named : find(p->info, panel.outputs, c.aligned);
        const gfk_status status = gfk::symbol_of<Start *>(row)(call, c, panel);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}
