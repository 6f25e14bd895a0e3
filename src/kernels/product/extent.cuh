/* SPDX-License-Identifier: BSD-3-Clause */
/* How product kernels walk regions: vector i is the i-th aligned 16 bytes of a region and holds the
 * same symbols in every region. The regions' ends may cut the first and the last vector short.
 *
 * When all regions begin at one phase modulo 16 bytes, and that phase does not cut a symbol,
 * vectors are aligned in memory. Otherwise vectors are counted from each region's first byte, and
 * loads and stores are put together from smaller ones. */
#pragma once

#include "host/product/engine.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/regions.cuh"
#include "kernels/common/symbol.cuh"

namespace gfk {

/* The vectors of a region. */
struct Vectors {
    uint64_t count;       /* partial vectors included */
    uint64_t whole_begin; /* vectors [whole_begin, whole_end) are whole */
    uint64_t whole_end;
    uint64_t bytes; /* of a region */
    unsigned phase; /* bytes of vector 0 that lie before the region */
    bool aligned;
};

inline Vectors vectors_of(const gfk_regions *in, size_t inputs, const gfk_regions *out,
                          size_t outputs, unsigned w, uint64_t bytes) {
    const unsigned phase = (unsigned)((uintptr_t)gfk_region_address(in, 0) % 16);
    bool aligned = phase % (w / 8) == 0;
    for (size_t i = 0; aligned && i < inputs; i++)
        aligned = (uintptr_t)gfk_region_address(in, i) % 16 == phase;
    for (size_t j = 0; aligned && j < outputs; j++)
        aligned = (uintptr_t)gfk_region_address(out, j) % 16 == phase;
    Vectors v;
    v.aligned = aligned;
    v.phase = aligned ? phase : 0;
    v.bytes = bytes;
    v.count = gfk_divide_up(v.bytes + v.phase, 16);
    v.whole_begin = v.phase != 0;
    v.whole_end = (v.bytes + v.phase) / 16;
    /* An unaligned load may reach three bytes beyond its vector. */
    if (!aligned) {
        v.whole_begin = 1;
        v.whole_end = v.whole_end ? v.whole_end - 1 : 0;
    }
    return v;
}

inline Vectors vectors_of(const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    return vectors_of(call->in, info->cols, call->out, info->rows, info->field.w, call->bytes);
}

/* The epilogue stores an output's products, or XORs the products into the output, or, with a
 * mismatch map, compares the products with the output. */
struct Epilogue {
    uint32_t *mismatch_map;
    unsigned shift;
    bool accumulate;
    const uint32_t *skip_if; /* NULL: the run is wanted */

    /* Need the run not be done? */
    __device__ bool skips() const { return skip_if != nullptr && *skip_if != 0; }
    /* Are outputs read, to be added to or compared with? */
    __device__ bool reads() const { return accumulate || mismatch_map != nullptr; }
    /* Fetches an output that will be read, while its products are computed. */
    __device__ void prefetch(const uint8_t *p) const {
        asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
    }
    /* Some of the `bytes` bytes from `offset` on differ. */
    __device__ void report(uint64_t offset, unsigned bytes) const {
        mismatch_map[offset >> shift] = 1;
        mismatch_map[(offset + bytes - 1) >> shift] = 1;
    }
    /* A whole vector, or one or two words of it, at byte `offset` of the output. Kernels that do
     * not read outputs take fewer registers. */
    template <bool Aligned, bool Reads, int N>
    __device__ void store(uint8_t *p, const uint32_t (&x)[N], uint64_t offset) const {
        if (!Reads || !mismatch_map)
            store_vector<Aligned>(p, x, Reads && accumulate);
        else if (differs<Aligned>(p, x))
            report(offset, 4 * N);
    }
};

inline bool reads_outputs(const gfk_product_call *call) {
    return call->mismatch_map != NULL || call->accumulate;
}

inline Epilogue epilogue_of(const gfk_product_call *call) {
    return {call->mismatch_map, call->shift, call->accumulate, call->skip_if};
}

/* The part of a kernel's parameters that says where to walk. Regions are addressed by where their
 * vector 0 would begin: their first byte less the phase. */
struct Extent {
    uint64_t first, count;                      /* whole vectors */
    uint64_t bytes;                             /* of a region */
    uint32_t phase, partial_head, partial_tail; /* partial vectors before and after */
    uint32_t rows, cols;
    uint32_t polynomial; /* its lower 32 bits */
    Epilogue epilogue;
};

inline void make_extent(Extent &extent, const gfk_product_call *call, const Vectors &v) {
    const uint64_t head = v.whole_begin < v.count ? v.whole_begin : v.count;
    extent.first = head;
    extent.count = v.whole_end > head ? v.whole_end - head : 0;
    extent.bytes = v.bytes;
    extent.phase = v.phase;
    extent.partial_head = (uint32_t)head;
    extent.partial_tail = (uint32_t)(v.count - head - extent.count);
    extent.polynomial = (uint32_t)call->product->info.field.polynomial;
    extent.epilogue = epilogue_of(call);
}

/* Threads that the partial vectors keep busy. */
inline uint64_t partial_threads(const Extent &extent, unsigned w) {
    return (uint64_t)(extent.partial_head + extent.partial_tail) * (128 / w) * extent.rows;
}

/* The product of an output's symbol at byte `at` of the regions, bit by bit. J is an Extent with
 * `regions` and coefficient(row, column). */
template <int W, class J>
__device__ uint32_t sum_of_bits(const J &job, unsigned j, uint64_t at) {
    uint32_t sum = 0;
#pragma unroll 1
    for (unsigned i = 0; i < job.cols; i++) {
        const uint32_t c = job.coefficient(j, i);
        const uint32_t x = load_bytes(job.regions.in[i] + at, W / 8);
        uint32_t product = 0;
#pragma unroll 1
        for (int b = W - 1; b >= 0; b--) {
            product = double_symbol<W>(product, job.polynomial) ^ (x >> b & 1 ? c : 0);
        }
        sum ^= product;
    }
    return sum;
}

/* The partial vectors, for kernels whose main path takes whole ones: each thread computes a symbol
 * of an output at any alignment, sum(output, byte). J is an Extent with `regions`. Count: the type
 * of thread numbers; 32 bits take fewer registers. */
template <int W, class J, class Count, class Sum>
__device__ void multiply_partial(const J &job, Count thread, Count threads, const Sum &sum) {
    constexpr unsigned size = W / 8, symbols = 16 / size;
    const unsigned partial = (job.partial_head + job.partial_tail) * symbols;
    for (Count item = thread; item < (Count)partial * job.rows; item += threads) {
        const unsigned j = (unsigned)(item / partial), s = (unsigned)(item % partial);
        uint64_t vector = s / symbols;
        if (vector >= job.partial_head)
            vector += job.count;
        const uint64_t at = 16 * vector + s % symbols * size;
        if (at < job.phase || at - job.phase >= job.bytes)
            continue;
        const uint32_t symbol = sum(j, at);
        for (unsigned b = 0; b < size; b++) {
            uint8_t *y = job.regions.out[j] + at + b;
            const uint8_t value = (uint8_t)(symbol >> (8 * b));
            if (!job.epilogue.mismatch_map)
                *y = job.epilogue.accumulate ? *y ^ value : value;
            else if (*y != value)
                job.epilogue.report(at - job.phase, size);
        }
    }
}

template <int W, class J, class Count>
__device__ void multiply_partial(const J &job, Count thread, Count threads) {
    multiply_partial<W>(job, thread, threads,
                        [&](unsigned j, uint64_t at) { return sum_of_bits<W>(job, j, at); });
}

} // namespace gfk
