/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the region report's w=8 kernel with both tables in shared memory and the modulo
 * left in: what its doubled antilogarithms (log_opt_doubled.cu) are to be compared with. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct LogShared {
    static constexpr int w = 8, threads = 512;
    struct Shared {
        uint8_t log[256], antilog[256];
    };
    const uint8_t *log, *antilog;
    uint32_t c;

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 256) {
            t.log[i] = log[i];
            t.antilog[i] = antilog[i];
        }
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return t.antilog[(t.log[x] + t.log[c]) % 255];
    }
};

} // namespace

extern "C" gfk_status gfk_log_w8_opt_shared(const gfk_call *call) {
    const uint8_t *log = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_shared(call, LogShared{log, log + 256, call->c});
}
