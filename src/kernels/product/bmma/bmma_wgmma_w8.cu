/* SPDX-License-Identifier: BSD-3-Clause */
/* BMMA, w = 8, on warpgroup MMAs: the kernels for wide shapes, their tables and launches. Compiled
 * for 9.0a alone, or, where the library is not for 9.0, without any of them. */
#include "bmma_wgmma.h"

#ifdef GFK_HAVE_WGMMA

#include "bmma_wgmma.cuh"
#include "bmma_wgmma_host.cuh"

namespace {

using namespace gfk;
using namespace gfk::bmma;

/* A kernel, as the choice sees it. */
struct Row {
    size_t inputs;       /* the most */
    size_t tile_outputs; /* a launch takes whole tiles, but for the last one */
    size_t most_tiles;   /* of a launch */
    size_t group_words;  /* of the table */
    void (*build)(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                  const uint32_t *matrix);
    gfk_status (*prepare)();
    gfk_status (*launch)(WideJob &job, const gfk_product_call *call);
};

/* 2 MiB. With few inputs small blocks of mma.sync are faster below. */
constexpr uint64_t brief_cells = 1 << 17;

template <class T, int Count>
gfk_status prepare() {
    const gfk_status status = allow_shared(grouped<Grouped<T, Count, false>>);
    return status == GFK_STATUS_SUCCESS ? allow_shared(grouped<Grouped<T, Count, true>>) : status;
}

template <class K>
gfk_status launch_grouped(WideJob &job, const gfk_product_call *call) {
    using T = typename K::T;
    return launch(grouped<K>, persistent_blocks<K>(job, call, T::unit_bytes), K::threads,
                  K::shared_bytes(divide_up(job.rows, T::tile_outputs)), call->stream, job);
}
template <class T, int Count>
gfk_status launch_row(WideJob &job, const gfk_product_call *call) {
    return reads_outputs(call) ? launch_grouped<Grouped<T, Count, true>>(job, call)
                               : launch_grouped<Grouped<T, Count, false>>(job, call);
}

template <int Steps, int Words, int Count>
constexpr Row row() {
    using T = GroupLayout<Steps, Words>;
    return {(size_t)T::inputs,
            (size_t)T::tile_outputs,
            Grouped<T, Count, false>::most_tiles(most_shared),
            group_words<T>(),
            build_matrix<T>,
            prepare<T, Count>,
            launch_row<T, Count>};
}

/* By growing inputs. */
const Row kernels[] = {
    row<1, 4, 4>(), row<2, 2, 4>(), row<3, 1, 4>(), row<4, 2, 3>(),
    row<5, 1, 3>(), row<6, 1, 3>(), row<7, 1, 3>(), row<8, 1, 3>(),
};

/* The narrow kernels have the rest. */
const Row *row_of(size_t rows, size_t cols) {
    if (rows <= 4 && cols <= 32)
        return NULL;
    for (const Row &row : kernels)
        if (cols <= row.inputs)
            return &row;
    return NULL;
}

size_t words_of(size_t rows, size_t cols) {
    const Row *row = row_of(rows, cols);
    return row ? divide_up(rows, 4) * row->group_words : 0;
}

bool pays(const gfk_product *p, const Vectors &c) {
    return p->info.cols > 32 || c.count >= brief_cells;
}

gfk_status create(gfk_product_t p, uint32_t *table) {
    const size_t rows = p->info.rows, cols = p->info.cols;
    const Row *row = row_of(rows, cols);
    const gfk_status status = row->prepare();
    return status == GFK_STATUS_SUCCESS ? upload_table(p, table, words_of(rows, cols), row->build)
                                        : status;
}

gfk_status run(const gfk_product_call *call, const Vectors &c, const uint32_t *table,
               const uint32_t *coefficients) {
    const gfk_product_info &info = call->product->info;
    const Row *row = row_of(info.rows, info.cols);
    WideJob job;
    make_extent(job, call, c);
    job.cols = job.stride = (uint32_t)info.cols;
    job.passes = 1;
    job.pass_words = 0;
    for (size_t i = 0; i < info.cols; i++)
        job.in[i] = gfk_region_address(call->in, i) - c.phase;
    /* Launches of the same size, nearly. */
    const size_t tiles = divide_up(info.rows, row->tile_outputs);
    const size_t launches = divide_up(tiles, row->most_tiles);
    const size_t most_rows = divide_up(tiles, launches) * row->tile_outputs;
    for (size_t first = 0; first < info.rows; first += most_rows) {
        const size_t rows = info.rows - first < most_rows ? info.rows - first : most_rows;
        for (size_t j = 0; j < rows; j++)
            job.out[j] = gfk_region_address(call->out, first + j) - c.phase;
        job.rows = (uint32_t)rows;
        job.groups = (uint32_t)divide_up(rows, 4);
        job.matrix = table + first / 4 * row->group_words;
        job.coefficients = coefficients + first * info.cols;
        const gfk_status status = row->launch(job, call);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

} // namespace

const Warpgroups gfk::bmma::wgmma_w8 = {words_of, pays, ::create, ::run};

#else

const gfk::bmma::Warpgroups gfk::bmma::wgmma_w8 = no_warpgroups;

#endif
