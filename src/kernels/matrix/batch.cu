/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of inversions: the kernel, its variants by size, and their launches. */
#include "batch.cuh"

#include "kernels/common/launch.cuh"

namespace gfk {
namespace matrix {
namespace {

constexpr int warps_alone = 4; /* warps of a block that have matrices of their own */

/* `Warps`: of a block, at most; `Blocks`: that a multiprocessor should hold. */
template <class T, bool Alone, int Buffers, int Warps, int Blocks>
__global__ void __launch_bounds__(32 * Warps, Blocks)
    invert(const __grid_constant__ gfk_matrix_batch job, Layout layout) {
    extern __shared__ uint8_t memory[];
    invert_matrices<T, Alone, Buffers>(job, layout, memory);
}

template <class T, bool Alone, int Buffers, int Warps, int Blocks>
gfk_status launch_invert(const gfk_matrix_batch &job) {
    const Layout layout = make_layout<T>(job.n);
    const unsigned warps = Alone ? warps_alone : (job.n + T::warp_rows - 1) / T::warp_rows;
    const uint64_t groups = (job.count + layout.matrices - 1) / layout.matrices;
    const size_t shared = shared_bytes<T>(Buffers, Alone ? warps : 1);
    const auto kernel = invert<T, Alone, Buffers, Warps, Blocks>;
    const gfk_status status = allow_shared(kernel, shared);
    return status != GFK_STATUS_SUCCESS
               ? status
               : launch(kernel, Alone ? (groups + warps - 1) / warps : groups, 32 * warps, shared,
                        job.stream, job, layout);
}

/* One warp has the whole matrix, and others beside it. */
template <int W, int Vector, int Rows, int Blocks>
gfk_status launch_small(const gfk_matrix_batch &job) {
    return launch_invert<Tile<W, 32, Vector, Rows>, true, 1, warps_alone, Blocks>(job);
}

gfk_status invert_w8(const gfk_matrix_batch &job) {
    return job.n <= 8     ? launch_small<8, 2, 4, 8>(job)
           : job.n <= 16  ? launch_small<8, 4, 4, 8>(job)
           : job.n <= 32  ? launch_small<8, 4, 8, 6>(job)
           : job.n <= 128 ? launch_invert<Tile<8, 32, 4, 8>, false, 2, 4, 8>(job)
                          : launch_invert<Tile<8, 64, 2, 16>, false, 2, 16, 2>(job);
}
gfk_status invert_w16(const gfk_matrix_batch &job) {
    return job.n <= 8     ? launch_small<16, 2, 4, 6>(job)
           : job.n <= 16  ? launch_small<16, 2, 8, 6>(job)
           : job.n <= 32  ? launch_small<16, 2, 16, 6>(job)
           : job.n <= 64  ? launch_invert<Tile<16, 32, 2, 16>, false, 2, 2, 12>(job)
           : job.n <= 128 ? launch_invert<Tile<16, 64, 2, 16>, false, 2, 8, 4>(job)
                          : launch_invert<Tile<16, 128, 4, 8>, false, 1, 32, 1>(job);
}
gfk_status invert_w32(const gfk_matrix_batch &job) {
    return job.n <= 8    ? launch_small<32, 2, 4, 3>(job)
           : job.n <= 16 ? launch_small<32, 2, 8, 3>(job)
           : job.n <= 32 ? launch_small<32, 2, 16, 3>(job)
           : job.n <= 64 ? launch_invert<Tile<32, 64, 2, 16>, false, 1, 4, 4>(job)
                         : launch_invert<Tile<32, 128, 4, 8>, false, 1, 16, 2>(job);
}

} // namespace
} // namespace matrix
} // namespace gfk

extern "C" gfk_status gfk_matrix_batch_run(const gfk_matrix_batch *batch) {
    using namespace gfk::matrix;
    return batch->w == 8    ? invert_w8(*batch)
           : batch->w == 16 ? invert_w16(*batch)
                            : invert_w32(*batch);
}
