/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the region report's attempt to drop the modulo. The block sets up the logarithms
 * and twice the antilogarithms in shared memory from the plain tables, and its threads diverge over
 * who writes what, which the report blames for a slower kernel. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct LogDoubled {
    static constexpr int w = 8, threads = 512;
    struct Shared {
        uint8_t log[256], antilog[512]; /* sums above 508 do not occur */
    };
    const uint8_t *log, *antilog;
    uint32_t c;

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 256)
            t.log[i] = log[i];
        if (i < 255)
            t.antilog[i] = antilog[i];
        else if (i < 510)
            t.antilog[i] = antilog[i - 255];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return t.antilog[t.log[x] + t.log[c]];
    }
};

} // namespace

extern "C" gfk_status gfk_log_w8_opt_doubled(const gfk_call *call) {
    const uint8_t *log = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_shared(call, LogDoubled{log, log + 256, call->c});
}
