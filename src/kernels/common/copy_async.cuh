/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory by 32-bit addresses, and copies to it that run beside the thread that starts them
 * (PTX ISA, "cp.async"). */
#pragma once

#include <stdint.h>

namespace gfk {

/* 16 bytes, past L1. */
__device__ inline void copy_16(uint32_t to, const uint8_t *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}
/* For all that this thread started. */
__device__ inline void copies_wait() {
    asm volatile("cp.async.wait_all;" : : : "memory");
}

/* 4, 8 or 16 bytes. */
template <int N>
__device__ inline void load_shared(uint32_t at, uint32_t (&x)[N]) {
    static_assert(N == 1 || N == 2 || N == 4, "");
    if constexpr (N == 1)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x[0]) : "r"(at) : "memory");
    else if constexpr (N == 2)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                     : "=r"(x[0]), "=r"(x[1])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at)
                     : "memory");
}

/* Addresses of regions. */
__device__ inline void store_pointer(uint32_t at, const uint8_t *pointer) {
    asm volatile("st.shared.u64 [%0], %1;" : : "r"(at), "l"(pointer) : "memory");
}
__device__ inline uint8_t *shared_pointer(uint32_t at) {
    uint8_t *pointer;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(pointer) : "r"(at) : "memory");
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

} // namespace gfk
