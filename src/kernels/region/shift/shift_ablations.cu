/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, ablation: the optimized form of the GF GPU report, one symbol per thread. The first thread
 * of a block lists the set bits of c in shared memory, and all threads shift by the list. In the
 * report the best constants gained and the worst lost. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct ShiftSetBits {
    static constexpr int w = W, threads = 512;
    using Product = typename std::conditional<W == 32, uint64_t, uint32_t>::type;
    struct Shared {
        int count, bits[W];
    };
    uint32_t c;
    uint64_t polynomial;

    __device__ void fill(Shared &list) const {
        if (threadIdx.x != 0)
            return;
        int count = 0;
        for (int i = 0; i < W; i++)
            if (c >> i & 1)
                list.bits[count++] = i;
        list.count = count;
    }
    __device__ uint32_t operator()(const Shared &list, uint32_t x) const {
        Product product = 0;
        for (int k = 0; k < list.count; k++)
            product ^= (Product)x << list.bits[k];
#pragma unroll
        for (int i = 2 * W - 2; i >= W; i--)
            if (product >> i & 1)
                product ^= (Product)polynomial << (i - W);
        return (uint32_t)product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_shared(call,
                              ShiftSetBits<W>{call->c, call->multiplier->info.field.polynomial});
}

} // namespace

extern "C" gfk_status gfk_shift_w8_opt_setbits(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_shift_w16_opt_setbits(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_shift_w32_opt_setbits(const gfk_call *call) {
    return run<32>(call);
}
