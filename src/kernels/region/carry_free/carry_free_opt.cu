/* SPDX-License-Identifier: BSD-3-Clause */
/* CARRY_FREE, optimized: the symbols of a word are spread over 64 bits, so that one instruction
 * multiplies all of them, and two reduce all of them. */
#include "kernels/common/clmad.cuh"
#include "kernels/region/walk_tiles.cuh"

namespace {

template <int W>
struct CarryFree : gfk::OneTileOp {
    static constexpr int w = W, threads = 128, vectors = 2, blocks = 8;
    struct Params {
        uint64_t c;
        gfk_barrett barrett;

        explicit Params(const gfk_call *call) : c(call->c), barrett(call->multiplier->barrett) {}
    };
    const Params &p;
    __device__ CarryFree(const Params &params, Shared &) : p(params) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const uint64_t products = gfk::clmad(gfk::spread_symbols<W>(x[i]), p.c, 0);
            x[i] = gfk::reduce_sums<W>(products, p.barrett);
        }
    }
};

} // namespace

GFK_REGION_ROW(carry_free_w8_opt, launch_opt<CarryFree<8>>)
GFK_REGION_ROW(carry_free_w16_opt, launch_opt<CarryFree<16>>)
GFK_REGION_ROW(carry_free_w32_opt, launch_opt<CarryFree<32>>)
