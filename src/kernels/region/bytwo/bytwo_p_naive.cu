/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p, naive: a branch on the product's top bit, one symbol per thread. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct BytwoP {
    static constexpr int w = W;
    uint32_t c, polynomial; /* the polynomial without its leading term */

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (int i = W - 1; i >= 0; i--) {
            if (product >> (W - 1) & 1)
                product = product << 1 ^ polynomial;
            else
                product = product << 1;
            product &= 0xffffffffu >> (32 - W);
            if (c >> i & 1)
                product ^= x;
        }
        return product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_naive(
        call,
        BytwoP<W>{call->c, (uint32_t)(call->multiplier->info.field.polynomial ^ UINT64_C(1) << W)});
}

} // namespace

extern "C" gfk_status gfk_bytwo_p_w8_naive(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_bytwo_p_w16_naive(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_bytwo_p_w32_naive(const gfk_call *call) {
    return run<32>(call);
}
