/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the published placement "two tables in off-chip memory, loaded into shared memory
 * in parallel", one byte per thread. Every block copies both tables with all its threads. */
#include "kernels/region/walk_symbols.cuh"
#include "log_extended.cuh"

namespace {

struct LogParallel {
    static constexpr int w = 8, threads = 256;
    using Shared = gfk::LogExtended;
    const gfk::LogExtended *tables;
    uint32_t c;

    __device__ void fill(Shared &t) const {
        t.log[threadIdx.x] = tables->log[threadIdx.x];
        for (unsigned i = threadIdx.x; i < 1024; i += threads)
            t.antilog[i] = tables->antilog[i];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const { return t.product(x, c); }
};

} // namespace

extern "C" gfk_status gfk_log_w8_opt_parallel(const gfk_call *call) {
    return gfk::launch_shared(
        call, LogParallel{(const gfk::LogExtended *)call->multiplier->tables, call->c});
}
