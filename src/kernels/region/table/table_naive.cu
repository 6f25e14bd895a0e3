/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE, naive: one lookup in global memory, one symbol per thread. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct Table {
    static constexpr int w = W;
    const gfk::Symbol<W> *row; /* all products with c */

    __device__ uint32_t operator()(uint32_t x) const { return row[x]; }
};

} // namespace

extern "C" gfk_status gfk_table_w8_naive(const gfk_call *call) {
    const uint8_t *products = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_naive(call, Table<8>{products + 256 * call->c});
}
extern "C" gfk_status gfk_table_w16_naive(const gfk_call *call) {
    return gfk::launch_naive(call, Table<16>{(const uint16_t *)call->workspace});
}
extern "C" gfk_status gfk_table_w32_naive(const gfk_call *call) {
    return gfk::launch_naive(call, Table<32>{(const uint32_t *)call->workspace});
}
