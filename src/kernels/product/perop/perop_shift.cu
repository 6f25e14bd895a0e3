/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, fused: the full carry-less products, a shift for each set bit of the coefficient, are
 * added up as they are; the reduction, which is linear, comes once per output, after the last
 * one. A shift by b is a multiplication by 2^b, which the FMA pipe does while the ALU pipe does
 * the XORs. */
#include "kernels/region/shift/shift_reduce.cuh"
#include "perop.cuh"

namespace {

struct ShiftParams {
    gfk::ShiftBy mu[32], r[32];
    int mu_count, r_count;
};

/* The widths share this struct. The data of a coefficient is the coefficient. */
template <int W>
struct ShiftOp : gfk::PeropOp<W> {
    using Params = ShiftParams;
    const Params &p;

    static Params params(const gfk_field *field) {
        const uint32_t all = 0xffffffffu >> (32 - W), mu = gfk::barrett(W, field->polynomial);
        Params p = {};
        for (int b = 0; b < W; b++) {
            /* The upper halves have w - 1 bits, so the two lowest bits of mu shift all away. */
            if (b >= 2 && mu >> b & 1)
                p.mu[p.mu_count++] = {(uint32_t)(W - b), gfk::replicate<W>(all >> (W - b))};
            if (field->polynomial >> b & 1)
                p.r[p.r_count++] = {UINT32_C(1) << b, gfk::replicate<W>(all << b & all)};
        }
        return p;
    }
    __device__ explicit ShiftOp(const Params &params) : p(params) {}
};

/* The lowest set bit, taken away; 0 if there is none. */
__device__ inline uint32_t take_bit(uint32_t &bits) {
    const uint32_t bit = bits & (0 - bits);
    bits ^= bit;
    return bit;
}

/* w=8 and 16: a symbol has twice its width in a register, two lanes or one. */
template <int W>
struct Shift : ShiftOp<W> {
    using Base = ShiftOp<W>;
    using Base::n;
    static constexpr int sums = 2 * n;

    __device__ Shift(const ShiftParams &params, const uint32_t *) : Base(params) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
        uint32_t lanes[sums];
#pragma unroll
        for (int i = 0; i < sums; i++) {
            if constexpr (W == 8)
                lanes[i] = gfk::prmt(x[i / 2], 0, i % 2 ? 0x4342 : 0x4140);
            else
                lanes[i] = gfk::prmt(x[i / 2], 0, i % 2 ? 0x4432 : 0x4410);
        }
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            for (uint32_t bits = coefficients[j]; bits != 0;) {
                const uint32_t a = take_bit(bits), b = take_bit(bits);
#pragma unroll
                for (int i = 0; i < sums; i++)
                    sum[j][i] ^= lanes[i] * a ^ lanes[i] * b;
            }
        }
    }
    __device__ void result(const uint32_t (&sum)[sums], uint32_t (&y)[n]) const {
        uint32_t high[n];
#pragma unroll
        for (int i = 0; i < n; i++) {
            const uint32_t first = sum[2 * i], second = sum[2 * i + 1];
            high[i] = gfk::prmt(first, second, W == 8 ? 0x7531 : 0x7632);
            y[i] = gfk::prmt(first, second, W == 8 ? 0x6420 : 0x5410);
        }
        gfk::reduce(this->p, high, y);
    }
};

/* w=32: products of 64 bits, lower words first. */
struct Shift32 : ShiftOp<32> {
    static constexpr int sums = 2 * n;

    __device__ Shift32(const ShiftParams &params, const uint32_t *) : ShiftOp<32>(params) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            for (uint32_t bits = coefficients[j]; bits != 0;) {
                const uint32_t a = take_bit(bits), b = take_bit(bits);
#pragma unroll
                for (int i = 0; i < n; i++) {
                    const uint64_t s = (uint64_t)x[i] * a, t = (uint64_t)x[i] * b;
                    sum[j][i] ^= (uint32_t)s ^ (uint32_t)t;
                    sum[j][n + i] ^= (uint32_t)(s >> 32) ^ (uint32_t)(t >> 32);
                }
            }
        }
    }
    __device__ void result(const uint32_t (&sum)[sums], uint32_t (&y)[n]) const {
        uint32_t high[n];
#pragma unroll
        for (int i = 0; i < n; i++) {
            y[i] = sum[i];
            high[i] = sum[n + i];
        }
        gfk::reduce(p, high, y);
    }
};

} // namespace

GFK_PEROP_ENGINE(shift_w8, Shift<8>)
GFK_PEROP_ENGINE(shift_w16, Shift<16>)
GFK_PEROP_ENGINE(shift_w32, Shift32)
