/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_b, optimized: packed symbols, the operand doubles up to c's top bit; a branch per bit that
 * all threads take alike. */
#include "bytwo.cuh"

namespace {

template <int W>
struct BytwoB : gfk::BytwoShape<W> {
    const gfk::BytwoParams &p;
    __device__ BytwoB(const gfk::BytwoParams &params, gfk::OpNoShared &) : p(params) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t product[N] = {};
        for (uint32_t bits = p.c;;) {
            if (bits & 1) {
#pragma unroll
                for (int i = 0; i < N; i++)
                    product[i] ^= x[i];
            }
            bits >>= 1;
            if (bits == 0)
                break;
#pragma unroll
            for (int i = 0; i < N; i++)
                x[i] = gfk::double_xor<W>(x[i], p.polynomial, 0);
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = product[i];
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_opt<BytwoB<W>>(call, gfk::bytwo_params<W>(call));
}

} // namespace

extern "C" gfk_status gfk_bytwo_b_w8_opt(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_bytwo_b_w16_opt(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_bytwo_b_w32_opt(const gfk_call *call) {
    return run<32>(call);
}
