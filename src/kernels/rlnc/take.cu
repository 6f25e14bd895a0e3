/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiled kernels that take packets, and their launches. */
#include "take.h"

#include "take.cuh"

#include "kernels/common/launch.cuh"

namespace gfk {
namespace rlnc {
namespace {

using matrix::Block;
using matrix::Tile;

#define GFK_KERNEL GFK_ELIMINATION_TYPE
#include "shapes.def"
#undef GFK_KERNEL

template <class K>
__global__ void __launch_bounds__(32 * K::warps, K::blocks)
    take(const __grid_constant__ TakeJob job) {
    extern __shared__ uint8_t memory[];
    __shared__ Round<K> round;
    take_packets<K>(job, round, memory);
}

template <class K>
gfk_status launch_take(const TakeJob &job, size_t segments, gfk_stream_t stream) {
    static_assert(matrix::shared_bytes<K>(K::warps) + sizeof(Round<K>) <= (size_t)K::info.shared_kib
                                                                              << 10,
                  "");
    const unsigned warps = (unsigned)gfk_divide_up(job.n, K::T::warp_rows);
    const gfk_status status = allow_shared(take<K>, matrix::shared_bytes<K>(K::warps));
    return status == GFK_STATUS_SUCCESS
               ? launch(take<K>, segments, 32 * warps, matrix::shared_bytes<K>(warps), stream, job)
               : status;
}

template <class K>
constexpr Take *function_of = launch_take<K>;

} // namespace

#define GFK_KERNEL(owner, kernel, ...)                                                             \
    GFK_KERNEL_SYMBOL(owner, kernel, &function_of<owner##_##kernel>)
#include "shapes.def"

} // namespace rlnc
} // namespace gfk
