/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of bmma_w8 on warpgroup MMAs. Compiled for 9.0a alone, or, where the library is not
 * for 9.0, without any of them. */
#include "kernel.cuh"

#ifdef GFK_HAVE_WGMMA

#include "mainloop_ring_w8.cuh"

namespace gfk {
namespace bmma {

/* Launches of the same size, nearly. They read the inputs again. */
template <class K>
gfk_status run_wgmma(const Run &run) {
    using T = typename K::T;
    const gfk_product_info &info = run.call->product->info;
    ManyJob job;
    make_extent(job, run.call, run.vectors);
    job.pass_words = 0;
    const size_t tiles = divide_up(info.rows, T::tile_outputs);
    const size_t launches = divide_up(tiles, UnitStage<K>::most_tiles());
    const size_t most_rows = divide_up(tiles, launches) * T::tile_outputs;
    for (size_t first = 0; first < info.rows; first += most_rows) {
        const size_t rows = info.rows - first < most_rows ? info.rows - first : most_rows;
        fill_regions<T>(job, run, 0, info.cols, first, rows);
        job.matrix = run.matrix + first / 4 * panel_words<T>();
        const uint64_t blocks = blocks_of<K>(job, T::unit_bytes, run.call->product->processors);
        const gfk_status status = launch(
            wgmma_unit<K>, blocks, K::threads,
            UnitStage<K>::bytes_of_tiles(divide_up(rows, T::tile_outputs)), run.call->stream, job);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

template <class K>
gfk_status prepare_wgmma() {
    return allow_shared(wgmma_unit<K>);
}

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    return {most_shared, matrix_words<T>, build_matrix<T>, prepare_wgmma<K>, run_wgmma<K>};
}

const Kernel wgmma_w8[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::wgmma, 8, engine##_##kernel>(),
#include "shapes.def"
};

} // namespace bmma
} // namespace gfk

#else

const gfk::bmma::Kernel gfk::bmma::wgmma_w8[] = {
#define GFK_ENGINE_KERNEL(...) {},
#include "shapes.def"
};

#endif
