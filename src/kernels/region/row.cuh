/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and functions of both skeletons and of the ops of all methods. */
#pragma once

#include <type_traits>

#include "host/region/kernel.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/symbol.cuh"

/* The function of row `id` of kernels.def: the launch of a skeleton with an op, which takes from
 * the call what it needs. For example GFK_REGION_ROW(log_w8_naive, launch_naive<Log<8>>). */
#define GFK_REGION_ROW(id, ...)                                                                    \
    extern "C" gfk_status gfk_##id(const gfk_call *call) {                                         \
        return gfk::__VA_ARGS__(call);                                                             \
    }

namespace gfk {

inline uint32_t lower_polynomial(const gfk_call *call) {
    const gfk_field &field = call->multiplier->info.field;
    return lower_polynomial(field.w, field.polynomial);
}

/* The Shared of an op that keeps nothing in shared memory. */
struct NoShared {};

template <class Op>
constexpr size_t shared_bytes =
    std::is_empty<typename Op::Shared>::value ? 0 : sizeof(typename Op::Shared);

/* Does kernels.def say of the row what its Op says? */
template <class Op>
bool row_is(const gfk_call *call, size_t tile_bytes) {
    const gfk_kernel_info *info = call->multiplier->info.kernel;
    return info->tile_bytes == tile_bytes && info->shared_bytes == shared_bytes<Op>;
}

} // namespace gfk
