/* SPDX-License-Identifier: BSD-3-Clause */
/* How product kernels walk regions: cell i is the i-th aligned 16 bytes of a region, the same
 * symbols in every region. The first and the last cell may be cut short by the region's ends.
 *
 * When all regions begin at one phase modulo 16 bytes, and that phase does not cut a symbol, cells
 * are aligned in memory (Aligned). Else cells are counted from each region's first byte, and loads
 * and stores are put together from smaller ones. */
#pragma once

#include "host/product/engine.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/word.cuh"

namespace gfk {

struct Cells {
    uint64_t count;      /* cells, cut ones included */
    uint64_t full_begin; /* [full_begin, full_end) are whole */
    uint64_t full_end;
    uint64_t bytes; /* of a region */
    unsigned phase; /* bytes that the first cell lacks in front */
    bool aligned;
};

/* What becomes of an output: it is set, or XORed into what is there; or, where there are marks, it
 * is compared with what is there (gfk_product_check). */
struct Sink {
    uint32_t *marks;
    unsigned shift;
    bool accumulate;

    /* Outputs that are read come while the products are computed. */
    __device__ void prefetch(const uint8_t *p) const {
        asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
    }
    /* Some of the `bytes` bytes from `offset` on differ. */
    __device__ void mark(uint64_t offset, unsigned bytes) const {
        marks[offset >> shift] = 1;
        marks[(offset + bytes - 1) >> shift] = 1;
    }
};

/* Are outputs read? Kernels are compiled for both, for the sake of registers. */
inline bool reads_outputs(const gfk_product_call *call) {
    return call->marks != NULL || call->accumulate;
}

inline Sink sink_of(const gfk_product_call *call) {
    return {call->marks, call->shift, call->accumulate};
}

inline Cells cells_of(const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    const unsigned symbol = info->field.w / 8;
    const unsigned phase = (unsigned)((uintptr_t)gfk_region_address(call->in, 0) % 16);
    bool aligned = phase % symbol == 0;
    for (size_t i = 0; aligned && i < info->cols; i++)
        aligned = (uintptr_t)gfk_region_address(call->in, i) % 16 == phase;
    for (size_t j = 0; aligned && j < info->rows; j++)
        aligned = (uintptr_t)gfk_region_address(call->out, j) % 16 == phase;
    Cells c;
    c.aligned = aligned;
    c.phase = aligned ? phase : 0;
    c.bytes = call->bytes;
    c.count = (c.bytes + c.phase + 15) / 16;
    c.full_begin = c.phase != 0;
    c.full_end = (c.bytes + c.phase) / 16;
    /* Unaligned cells are loaded by words that may reach three bytes beyond either end. */
    if (!aligned) {
        c.full_begin = 1;
        c.full_end = c.full_end ? c.full_end - 1 : 0;
    }
    return c;
}

__device__ inline bool cell_is_full(const Cells &c, uint64_t cell) {
    return cell >= c.full_begin && cell < c.full_end;
}

/* The bytes of a cell that are in the region, as offsets into the cell. */
__device__ inline void cell_bounds(const Cells &c, uint64_t cell, unsigned *first, unsigned *last) {
    *first = cell == 0 ? c.phase : 0;
    const uint64_t end = c.bytes + c.phase - 16 * cell;
    *last = end < 16 ? (unsigned)end : 16;
}

/* A cell of a region; what is outside the region is zero. `cell` must be below count. */
template <bool Aligned>
__device__ inline uint4 load_cell(const uint8_t *region, const Cells &c, uint64_t cell) {
    const uint8_t *p = region + 16 * cell - c.phase;
    if (cell_is_full(c, cell)) {
        if (Aligned)
            return *(const uint4 *)p;
        const unsigned shift = (unsigned)((uintptr_t)p % 4);
        const uint32_t *words = (const uint32_t *)(p - shift);
        const uint32_t a = words[0], b = words[1], d = words[2], e = words[3];
        const uint32_t f = shift ? words[4] : 0;
        return make_uint4(funnel(a, b, 8 * shift), funnel(b, d, 8 * shift), funnel(d, e, 8 * shift),
                          funnel(e, f, 8 * shift));
    }
    unsigned first, last;
    cell_bounds(c, cell, &first, &last);
    uint32_t x[4] = {0, 0, 0, 0};
#pragma unroll
    for (unsigned i = 0; i < 16; i++)
        if (i >= first && i < last)
            x[i / 4] |= (uint32_t)p[i] << (8 * (i % 4));
    return make_uint4(x[0], x[1], x[2], x[3]);
}

__device__ inline uint4 operator^(uint4 a, uint4 b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

/* Writes a cell, or XORs it into what is there; nothing outside the region is touched. */
template <bool Aligned, bool Xor>
__device__ inline void write_cell(uint8_t *region, const Cells &c, uint64_t cell, uint4 value) {
    uint8_t *p = region + 16 * cell - c.phase;
    if (Aligned && cell_is_full(c, cell)) {
        if (Xor)
            value = value ^ *(const uint4 *)p;
        *(uint4 *)p = value;
        return;
    }
    const uint32_t x[4] = {value.x, value.y, value.z, value.w};
    if (!Aligned && cell_is_full(c, cell) && (uintptr_t)p % 4 == 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            ((uint32_t *)p)[i] = Xor ? ((const uint32_t *)p)[i] ^ x[i] : x[i];
        return;
    }
    unsigned first, last;
    cell_bounds(c, cell, &first, &last);
#pragma unroll
    for (unsigned i = 0; i < 16; i++) {
        if (i >= first && i < last) {
            const uint8_t y = (uint8_t)(x[i / 4] >> (8 * (i % 4)));
            p[i] = Xor ? p[i] ^ y : y;
        }
    }
}

/* Outside the region `value` is zero, as what load_cell says is there. */
template <bool Aligned>
__device__ inline void store_cell(uint8_t *region, const Cells &c, uint64_t cell, uint4 value,
                                  const Sink &sink) {
    if (sink.marks) {
        const uint4 d = value ^ load_cell<Aligned>(region, c, cell);
        if (d.x | d.y | d.z | d.w) {
            unsigned first, last;
            cell_bounds(c, cell, &first, &last);
            sink.mark(16 * cell + first - c.phase, last - first);
        }
    } else if (sink.accumulate) {
        write_cell<Aligned, true>(region, c, cell, value);
    } else {
        write_cell<Aligned, false>(region, c, cell, value);
    }
}

} // namespace gfk
