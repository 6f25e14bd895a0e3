/* SPDX-License-Identifier: BSD-3-Clause */
/* How a kernel walks a region with one symbol per thread: naive kernels, and published optimized
 * forms, whose blocks first fill tables in shared memory.
 *
 * An Op is a struct, passed by value and so in the constant bank, with
 *   static constexpr int w
 *   __device__ uint32_t operator()(uint32_t) const
 * or, with tables,
 *   static constexpr int w, threads (per block)
 *   struct Shared                     what a block keeps in shared memory; empty if nothing
 *   __device__ void fill(Shared &) const                      by all threads, before the first use
 *   __device__ uint32_t operator()(const Shared &, uint32_t) const
 */
#pragma once

#include <type_traits>

#include "host/region/kernel.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/vector_io.cuh"

namespace gfk {

/* The unsigned integer of w bits. */
template <int W>
using Symbol = std::conditional_t<W == 8, uint8_t, std::conditional_t<W == 16, uint16_t, uint32_t>>;

/* Symbol i of a region. */
template <int W, bool Aligned>
__device__ inline uint32_t load_symbol(const uint8_t *region, uint64_t i) {
    return Aligned ? ((const Symbol<W> *)region)[i] : load_bytes(region + i * (W / 8), W / 8);
}
template <int W, bool Aligned>
__device__ inline void store_symbol(uint8_t *region, uint64_t i, uint32_t x) {
    if (Aligned)
        ((Symbol<W> *)region)[i] = (Symbol<W>)x;
    else
        store_bytes(region + i * (W / 8), W / 8, x);
}

/* Symbol i, if there is one. */
template <int W, bool Xor, bool Aligned, class F>
__device__ inline void walk_symbol(const F &multiply, const uint8_t *src, uint8_t *dst, uint64_t i,
                                   uint64_t symbols) {
    if (i >= symbols)
        return;
    uint32_t y = multiply(load_symbol<W, Aligned>(src, i));
    if (Xor)
        y ^= load_symbol<W, Aligned>(dst, i);
    store_symbol<W, Aligned>(dst, i, y);
}

/* Aligned: both addresses are multiples of w/8. */
template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(256)
    region_naive(Op op, const uint8_t *src, uint8_t *dst, uint64_t symbols) {
    const uint64_t i = (uint64_t)blockIdx.x * 256 + threadIdx.x;
    walk_symbol<Op::w, Xor, Aligned>(op, src, dst, i, symbols);
}

template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(Op::threads)
    region_shared(const __grid_constant__ Op op, const uint8_t *src, uint8_t *dst,
                  uint64_t symbols) {
    __shared__ typename Op::Shared shared;
    if constexpr (!std::is_empty<typename Op::Shared>::value) {
        op.fill(shared);
        __syncthreads();
    }
    const uint64_t i = (uint64_t)blockIdx.x * Op::threads + threadIdx.x;
    walk_symbol<Op::w, Xor, Aligned>([&](uint32_t x) { return op(shared, x); }, src, dst, i,
                                     symbols);
}

template <class Op>
using SymbolKernel = void (*)(Op, const uint8_t *, uint8_t *, uint64_t);

/* kernels[accumulate][aligned] */
template <class Op>
gfk_status launch_symbols(const SymbolKernel<Op> (&kernels)[2][2], unsigned threads,
                          const gfk_call *call, const Op &op) {
    constexpr unsigned size = Op::w / 8;
    const bool aligned = ((uintptr_t)call->src | (uintptr_t)call->dst) % size == 0;
    const SymbolKernel<Op> kernel = kernels[call->accumulate][aligned];
    /* A grid has at most 2^31 - 1 blocks; a longer region takes several launches. */
    const uint64_t symbols = call->bytes / size, most = UINT64_C(0x7fffffff) * threads;
    for (uint64_t first = 0; first < symbols; first += most) {
        const uint64_t count = symbols - first < most ? symbols - first : most;
        gfk_status status =
            launch(kernel, (count + threads - 1) / threads, threads, 0, call->stream, op,
                   call->src + first * size, call->dst + first * size, count);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

/* For an Op without tables. */
template <class Op>
gfk_status launch_naive(const gfk_call *call, const Op &op) {
    return launch_symbols<Op>({{region_naive<Op, false, false>, region_naive<Op, false, true>},
                               {region_naive<Op, true, false>, region_naive<Op, true, true>}},
                              256, call, op);
}

/* For an Op with tables. */
template <class Op>
gfk_status launch_shared(const gfk_call *call, const Op &op) {
    constexpr size_t tables =
        std::is_empty<typename Op::Shared>::value ? 0 : sizeof(typename Op::Shared);
    const gfk_kernel_info *info = call->multiplier->info.kernel;
    if (info->tile_bytes != Op::threads * (Op::w / 8) || info->shared_bytes != tables)
        return GFK_STATUS_INTERNAL; /* kernels.def and this Op disagree */
    return launch_symbols<Op>({{region_shared<Op, false, false>, region_shared<Op, false, true>},
                               {region_shared<Op, true, false>, region_shared<Op, true, true>}},
                              Op::threads, call, op);
}

} // namespace gfk
