/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p, ablation: the region report's first way round the branch, a multiplication of the
 * polynomial by the product's top bit. It saw 8 and 16 bits get slower and 32 stay the same. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct BytwoPMulMask {
    static constexpr int w = W;
    uint32_t c, polynomial; /* the polynomial without its leading term */

    __device__ uint32_t operator()(uint32_t x) const {
        gfk::Symbol<W> product = 0;
        for (int i = W - 1; i >= 0; i--) {
            product = (gfk::Symbol<W>)(product << 1 ^ polynomial * (product >> (W - 1)));
            if (c >> i & 1)
                product ^= (gfk::Symbol<W>)x;
        }
        return product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_naive(
        call, BytwoPMulMask<W>{
                  call->c, (uint32_t)(call->multiplier->info.field.polynomial ^ UINT64_C(1) << W)});
}

} // namespace

extern "C" gfk_status gfk_bytwo_p_w8_naive_mulmask(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_bytwo_p_w16_naive_mulmask(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_bytwo_p_w32_naive_mulmask(const gfk_call *call) {
    return run<32>(call);
}
