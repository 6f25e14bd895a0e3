/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p, optimized: packed symbols; one doubling per bit of c, in which the addition of the
 * source is free. All threads take the same branch for each bit. Where a thread has one word, a
 * branch costs more than it saves, and there is none. */
#include "bytwo.cuh"

namespace {

template <int W>
struct BytwoP : gfk::BytwoShape<W,
                                W == 8    ? 4
                                : W == 16 ? 8
                                          : 6,
                                W == 8    ? 12
                                : W == 16 ? 8
                                          : 10> {
    /* w=32: of eight words, those that double on the FMA pipe at a set bit of c. One multiplication
     * gives the doubled word and its top bit, another the polynomial or 0, and one of three
     * instructions on the ALU pipe remains. */
    static constexpr int on_fma = 5;

    const gfk::BytwoParams &p;
    __device__ BytwoP(const gfk::BytwoParams &params, gfk::OpNoShared &) : p(params) {}

    __device__ uint32_t double_on_fma(uint32_t x, uint32_t s) const {
        const uint64_t doubled = (uint64_t)x * p.two;
        return (uint32_t)doubled ^ (uint32_t)(doubled >> 32) * p.polynomial ^ s;
    }

    __device__ void apply(uint32_t (&x)[1]) {
        uint32_t product = 0;
#pragma unroll
        for (int bit = W - 1; bit >= 0; bit--)
            product = gfk::double_xor<W>(product, p.polynomial, x[0] & gfk::bit_mask(p.c, bit));
        x[0] = product;
    }

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
                    product[i] = W == 32 && i % 8 < on_fma
                                     ? double_on_fma(product[i], x[i])
                                     : gfk::double_xor<W>(product[i], p.polynomial, x[i]);
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
