/* SPDX-License-Identifier: BSD-3-Clause */
/* PRMT, w = 8: its tables and launches. */
#include <stdlib.h>
#include <string.h>

#include "host/base/poly.h"
#include "prmt.cuh"

namespace {

using namespace gfk::prmt_w8;

/* Outputs [first, first + rows), with their tables. */
struct Part {
    size_t first, rows;
    const Tables *tables;
};

template <class J>
gfk_status start(void (*kernel)(const J), const gfk_product_call *call, const gfk::Cells &c,
                 const Part &part, uint64_t block_cells, unsigned threads) {
    const size_t cols = call->product->info.cols;
    J job;
    gfk::describe(job, call, c);
    job.f = factors;
    job.cols = (uint32_t)cols;
    job.rows = (uint32_t)part.rows;
    for (size_t i = 0; i < cols; i++)
        job.in[i] = gfk_region_address(call->in, i) - c.phase;
    for (size_t j = 0; j < part.rows; j++)
        job.out[j] = gfk_region_address(call->out, part.first + j) - c.phase;
    memcpy(job.tables, part.tables, part.rows * cols * sizeof *part.tables);
    const uint64_t blocks = (job.count + block_cells - 1) / block_cells;
    const uint64_t cut = (gfk::cut_threads(job, 8) + threads - 1) / threads;
    return gfk::launch(kernel, blocks > cut ? blocks : cut, threads, 0, call->stream, job);
}

using Start = gfk_status(const gfk_product_call *call, const gfk::Cells &c, const Part &part);

template <int Inputs, int Outputs, int Words, int Blocks>
gfk_status start_few(const gfk_product_call *call, const gfk::Cells &c, const Part &part) {
    using S = Few<Inputs, Outputs, Words, Blocks>;
    return start(gfk::reads_outputs(call) ? few<S, true> : few<S, false>, call, c, part,
                 S::threads * Words / 4, S::threads);
}

template <int Outputs, int Cells, int Blocks, bool Aligned>
gfk_status start_any(const gfk_product_call *call, const gfk::Cells &c, const Part &part) {
    using S = Any<Outputs, Cells, Blocks, Aligned>;
    return start(gfk::reads_outputs(call) ? any<S, true> : any<S, false>, call, c, part,
                 S::threads * Cells, S::threads);
}

/* Long regions: as many blocks as the registers allow, which all inputs at once take. Short ones:
 * more threads, each with registers enough to start all its loads together. */
template <int Inputs, int Outputs, bool Short>
constexpr Start *fixed() {
    constexpr int most = Inputs > 9                  ? 7
                         : Inputs > 5 || Outputs > 3 ? 8
                         : Inputs > 4 || Outputs > 2 ? 10
                                                     : 12;
    return Short ? start_few<Inputs, Outputs, 2, 8> : start_few<Inputs, Outputs, 4, most>;
}

#define GFK_PRMT_THREE(k, Short) fixed<k, 1, Short>(), fixed<k, 2, Short>(), fixed<k, 3, Short>()
#define GFK_PRMT_FOUR(k, Short) {GFK_PRMT_THREE(k, Short), fixed<k, 4, Short>()}
#define GFK_PRMT_SHAPES(Short)                                                                     \
    {                                                                                              \
        GFK_PRMT_FOUR(1, Short), GFK_PRMT_FOUR(2, Short), GFK_PRMT_FOUR(3, Short),                 \
            GFK_PRMT_FOUR(4, Short), GFK_PRMT_FOUR(5, Short), GFK_PRMT_FOUR(6, Short),             \
            GFK_PRMT_FOUR(7, Short), GFK_PRMT_FOUR(8, Short), {GFK_PRMT_THREE(9, Short)},          \
            {GFK_PRMT_THREE(10, Short)}, {GFK_PRMT_THREE(11, Short)}, {                            \
            GFK_PRMT_THREE(12, Short)                                                              \
        }                                                                                          \
    }
constexpr size_t few_inputs = 12;
Start *const for_few[2][few_inputs][group] = {GFK_PRMT_SHAPES(false), GFK_PRMT_SHAPES(true)};
Start *const for_any[2][group] = {{start_any<1, 1, 8, false>, start_any<2, 1, 8, false>,
                                   start_any<3, 1, 8, false>, start_any<4, 1, 8, false>},
                                  {start_any<1, 2, 8, true>, start_any<2, 2, 6, true>,
                                   start_any<3, 2, 5, true>, start_any<4, 1, 8, true>}};

Start *choose(const gfk_product_call *call, const gfk::Cells &c, size_t rows) {
    const size_t cols = call->product->info.cols;
    /* More inputs keep memory as busy with fewer threads. */
    const uint64_t most_short = (cols <= 4 ? 512 : 256) * (uint64_t)call->product->processors;
    Start *start = NULL;
    if (c.aligned && cols <= few_inputs && c.count < (uint64_t)1 << 29)
        start = for_few[c.count < most_short][cols - 1][rows - 1];
    return start ? start : for_any[c.aligned][rows - 1];
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
        const gfk_status status = choose(call, c, rows)(call, c, part);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}
