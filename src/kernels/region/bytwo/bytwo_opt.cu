/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p and BYTWO_b, optimized: packed symbols, and branches on the constant, the same in all
 * threads. A branch costs the same for one word or many, so a thread takes many. Where a thread has
 * one word, a branch costs more than it saves, and there is none. */
#include "kernels/region/walk_tiles.cuh"

namespace {

template <int W>
struct BytwoParams {
    uint32_t c;
    uint32_t polynomial; /* without its leading term, in every symbol of a word */
    uint32_t two;        /* 2, unknown to the compiler, which would shift instead of multiply */

    explicit BytwoParams(const gfk_call *call)
        : c(call->c), polynomial(gfk::replicate<W>(gfk::lower_polynomial(call))), two(2) {}
};

/* All ones if the bit is set. */
__device__ inline uint32_t bit_mask(uint32_t c, int bit) {
    return 0u - (c >> bit & 1);
}

/* One doubling per bit of c, in which the addition of the source is free. */
template <int W>
struct BytwoP : gfk::OneTileOp {
    static constexpr int w = W, threads = 64;
    static constexpr int vectors = W == 8 ? 4 : W == 16 ? 8 : 6;
    static constexpr int blocks = W == 8 ? 12 : W == 16 ? 8 : 10;
    using Params = BytwoParams<W>;
    const Params &p;
    /* w=32: of eight words, those that double on the FMA pipe at a set bit of c. One multiplication
     * gives the doubled word and its top bit, another the polynomial or 0, and one of three
     * instructions on the ALU pipe remains. */
    static constexpr int on_fma = 5;

    __device__ BytwoP(const Params &params, Shared &) : p(params) {}

    __device__ uint32_t double_on_fma(uint32_t x, uint32_t s) const {
        const uint64_t doubled = (uint64_t)x * p.two;
        return (uint32_t)doubled ^ (uint32_t)(doubled >> 32) * p.polynomial ^ s;
    }

    __device__ void apply(uint32_t (&x)[1]) {
        uint32_t product = 0;
#pragma unroll
        for (int bit = W - 1; bit >= 0; bit--)
            product = gfk::double_xor<W>(product, p.polynomial, x[0] & bit_mask(p.c, bit));
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

/* The operand doubles up to c's top bit; a branch for two bits of c at a time. */
template <int W>
struct BytwoB : gfk::OneTileOp {
    static constexpr int w = W, threads = 64, vectors = 8, blocks = 8;
    using Params = BytwoParams<W>;
    const Params &p;
    __device__ BytwoB(const Params &params, Shared &) : p(params) {}

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
        uint32_t product = x[0] & bit_mask(p.c, 0);
#pragma unroll
        for (int bit = 1; bit < W; bit++) {
            x[0] = gfk::double_xor<W>(x[0], p.polynomial, 0);
            product ^= x[0] & bit_mask(p.c, bit);
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

} // namespace

GFK_REGION_ROW(bytwo_p_w8_opt, launch_opt<BytwoP<8>>)
GFK_REGION_ROW(bytwo_p_w16_opt, launch_opt<BytwoP<16>>)
GFK_REGION_ROW(bytwo_p_w32_opt, launch_opt<BytwoP<32>>)

GFK_REGION_ROW(bytwo_b_w8_opt, launch_opt<BytwoB<8>>)
GFK_REGION_ROW(bytwo_b_w16_opt, launch_opt<BytwoB<16>>)
GFK_REGION_ROW(bytwo_b_w32_opt, launch_opt<BytwoB<32>>)
