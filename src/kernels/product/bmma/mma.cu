/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on mma.sync: their launches, and the symbols of their rows. */
#include "mainloop_streamed.cuh"

namespace gfk {
namespace bmma {

/* Takes several launches if a job has no room for all regions. A check by several passes is one
 * launch of an unaligned kernel, or NOT_SUPPORTED. */
template <class K>
gfk_status run_streamed(const Run &run) {
    using T = typename K::T;
    using J = StreamedJob<K>;
    constexpr size_t most_rows = J::Regions::most_outputs;
    constexpr size_t most_cols = J::Regions::most_inputs / T::inputs * T::inputs;
    static_assert(most_rows % T::outputs == 0, "");
    const gfk_product_info &info = run.call->product->info;
    if (run.call->mismatch_map && info.cols > (K::aligned ? (size_t)T::inputs : most_cols))
        return GFK_STATUS_NOT_SUPPORTED;
    J job;
    make_extent(job, run.call, run.vectors);
    job.pass_words = gfk_divide_up(info.rows, T::outputs) * panel_words<T>();
    for (size_t out = 0; out < info.rows; out += most_rows) {
        const size_t rows = info.rows - out < most_rows ? info.rows - out : most_rows;
        for (size_t in = 0; in < info.cols; in += most_cols) {
            const size_t cols = info.cols - in < most_cols ? info.cols - in : most_cols;
            fill_regions<T>(job, run, in, cols, out, rows);
            job.matrix =
                run.matrix + in / T::inputs * job.pass_words + out / T::outputs * panel_words<T>();
            job.epilogue.accumulate = run.call->accumulate || in != 0;
            const uint64_t blocks =
                blocks_of<K>(job, 16 * T::vectors * K::tiles * (K::threads / 32), UINT64_MAX);
            const gfk_status status =
                launch(streamed<K>, blocks, K::threads, 0, run.call->stream, job);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    }
    return GFK_STATUS_SUCCESS;
}

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    return {false, matrix_words<T>, build_matrix<T>, NULL, run_streamed<K>, NULL};
}

#define CUDA_ROW(owner, kernel) GFK_KERNEL_SYMBOL(owner, kernel, &symbol_for<owner##_##kernel>)
#define WGMMA_ROW(owner, kernel)
#include "shapes.def"

} // namespace bmma
} // namespace gfk
