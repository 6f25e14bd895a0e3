/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p, ablation: the region report's second way round the branch, a mask that is the product's
 * sign shifted through all its bits. It saw 16 bits catch up with the branch, 8 and 32 stay. */
#include <type_traits>

#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct BytwoPSignMask {
    static constexpr int w = W;
    using Signed = typename std::make_signed<gfk::Symbol<W>>::type;
    uint32_t c, polynomial; /* the polynomial without its leading term */

    __device__ uint32_t operator()(uint32_t x) const {
        gfk::Symbol<W> product = 0;
        for (int i = W - 1; i >= 0; i--) {
            const Signed sign = (Signed)product;
            product = (gfk::Symbol<W>)(product << 1 ^ (polynomial & (sign >> (W - 1))));
            if (c >> i & 1)
                product ^= (gfk::Symbol<W>)x;
        }
        return product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_naive(
        call, BytwoPSignMask<W>{
                  call->c, (uint32_t)(call->multiplier->info.field.polynomial ^ UINT64_C(1) << W)});
}

} // namespace

extern "C" gfk_status gfk_bytwo_p_w8_naive_signmask(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_bytwo_p_w16_naive_signmask(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_bytwo_p_w32_naive_signmask(const gfk_call *call) {
    return run<32>(call);
}
