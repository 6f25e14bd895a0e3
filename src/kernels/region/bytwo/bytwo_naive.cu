/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p and BYTWO_b, one symbol per thread: the naive rows, and published steps. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct Bytwo : gfk::SymbolOp {
    uint32_t c, polynomial; /* the polynomial without its leading term */

    explicit Bytwo(const gfk_call *call) : c(call->c), polynomial(gfk::lower_polynomial(call)) {}
};

/* BYTWO_p: the product doubles, with a branch on its top bit. */
template <int W>
struct BytwoP : Bytwo {
    using Bytwo::Bytwo;
    static constexpr int w = W;

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (int i = W - 1; i >= 0; i--) {
            if (product >> (W - 1) & 1)
                product = product << 1 ^ polynomial;
            else
                product = product << 1;
            product &= 0xffffffffu >> (32 - W);
            if (c >> i & 1)
                product ^= x;
        }
        return product;
    }
};

/* BYTWO_b: the symbol doubles until the constant's top set bit. */
template <int W>
struct BytwoB : Bytwo {
    using Bytwo::Bytwo;
    static constexpr int w = W;

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (uint32_t bits = c; bits != 0; bits >>= 1) {
            if (bits & 1)
                product ^= x;
            if (x >> (W - 1) & 1)
                x = x << 1 ^ polynomial;
            else
                x = x << 1;
            x &= 0xffffffffu >> (32 - W);
        }
        return product;
    }
};

/* BYTWO_p by the GF GPU report's two ways to avoid the branch on the product's top bit.
 *
 * Sign false: a multiplication of the polynomial by the top bit. In the report w=8 and w=16 got
 * slower, w=32 did not change.
 * Sign true: a mask, which is the product's sign, shifted through all its bits. In the report w=16
 * was as fast as with the branch, w=8 and w=32 did not change. */
template <int W, bool Sign>
struct BytwoMask : Bytwo {
    using Bytwo::Bytwo;
    static constexpr int w = W;
    using Signed = std::make_signed_t<gfk::Symbol<W>>;

    __device__ uint32_t operator()(uint32_t x) const {
        gfk::Symbol<W> product = 0;
        for (int i = W - 1; i >= 0; i--) {
            if constexpr (Sign)
                product =
                    (gfk::Symbol<W>)(product << 1 ^ (polynomial & ((Signed)product >> (W - 1))));
            else
                product = (gfk::Symbol<W>)(product << 1 ^ polynomial * (product >> (W - 1)));
            if (c >> i & 1)
                product ^= (gfk::Symbol<W>)x;
        }
        return product;
    }
};

} // namespace

GFK_REGION_ROW(bytwo_p_w8_naive, launch_naive<BytwoP<8>>)
GFK_REGION_ROW(bytwo_p_w16_naive, launch_naive<BytwoP<16>>)
GFK_REGION_ROW(bytwo_p_w32_naive, launch_naive<BytwoP<32>>)

GFK_REGION_ROW(bytwo_b_w8_naive, launch_naive<BytwoB<8>>)
GFK_REGION_ROW(bytwo_b_w16_naive, launch_naive<BytwoB<16>>)
GFK_REGION_ROW(bytwo_b_w32_naive, launch_naive<BytwoB<32>>)

GFK_REGION_ROW(bytwo_p_w8_naive_mulmask, launch_naive<BytwoMask<8, false>>)
GFK_REGION_ROW(bytwo_p_w16_naive_mulmask, launch_naive<BytwoMask<16, false>>)
GFK_REGION_ROW(bytwo_p_w32_naive_mulmask, launch_naive<BytwoMask<32, false>>)

GFK_REGION_ROW(bytwo_p_w8_naive_signmask, launch_naive<BytwoMask<8, true>>)
GFK_REGION_ROW(bytwo_p_w16_naive_signmask, launch_naive<BytwoMask<16, true>>)
GFK_REGION_ROW(bytwo_p_w32_naive_signmask, launch_naive<BytwoMask<32, true>>)
