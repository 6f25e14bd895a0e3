/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells that travel to shared memory while their thread computes: the bytes on their way are then
 * not bound by registers. Every thread reads only what it copied itself, so nothing is awaited but
 * its own copies. */
#pragma once

#include <stdint.h>

namespace gfk {

/* Starts to copy 16 aligned bytes. */
__device__ inline void copy_ahead(uint4 *to, const uint8_t *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

/* The copies since the last call become a group. */
__device__ inline void close_group() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}

/* Waits until at most N groups, the latest, are still on their way. */
template <int N>
__device__ inline void wait_for_groups() {
    asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

/* Half of 16 bytes that were copied. Every second eight lanes should take the other half at the
 * same time: then no two lanes want the same bank, and two loads cannot be joined into one of four
 * registers in a row, to be moved apart again where pairs are wanted. */
__device__ inline void take_half(const uint4 *from, unsigned half, uint32_t *x) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(x[0]), "=r"(x[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(from) + 8 * half)
                 : "memory");
}

} // namespace gfk
