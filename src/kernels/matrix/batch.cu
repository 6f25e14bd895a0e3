/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of inversions: the compiled kernels, and their launches. */
#include "batch.cuh"

#include "kernels/common/launch.cuh"

namespace gfk {
namespace matrix {
namespace {

#define GFK_KERNEL GFK_ELIMINATION_TYPE
#include "shapes.def"
#undef GFK_KERNEL

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
    const unsigned warps =
        K::warp_has_matrix ? K::warps : (unsigned)gfk_divide_up(job.n, T::warp_rows);
    const uint64_t groups = gfk_divide_up(job.count, layout.matrices);
    const gfk_status status = allow_shared(invert<K>, shared_bytes<K>(K::warps));
    return status != GFK_STATUS_SUCCESS
               ? status
               : launch(invert<K>, K::warp_has_matrix ? gfk_divide_up(groups, warps) : groups,
                        32 * warps, shared_bytes<K>(warps), job.stream, job, layout);
}

using Invert = gfk_status(const gfk_matrix_batch &job);
template <class K>
constexpr Invert *function_of = launch_invert<K>;

} // namespace

#define GFK_KERNEL(owner, kernel, ...)                                                             \
    GFK_KERNEL_SYMBOL(owner, kernel, &function_of<owner##_##kernel>)
#include "shapes.def"

} // namespace matrix
} // namespace gfk

extern "C" gfk_status gfk_matrix_batch_run(const gfk_matrix_batch *batch) {
    return gfk::symbol_of<gfk::matrix::Invert *>(batch->kernel)(*batch);
}
