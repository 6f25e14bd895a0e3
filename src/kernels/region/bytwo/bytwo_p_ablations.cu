/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p, ablations: the GF GPU report's two ways to avoid the branch on the product's top bit,
 * one symbol per thread. */
#include "kernels/region/walk_symbols.cuh"

namespace {

/* A multiplication of the polynomial by the top bit. In the report w=8 and w=16 got slower,
 * w=32 did not change. */
template <int W>
struct MulMask {
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

/* A mask: the product's sign, shifted through all its bits. In the report w=16 was as fast as with
 * the branch, w=8 and w=32 did not change. */
template <int W>
struct SignMask {
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

template <class Op>
gfk_status run(const gfk_call *call) {
    const uint64_t polynomial = call->multiplier->info.field.polynomial;
    return gfk::launch_naive(call, Op{call->c, (uint32_t)(polynomial ^ UINT64_C(1) << Op::w)});
}

} // namespace

extern "C" gfk_status gfk_bytwo_p_w8_naive_mulmask(const gfk_call *call) {
    return run<MulMask<8>>(call);
}
extern "C" gfk_status gfk_bytwo_p_w16_naive_mulmask(const gfk_call *call) {
    return run<MulMask<16>>(call);
}
extern "C" gfk_status gfk_bytwo_p_w32_naive_mulmask(const gfk_call *call) {
    return run<MulMask<32>>(call);
}
extern "C" gfk_status gfk_bytwo_p_w8_naive_signmask(const gfk_call *call) {
    return run<SignMask<8>>(call);
}
extern "C" gfk_status gfk_bytwo_p_w16_naive_signmask(const gfk_call *call) {
    return run<SignMask<16>>(call);
}
extern "C" gfk_status gfk_bytwo_p_w32_naive_signmask(const gfk_call *call) {
    return run<SignMask<32>>(call);
}
