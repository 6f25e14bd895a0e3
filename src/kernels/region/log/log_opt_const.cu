/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the published placement "two tables in constant memory", one byte per thread. The
 * report's tables were compiled in, for one polynomial; kernel parameters are constant memory as
 * well, so here a call passes the multiplier's host copy by value. */
#include <stdlib.h>

#include "kernels/region/walk_symbols.cuh"
#include "log_extended.cuh"

namespace {

struct LogConst {
    static constexpr int w = 8, threads = 256;
    struct Shared {};
    gfk::LogExtended tables;
    uint32_t c;

    __device__ uint32_t operator()(const Shared &, uint32_t x) const {
        return tables.product(x, c);
    }
};

} // namespace

extern "C" gfk_status gfk_create_log_w8_opt_const(gfk_multiplier_t multiplier) {
    gfk_status status = gfk_create_log_zero(multiplier);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    multiplier->host_tables = malloc(sizeof(gfk::LogExtended));
    if (multiplier->host_tables == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    return gfk::status_of(cudaMemcpy(multiplier->host_tables, multiplier->tables,
                                     sizeof(gfk::LogExtended), cudaMemcpyDeviceToHost));
}
extern "C" gfk_status gfk_log_w8_opt_const(const gfk_call *call) {
    const gfk::LogExtended *tables = (const gfk::LogExtended *)call->multiplier->host_tables;
    return gfk::launch_shared(call, LogConst{*tables, call->c});
}
