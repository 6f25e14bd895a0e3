/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread takes a VectorOf of every region: a vector of 16 bytes, whole or partial, at any
 * address. load fills bytes outside the region with zeros; store leaves them alone. */
#pragma once

#include "kernels/product/extent.cuh"

namespace gfk {

template <int BYTES>
struct VectorOf;

template <>
struct VectorOf<16> {
    static constexpr int words = 4;

    static uint64_t count(const Vectors &v) { return v.count; }
    __device__ static bool is_whole(const Vectors &v, uint64_t i) {
        return i >= v.whole_begin && i < v.whole_end;
    }
    /* The bytes [first, last) of vector i are in the region. */
    __device__ static void bounds(const Vectors &v, uint64_t i, unsigned *first, unsigned *last) {
        *first = i == 0 ? v.phase : 0;
        const uint64_t end = v.bytes + v.phase - 16 * i;
        *last = end < 16 ? (unsigned)end : 16;
    }
    __device__ static void load(const uint8_t *region, const Vectors &v, uint64_t i, Vector &x) {
        const uint8_t *p = region + 16 * i - v.phase;
        if (is_whole(v, i))
            return v.aligned ? load_vector<true>(p, x) : load_vector<false>(p, x);
        unsigned first, last;
        bounds(v, i, &first, &last);
        load_partial(p, first, last, x);
    }
    /* Added: y contains what the region holds, if that is read. */
    __device__ static void store(uint8_t *region, const Vectors &v, uint64_t i,
                                 const Epilogue &epilogue, const Vector &y, bool added = false) {
        if (epilogue.mismatch_map) {
            Vector x = {};
            if (!added)
                load(region, v, i, x);
            if ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) {
                unsigned first, last;
                bounds(v, i, &first, &last);
                epilogue.report(16 * i + first - v.phase, last - first);
            }
        } else if (epilogue.accumulate && !added) {
            write<true>(region, v, i, y);
        } else {
            write<false>(region, v, i, y);
        }
    }

  private:
    template <bool Xor>
    __device__ static void write(uint8_t *region, const Vectors &v, uint64_t i, const Vector &y) {
        uint8_t *p = region + 16 * i - v.phase;
        if (is_whole(v, i) && v.aligned)
            return store_vector<true>(p, y, Xor);
        if (is_whole(v, i) && (uintptr_t)p % 4 == 0)
            return store_vector<false>(p, y, Xor);
        unsigned first, last;
        bounds(v, i, &first, &last);
#pragma unroll
        for (unsigned b = 0; b < 16; b++)
            if (b >= first && b < last)
                store_bytes(p + b, 1, y[b / 4] >> (8 * (b % 4)), Xor);
    }
};

} // namespace gfk
