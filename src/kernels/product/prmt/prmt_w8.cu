/* SPDX-License-Identifier: BSD-3-Clause */
/* PRMT, w = 8: its tables, and which kernel of shapes.def a panel of outputs takes. */
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
    typename K::Job job;
    gfk::make_extent(job, call, c);
    job.reads_outputs = gfk::reads_outputs(call);
    job.f = factors;
    job.cols = (uint32_t)cols;
    job.rows = (uint32_t)panel.outputs;
    for (size_t i = 0; i < cols; i++)
        job.in[i] = gfk_region_address(call->in, i) - c.phase;
    for (size_t j = 0; j < panel.outputs; j++)
        job.out[j] = gfk_region_address(call->out, panel.first + j) - c.phase;
    memcpy(job.tables, panel.tables, panel.outputs * cols * sizeof *panel.tables);
    const uint64_t blocks = (job.count + K::block_vectors - 1) / K::block_vectors;
    const uint64_t cut = (gfk::partial_threads(job, 8) + K::threads - 1) / K::threads;
    return gfk::launch(kernel_of<K>(), blocks > cut ? blocks : cut, K::threads, 0, call->stream,
                       job);
}

struct Kernel {
    gfk_status (*start)(const gfk_product_call *call, const gfk::Vectors &c, const Panel &panel);
    uint64_t most_vectors; /* of a region */
};

template <class K, int MinInputs, int MaxInputs, int Outputs, unsigned Labels>
constexpr Kernel row() {
    static_assert(K::min_inputs == MinInputs && K::max_inputs == MaxInputs, "");
    static_assert(K::outputs == Outputs && K::outputs <= panel_outputs, "");
    static_assert(K::aligned == ((Labels & GFK_ENGINE_KERNEL_ALIGNED) != 0), "");
    static_assert((K::mode == Mode::sets) == ((Labels & GFK_ENGINE_KERNEL_SETS) != 0), "");
    static_assert((K::mode == Mode::reads) == ((Labels & GFK_ENGINE_KERNEL_READS) != 0), "");
    return {start<K>, K::most_vectors};
}

const Kernel kernels[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, min_inputs, max_inputs, min_outputs, max_outputs,        \
                          labels, cc_min, cc_max, ...)                                             \
    row<__VA_ARGS__, min_inputs, max_inputs, max_outputs, labels>(),
#include "shapes.def"
#undef GFK_ENGINE_KERNEL
};

/* What a panel runs on. NULL: nothing, as the descriptor names another kernel. */
struct Plan {
    const Kernel *of_short, *of_long, *of_any_length; /* regions at one phase */
    const Kernel *unaligned;
};

constexpr unsigned aligned = GFK_ENGINE_KERNEL_ALIGNED, is_short = GFK_ENGINE_KERNEL_SHORT;

/* The label of the kernels that a call cannot take. */
unsigned excluded_by(bool reads) {
    return reads ? GFK_ENGINE_KERNEL_SETS : GFK_ENGINE_KERNEL_READS;
}

/* The first row of the list with these labels that takes the shape and regions of such a length;
 * NULL if there is none. */
const Kernel *find(const gfk_product_info &info, size_t outputs, bool reads, unsigned labels,
                   uint64_t vectors) {
    size_t count;
    const gfk_engine_kernel_info *rows = gfk_engine_kernels(info.engine, &count);
    for (size_t i = 0; i < count; i++)
        if ((rows[i].labels & (aligned | is_short)) == labels &&
            !(rows[i].labels & excluded_by(reads)) && kernels[i].most_vectors >= vectors &&
            gfk_engine_kernel_takes(&rows[i], info.cols, outputs))
            return &kernels[i];
    return NULL;
}

Plan plan_of(gfk_product_t p, size_t outputs, bool reads) {
    if (p->named != NULL) {
        if (p->named->labels & excluded_by(reads))
            return {};
        size_t count;
        const Kernel *named = kernels + (p->named - gfk_engine_kernels(p->info.engine, &count));
        return {named, named, named->most_vectors == UINT64_MAX ? named : NULL,
                p->named->labels & aligned ? NULL : named};
    }
    Plan plan;
    plan.of_long = find(p->info, outputs, reads, aligned, 0);
    plan.of_short = find(p->info, outputs, reads, aligned | is_short, 0);
    if (plan.of_short == NULL)
        plan.of_short = plan.of_long;
    plan.of_any_length = find(p->info, outputs, reads, aligned, UINT64_MAX);
    plan.unaligned = find(p->info, outputs, reads, 0, UINT64_MAX);
    return plan;
}

/* A product's state. The tables are in the order of the launches: panels, inputs, outputs. */
struct State {
    uint64_t short_vectors; /* regions of fewer vectors are short */
    struct {
        Plan full, last; /* of panels of four outputs, and of the last one */
    } plans[2];          /* for calls that set outputs, and for those that read them */
    Tables tables[1];    /* as many as there are coefficients */
};

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

/* NULL: none. */
const Kernel *choose(const State &state, const gfk::Vectors &c, size_t outputs, bool reads) {
    const auto &plans = state.plans[reads];
    const Plan &plan = outputs == panel_outputs ? plans.full : plans.last;
    if (!c.aligned)
        return plan.unaligned;
    if (plan.of_long == NULL || c.count > plan.of_long->most_vectors)
        return plan.of_any_length;
    return c.count < state.short_vectors ? plan.of_short : plan.of_long;
}

size_t outputs_from(size_t first, const gfk_product_info &info) {
    return info.rows - first < panel_outputs ? info.rows - first : panel_outputs;
}

} // namespace

extern "C" gfk_status gfk_prmt_w8_accepts(gfk_product_info *info, const char **reason) {
    if (info->cols > most_inputs || info->rows > most_coefficients / info->cols) {
        *reason = "the tables of more than 200 coefficients do not fit";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    if (info->kernel == NULL) {
        const Kernel *kernel = find(*info, outputs_from(0, *info), false, aligned, 0);
        size_t count;
        info->kernel = gfk_engine_kernels(info->engine, &count) + (kernel - kernels);
    }
    return GFK_STATUS_SUCCESS;
}

extern "C" gfk_status gfk_prmt_w8_create(gfk_product_t p, const gfk_product_desc *) {
    const gfk_product_info &info = p->info;
    State *state = (State *)malloc(sizeof *state + info.rows * info.cols * sizeof(Tables));
    if (state == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->state = state;
    /* More inputs keep memory as busy with fewer threads. */
    state->short_vectors = (info.cols <= 4 ? 512 : 256) * (uint64_t)p->processors;
    for (bool reads : {false, true})
        state->plans[reads] = {plan_of(p, panel_outputs, reads),
                               plan_of(p, (info.rows - 1) % panel_outputs + 1, reads)};
    Tables *t = state->tables;
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
    const gfk_product_info &info = call->product->info;
    const State &state = *(const State *)call->product->state;
    const gfk::Vectors c = gfk::vectors_of(call);
    const bool reads = gfk::reads_outputs(call);
    for (size_t first = 0; first < info.rows; first += panel_outputs) {
        const Panel panel = {first, outputs_from(first, info), state.tables + first * info.cols};
        const Kernel *kernel = choose(state, c, panel.outputs, reads);
        const gfk_status status =
            kernel != NULL ? kernel->start(call, c, panel) : GFK_STATUS_NOT_SUPPORTED;
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}
