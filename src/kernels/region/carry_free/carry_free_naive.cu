/* SPDX-License-Identifier: BSD-3-Clause */
/* CARRY_FREE, one symbol per thread: the naive rows. */
#include "kernels/common/clmad.cuh"
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct CarryFreeSymbol : gfk::SymbolOp {
    static constexpr int w = W;
    uint32_t c;
    gfk_barrett barrett;

    explicit CarryFreeSymbol(const gfk_call *call)
        : c(call->c), barrett(call->multiplier->barrett) {}

    /* The skeleton stores the lower w bits. */
    __device__ uint32_t operator()(uint32_t x) const {
        const uint64_t product = gfk::clmad(x, c, 0);
        const uint64_t quotient = gfk::clmad(product >> W, barrett.quotient, 0) >> W;
        return (uint32_t)gfk::clmad(quotient, barrett.polynomial, product);
    }
};

} // namespace

GFK_REGION_ROW(carry_free_w8_naive, launch_naive<CarryFreeSymbol<8>>)
GFK_REGION_ROW(carry_free_w16_naive, launch_naive<CarryFreeSymbol<16>>)
GFK_REGION_ROW(carry_free_w32_naive, launch_naive<CarryFreeSymbol<32>>)
