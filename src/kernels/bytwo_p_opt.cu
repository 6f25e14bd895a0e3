/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p, optimized: packed symbols, one doubling per bit of c, in which the addition of the
 * source is free; a branch per bit that all threads take alike. */
#include "bytwo.cuh"

namespace {

template <int W>
struct BytwoP : gfk::BytwoShape<W> {
    const gfk::BytwoParams &p;
    __device__ BytwoP(const gfk::BytwoParams &params, gfk::OpNoShared &) : p(params) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t product[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            product[i] = x[i];
        /* Above c's top bit the product is zero, and at it the product is x. */
        for (int bit = 30 - __clz(p.c); bit >= 0; bit--) {
            if (p.c >> bit & 1) {
#pragma unroll
                for (int i = 0; i < N; i++)
                    product[i] = gfk::double_xor<W>(product[i], p.polynomial, x[i]);
            } else {
#pragma unroll
                for (int i = 0; i < N; i++)
                    product[i] = gfk::double_xor<W>(product[i], p.polynomial, 0);
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = product[i];
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_opt<BytwoP<W>>(call, gfk::bytwo_params<W>(call));
}

} // namespace

extern "C" gfk_status gfk_bytwo_p_w8_opt(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_bytwo_p_w16_opt(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_bytwo_p_w32_opt(const gfk_call *call) {
    return run<32>(call);
}
