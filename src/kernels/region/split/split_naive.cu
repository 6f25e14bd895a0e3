/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT, one symbol per thread: the naive rows. */
#include "kernels/region/walk_symbols.cuh"

namespace {

/* SPLIT W BITS: the workspace holds a table of 2^BITS products with c per part. One lookup in
 * global memory per part. */
template <int W, int BITS>
struct Split : gfk::SymbolOp {
    static constexpr int w = W;
    const gfk::Symbol<W> *tables;

    explicit Split(const gfk_call *call) : tables((const gfk::Symbol<W> *)call->workspace) {}

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (int part = 0; part < W / BITS; part++)
            product ^= tables[(part << BITS) + (x >> (part * BITS) & ((1 << BITS) - 1))];
        return product;
    }
};

/* SPLIT 8 8: the field has a table of byte times byte for each sum of the bytes' positions. */
template <int W>
struct Split88 : gfk::SymbolOp {
    static constexpr int w = W;
    const gfk::Symbol<W> *tables;
    uint32_t c;

    explicit Split88(const gfk_call *call)
        : tables((const gfk::Symbol<W> *)call->multiplier->tables), c(call->c) {}

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (int i = 0; i < W / 8; i++)
            for (int j = 0; j < W / 8; j++)
                product ^=
                    tables[65536 * (i + j) + 256 * (x >> (8 * i) & 255) + (c >> (8 * j) & 255)];
        return product;
    }
};

} // namespace

GFK_REGION_ROW(split_w8_naive, launch_naive<Split<8, 4>>)
GFK_REGION_ROW(split_w16_naive, launch_naive<Split<16, 4>>)
GFK_REGION_ROW(split_w16_naive_8, launch_naive<Split<16, 8>>)
GFK_REGION_ROW(split_w16_naive_8_8, launch_naive<Split88<16>>)
GFK_REGION_ROW(split_w32_naive, launch_naive<Split<32, 4>>)
GFK_REGION_ROW(split_w32_naive_8, launch_naive<Split<32, 8>>)
GFK_REGION_ROW(split_w32_naive_8_8, launch_naive<Split88<32>>)
