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
/* For all that was committed. */
__device__ inline void wait() {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
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

/* 64 rows, 128 columns, 256 bits deep: D = A * B where `add` is "0", D += A * B where it is "1". A
 * is in registers, b describes B. `kind` says how D is an operand. */
#define GFK_WGMMA(add, kind)                                                                       \
    asm volatile(                                                                                  \
        "{\n"                                                                                      \
        ".reg .pred add;\n"                                                                        \
        "setp.ne.b32 add, " add ", 0;\n"                                                           \
        "wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc {"                            \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "         \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "         \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"           \
        "}, {%64, %65, %66, %67}, %68, add;\n}"                                                    \
        : kind(d[0]), kind(d[1]), kind(d[2]), kind(d[3]), kind(d[4]), kind(d[5]), kind(d[6]),      \
          kind(d[7]), kind(d[8]), kind(d[9]), kind(d[10]), kind(d[11]), kind(d[12]), kind(d[13]),  \
          kind(d[14]), kind(d[15]), kind(d[16]), kind(d[17]), kind(d[18]), kind(d[19]),            \
          kind(d[20]), kind(d[21]), kind(d[22]), kind(d[23]), kind(d[24]), kind(d[25]),            \
          kind(d[26]), kind(d[27]), kind(d[28]), kind(d[29]), kind(d[30]), kind(d[31]),            \
          kind(d[32]), kind(d[33]), kind(d[34]), kind(d[35]), kind(d[36]), kind(d[37]),            \
          kind(d[38]), kind(d[39]), kind(d[40]), kind(d[41]), kind(d[42]), kind(d[43]),            \
          kind(d[44]), kind(d[45]), kind(d[46]), kind(d[47]), kind(d[48]), kind(d[49]),            \
          kind(d[50]), kind(d[51]), kind(d[52]), kind(d[53]), kind(d[54]), kind(d[55]),            \
          kind(d[56]), kind(d[57]), kind(d[58]), kind(d[59]), kind(d[60]), kind(d[61]),            \
          kind(d[62]), kind(d[63])                                                                 \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b))

/* D = A * B. D is only an output here: with operands of both directions that hold nothing yet,
 * ptxas 13.0 leaves chains out. */
__device__ inline void multiply(uint32_t (&d)[64], uint32_t a0, uint32_t a1, uint32_t a2,
                                uint32_t a3, uint64_t b) {
    GFK_WGMMA("0", "=r");
}
/* D += A * B. */
__device__ inline void multiply_add(uint32_t (&d)[64], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b) {
    GFK_WGMMA("1", "+r");
}

#undef GFK_WGMMA

} // namespace wgmma
} // namespace gfk
