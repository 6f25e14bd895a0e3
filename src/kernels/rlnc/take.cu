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

#define GFK_RLNC_TAKE_KERNEL(kernel, width, most, least, cc_min, cc_max, shared, ...)              \
    struct take_w##width##_##kernel : __VA_ARGS__ {                                                \
        static_assert(T::w == width && most <= rows && most <= T::words * T::word_symbols,         \
                      "the kernel does not take so much");                                         \
        static constexpr size_t most_shared = (size_t)(shared) << 10;                              \
    };
#include "shapes.def"

template <class K>
__global__ void __launch_bounds__(32 * K::warps, K::blocks)
    take(const __grid_constant__ TakeJob job) {
    extern __shared__ uint8_t memory[];
    __shared__ Round<K> round;
    take_packets<K>(job, round, memory);
}

template <class K>
gfk_status launch_take(const TakeJob &job, size_t segments, gfk_stream_t stream) {
    static_assert(matrix::shared_bytes<K>(K::warps) + sizeof(Round<K>) <= K::most_shared, "");
    const unsigned warps = (job.n + K::T::warp_rows - 1) / K::T::warp_rows;
    const gfk_status status = allow_shared(take<K>, matrix::shared_bytes<K>(K::warps));
    return status == GFK_STATUS_SUCCESS
               ? launch(take<K>, segments, 32 * warps, matrix::shared_bytes<K>(warps), stream, job)
               : status;
}

gfk_status (*const launches[])(const TakeJob &, size_t, gfk_stream_t) = {
#define GFK_RLNC_TAKE_KERNEL(kernel, w, ...) launch_take<take_w##w##_##kernel>,
#include "shapes.def"
};

} // namespace

gfk_status run_take(int kernel, const TakeJob &job, size_t segments, gfk_stream_t stream) {
    return launches[kernel](job, segments, stream);
}

} // namespace rlnc
} // namespace gfk
