/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the ladder's second step. 256 is 1 modulo 255, so the carry of the sum is added to
 * its lower bits. A sum of exactly 255 stays 255; antilog[255] is 1 like antilog[0]. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct LogFold {
    static constexpr int w = 8;
    const uint8_t *log, *antilog;
    uint32_t c;

    __device__ uint32_t operator()(uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        const uint32_t sum = (uint32_t)log[x] + log[c];
        return antilog[(sum & 255) + (sum >> 8)];
    }
};

} // namespace

extern "C" gfk_status gfk_log_w8_naive_fold(const gfk_call *call) {
    const uint8_t *log = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_naive(call, LogFold{log, log + 256, call->c});
}
