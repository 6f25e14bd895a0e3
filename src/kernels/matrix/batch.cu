/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of inversions: the compiled kernels, and their launches. */
#include "batch.cuh"

#include "kernels/common/launch.cuh"

namespace gfk {
namespace matrix {
namespace {

#define GFK_INVERT_BATCH_KERNEL(kernel, width, most, cc_min, cc_max, ...)                          \
    struct invert_batch_w##width##_##kernel : __VA_ARGS__ {                                        \
        static_assert(T::w == width && most <= rows && most <= T::words * T::word_symbols,         \
                      "the kernel does not take so much");                                         \
    };
#include "shapes.def"

template <class K>
__global__ void __launch_bounds__(32 * K::warps, K::blocks)
    invert(const __grid_constant__ gfk_matrix_batch job, Layout layout) {
    extern __shared__ uint8_t memory[];
    invert_matrices<K>(job, layout, memory);
}

template <class K>
gfk_status launch_invert(const gfk_matrix_batch &job) {
    using T = typename K::T;
    const Layout layout = make_layout<T>(job.n);
    const unsigned warps = K::alone ? K::warps : (job.n + T::warp_rows - 1) / T::warp_rows;
    const uint64_t groups = (job.count + layout.matrices - 1) / layout.matrices;
    const gfk_status status = allow_shared(invert<K>, shared_bytes<K>(K::warps));
    return status != GFK_STATUS_SUCCESS
               ? status
               : launch(invert<K>, K::alone ? (groups + warps - 1) / warps : groups, 32 * warps,
                        shared_bytes<K>(warps), job.stream, job, layout);
}

gfk_status (*const launches[])(const gfk_matrix_batch &) = {
#define GFK_INVERT_BATCH_KERNEL(kernel, w, ...) launch_invert<invert_batch_w##w##_##kernel>,
#include "shapes.def"
};

} // namespace
} // namespace matrix
} // namespace gfk

extern "C" gfk_status gfk_matrix_batch_run(const gfk_matrix_batch *batch) {
    return gfk::matrix::launches[batch->kernel](*batch);
}
