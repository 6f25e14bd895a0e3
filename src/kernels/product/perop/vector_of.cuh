/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread takes of every region: a vector of 16 bytes, whole or partial, or, to show what
 * width is worth, of 4 bytes or 1. load fills bytes outside the region with zeros; store leaves
 * them alone. */
#pragma once

#include "kernels/product/extent.cuh"

namespace gfk {

template <int BYTES, bool Aligned>
struct VectorOf;

template <bool Aligned>
struct VectorOf<16, Aligned> {
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
            return load_vector<Aligned>(p, x);
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
        if (is_whole(v, i) && (Aligned || (uintptr_t)p % 4 == 0))
            return store_vector<Aligned>(p, y, Xor);
        unsigned first, last;
        bounds(v, i, &first, &last);
#pragma unroll
        for (unsigned b = 0; b < 16; b++)
            if (b >= first && b < last)
                store_bytes(p + b, 1, y[b / 4] >> (8 * (b % 4)), Xor);
    }
};

/* Vectors of 4 bytes are counted from each region's first byte, whatever its phase. */
template <>
struct VectorOf<4, false> {
    static constexpr int words = 1;

    static uint64_t count(const Vectors &v) { return (v.bytes + 3) / 4; }
    __device__ static unsigned bytes_of(const Vectors &v, uint64_t i) {
        const uint64_t left = v.bytes - 4 * i;
        return left < 4 ? (unsigned)left : 4;
    }
    __device__ static bool is_word(const uint8_t *p, unsigned bytes) {
        return bytes == 4 && (uintptr_t)p % 4 == 0;
    }
    __device__ static void load(const uint8_t *region, const Vectors &v, uint64_t i,
                                uint32_t (&x)[words]) {
        const uint8_t *p = region + 4 * i;
        const unsigned bytes = bytes_of(v, i);
        if (is_word(p, bytes))
            x[0] = *(const uint32_t *)p;
        else
            x[0] = load_bytes(p, bytes);
    }
    __device__ static void store(uint8_t *region, const Vectors &v, uint64_t i,
                                 const Epilogue &epilogue, const uint32_t (&y)[words],
                                 bool = false) {
        uint8_t *p = region + 4 * i;
        const unsigned bytes = bytes_of(v, i);
        if (epilogue.mismatch_map) {
            uint32_t x[words];
            load(region, v, i, x);
            if (x[0] != y[0])
                epilogue.report(4 * i, bytes);
        } else if (is_word(p, bytes)) {
            *(uint32_t *)p = epilogue.accumulate ? *(const uint32_t *)p ^ y[0] : y[0];
        } else {
            store_bytes(p, bytes, y[0], epilogue.accumulate);
        }
    }
};

template <>
struct VectorOf<1, false> {
    static constexpr int words = 1;

    static uint64_t count(const Vectors &v) { return v.bytes; }
    __device__ static void load(const uint8_t *region, const Vectors &, uint64_t i,
                                uint32_t (&x)[words]) {
        x[0] = region[i];
    }
    __device__ static void store(uint8_t *region, const Vectors &, uint64_t i,
                                 const Epilogue &epilogue, const uint32_t (&y)[words],
                                 bool = false) {
        if (!epilogue.mismatch_map)
            region[i] = (uint8_t)(epilogue.accumulate ? region[i] ^ y[0] : y[0]);
        else if (region[i] != (uint8_t)y[0])
            epilogue.report(i, 1);
    }
};

} // namespace gfk
