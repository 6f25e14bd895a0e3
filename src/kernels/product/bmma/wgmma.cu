/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on warpgroup MMAs. Compiled for 9.0a alone, or, where the library is not for 9.0,
 * without any of them. */
#include "kernel.cuh"

#ifdef GFK_HAVE_WGMMA

#include "mainloop_ring.cuh"
#include "mainloop_wgmma_w8.cuh"

namespace gfk {
namespace bmma {

/* Launches of the same size, nearly. They read the inputs again. */
template <class K>
gfk_status run_wgmma_w8(const Run &run) {
    using T = typename K::T;
    const gfk_product_info &info = run.call->product->info;
    ManyJob job;
    make_extent(job, run.call, run.vectors);
    job.pass_words = 0;
    const size_t instructions = divide_up(info.rows, T::instruction_outputs);
    const size_t launches = divide_up(instructions, TileStage<K>::most_instructions());
    const size_t most_rows = divide_up(instructions, launches) * T::instruction_outputs;
    for (size_t first = 0; first < info.rows; first += most_rows) {
        const size_t rows = info.rows - first < most_rows ? info.rows - first : most_rows;
        fill_regions<T>(job, run, 0, info.cols, first, rows);
        job.matrix = run.matrix + first / 4 * panel_words<T>();
        const uint64_t blocks = blocks_of<K>(job, T::tile_bytes, run.call->product->processors);
        const gfk_status status =
            launch(wgmma_w8<K>, blocks, K::threads,
                   TileStage<K>::shared_bytes(divide_up(rows, T::instruction_outputs)),
                   run.call->stream, job);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

/* Shared memory holds the matrix operand and as many stages as fit. Launches have nearly the same
 * number of panels, and each reads the inputs. */
template <class K>
gfk_status run_ring(const Run &run) {
    using T = typename K::T;
    const gfk_product_info &info = run.call->product->info;
    constexpr size_t most_panels = K::outputs / T::outputs;
    static_assert((most_shared - K::outputs / T::outputs * T::panel_bytes) /
                          (T::inputs * K::tile_stride + bulk::RingBarriers::stage_bytes) >=
                      2,
                  "");
    const size_t panels = divide_up(info.rows, T::outputs);
    const size_t most_rows = divide_up(panels, divide_up(panels, most_panels)) * T::outputs;
    RingJob job = {};
    make_extent(job, run.call, run.vectors);
    for (size_t first = 0; first < info.rows; first += most_rows) {
        const size_t rows = info.rows - first < most_rows ? info.rows - first : most_rows;
        fill_regions<T>(job, run, 0, info.cols, first, rows);
        job.matrix = run.matrix + first / T::outputs * panel_words<T>();
        Stages ring = {};
        ring.table_bytes =
            (uint32_t)divide_up(job.panels, K::abreast) * K::abreast * T::panel_bytes;
        /* A stage has room for as many inputs as lanes, which read it in any case. */
        ring.stage_bytes = (job.cols < T::lanes ? T::lanes : job.cols) * K::tile_stride;
        const uint32_t fit =
            (most_shared - ring.table_bytes) / (ring.stage_bytes + bulk::RingBarriers::stage_bytes);
        /* More than six stages were not faster; an odd number was up to 10 % slower
         * (results/notes). */
        ring.stages = fit < 6 ? fit / 2 * 2 : 6;
        const size_t shared =
            ring.table_bytes + ring.stages * (ring.stage_bytes + bulk::RingBarriers::stage_bytes);
        const uint64_t blocks = blocks_of<K>(job, K::tile_bytes, run.call->product->processors);
        const gfk_status status =
            launch(wgmma_ring<K>, blocks, K::threads, shared, run.call->stream, job, ring);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    if constexpr (K::mainloop == Mainloop::ring)
        return {most_shared, matrix_words<T>, build_matrix<T>,
                [] { return allow_shared(wgmma_ring<K>, most_shared); }, run_ring<K>};
    else
        return {most_shared, matrix_words<T>, build_matrix<T>,
                [] { return allow_shared(wgmma_w8<K>, most_shared); }, run_wgmma_w8<K>};
}

} // namespace bmma
} // namespace gfk

const gfk::bmma::Kernel gfk::bmma::wgmma_kernels[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::wgmma, engine##_##kernel>(),
#include "shapes.def"
};

#else

const gfk::bmma::Kernel gfk::bmma::wgmma_kernels[] = {
#define GFK_ENGINE_KERNEL(...) {},
#include "shapes.def"
};

#endif
