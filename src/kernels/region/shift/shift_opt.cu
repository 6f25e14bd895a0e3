/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, optimized: the full carry-less product by shifts, then its reduction by shifts. A shift by
 * b is a multiplication by 2^b, which the FMA pipe does while the ALU pipe does the XORs; the
 * powers come from kernel parameters, or the compiler would turn them back into shifts.
 *
 * In a short region of w=8 or 16 a thread takes one symbol and all bits of c in turn, because it
 * would wait for the list of set bits. */
#include "kernels/region/walk_tiles.cuh"
#include "shift_op.cuh"
#include "shift_reduce.cuh"

namespace {

template <int W>
struct ShiftParams {
    /* The set bits of c as powers of two, and how far right they move the upper half of a 64-bit
     * product; the last of an odd number is paired with 0, which adds nothing. */
    uint32_t c[34] = {}, c_right[34] = {};
    int c_count = 0; /* even */
    gfk::ShiftBy mu[32] = {}, r[32] = {};
    int mu_count = 0, r_count = 0;

    explicit ShiftParams(const gfk_call *call) {
        const uint64_t polynomial = call->multiplier->info.field.polynomial;
        const uint32_t all = gfk::symbol_mask<W>, barrett = gfk::barrett(W, polynomial);
        for (int b = 0; b < W; b++) {
            if (call->c >> b & 1) {
                c_right[c_count] = W - b;
                c[c_count++] = UINT32_C(1) << b;
            }
            /* H has w - 1 bits, so the two lowest bits of mu shift all of it away. */
            if (b >= 2 && barrett >> b & 1)
                mu[mu_count++] = {(uint32_t)(W - b), gfk::replicate<W>(all >> (W - b))};
            if (polynomial >> b & 1)
                r[r_count++] = {UINT32_C(1) << b, gfk::replicate<W>(all << b & all)};
        }
        c_right[c_count] = 32;
        c_count = (c_count + 1) / 2 * 2;
    }
};

/* w=8 and 16. For the product a symbol has twice its width in a register, two lanes or one; the
 * reduction works on full words again, the upper halves of the products apart from the lower
 * ones. */
template <int W>
struct Shift : gfk::OneTileOp {
    static constexpr int w = W, threads = 64, vectors = 3, blocks = W == 8 ? 16 : 12;
    using Params = ShiftParams<W>;
    const Params &p;
    __device__ Shift(const Params &params, Shared &) : p(params) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        uint32_t lanes[2 * N], product[2 * N] = {}, high[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            lanes[2 * i] = gfk::prmt(x[i], 0, W == 8 ? 0x4140 : 0x4410);
            lanes[2 * i + 1] = gfk::prmt(x[i], 0, W == 8 ? 0x4342 : 0x4432);
        }
        for (int k = 0; k < p.c_count; k += 2) {
            const uint32_t a = p.c[k], b = p.c[k + 1];
#pragma unroll
            for (int i = 0; i < 2 * N; i++)
                product[i] ^= lanes[i] * a ^ lanes[i] * b;
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            high[i] = gfk::prmt(product[2 * i], product[2 * i + 1], W == 8 ? 0x7531 : 0x7632);
            x[i] = gfk::prmt(product[2 * i], product[2 * i + 1], W == 8 ? 0x6420 : 0x5410);
        }
        gfk::reduce(p, high, x);
    }
};

/* w=32: products of 64 bits. One multiplication makes both halves, on the FMA pipe at half its
 * rate; of the second power of a pair the ALU pipe shifts the upper half. */
struct Shift32 : gfk::OneTileOp {
    static constexpr int w = 32, threads = 128, vectors = 4, blocks = 4;
    using Params = ShiftParams<32>;
    const Params &p;
    __device__ Shift32(const Params &params, Shared &) : p(params) {}

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
        gfk::reduce(p, high, low);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = low[i];
    }
};

} // namespace

namespace gfk {
template <int W>
gfk_status launch_shift(const gfk_call *call) {
    return call->bytes <= words_up_to ? launch_symbols<ShiftSymbol<W>>(call)
                                      : launch_opt<Shift<W>>(call);
}
} // namespace gfk

GFK_REGION_ROW(shift_w8_opt, launch_shift<8>)
GFK_REGION_ROW(shift_w16_opt, launch_shift<16>)
GFK_REGION_ROW(shift_w32_opt, launch_opt<Shift32>)
