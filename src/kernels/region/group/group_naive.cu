/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP gs gr, naive: the multiples of c come from the workspace, the reductions from the field's
 * tables, both in global memory. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct Group {
    static constexpr int w = W;
    const uint32_t *multiples, *reductions;
    int gs, gr;

    __device__ uint32_t operator()(uint32_t x) const {
        const int top = (W - 1) / gs * gs;
        uint64_t product = 0;
        for (int i = top; i >= 0; i -= gs)
            product = product << gs ^ multiples[x >> i & ((1u << gs) - 1)];
        for (int i = (top + gr - 1) / gr - 1; i >= 0; i--) {
            const uint64_t high = product >> (W + i * gr);
            product ^= high << (W + i * gr) ^ (uint64_t)reductions[high] << (i * gr);
        }
        return (uint32_t)product;
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    const gfk_multiplier_t m = call->multiplier;
    return gfk::launch_naive(call, Group<W>{(const uint32_t *)call->workspace,
                                            (const uint32_t *)m->tables, (int)m->info.arg1,
                                            (int)m->info.arg2});
}

} // namespace

extern "C" gfk_status gfk_group_w8_naive(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_group_w16_naive(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_group_w32_naive(const gfk_call *call) {
    return run<32>(call);
}
