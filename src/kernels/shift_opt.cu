/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, optimized: the full carry-less product by shifts, then its reduction by shifts. A shift by
 * b is a multiplication by 2^b, which the FMA pipe does beside the XORs of the ALU pipe; the powers
 * come from kernel parameters, or the compiler would turn them back into shifts.
 *
 * The reduction is Barrett's: for a product H * x^w + L and the polynomial p = x^w + r the quotient
 * is (H * mu) / x^w with mu = x^(2w) / p, exact over GF(2), and the remainder is L + quotient * r,
 * cut to w bits. Both products are shifts again, one per set bit of mu and of r, and every
 * irreducible polynomial takes the same path. */
#include "region_opt.cuh"

namespace {

/* A shift of every symbol of a word, and which bits survive it. */
struct ShiftBy {
    uint32_t amount; /* to the right: the number of bits; to the left: 2^bits */
    uint32_t mask;
};

template <int W>
struct ShiftParams {
    uint32_t constant, quotient, remainder; /* c, mu and r as they are */
    int c_count, mu_count, r_count;         /* c_count is even */
    /* The set bits of c as powers of two, and how far right they move the upper half of a 64-bit
     * product; an odd one out is paired with 0, which adds nothing. */
    uint32_t c[W + 2], c_right[W + 2];
    ShiftBy mu[W], r[W];
};

/* x^(2w) / polynomial without its leading term x^w, by long division. */
uint32_t barrett(unsigned w, uint64_t polynomial) {
    uint32_t remainder = (uint32_t)(polynomial ^ UINT64_C(1) << w), quotient = 0;
    for (unsigned i = 0; i < w; i++) {
        const uint32_t carry = remainder >> (w - 1) & 1;
        quotient = quotient << 1 | carry;
        remainder = (uint32_t)((uint64_t)remainder << 1 ^ (carry ? polynomial : 0));
    }
    return quotient;
}

template <int W>
ShiftParams<W> shift_params(const gfk_call *call) {
    const uint64_t polynomial = call->multiplier->info.field.polynomial;
    const uint32_t all = 0xffffffffu >> (32 - W), mu = barrett(W, polynomial);
    ShiftParams<W> p = {};
    p.constant = call->c;
    p.quotient = mu;
    p.remainder = (uint32_t)polynomial & all;
    for (int b = 0; b < W; b++) {
        if (call->c >> b & 1) {
            p.c_right[p.c_count] = W - b;
            p.c[p.c_count++] = UINT32_C(1) << b;
        }
        /* H has w - 1 bits, so the two lowest bits of mu shift all of it away. */
        if (b >= 2 && mu >> b & 1)
            p.mu[p.mu_count++] = {(uint32_t)(W - b), gfk::replicate<W>(all >> (W - b))};
        if (polynomial >> b & 1)
            p.r[p.r_count++] = {UINT32_C(1) << b, gfk::replicate<W>(all << b & all)};
    }
    p.c_right[p.c_count] = 32;
    p.c_count = (p.c_count + 1) / 2 * 2;
    return p;
}

/* low += high * x^w mod the polynomial, in every symbol of N words. */
template <int W, int N>
__device__ inline void reduce(const ShiftParams<W> &p, const uint32_t (&high)[N],
                              uint32_t (&low)[N]) {
    uint32_t quotient[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        quotient[i] = high[i];
    for (int k = 0; k < p.mu_count; k++) {
        const ShiftBy s = p.mu[k];
#pragma unroll
        for (int i = 0; i < N; i++)
            quotient[i] ^= high[i] >> s.amount & s.mask;
    }
    for (int k = 0; k < p.r_count; k++) {
        const ShiftBy s = p.r[k];
#pragma unroll
        for (int i = 0; i < N; i++)
            low[i] ^= quotient[i] * s.amount & s.mask;
    }
}

/* A mask if the bit is set, else nothing. */
__device__ inline uint32_t mask_if(uint32_t bits, int bit, uint32_t mask) {
    return 0u - (bits >> bit & 1) & mask;
}

/* The same for one word. The lists of set bits would be waited for, so every bit takes part. */
template <int W>
__device__ inline uint32_t reduce_word(const ShiftParams<W> &p, uint32_t high, uint32_t low) {
    constexpr uint32_t all = 0xffffffffu >> (32 - W);
    uint32_t quotient = high;
#pragma unroll
    for (int b = 2; b < W; b++)
        quotient ^= high >> (W - b) & mask_if(p.quotient, b, gfk::replicate<W>(all >> (W - b)));
#pragma unroll
    for (int b = 0; b < W; b++)
        low ^= quotient << b & mask_if(p.remainder, b, gfk::replicate<W>(all << b & all));
    return low;
}

/* w=8 and 16. For the product a symbol has twice its width in a register, two lanes or one; the
 * reduction works on full words again, the upper halves of the products beside the lower ones. */
template <int W>
struct Shift {
    static constexpr int w = W, threads = 64, vectors = 3, blocks = 12;
    static constexpr bool persistent = false;
    using Params = ShiftParams<W>;
    using Shared = gfk::OpNoShared;
    const Params &p;

    __device__ static void fill(const Params &, Shared &) {}
    __device__ Shift(const Params &params, Shared &) : p(params) {}

    /* A word's symbols, widened to twice their width, and half of the result put together again. */
    template <int N>
    __device__ static void widen(const uint32_t (&x)[N], uint32_t (&lanes)[2 * N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            lanes[2 * i] = gfk::prmt(x[i], 0, W == 8 ? 0x4140 : 0x4410);
            lanes[2 * i + 1] = gfk::prmt(x[i], 0, W == 8 ? 0x4342 : 0x4432);
        }
    }
    __device__ static uint32_t upper(uint32_t a, uint32_t b) {
        return gfk::prmt(a, b, W == 8 ? 0x7531 : 0x7632);
    }
    __device__ static uint32_t lower(uint32_t a, uint32_t b) {
        return gfk::prmt(a, b, W == 8 ? 0x6420 : 0x5410);
    }

    __device__ void apply(uint32_t (&x)[1]) {
        uint32_t lanes[2], product[2] = {};
        widen(x, lanes);
#pragma unroll
        for (int b = 0; b < W; b++) {
            product[0] ^= lanes[0] * (p.constant & 1u << b);
            product[1] ^= lanes[1] * (p.constant & 1u << b);
        }
        x[0] = reduce_word(p, upper(product[0], product[1]), lower(product[0], product[1]));
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t lanes[2 * N], product[2 * N] = {}, high[N];
        widen(x, lanes);
        for (int k = 0; k < p.c_count; k += 2) {
            const uint32_t a = p.c[k], b = p.c[k + 1];
#pragma unroll
            for (int i = 0; i < 2 * N; i++)
                product[i] ^= lanes[i] * a ^ lanes[i] * b;
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            high[i] = upper(product[2 * i], product[2 * i + 1]);
            x[i] = lower(product[2 * i], product[2 * i + 1]);
        }
        reduce(p, high, x);
    }
};

/* w=32: products of 64 bits. One multiplication makes both halves, on the FMA pipe at half its
 * rate; of the second power of a pair the ALU pipe shifts the upper half. */
struct Shift32 {
    static constexpr int w = 32, threads = 128, vectors = 4, blocks = 4;
    static constexpr bool persistent = false;
    using Params = ShiftParams<32>;
    using Shared = gfk::OpNoShared;
    const Params &p;

    __device__ static void fill(const Params &, Shared &) {}
    __device__ Shift32(const Params &params, Shared &) : p(params) {}

    __device__ void apply(uint32_t (&x)[1]) {
        uint32_t low = x[0] * (p.constant & 1), high = 0;
#pragma unroll
        for (int b = 1; b < 32; b++) {
            low ^= x[0] * (p.constant & 1u << b);
            high ^= x[0] >> (32 - b) & mask_if(p.constant, b, ~0u);
        }
        x[0] = reduce_word(p, high, low);
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t low[N] = {}, high[N] = {};
        for (int k = 0; k < p.c_count; k += 2) {
            const uint32_t a = p.c[k], b = p.c[k + 1];
            const uint32_t right = p.c_right[k + 1]; /* 32 clears: shifts clamp */
#pragma unroll
            for (int i = 0; i < N; i++) {
                const uint64_t s = (uint64_t)x[i] * a;
                low[i] ^= (uint32_t)s ^ x[i] * b;
                high[i] ^= (uint32_t)(s >> 32) ^ __funnelshift_rc(x[i], 0, right);
            }
        }
        reduce(p, high, low);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = low[i];
    }
};

} // namespace

extern "C" gfk_status gfk_shift_w8_opt(const gfk_call *call) {
    return gfk::launch_opt<Shift<8>>(call, shift_params<8>(call));
}
extern "C" gfk_status gfk_shift_w16_opt(const gfk_call *call) {
    return gfk::launch_opt<Shift<16>>(call, shift_params<16>(call));
}
extern "C" gfk_status gfk_shift_w32_opt(const gfk_call *call) {
    return gfk::launch_opt<Shift32>(call, shift_params<32>(call));
}
