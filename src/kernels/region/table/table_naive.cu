/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE, one symbol per thread: the naive rows. */
#include "kernels/region/walk_symbols.cuh"

namespace {

/* One lookup in global memory. */
template <int W>
struct Table : gfk::SymbolOp {
    static constexpr int w = W;
    const gfk::Symbol<W> *row; /* all products with c */

    explicit Table(const gfk_call *call)
        : row(W == 8 ? (const gfk::Symbol<W> *)call->multiplier->tables + 256 * call->c
                     : (const gfk::Symbol<W> *)call->workspace) {}

    __device__ uint32_t operator()(uint32_t x) const { return row[x]; }
};

} // namespace

GFK_REGION_ROW(table_w8_naive, launch_naive<Table<8>>)
GFK_REGION_ROW(table_w16_naive, launch_naive<Table<16>>)
GFK_REGION_ROW(table_w32_naive, launch_naive<Table<32>>)
