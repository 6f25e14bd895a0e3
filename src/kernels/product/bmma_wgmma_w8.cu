/* SPDX-License-Identifier: BSD-3-Clause */
/* BMMA, w = 8, on warpgroup MMAs: the kernels for wide shapes, their tables and launches. Compiled
 * for 9.0a alone, or, where the library is not for 9.0, without any of them. */
#include "bmma_wgmma.h"

#ifdef GFK_HAVE_WGMMA

#include <stdlib.h>

#include "bmma_tables.h"
#include "bmma_wgmma.cuh"

extern "C" {
#include "../../host/device.h"
}

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
/* Of a block. */
constexpr size_t most_shared = 227 * 1024;

template <class K>
gfk_status prepare_grouped() {
    return status_of(cudaFuncSetAttribute(grouped<K>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)most_shared));
}
template <class T, int Warpgroups>
gfk_status prepare() {
    const gfk_status status = prepare_grouped<Grouped<T, Warpgroups, false>>();
    return status == GFK_STATUS_SUCCESS ? prepare_grouped<Grouped<T, Warpgroups, true>>() : status;
}

template <class K>
gfk_status launch_grouped(WideJob &job, const gfk_product_call *call) {
    using T = typename K::T;
    const uint64_t units = divide_up(16 * job.count, T::unit_bytes);
    const uint64_t cut = divide_up(cut_threads(job, T::w), K::threads);
    const uint64_t most = (uint64_t)call->product->processors;
    const uint64_t blocks = units < cut ? cut : units;
    return launch(grouped<K>, blocks < most ? blocks : most, K::threads,
                  K::shared_bytes(divide_up(job.rows, T::tile_outputs)), call->stream, job);
}
template <class T, int Warpgroups>
gfk_status launch_row(WideJob &job, const gfk_product_call *call) {
    return reads_outputs(call) ? launch_grouped<Grouped<T, Warpgroups, true>>(job, call)
                               : launch_grouped<Grouped<T, Warpgroups, false>>(job, call);
}

template <int Steps, int Words, int Warpgroups>
constexpr Row row() {
    using T = GroupLayout<Steps, Words>;
    return {(size_t)T::inputs,
            (size_t)T::tile_outputs,
            Grouped<T, Warpgroups, false>::most_tiles(most_shared),
            group_words<T>(),
            build_matrix<T>,
            prepare<T, Warpgroups>,
            launch_row<T, Warpgroups>};
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

} // namespace

size_t gfk::bmma::wgmma_words(size_t rows, size_t cols) {
    const Row *row = row_of(rows, cols);
    return row ? divide_up(rows, 4) * row->group_words : 0;
}

bool gfk::bmma::wgmma_pays(const gfk_product *p, const Cells &c) {
    return p->info.cols > 32 || c.count >= brief_cells;
}

gfk_status gfk::bmma::wgmma_create(gfk_product_t p, uint32_t *table) {
    const size_t rows = p->info.rows, cols = p->info.cols;
    const Row *row = row_of(rows, cols);
    gfk_status status = row->prepare();
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const size_t bytes = 4 * wgmma_words(rows, cols);
    uint32_t *built = (uint32_t *)malloc(bytes);
    if (built == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    row->build(built, p->info.field.polynomial, rows, cols, p->matrix);
    status = gfk_device_upload(table, built, bytes);
    free(built);
    return status;
}

gfk_status gfk::bmma::wgmma_run(const gfk_product_call *call, const Cells &c, const uint32_t *table,
                                const uint32_t *coefficients) {
    const gfk_product_info &info = call->product->info;
    const Row *row = row_of(info.rows, info.cols);
    WideJob job;
    describe(job, call, c);
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

#else

size_t gfk::bmma::wgmma_words(size_t, size_t) {
    return 0;
}
bool gfk::bmma::wgmma_pays(const gfk_product *, const Cells &) {
    return false;
}
gfk_status gfk::bmma::wgmma_create(gfk_product_t, uint32_t *) {
    return GFK_STATUS_INTERNAL;
}
gfk_status gfk::bmma::wgmma_run(const gfk_product_call *, const Cells &, const uint32_t *,
                                const uint32_t *) {
    return GFK_STATUS_INTERNAL;
}

#endif
