/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, naive: the loops of the textbook, one symbol per thread. */
#include "region_naive.cuh"

namespace {

template <int W>
struct Shift {
    static constexpr int w = W;
    using Product = typename std::conditional<W == 32, uint64_t, uint32_t>::type;
    uint32_t c;
    uint64_t polynomial;

    __device__ uint32_t operator()(uint32_t x) const {
        Product product = 0;
#pragma unroll
        for (int i = 0; i < W; i++)
            if (c >> i & 1)
                product ^= (Product)x << i;
#pragma unroll
        for (int i = 2 * W - 2; i >= W; i--)
            if (product >> i & 1)
                product ^= (Product)polynomial << (i - W);
        return (uint32_t)product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_naive(call, Shift<W>{call->c, call->multiplier->info.field.polynomial});
}

} // namespace

extern "C" gfk_status gfk_shift_w8_naive(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_shift_w16_naive(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_shift_w32_naive(const gfk_call *call) {
    return run<32>(call);
}
