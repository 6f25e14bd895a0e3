/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT, naive: one lookup in global memory per part, one symbol per thread. */
#include "kernels/region/walk_symbols.cuh"

namespace {

/* SPLIT W BITS: the workspace holds a table of 2^BITS products with c per part. */
template <int W, int BITS>
struct Split {
    static constexpr int w = W;
    const gfk::Symbol<W> *tables;

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (int part = 0; part < W / BITS; part++)
            product ^= tables[(part << BITS) + (x >> (part * BITS) & ((1 << BITS) - 1))];
        return product;
    }
};

/* SPLIT 8 8: the field has a table of byte times byte for each sum of the bytes' positions. */
template <int W>
struct Split88 {
    static constexpr int w = W;
    const gfk::Symbol<W> *tables;
    uint32_t c;

    __device__ uint32_t operator()(uint32_t x) const {
        uint32_t product = 0;
        for (int i = 0; i < W / 8; i++)
            for (int j = 0; j < W / 8; j++)
                product ^=
                    tables[65536 * (i + j) + 256 * (x >> (8 * i) & 255) + (c >> (8 * j) & 255)];
        return product;
    }
};

template <int W, int BITS>
gfk_status run(const gfk_call *call) {
    return gfk::launch_naive(call, Split<W, BITS>{(const gfk::Symbol<W> *)call->workspace});
}

template <int W>
gfk_status run88(const gfk_call *call) {
    const gfk::Symbol<W> *tables = (const gfk::Symbol<W> *)call->multiplier->tables;
    return gfk::launch_naive(call, Split88<W>{tables, call->c});
}

} // namespace

extern "C" gfk_status gfk_split_w8_naive(const gfk_call *call) {
    return run<8, 4>(call);
}
extern "C" gfk_status gfk_split_w16_naive(const gfk_call *call) {
    return run<16, 4>(call);
}
extern "C" gfk_status gfk_split_w16_naive_8(const gfk_call *call) {
    return run<16, 8>(call);
}
extern "C" gfk_status gfk_split_w16_naive_8_8(const gfk_call *call) {
    return run88<16>(call);
}
extern "C" gfk_status gfk_split_w32_naive(const gfk_call *call) {
    return run<32, 4>(call);
}
extern "C" gfk_status gfk_split_w32_naive_8(const gfk_call *call) {
    return run<32, 8>(call);
}
extern "C" gfk_status gfk_split_w32_naive_8_8(const gfk_call *call) {
    return run88<32>(call);
}
