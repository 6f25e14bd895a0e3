/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_b, optimized: packed symbols; the operand doubles up to c's top bit. All threads take the
 * same branch for two bits of c at a time. Where a thread has one word, a branch costs more than it
 * saves, and there is none. */
#include "bytwo.cuh"

namespace {

template <int W>
struct BytwoB : gfk::BytwoShape<W, 8, 8> {
    const gfk::BytwoParams &p;
    __device__ BytwoB(const gfk::BytwoParams &params, gfk::OpNoShared &) : p(params) {}

    template <int N>
    __device__ static void add(uint32_t (&sum)[N], const uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] ^= x[i];
    }
    template <int N>
    __device__ void double_all(uint32_t (&y)[N], const uint32_t (&x)[N]) const {
#pragma unroll
        for (int i = 0; i < N; i++)
            y[i] = gfk::double_xor<W>(x[i], p.polynomial, 0);
    }

    __device__ void apply(uint32_t (&x)[1]) {
        uint32_t product = x[0] & gfk::bit_mask(p.c, 0);
#pragma unroll
        for (int bit = 1; bit < W; bit++) {
            x[0] = gfk::double_xor<W>(x[0], p.polynomial, 0);
            product ^= x[0] & gfk::bit_mask(p.c, bit);
        }
        x[0] = product;
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t product[N] = {}, doubled[N];
        uint32_t bits = p.c;
        for (; bits > 3; bits >>= 2) {
            double_all(doubled, x);
            switch (bits & 3) {
            case 1:
                add(product, x);
                break;
            case 2:
                add(product, doubled);
                break;
            case 3: /* two additions, one LOP3 */
                add(product, x);
                add(product, doubled);
            }
            double_all(x, doubled);
        }
        /* 1, 2 or 3 is left: the operand does not double beyond c's top bit. */
        if (bits & 1)
            add(product, x);
        if (bits & 2) {
            double_all(doubled, x);
            add(product, doubled);
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
