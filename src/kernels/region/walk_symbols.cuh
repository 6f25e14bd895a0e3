/* SPDX-License-Identifier: BSD-3-Clause */
/* How a naive kernel walks a region: one thread, one symbol. */
#pragma once

#include "kernels/common/launch.cuh"

namespace gfk {

/* The unsigned integer of w bits. */
template <int W>
struct SymbolOf;
template <>
struct SymbolOf<8> {
    using type = uint8_t;
};
template <>
struct SymbolOf<16> {
    using type = uint16_t;
};
template <>
struct SymbolOf<32> {
    using type = uint32_t;
};
template <int W>
using Symbol = typename SymbolOf<W>::type;

/* A symbol at any address. */
template <int W>
__device__ inline uint32_t load_bytes(const uint8_t *p) {
    uint32_t x = 0;
    for (int i = 0; i < W / 8; i++)
        x |= (uint32_t)p[i] << (8 * i);
    return x;
}

template <int W>
__device__ inline void store_bytes(uint8_t *p, uint32_t x) {
    for (int i = 0; i < W / 8; i++)
        p[i] = (uint8_t)(x >> (8 * i));
}

/* Op: a struct with `static constexpr int w` and `__device__ uint32_t operator()(uint32_t) const`,
 * passed by value. Aligned: both addresses are multiples of w/8. */
template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(256)
    region_naive(Op op, const uint8_t *src, uint8_t *dst, uint64_t symbols) {
    constexpr int W = Op::w;
    const uint64_t i = (uint64_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= symbols)
        return;
    if (Aligned) {
        uint32_t y = op(((const Symbol<W> *)src)[i]);
        if (Xor)
            y ^= ((const Symbol<W> *)dst)[i];
        ((Symbol<W> *)dst)[i] = (Symbol<W>)y;
    } else {
        uint32_t y = op(load_bytes<W>(src + i * (W / 8)));
        if (Xor)
            y ^= load_bytes<W>(dst + i * (W / 8));
        store_bytes<W>(dst + i * (W / 8), y);
    }
}

template <class Op>
gfk_status launch_naive(const gfk_call *call, Op op) {
    constexpr unsigned size = Op::w / 8;
    const uint64_t symbols = call->bytes / size;
    const bool aligned = ((uintptr_t)call->src | (uintptr_t)call->dst) % size == 0;
    void (*kernel)(Op, const uint8_t *, uint8_t *, uint64_t);
    if (aligned)
        kernel = call->accumulate ? region_naive<Op, true, true> : region_naive<Op, false, true>;
    else
        kernel = call->accumulate ? region_naive<Op, true, false> : region_naive<Op, false, false>;
    /* A grid ends at 2^31 - 1 blocks, so a region beyond 2^31 * 256 symbols takes several. */
    const uint64_t most = UINT64_C(0x7fffffff) * 256;
    for (uint64_t first = 0; first < symbols; first += most) {
        const uint64_t count = symbols - first < most ? symbols - first : most;
        gfk_status status = launch(kernel, (count + 255) / 256, 256, 0, call->stream, op,
                                   call->src + first * size, call->dst + first * size, count);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

} // namespace gfk
