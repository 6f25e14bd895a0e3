/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the ladder's third step. The antilogarithms are there twice, so that the sum of
 * two logarithms needs no reduction; zero still takes a branch. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct LogDouble {
    static constexpr int w = 8;
    const uint8_t *log, *antilog;
    uint32_t c;

    __device__ uint32_t operator()(uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return antilog[log[x] + log[c]];
    }
};

} // namespace

extern "C" gfk_status gfk_log_w8_naive_double(const gfk_call *call) {
    const uint8_t *log = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_naive(call, LogDouble{log, log + 256, call->c});
}
