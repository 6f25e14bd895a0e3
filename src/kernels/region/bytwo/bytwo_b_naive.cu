/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_b, naive: the symbol doubles until the constant's top set bit, one symbol per thread. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct BytwoB {
    static constexpr int w = W;
    uint32_t c, polynomial; /* the polynomial without its leading term */

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (uint32_t bits = c; bits != 0; bits >>= 1) {
            if (bits & 1)
                product ^= x;
            if (x >> (W - 1) & 1)
                x = x << 1 ^ polynomial;
            else
                x = x << 1;
            x &= 0xffffffffu >> (32 - W);
        }
        return product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_naive(
        call,
        BytwoB<W>{call->c, (uint32_t)(call->multiplier->info.field.polynomial ^ UINT64_C(1) << W)});
}

} // namespace

extern "C" gfk_status gfk_bytwo_b_w8_naive(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_bytwo_b_w16_naive(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_bytwo_b_w32_naive(const gfk_call *call) {
    return run<32>(call);
}
