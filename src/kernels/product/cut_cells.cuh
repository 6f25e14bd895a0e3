/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernels whose fast path takes whole cells only: which cells those are, and the few that are
 * cut short by a region's ends, symbol by symbol in the same launch. */
#pragma once

#include "cells.cuh"

namespace gfk {

/* The part of a kernel's parameters that says where to walk. Regions are addressed by where their
 * cell 0 would begin: their first byte less the phase. */
struct Walk {
    uint64_t first, count;              /* whole cells */
    uint64_t bytes;                     /* of a region */
    uint32_t phase, cut_head, cut_tail; /* cut cells in front and behind */
    uint32_t rows, cols;
    uint32_t polynomial; /* its lower 32 bits */
    Sink sink;
};

inline void describe(Walk &walk, const gfk_product_call *call, const Cells &c) {
    const uint64_t head = c.full_begin < c.count ? c.full_begin : c.count;
    walk.first = head;
    walk.count = c.full_end > head ? c.full_end - head : 0;
    walk.bytes = c.bytes;
    walk.phase = c.phase;
    walk.cut_head = (uint32_t)head;
    walk.cut_tail = (uint32_t)(c.count - head - walk.count);
    walk.polynomial = (uint32_t)call->product->info.field.polynomial;
    walk.sink = sink_of(call);
}

/* Threads that the cut cells keep busy. */
inline uint64_t cut_threads(const Walk &walk, unsigned w) {
    return (uint64_t)(walk.cut_head + walk.cut_tail) * (128 / w) * walk.rows;
}

/* A symbol of an output for every thread; any alignment. J is a Walk with in[], out[] and
 * coefficient(row, column). Count: 32 bits, where there are fewer than 2^31 threads, take fewer
 * registers. */
template <int W, class J, class Count>
__device__ void cut_cells(const J &job, Count thread, Count threads) {
    constexpr unsigned size = W / 8, symbols = 16 / size;
    const unsigned cut = (job.cut_head + job.cut_tail) * symbols;
    for (Count item = thread; item < (Count)cut * job.rows; item += threads) {
        const unsigned j = (unsigned)(item / cut), s = (unsigned)(item % cut);
        uint64_t cell = s / symbols;
        if (cell >= job.cut_head)
            cell += job.count;
        const uint64_t at = 16 * cell + s % symbols * size;
        if (at < job.phase || at - job.phase >= job.bytes)
            continue;
        uint32_t sum = 0;
#pragma unroll 1
        for (unsigned i = 0; i < job.cols; i++) {
            const uint32_t c = job.coefficient(j, i);
            uint32_t x = 0, product = 0;
            for (unsigned b = 0; b < size; b++)
                x |= (uint32_t)job.in[i][at + b] << (8 * b);
#pragma unroll 1
            for (int b = W - 1; b >= 0; b--) {
                const uint32_t top = product >> (W - 1) & 1;
                product = product << 1 ^ (top ? job.polynomial : 0) ^ (x >> b & 1 ? c : 0);
            }
            sum ^= product;
        }
        for (unsigned b = 0; b < size; b++) {
            uint8_t *y = job.out[j] + at + b;
            const uint8_t value = (uint8_t)(sum >> (8 * b));
            if (!job.sink.marks)
                *y = job.sink.accumulate ? *y ^ value : value;
            else if (*y != value)
                job.sink.mark(at - job.phase, size);
        }
    }
}

enum class Load {
    whole,  /* 16 bytes at once */
    halves, /* 8 and 8: registers in pairs, which may then stand beside another cell's */
    once    /* 16 bytes that L1 need not keep */
};

/* A whole cell. Unaligned, the load reaches up to three bytes beyond it. */
template <bool Aligned, Load How = Load::whole>
__device__ inline void load_whole(const uint8_t *p, uint32_t (&x)[4]) {
    if (Aligned && How == Load::halves) {
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(p));
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2 + 8];" : "=r"(x[2]), "=r"(x[3]) : "l"(p));
    } else if (Aligned && How == Load::once) {
        asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(p));
    } else if (Aligned) {
        const uint4 v = *(const uint4 *)p;
        x[0] = v.x;
        x[1] = v.y;
        x[2] = v.z;
        x[3] = v.w;
    } else {
        const unsigned shift = (unsigned)((uintptr_t)p % 4);
        const uint32_t *words = (const uint32_t *)(p - shift);
        const uint32_t y[5] = {words[0], words[1], words[2], words[3], shift ? words[4] : 0};
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = funnel(y[i], y[i + 1], 8 * shift);
    }
}

/* One, two or four words of an aligned cell. Volatile, so that it stays before what waits for other
 * loads: the compiler may put it behind, for the sake of registers. */
template <int N>
__device__ inline void load_early(const uint8_t *p, uint32_t (&x)[N]) {
    if constexpr (N == 4)
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(p));
    else if constexpr (N == 2)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(p));
    else
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(x[0]) : "l"(p));
}

/* Is the memory, a whole cell or one or two words of it, something else? */
template <bool Aligned, int N>
__device__ inline bool differs(const uint8_t *p, const uint32_t (&x)[N]) {
    uint32_t difference = 0;
    if constexpr (Aligned && N == 4) {
        const uint4 d = make_uint4(x[0], x[1], x[2], x[3]) ^ *(const uint4 *)p;
        difference = d.x | d.y | d.z | d.w;
    } else if (Aligned || (uintptr_t)p % 4 == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
            difference |= ((const uint32_t *)p)[i] ^ x[i];
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            for (int b = 0; b < 4; b++)
                difference |= p[4 * i + b] ^ (x[i] >> (8 * b) & 0xff);
    }
    return difference != 0;
}

/* Writes, or compares, a whole cell, or one or two words of it; `offset` is its place in the
 * region. Without Reads it can only be set. */
template <bool Aligned, bool Reads, int N>
__device__ inline void store_words(uint8_t *p, const uint32_t (&x)[N], const Sink &sink,
                                   uint64_t offset) {
    if (Reads && sink.marks) {
        if (differs<Aligned>(p, x))
            sink.mark(offset, 4 * N);
        return;
    }
    const bool accumulate = Reads && sink.accumulate;
    if constexpr (Aligned && N == 4) {
        uint4 v = make_uint4(x[0], x[1], x[2], x[3]);
        if (accumulate)
            v = v ^ *(const uint4 *)p;
        *(uint4 *)p = v;
    } else if constexpr (Aligned && N == 2) {
        uint2 v = make_uint2(x[0], x[1]);
        if (accumulate) {
            const uint2 old = *(const uint2 *)p;
            v = make_uint2(v.x ^ old.x, v.y ^ old.y);
        }
        *(uint2 *)p = v;
    } else if (Aligned || (uintptr_t)p % 4 == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
            ((uint32_t *)p)[i] = accumulate ? ((uint32_t *)p)[i] ^ x[i] : x[i];
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            for (int b = 0; b < 4; b++) {
                const uint8_t y = (uint8_t)(x[i] >> (8 * b));
                p[4 * i + b] = (uint8_t)(accumulate ? p[4 * i + b] ^ y : y);
            }
    }
}

} // namespace gfk
