/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT w 4, ablation: the optimized form of the GF GPU report, one symbol per thread. The block
 * copies the tables to shared memory, and the lookups are one chain of XORs. In the report w=32 was
 * nearly twice as fast and w=8 slower. */
#include "kernels/region/walk_symbols.cuh"

namespace {

template <int W>
struct SplitShared {
    static constexpr int w = W, threads = 512;
    struct Shared {
        gfk::Symbol<W> part[W / 4][16];
    };
    const gfk::Symbol<W> *tables;

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < W / 4 * 16)
            t.part[i / 16][i % 16] = tables[i];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        if constexpr (W == 8)
            return t.part[0][x & 15] ^ t.part[1][x >> 4];
        else if constexpr (W == 16)
            return t.part[0][x & 15] ^ t.part[1][x >> 4 & 15] ^ t.part[2][x >> 8 & 15] ^
                   t.part[3][x >> 12];
        else
            return t.part[0][x & 15] ^ t.part[1][x >> 4 & 15] ^ t.part[2][x >> 8 & 15] ^
                   t.part[3][x >> 12 & 15] ^ t.part[4][x >> 16 & 15] ^ t.part[5][x >> 20 & 15] ^
                   t.part[6][x >> 24 & 15] ^ t.part[7][x >> 28];
    }
};

template <int W>
gfk_status run(const gfk_call *call) {
    return gfk::launch_shared(call, SplitShared<W>{(const gfk::Symbol<W> *)call->workspace});
}

} // namespace

extern "C" gfk_status gfk_split_w8_opt_shared(const gfk_call *call) {
    return run<8>(call);
}
extern "C" gfk_status gfk_split_w16_opt_shared(const gfk_call *call) {
    return run<16>(call);
}
extern "C" gfk_status gfk_split_w32_opt_shared(const gfk_call *call) {
    return run<32>(call);
}
