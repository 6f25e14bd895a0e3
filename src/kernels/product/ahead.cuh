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

} // namespace gfk
