/* SPDX-License-Identifier: BSD-3-Clause */
/* How the reports' optimized kernels walk a region: each block fills its tables in shared memory,
 * then one thread takes one symbol.
 *
 * An Op is a struct, passed by value and so in the constant bank, with
 *   static constexpr int w, threads (per block)
 *   struct Shared                     what a block keeps in shared memory; empty if nothing
 *   __device__ void fill(Shared &) const                      by all threads, before the first use
 *   __device__ uint32_t operator()(const Shared &, uint32_t) const
 */
#pragma once

#include <type_traits>

#include "walk_symbols.cuh"

namespace gfk {

/* Aligned: both addresses are multiples of w/8. */
template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(Op::threads)
    region_shared(const __grid_constant__ Op op, const uint8_t *src, uint8_t *dst,
                  uint64_t symbols) {
    constexpr int W = Op::w;
    __shared__ typename Op::Shared shared;
    if constexpr (!std::is_empty<typename Op::Shared>::value) {
        op.fill(shared);
        __syncthreads();
    }
    const uint64_t i = (uint64_t)blockIdx.x * Op::threads + threadIdx.x;
    if (i >= symbols)
        return;
    if (Aligned) {
        uint32_t y = op(shared, ((const Symbol<W> *)src)[i]);
        if (Xor)
            y ^= ((const Symbol<W> *)dst)[i];
        ((Symbol<W> *)dst)[i] = (Symbol<W>)y;
    } else {
        uint32_t y = op(shared, load_bytes<W>(src + i * (W / 8)));
        if (Xor)
            y ^= load_bytes<W>(dst + i * (W / 8));
        store_bytes<W>(dst + i * (W / 8), y);
    }
}

template <class Op>
gfk_status launch_shared(const gfk_call *call, const Op &op) {
    constexpr unsigned size = Op::w / 8;
    constexpr size_t tables =
        std::is_empty<typename Op::Shared>::value ? 0 : sizeof(typename Op::Shared);
    const gfk_kernel_info *info = call->multiplier->info.kernel;
    if (info->tile_bytes != Op::threads * size || info->shared_bytes != tables)
        return GFK_STATUS_INTERNAL; /* kernels.def and this Op disagree */
    const bool aligned = ((uintptr_t)call->src | (uintptr_t)call->dst) % size == 0;
    void (*kernel)(Op, const uint8_t *, uint8_t *, uint64_t);
    if (aligned)
        kernel = call->accumulate ? region_shared<Op, true, true> : region_shared<Op, false, true>;
    else
        kernel =
            call->accumulate ? region_shared<Op, true, false> : region_shared<Op, false, false>;
    /* A grid ends at 2^31 - 1 blocks, so a region beyond that many takes several. */
    const uint64_t symbols = call->bytes / size;
    const uint64_t most = UINT64_C(0x7fffffff) * Op::threads;
    for (uint64_t first = 0; first < symbols; first += most) {
        const uint64_t count = symbols - first < most ? symbols - first : most;
        gfk_status status =
            launch(kernel, (count + Op::threads - 1) / Op::threads, Op::threads, 0, call->stream,
                   op, call->src + first * size, call->dst + first * size, count);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

} // namespace gfk
