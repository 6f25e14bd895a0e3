/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the ladder's last step. Both tables are extended, so that nothing is left but two
 * logarithms, an addition and an antilogarithm. */
#include "kernels/region/walk_symbols.cuh"
#include "log_extended.cuh"

namespace {

struct LogZero {
    static constexpr int w = 8;
    const gfk::LogExtended *tables;
    uint32_t c;

    __device__ uint32_t operator()(uint32_t x) const { return tables->product(x, c); }
};

} // namespace

extern "C" gfk_status gfk_log_w8_naive_zero(const gfk_call *call) {
    return gfk::launch_naive(call,
                             LogZero{(const gfk::LogExtended *)call->multiplier->tables, call->c});
}
