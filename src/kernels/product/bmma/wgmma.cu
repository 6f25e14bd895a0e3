/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on warpgroup MMAs. Compiled for 9.0a alone, or, where the library is not for 9.0,
 * without any of them. */
#include "kernel.cuh"

#ifdef GFK_HAVE_WGMMA

#include "mainloop_ring_w32.cuh"
#include "mainloop_ring_w8.cuh"

namespace gfk {
namespace bmma {

/* Launches of the same size, nearly. They read the inputs again. */
template <class K>
gfk_status run_ring_w8(const Run &run) {
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

/* Shared memory holds the matrix operand and as many stages as fit. */
template <class K>
gfk_status run_ring_w32(const Run &run) {
    using T = typename K::T;
    const FewJob job = whole_job<T>(run);
    constexpr unsigned room = most_shared - K::table_bytes;
    static_assert(room / (T::inputs * K::tile_stride + bulk::RingBarriers::stage_bytes) >= 2, "");
    const uint32_t stage_bytes = job.cols * K::tile_stride;
    const uint32_t fit = room / (stage_bytes + bulk::RingBarriers::stage_bytes);
    /* More do not pay. An odd number costs up to a tenth; why is not understood. */
    const uint32_t stages = fit < 6 ? fit / 2 * 2 : 6;
    const size_t shared = K::table_bytes + stages * (stage_bytes + bulk::RingBarriers::stage_bytes);
    const Ring ring = {stages, stage_bytes, 0};
    const uint64_t blocks = blocks_of<K>(job, K::tile_bytes, run.call->product->processors);
    return launch(wgmma_w32<K>, blocks, K::threads, shared, run.call->stream, job, ring);
}

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    if constexpr (T::w == 8)
        return {most_shared, matrix_words<T>, build_matrix<T>,
                [] { return allow_shared(wgmma_w8<K>, most_shared); }, run_ring_w8<K>};
    else
        return {most_shared, matrix_words<T>, build_matrix<T>,
                [] { return allow_shared(wgmma_w32<K>, most_shared); }, run_ring_w32<K>};
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
