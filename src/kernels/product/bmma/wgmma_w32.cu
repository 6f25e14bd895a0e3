/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of bmma_w32 on warpgroup MMAs. Compiled for 9.0a alone, or, where the library is not
 * for 9.0, without any of them. */
#include "kernel.cuh"

#ifdef GFK_HAVE_WGMMA

#include "mainloop_ring_w32.cuh"

namespace gfk {
namespace bmma {

/* Shared memory holds the matrix operand and as many stages as fit. */
template <class K>
gfk_status run_wgmma(const Run &run) {
    using T = typename K::T;
    const gfk_product_info &info = run.call->product->info;
    FewJob job = {};
    make_extent(job, run.call, run.vectors);
    job.matrix = run.matrix;
    fill_regions<T>(job, run, 0, info.cols, 0, info.rows);
    constexpr unsigned room = most_shared - K::table_bytes;
    static_assert(room / (T::inputs * K::run_stride + barrier_pair) >= 2, "");
    const uint32_t stage_bytes = job.cols * K::run_stride;
    const uint32_t fit = room / (stage_bytes + barrier_pair);
    /* More do not pay. An odd number costs up to a tenth; why is not understood. */
    const uint32_t stages = fit < 6 ? fit / 2 * 2 : 6;
    const size_t shared = K::table_bytes + stages * (stage_bytes + barrier_pair);
    const Ring ring = {stages, stage_bytes, 0};
    const uint64_t blocks = blocks_of<K>(job, K::run_bytes, run.call->product->processors);
    return launch(wgmma_ring<K>, blocks, K::threads, shared, run.call->stream, job, ring);
}

template <class K>
gfk_status prepare_wgmma() {
    return allow_shared(wgmma_ring<K>);
}

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    return {most_shared, matrix_words<T>, build_matrix<T>, prepare_wgmma<K>, run_wgmma<K>};
}

const Kernel wgmma_w32[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::wgmma, 32, engine##_##kernel>(),
#include "shapes.def"
};

} // namespace bmma
} // namespace gfk

#else

const gfk::bmma::Kernel gfk::bmma::wgmma_w32[] = {
#define GFK_ENGINE_KERNEL(...) {},
#include "shapes.def"
};

#endif
