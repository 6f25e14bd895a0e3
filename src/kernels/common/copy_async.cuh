/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory by 32-bit addresses, and asynchronous copies from global memory to it: of 16 bytes
 * by each thread (PTX ISA, "cp.async"), or of many bytes by one thread, with barriers that say when
 * the bytes have arrived ("cp.async.bulk" and "mbarrier", compute capability 9.0 and later). */
#pragma once

#include <stdint.h>

namespace gfk {

/* 16 bytes, past L1. */
__device__ inline void copy_16(uint32_t to, const uint8_t *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}
__device__ inline void copy_16_if(bool wanted, uint32_t to, const uint8_t *from) {
    asm volatile("{\n"
                 ".reg .pred wanted;\n"
                 "setp.ne.b32 wanted, %2, 0;\n"
                 "@wanted cp.async.cg.shared.global [%0], [%1], 16;\n}"
                 :
                 : "r"(to), "l"(from), "r"((unsigned)wanted)
                 : "memory");
}
/* 8 or 16 bytes, kept in L1 for other warps of the block. */
template <int Bytes>
__device__ inline void copy_cached(uint32_t to, const uint8_t *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(to), "l"(from), "n"(Bytes)
                 : "memory");
}
/* Ends a group of copies, which may be empty. */
__device__ inline void copies_end_group() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}
/* Waits until at most `Groups` groups of this thread's copies are on their way. */
template <int Groups>
__device__ inline void copies_wait_for_group() {
    asm volatile("cp.async.wait_group %0;" : : "n"(Groups) : "memory");
}
/* Waits for all copies that this thread started. */
__device__ inline void copies_wait() {
    asm volatile("cp.async.wait_all;" : : : "memory");
}

/* 4, 8 or 16 bytes of shared memory. */
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

template <int N>
__device__ inline void store_shared(uint32_t at, const uint32_t (&x)[N]) {
    static_assert(N == 1 || N == 2 || N == 4, "");
    if constexpr (N == 1)
        asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(x[0]) : "memory");
    else if constexpr (N == 2)
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};"
                     :
                     : "r"(at), "r"(x[0]), "r"(x[1])
                     : "memory");
    else
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(at), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                     : "memory");
}
/* A symbol of W bits. */
template <int W>
__device__ inline uint32_t load_shared_symbol(uint32_t at) {
    uint32_t x;
    if constexpr (W == 8)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    else if constexpr (W == 16)
        asm volatile("ld.shared.u16 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    else
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
__device__ inline void store_shared_u16(uint32_t at, uint32_t x) {
    asm volatile("st.shared.u16 [%0], %1;" : : "r"(at), "h"((uint16_t)x) : "memory");
}

/* Addresses of regions, kept in shared memory. */
__device__ inline void store_pointer(uint32_t at, const uint8_t *pointer) {
    asm volatile("st.shared.u64 [%0], %1;" : : "r"(at), "l"(pointer) : "memory");
}
__device__ inline uint8_t *shared_pointer(uint32_t at) {
    uint8_t *pointer;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(pointer) : "r"(at) : "memory");
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

/* ---- bulk copies ---------------------------------------------------------------------------- */

namespace bulk {

/* A phase of the barrier ends when `arrivals` threads have arrived and all announced bytes have
 * been copied. */
__device__ inline void init_barrier(uint32_t barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier), "r"(arrivals)
                 : "memory");
}
/* Comes between init_barrier and the block's barrier, after which other threads use it. */
__device__ inline void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
__device__ inline void arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}
/* Waits until this thread's loads from shared memory have arrived in registers. Then the thread may
 * release a stage: an arrival does not wait for loads. */
__device__ inline void finish_loads() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
/* Arrives, and announces that `bytes` bytes will be copied. */
__device__ inline void arrive_with(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"(bytes)
                 : "memory");
}
/* Waits until the phase of this parity has ended. A new barrier is in a phase of parity 0; the
 * phase before, of parity 1, counts as ended. */
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
/* Sizes and addresses are multiples of 16 bytes; the barrier counts the bytes that arrive. */
__device__ inline void copy(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* Fetches global memory into the L2 cache. */
__device__ inline void prefetch(const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes) : "memory");
}

/* The barriers of a ring of stages in shared memory: the producer warp fills stages, the consumers
 * read and release them. */
struct RingBarriers {
    static constexpr unsigned stage_bytes = 16;
    uint32_t address; /* of stage_bytes for each stage */

    __device__ uint32_t filled(uint32_t stage) const { return address + stage_bytes * stage; }
    __device__ uint32_t released(uint32_t stage) const { return filled(stage) + 8; }
    /* One thread calls init. `readers` arrivals release a stage. */
    __device__ void init(uint32_t stages, unsigned readers) const {
#pragma unroll 1
        for (uint32_t stage = 0; stage < stages; stage++) {
            init_barrier(filled(stage), 1);
            init_barrier(released(stage), readers);
        }
    }
};

/* The next stage of a ring. Its parity is that of the phase in which the stage is filled; the other
 * one is that of the phase in which the stage is released. */
struct RingPosition {
    uint32_t stage = 0, parity = 0;

    __device__ void next(uint32_t stages) {
        stage++;
        if (stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

} // namespace bulk
} // namespace gfk
