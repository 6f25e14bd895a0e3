/* SPDX-License-Identifier: BSD-3-Clause */
/* BMMA, w = 32, on warpgroup MMAs: the kernels for its shapes, their tables and launches. Compiled
 * for 9.0a alone, or, where the library is not for 9.0, without any of them. */
#include "bmma_wgmma.h"

#ifdef GFK_HAVE_WGMMA

#include "bmma_wgmma_host.cuh"
#include "bmma_wgmma_w32.cuh"

namespace {

using namespace gfk;
using namespace gfk::bmma;

/* A kernel, as the choice sees it. */
struct Row {
    size_t inputs; /* the most */
    size_t words;  /* of the table */
    void (*build)(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                  const uint32_t *matrix);
    gfk_status (*prepare)();
    gfk_status (*launch)(NarrowJob &job, const gfk_product_call *call);
    size_t run_bytes; /* that a block takes of a region at a time */
};

template <class K>
gfk_status prepare() {
    return allow_shared(words<K>);
}

/* Shared memory holds the matrix operand and as many stages as fit. */
template <class K>
gfk_status launch_words(NarrowJob &job, const gfk_product_call *call) {
    using T = typename K::T;
    constexpr unsigned room = most_shared - K::table_bytes;
    static_assert(room / (T::inputs * K::run_stride + barrier_pair) >= 2, "");
    const uint32_t stage_bytes = job.cols * K::run_stride;
    const uint32_t fit = room / (stage_bytes + barrier_pair);
    /* More do not pay. An odd number costs up to a tenth; why is not understood. */
    const uint32_t stages = fit < 6 ? fit / 2 * 2 : 6;
    const size_t shared = K::table_bytes + stages * (stage_bytes + barrier_pair);
    const Ring ring = {stages, stage_bytes, 0};
    return launch(words<K>, persistent_blocks<K>(job, call, K::run_bytes), K::threads, shared,
                  call->stream, job, ring);
}

template <int Slots, int Warpgroups>
constexpr Row row() {
    using T = WordLayout<Slots>;
    using K = Words<T, Warpgroups>;
    return {(size_t)T::inputs, group_words<T>(), build_matrix<T>,
            prepare<K>,        launch_words<K>,  K::run_bytes};
}

/* By growing inputs. */
const Row kernels[] = {
    row<1, 7>(), row<2, 7>(), row<3, 6>(), row<4, 6>(), row<5, 6>(), row<6, 6>(), row<8, 5>(),
};

/* Three outputs leave a quarter of the columns empty; with two it would be half, and slower. */
const Row *row_of(size_t rows, size_t cols) {
    if (rows < 3 || rows > 4 || cols < 4)
        return NULL;
    for (const Row &row : kernels)
        if (cols <= row.inputs)
            return &row;
    return NULL;
}

size_t words_of(size_t rows, size_t cols) {
    const Row *row = row_of(rows, cols);
    return row ? row->words : 0;
}

/* Every multiprocessor is to get enough. */
bool pays(const gfk_product *p, const Vectors &c) {
    const Row *row = row_of(p->info.rows, p->info.cols);
    return 2 * 16 * c.count >= 5 * row->run_bytes * (uint64_t)p->processors;
}

gfk_status create(gfk_product_t p, uint32_t *table) {
    const Row *row = row_of(p->info.rows, p->info.cols);
    const gfk_status status = row->prepare();
    return status == GFK_STATUS_SUCCESS ? upload_table(p, table, row->words, row->build) : status;
}

gfk_status run(const gfk_product_call *call, const Vectors &c, const uint32_t *table,
               const uint32_t *coefficients) {
    const gfk_product_info &info = call->product->info;
    NarrowJob job = {};
    make_extent(job, call, c);
    job.matrix = table;
    job.coefficients = coefficients;
    job.rows = (uint32_t)info.rows;
    job.cols = job.stride = (uint32_t)info.cols;
    for (size_t i = 0; i < info.cols; i++)
        job.in[i] = gfk_region_address(call->in, i) - c.phase;
    for (size_t j = 0; j < info.rows; j++)
        job.out[j] = gfk_region_address(call->out, j) - c.phase;
    return row_of(info.rows, info.cols)->launch(job, call);
}

} // namespace

const Warpgroups gfk::bmma::wgmma_w32 = {words_of, pays, ::create, ::run};

#else

const gfk::bmma::Warpgroups gfk::bmma::wgmma_w32 = no_warpgroups;

#endif
