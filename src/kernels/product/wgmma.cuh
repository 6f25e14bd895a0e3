/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary matrix products of a warpgroup (PTX ISA, "wgmma"): for files compiled for 9.0a alone.
 *
 * They run beside the warps that issue them. Between arrive() and wait() nothing may touch the
 * registers of a chain; expect() tells the compiler that they change until then. */
#pragma once

#include <stdint.h>

namespace gfk {
namespace wgmma {

/* Registers that were written are there for the products that follow. */
__device__ inline void arrive() {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
__device__ inline void commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/* For all but the last N that were committed. */
template <int N>
__device__ inline void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}
/* What this thread wrote to shared memory is there for products, after a barrier. */
__device__ inline void publish() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/* Values that the compiler neither moves across this point nor computes again. */
template <int N>
__device__ inline void expect(uint32_t (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(x[i]) : : "memory");
}

/* 64 rows, 64 columns, 256 bits deep: D = A * B where `add` is "0", D += A * B where it is "1". A
 * is in registers, b describes B.
 *
 * D is read, to the compiler, in either case. Where it is an output only, ptxas 13.0 takes other
 * registers for the next chain, and when there are none left the products wait for each other
 * (C7512). So D has to hold something from the start, or chains are left out. */
#define GFK_WGMMA(add)                                                                             \
    asm volatile("{\n"                                                                             \
                 ".reg .pred add;\n"                                                               \
                 "setp.ne.b32 add, " add ", 0;\n"                                                  \
                 "wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc {"                    \
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"  \
                 "}, {%32, %33, %34, %35}, %36, add;\n}"                                           \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]),         \
                   "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]),       \
                   "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]),   \
                   "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]),   \
                   "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]),   \
                   "+r"(d[30]), "+r"(d[31])                                                        \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b))

/* D = A * B. */
__device__ inline void multiply(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                uint32_t a3, uint64_t b) {
    GFK_WGMMA("0");
}
/* D += A * B. */
__device__ inline void multiply_add(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b) {
    GFK_WGMMA("1");
}

#undef GFK_WGMMA

} // namespace wgmma
} // namespace gfk
