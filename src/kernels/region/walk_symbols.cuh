/* SPDX-License-Identifier: BSD-3-Clause */
/* How a kernel walks a region with one symbol per thread: naive kernels, and published optimized
 * forms, whose blocks first fill tables in shared memory.
 *
 * An Op is a SymbolOp, passed by value and so in the constant bank, with
 *   static constexpr int w
 *   explicit Op(const gfk_call *)
 *   __device__ uint32_t operator()(uint32_t) const
 * or, with tables,
 *   static constexpr int threads      per block
 *   struct Shared                     what a block keeps in shared memory
 *   __device__ void fill(Shared &) const                      by all threads, before the first use
 *   __device__ uint32_t operator()(const Shared &, uint32_t) const
 */
#pragma once

#include "row.cuh"

namespace gfk {

struct SymbolOp {
    static constexpr int threads = 256;
    using Shared = NoShared;
};

/* Aligned: both addresses are multiples of w/8. */
template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(Op::threads)
    region_symbols(Op op, const uint8_t *src, uint8_t *dst, uint64_t symbols) {
    constexpr bool tables = shared_bytes<Op> != 0;
    __shared__ typename Op::Shared shared;
    if constexpr (tables) {
        op.fill(shared);
        __syncthreads();
    }
    const uint64_t i = (uint64_t)blockIdx.x * Op::threads + threadIdx.x;
    if (i >= symbols)
        return;
    uint32_t y = load_symbol<Op::w, Aligned>(src, i);
    if constexpr (tables)
        y = op(shared, y);
    else
        y = op(y);
    if (Xor)
        y ^= load_symbol<Op::w, Aligned>(dst, i);
    store_symbol<Op::w, Aligned>(dst, i, y);
}

template <class Op>
gfk_status launch_symbols(const gfk_call *call) {
    constexpr unsigned size = Op::w / 8, threads = Op::threads;
    static constexpr decltype(&region_symbols<Op, false, false>) kernels[2][2] = {
        {region_symbols<Op, false, false>, region_symbols<Op, false, true>},
        {region_symbols<Op, true, false>, region_symbols<Op, true, true>}};
    const bool aligned = ((uintptr_t)call->src | (uintptr_t)call->dst) % size == 0;
    /* A longer region takes several launches. */
    const uint64_t symbols = call->bytes / size, most = (uint64_t)most_blocks * threads;
    for (uint64_t first = 0; first < symbols; first += most) {
        const uint64_t count = symbols - first < most ? symbols - first : most;
        gfk_status status = launch(
            kernels[call->accumulate][aligned], gfk_divide_up(count, threads), threads, 0,
            call->stream, Op(call), call->src + first * size, call->dst + first * size, count);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

/* Launches a row. */
template <class Op>
gfk_status launch_naive(const gfk_call *call) {
    return row_is<Op>(call, Op::threads * (Op::w / 8)) ? launch_symbols<Op>(call)
                                                       : GFK_STATUS_INTERNAL;
}

} // namespace gfk
