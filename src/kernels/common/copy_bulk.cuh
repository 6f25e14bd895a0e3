/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of many bytes to shared memory that one thread starts, and the barriers there that say
 * when they have arrived (PTX ISA, "cp.async.bulk" and "mbarrier"): 9.0 and later. Shared memory is
 * meant by 32-bit addresses. */
#pragma once

#include <stdint.h>

namespace gfk {
namespace bulk {

/* A phase of a barrier ends when `arrivals` have arrived and all bytes announced. */
__device__ inline void init_barrier(uint32_t barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier), "r"(arrivals)
                 : "memory");
}
/* Before the barrier of the block that lets others use them. */
__device__ inline void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
__device__ inline void arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}
/* Arrives, and announces so many bytes. */
__device__ inline void arrive_with(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"(bytes)
                 : "memory");
}
/* For the end of the phase of this parity: that of a new barrier is 0, and the one before it, which
 * has ended, 1. */
__device__ inline void wait(uint32_t barrier, unsigned parity) {
    uint32_t done;
    do {
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!done);
}
/* Multiples of 16 bytes, at such addresses, of which the barrier is told. */
__device__ inline void copy(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

} // namespace bulk
} // namespace gfk
