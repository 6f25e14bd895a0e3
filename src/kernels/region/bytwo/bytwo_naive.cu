/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p and BYTWO_b, one symbol per thread: the naive rows. */
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
            product &= gfk::symbol_mask<W>;
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
            x &= gfk::symbol_mask<W>;
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
