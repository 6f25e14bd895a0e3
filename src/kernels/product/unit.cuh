/* SPDX-License-Identifier: BSD-3-Clause */
/* What one thread of a product kernel takes of every region: a cell of 16 bytes, or, to see what
 * width is worth, 4 bytes or 1. A unit is `words` words in registers; what is outside the region is
 * zero and is not written. */
#pragma once

#include "cells.cuh"

namespace gfk {

template <int BYTES, bool Aligned>
struct Unit;

template <bool Aligned>
struct Unit<16, Aligned> {
    static constexpr int words = 4;

    static uint64_t count(const Cells &c) { return c.count; }
    __device__ static void load(const uint8_t *region, const Cells &c, uint64_t unit,
                                uint32_t (&x)[words]) {
        const uint4 v = load_cell<Aligned>(region, c, unit);
        x[0] = v.x;
        x[1] = v.y;
        x[2] = v.z;
        x[3] = v.w;
    }
    __device__ static void store(uint8_t *region, const Cells &c, uint64_t unit, const Sink &sink,
                                 const uint32_t (&y)[words]) {
        store_cell<Aligned>(region, c, unit, make_uint4(y[0], y[1], y[2], y[3]), sink);
    }
};

/* Units of 4 bytes are counted from each region's first byte, whatever its phase. */
template <>
struct Unit<4, false> {
    static constexpr int words = 1;

    static uint64_t count(const Cells &c) { return (c.bytes + 3) / 4; }
    __device__ static unsigned bytes_of(const Cells &c, uint64_t unit) {
        const uint64_t left = c.bytes - 4 * unit;
        return left < 4 ? (unsigned)left : 4;
    }
    __device__ static bool is_word(const uint8_t *p, unsigned bytes) {
        return bytes == 4 && (uintptr_t)p % 4 == 0;
    }
    __device__ static void load(const uint8_t *region, const Cells &c, uint64_t unit,
                                uint32_t (&x)[words]) {
        const uint8_t *p = region + 4 * unit;
        const unsigned bytes = bytes_of(c, unit);
        if (is_word(p, bytes)) {
            x[0] = *(const uint32_t *)p;
            return;
        }
        x[0] = 0;
        for (unsigned i = 0; i < bytes; i++)
            x[0] |= (uint32_t)p[i] << (8 * i);
    }
    __device__ static void store(uint8_t *region, const Cells &c, uint64_t unit, const Sink &sink,
                                 const uint32_t (&y)[words]) {
        uint8_t *p = region + 4 * unit;
        const unsigned bytes = bytes_of(c, unit);
        if (sink.marks) {
            uint32_t x[words];
            load(region, c, unit, x);
            if (x[0] != y[0])
                sink.mark(4 * unit, bytes_of(c, unit));
            return;
        }
        if (is_word(p, bytes)) {
            *(uint32_t *)p = sink.accumulate ? *(const uint32_t *)p ^ y[0] : y[0];
            return;
        }
        for (unsigned i = 0; i < bytes; i++) {
            const uint8_t byte = (uint8_t)(y[0] >> (8 * i));
            p[i] = sink.accumulate ? p[i] ^ byte : byte;
        }
    }
};

template <>
struct Unit<1, false> {
    static constexpr int words = 1;

    static uint64_t count(const Cells &c) { return c.bytes; }
    __device__ static void load(const uint8_t *region, const Cells &, uint64_t unit,
                                uint32_t (&x)[words]) {
        x[0] = region[unit];
    }
    __device__ static void store(uint8_t *region, const Cells &, uint64_t unit, const Sink &sink,
                                 const uint32_t (&y)[words]) {
        if (!sink.marks)
            region[unit] = (uint8_t)(sink.accumulate ? region[unit] ^ y[0] : y[0]);
        else if (region[unit] != (uint8_t)y[0])
            sink.mark(unit, 1);
    }
};

} // namespace gfk
