/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP 4 4, ablation: the optimized form of the GF GPU report, one symbol per thread. Sixteen
 * threads of each block of 512 copy the two tables of 16 entries to shared memory. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct GroupShared {
    static constexpr int w = W, threads = 512;
    using Product = typename std::conditional<W == 32, uint64_t, uint32_t>::type;
    struct Shared {
        uint32_t multiples[16], reductions[16];
    };
    const uint32_t *multiples, *reductions;

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 16) {
            t.multiples[i] = multiples[i];
            t.reductions[i] = reductions[i];
        }
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        Product product = 0;
#pragma unroll
        for (int i = W - 4; i >= 0; i -= 4)
            product = product << 4 ^ t.multiples[x >> i & 15];
#pragma unroll
        for (int i = W - 8; i >= 0; i -= 4) {
            const Product high = product >> (W + i);
            product ^= high << (W + i) ^ (Product)t.reductions[high] << i;
        }
        return (uint32_t)product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_shared(call, GroupShared<W>{(const uint32_t *)call->workspace,
                                                   (const uint32_t *)call->multiplier->tables});
}

} // namespace

extern "C" gfk_status gfk_group_w8_opt_shared(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_group_w16_opt_shared(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_group_w32_opt_shared(const gfk_call *call) {
    return run<32>(call);
}
