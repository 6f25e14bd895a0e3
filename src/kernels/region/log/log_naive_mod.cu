/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the published ladder's first step, gf256_mul as its slides print it. Both factors
 * are compared with zero and the sum of the logarithms is taken modulo 255 by the operator. */
#include "kernels/region/walk_symbols.cuh"

namespace {

struct LogMod {
    static constexpr int w = 8;
    const uint8_t *log, *antilog;
    uint32_t c;

    __device__ uint32_t operator()(uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return antilog[(log[x] + log[c]) % 255];
    }
};

} // namespace

extern "C" gfk_status gfk_log_w8_naive_mod(const gfk_call *call) {
    const uint8_t *log = (const uint8_t *)call->multiplier->tables;
    return gfk::launch_naive(call, LogMod{log, log + 256, call->c});
}
