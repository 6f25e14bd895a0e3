/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread takes of every region: 4 bytes or 1, to show what width is worth. load fills bytes
 * outside the region with zeros; store leaves them alone. */
#pragma once

#include "kernels/product/perop/vector_of.cuh"

namespace gfk {

/* Vectors of 4 bytes are counted from each region's first byte, whatever its phase. */
template <>
struct VectorOf<4> {
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
struct VectorOf<1> {
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
