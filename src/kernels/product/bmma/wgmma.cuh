/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary matrix products of a warpgroup (PTX ISA, "wgmma"): for files compiled for 9.0a alone.
 *
 * The products run while the warps that issued them go on. Between arrive() and wait() nothing may
 * touch the registers of a chain; expect() tells the compiler that the registers change until
 * then. */
#pragma once

#include <stdint.h>

namespace gfk {
namespace wgmma {

/* The products that follow see the registers that were written before. */
__device__ inline void arrive() {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
__device__ inline void commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/* Waits for all but the last N committed groups. */
template <int N>
__device__ inline void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}
/* After publish() and a barrier, products see what this thread wrote to shared memory. */
__device__ inline void publish() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/* A barrier of the threads of one warpgroup of the block. */
__device__ inline void sync_warpgroup(unsigned warpgroup) {
    asm volatile("bar.sync %0, 128;" : : "r"(warpgroup + 1) : "memory");
}

/* Sets the registers of each thread of a warpgroup: to fewer, or to more, which waits until other
 * warpgroups have given registers. */
template <int Registers>
__device__ inline void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(Registers));
}
template <int Registers>
__device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(Registers));
}

/* Values that the compiler neither moves across this point nor computes again. */
template <int N>
__device__ inline void expect(uint32_t (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(x[i]) : : "memory");
}
__device__ inline void expect(uint32_t &x) {
    asm volatile("" : "+r"(x) : : "memory");
}

/* 64 rows, 256, 64 or 32 columns, 256 bits deep: D = A * B where `add` is 0, D += A * B where it is
 * not. A is in registers, b describes B.
 *
 * To the compiler all functions except multiply_into read D. Where D is an output only, ptxas 13.0
 * takes other registers for the next chain, and when there are none left the products wait for each
 * other (C7512). Where D is read, it has to hold something from the start, or chains are left out.
 * And ptxas does not see that a product changes D: it takes an expression of the new D for the same
 * expression of the old D. So the expressions of D must differ for each product of a loop's body:
 * each has a factor that is another parameter of the kernel. */
#define GFK_WGMMA(add, columns, d_list, a_list, ...)                                               \
    asm volatile("{\n"                                                                             \
                 ".reg .pred add;\n"                                                               \
                 "setp.ne.b32 add, " add ", 0;\n"                                                  \
                 "wgmma.mma_async.sync.aligned.m64n" columns "k256.s32.b1.b1.and.popc "            \
                 "{" d_list "}, " a_list ", add;\n}"                                               \
                 : __VA_ARGS__)
#define GFK_A_AND_B "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b)
#define GFK_D8(kind, i)                                                                            \
    kind(d[i]), kind(d[i + 1]), kind(d[i + 2]), kind(d[i + 3]), kind(d[i + 4]), kind(d[i + 5]),    \
        kind(d[i + 6]), kind(d[i + 7])
#define GFK_D16(kind, i) GFK_D8(kind, i), GFK_D8(kind, i + 8)
#define GFK_LIST16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define GFK_WGMMA32(kind, add)                                                                     \
    GFK_WGMMA("%21", "32", GFK_LIST16, "{%16, %17, %18, %19}, %20", GFK_D16(kind, 0)               \
              : GFK_A_AND_B, add)
#define GFK_LIST64                                                                                 \
    GFK_LIST16                                                                                     \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "                     \
    "%30, %31"
#define GFK_WGMMA64(kind, add)                                                                     \
    GFK_WGMMA("%37", "64", GFK_LIST64, "{%32, %33, %34, %35}, %36", GFK_D16(kind, 0),              \
              GFK_D16(kind, 16)                                                                    \
              : GFK_A_AND_B, add)
#define GFK_WGMMA256(kind, add)                                                                    \
    GFK_WGMMA("%133", "256",                                                                       \
              GFK_LIST64 ", %32, %33, %34, %35, %36, %37, %38, %39, "                              \
                         "%40, %41, %42, %43, %44, %45, %46, %47"                                  \
                         ", %48, %49, %50, %51, %52, %53, %54, %55, "                              \
                         "%56, %57, %58, %59, %60, %61, %62, %63"                                  \
                         ", %64, %65, %66, %67, %68, %69, %70, %71, "                              \
                         "%72, %73, %74, %75, %76, %77, %78, %79"                                  \
                         ", %80, %81, %82, %83, %84, %85, %86, %87, "                              \
                         "%88, %89, %90, %91, %92, %93, %94, %95"                                  \
                         ", %96, %97, %98, %99, %100, %101, %102, %103, "                          \
                         "%104, %105, %106, %107, %108, %109, %110, %111"                          \
                         ", %112, %113, %114, %115, %116, %117, %118, %119, "                      \
                         "%120, %121, %122, %123, %124, %125, %126, %127",                         \
              "{%128, %129, %130, %131}, %132", GFK_D16(kind, 0), GFK_D16(kind, 16),               \
              GFK_D16(kind, 32), GFK_D16(kind, 48), GFK_D16(kind, 64), GFK_D16(kind, 80),          \
              GFK_D16(kind, 96), GFK_D16(kind, 112)                                                \
              : GFK_A_AND_B, add)

/* D = A * B. */
__device__ inline void multiply(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                uint32_t a3, uint64_t b) {
    GFK_WGMMA64("+r", "n"(0));
}
/* D = A * B, where D need not hold anything before. */
__device__ inline void multiply_into(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                     uint32_t a3, uint64_t b) {
    GFK_WGMMA64("=r", "n"(0));
}
__device__ inline void multiply_into(uint32_t (&d)[16], uint32_t a0, uint32_t a1, uint32_t a2,
                                     uint32_t a3, uint64_t b) {
    GFK_WGMMA32("=r", "n"(0));
}
/* D += A * B. */
__device__ inline void multiply_add(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b) {
    GFK_WGMMA64("+r", "n"(1));
}
__device__ inline void multiply_add(uint32_t (&d)[16], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b) {
    GFK_WGMMA32("+r", "n"(1));
}
/* D = A * B, and the old D added where `add` is not 0. */
__device__ inline void multiply_add(uint32_t (&d)[16], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b, uint32_t add) {
    GFK_WGMMA32("+r", "r"(add));
}
__device__ inline void multiply_add(uint32_t (&d)[32], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b, uint32_t add) {
    GFK_WGMMA64("+r", "r"(add));
}
__device__ inline void multiply_add(uint32_t (&d)[128], uint32_t a0, uint32_t a1, uint32_t a2,
                                    uint32_t a3, uint64_t b, uint32_t add) {
    GFK_WGMMA256("+r", "r"(add));
}

/* 128 columns of D, which are half of its registers; b describes all of B, its first columns before
 * the last ones. D = A * B, and the old D added where `add` is not 0. */
template <int HALF>
__device__ inline void multiply_add_half(uint32_t (&counts)[128], const uint32_t (&a)[4],
                                         uint64_t b, uint32_t add) {
    uint32_t *d = counts + 64 * HALF;
    GFK_WGMMA("%69", "128",
              GFK_LIST64 ", %32, %33, %34, %35, %36, %37, %38, %39, "
                         "%40, %41, %42, %43, %44, %45, %46, %47"
                         ", %48, %49, %50, %51, %52, %53, %54, %55, "
                         "%56, %57, %58, %59, %60, %61, %62, %63",
              "{%64, %65, %66, %67}, %68", GFK_D16("+r", 0), GFK_D16("+r", 16), GFK_D16("+r", 32),
              GFK_D16("+r", 48)
              : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b + HALF * (4096 / 16)), "r"(add));
}

#undef GFK_WGMMA256
#undef GFK_WGMMA64
#undef GFK_LIST64
#undef GFK_WGMMA32
#undef GFK_LIST16
#undef GFK_D16
#undef GFK_D8
#undef GFK_A_AND_B
#undef GFK_WGMMA

} // namespace wgmma
} // namespace gfk
