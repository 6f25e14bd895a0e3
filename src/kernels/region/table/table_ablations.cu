/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE, ablation: the optimized form of the GF GPU report, one symbol per thread. Each block
 * copies the row of c from the field's table to shared memory. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct TableShared {
    static constexpr int w = 8, threads = 512;
    struct Shared {
        uint8_t row[256];
    };
    const uint8_t *row; /* all products with c */

    __device__ void fill(Shared &t) const {
        if (threadIdx.x < 256)
            t.row[threadIdx.x] = row[threadIdx.x];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const { return t.row[x]; }
};

} // namespace

extern "C" gfk_status gfk_table_w8_opt_shared(const gfk_call *call) {
    const uint8_t *products = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_shared(call, TableShared{products + 256 * call->c});
}
