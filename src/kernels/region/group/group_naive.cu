/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP, one symbol per thread: the naive rows. The multiples of c come from
 * the workspace, the reductions from the field's tables. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct GroupTables : gfk::SymbolOp {
    const uint32_t *multiples, *reductions;

    explicit GroupTables(const gfk_call *call)
        : multiples((const uint32_t *)call->workspace),
          reductions((const uint32_t *)call->multiplier->tables) {}
};

/* GROUP gs gr, both tables in global memory. */
template <int W>
struct Group : GroupTables {
    static constexpr int w = W;
    int gs, gr;

    explicit Group(const gfk_call *call)
        : GroupTables(call), gs((int)call->multiplier->info.arg1),
          gr((int)call->multiplier->info.arg2) {}

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

} // namespace

GFK_REGION_ROW(group_w8_naive, launch_naive<Group<8>>)
GFK_REGION_ROW(group_w16_naive, launch_naive<Group<16>>)
GFK_REGION_ROW(group_w32_naive, launch_naive<Group<32>>)
