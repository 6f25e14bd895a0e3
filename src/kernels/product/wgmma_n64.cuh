/* SPDX-License-Identifier: BSD-3-Clause */
/* wgmma.cuh for 64 columns: half of the accumulators, so more warpgroups at a time. */
#pragma once

#include "wgmma.cuh"

namespace gfk {
namespace wgmma {

#define GFK_WGMMA(add, kind)                                                                       \
    asm volatile("{\n"                                                                             \
                 ".reg .pred add;\n"                                                               \
                 "setp.ne.b32 add, " add ", 0;\n"                                                  \
                 "wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc {"                    \
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"  \
                 "}, {%32, %33, %34, %35}, %36, add;\n}"                                           \
                 : kind(d[0]), kind(d[1]), kind(d[2]), kind(d[3]), kind(d[4]), kind(d[5]),         \
                   kind(d[6]), kind(d[7]), kind(d[8]), kind(d[9]), kind(d[10]), kind(d[11]),       \
                   kind(d[12]), kind(d[13]), kind(d[14]), kind(d[15]), kind(d[16]), kind(d[17]),   \
                   kind(d[18]), kind(d[19]), kind(d[20]), kind(d[21]), kind(d[22]), kind(d[23]),   \
                   kind(d[24]), kind(d[25]), kind(d[26]), kind(d[27]), kind(d[28]), kind(d[29]),   \
                   kind(d[30]), kind(d[31])                                                        \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b))

__device__ inline void multiply(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                uint32_t a3, uint64_t b) {
    GFK_WGMMA("0", "=r");
}
__device__ inline void multiply_add(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b) {
    GFK_WGMMA("1", "+r");
}

#undef GFK_WGMMA

} // namespace wgmma
} // namespace gfk
