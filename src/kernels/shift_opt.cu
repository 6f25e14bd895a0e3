/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, optimized: the full carry-less product by shifts, then its reduction by shifts. A shift by
 * b is a multiplication by 2^b, which the FMA pipe does beside the XORs of the ALU pipe; the powers
 * come from kernel parameters, or the compiler would turn them back into shifts.
 *
 * The reduction is Barrett's: for a product H * x^w + L the quotient by the polynomial p is
 * (H * mu) / x^w with mu = x^(2w) / p, exact over GF(2), and the remainder is the lower w bits of L
 * + quotient * p. It is two more carry-less products, by mu and by p without its leading term, and
 * takes the same steps for every polynomial. */
#include "region_opt.cuh"

namespace {

/* The set bits of a constant as powers of two, in pairs: an odd one out is paired with 0. */
struct Powers {
    uint32_t v[34];
    int count;
};

Powers powers_of(uint64_t constant) {
    Powers p = {};
    for (int b = 0; b < 32; b++)
        if (constant >> b & 1)
            p.v[p.count++] = UINT32_C(1) << b;
    p.count = (p.count + 1) / 2 * 2;
    return p;
}

struct ShiftParams {
    Powers c, mu, polynomial; /* mu without x^w, whose share is H itself */
};

/* x^(2w) / polynomial, without its leading term x^w. */
uint32_t barrett(unsigned w, uint64_t polynomial) {
    uint32_t remainder = (uint32_t)(polynomial ^ UINT64_C(1) << w), quotient = 0;
    for (unsigned i = 0; i < w; i++) { /* long division: x^w * x^(i+1) */
        const uint32_t carry = remainder >> (w - 1) & 1;
        quotient = quotient << 1 | carry;
        remainder = (uint32_t)((uint64_t)remainder << 1 ^ (carry ? polynomial : 0));
    }
    return quotient;
}

/* product += x * the constant, without carries and cut to 32 bits; lanes must not reach each
 * other. */
template <int N>
__device__ inline void carryless(uint32_t (&product)[N], const uint32_t (&x)[N], const Powers &p) {
    for (int k = 0; k < p.count; k += 2) {
        const uint32_t a = p.v[k], b = p.v[k + 1];
#pragma unroll
        for (int i = 0; i < N; i++)
            product[i] ^= x[i] * a ^ x[i] * b;
    }
}

/* w=8 and 16: a symbol has twice its width in a register, two lanes or one. */
template <int W>
struct Shift {
    static constexpr int w = W, threads = 256, vectors = 2, blocks = 1;
    static constexpr bool persistent = false;
    using Params = ShiftParams;
    using Shared = gfk::OpNoShared;
    const Params &p;

    __device__ static void fill(const Params &, Shared &) {}
    __device__ Shift(const Params &params, Shared &) : p(params) {}

    /* The upper half of every lane, moved down. */
    __device__ static uint32_t upper(uint32_t product) {
        return gfk::prmt(product, 0, W == 8 ? 0x4341 : 0x4432);
    }

    template <int N>
    __device__ void reduce(uint32_t (&product)[N]) const {
        uint32_t high[N], quotient[N] = {};
#pragma unroll
        for (int i = 0; i < N; i++)
            high[i] = upper(product[i]);
        carryless(quotient, high, p.mu);
#pragma unroll
        for (int i = 0; i < N; i++)
            quotient[i] = upper(quotient[i]) ^ high[i];
        carryless(product, quotient, p.polynomial);
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        /* Half of the words at a time keeps the registers few. */
        constexpr int step = N < 4 ? N : 4;
#pragma unroll
        for (int first = 0; first < N; first += step) {
            uint32_t lanes[2 * step], product[2 * step] = {};
#pragma unroll
            for (int i = 0; i < step; i++) {
                lanes[2 * i] = gfk::prmt(x[first + i], 0, W == 8 ? 0x4140 : 0x4410);
                lanes[2 * i + 1] = gfk::prmt(x[first + i], 0, W == 8 ? 0x4342 : 0x4432);
            }
            carryless(product, lanes, p.c);
            reduce(product);
#pragma unroll
            for (int i = 0; i < step; i++)
                x[first + i] =
                    gfk::prmt(product[2 * i], product[2 * i + 1], W == 8 ? 0x6420 : 0x5410);
        }
    }
};

/* w=32: products of 64 bits. */
struct Shift32 {
    static constexpr int w = 32, threads = 256, vectors = 2, blocks = 1;
    static constexpr bool persistent = false;
    using Params = ShiftParams;
    using Shared = gfk::OpNoShared;
    const Params &p;

    __device__ static void fill(const Params &, Shared &) {}
    __device__ Shift32(const Params &params, Shared &) : p(params) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t low[N] = {}, high[N] = {}, quotient[N];
        for (int k = 0; k < p.c.count; k += 2) {
            const uint32_t a = p.c.v[k], b = p.c.v[k + 1];
#pragma unroll
            for (int i = 0; i < N; i++) {
                const uint64_t s = (uint64_t)x[i] * a, t = (uint64_t)x[i] * b;
                low[i] ^= (uint32_t)s ^ (uint32_t)t;
                high[i] ^= (uint32_t)(s >> 32) ^ (uint32_t)(t >> 32);
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            quotient[i] = high[i];
        for (int k = 0; k < p.mu.count; k += 2) {
            const uint32_t a = p.mu.v[k], b = p.mu.v[k + 1];
#pragma unroll
            for (int i = 0; i < N; i++)
                quotient[i] ^= __umulhi(high[i], a) ^ __umulhi(high[i], b);
        }
        carryless(low, quotient, p.polynomial);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = low[i];
    }
};

template <class Op>
gfk_status run(const gfk_call *call) {
    const gfk_field *field = &call->multiplier->info.field;
    const uint64_t polynomial = field->polynomial ^ UINT64_C(1) << field->w;
    return gfk::launch_opt<Op>(call,
                               {powers_of(call->c), powers_of(barrett(field->w, field->polynomial)),
                                powers_of(polynomial)});
}

} // namespace

extern "C" gfk_status gfk_shift_w8_opt(const gfk_call *call) {
    return run<Shift<8>>(call);
}
extern "C" gfk_status gfk_shift_w16_opt(const gfk_call *call) {
    return run<Shift<16>>(call);
}
extern "C" gfk_status gfk_shift_w32_opt(const gfk_call *call) {
    return run<Shift32>(call);
}
