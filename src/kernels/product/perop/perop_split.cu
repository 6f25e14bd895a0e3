/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT, fused. w=8 in parts of 3, 3 and 2 bits with the tables in registers, looked up by PRMT;
 * w=16 and w=32 in parts of four bits with tables of 16 entries in shared memory. What depends on
 * the input alone, the indices, is worked out once for all outputs. */
#include "kernels/common/split_332.cuh"
#include "perop.cuh"

namespace {

struct Split8 : gfk::PeropOp<8> {
    static constexpr bool fallback = true;
    static constexpr int words = 8; /* low 2, middle 2, high 1, and room for one load of four */

    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        uint8_t *bytes = (uint8_t *)table;
        gfk::fill_entries(bytes, basis, 3);
        gfk::fill_entries(bytes + 8, basis + 3, 3);
        gfk::fill_entries(bytes + 16, basis + 6, 2);
        for (int i = 20; i < 32; i++)
            bytes[i] = 0;
    }
    __device__ Split8(const Params &, const uint32_t *) {}

    __device__ static uint32_t product(const gfk::Indices332 &i, const uint4 &t, uint32_t t_high,
                                       int shift) {
        return gfk::prmt(t.x, t.y, i.low >> shift) ^ gfk::prmt(t.z, t.w, i.middle >> shift) ^
               gfk::prmt(t_high, 0, i.high >> shift);
    }

    /* Sums stay interleaved to the end. */
    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
        const gfk::AllIndices332<n> indices(x);
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint4 t = *(const uint4 *)(coefficients + words * j);
            const uint32_t high = coefficients[words * j + 4];
#pragma unroll
            for (int k = 0; k < indices.pairs; k++) {
                sum[j][2 * k] ^= product(indices.pair[k], t, high, 0);
                sum[j][2 * k + 1] ^= product(indices.pair[k], t, high, 16);
            }
        }
    }
    __device__ static void result(const uint32_t (&sum)[sums], uint32_t (&y)[n]) {
        gfk::sort_interleaved(sum, y);
    }
};

/* w = 16 and w = 32 share this struct. */
template <int W, class Entry>
struct SplitNibbles : gfk::PeropOp<W> {
    using Base = gfk::PeropOp<W>;
    static constexpr bool fallback = true;
    using Base::n, Base::sums;
    static constexpr bool updates = true;
    static constexpr int parts = W / 4, words = parts * 16 * sizeof(Entry) / 4;

    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        for (int part = 0; part < parts; part++)
            gfk::fill_entries((Entry *)table + 16 * part, basis + 4 * part, 4);
    }
    __device__ SplitNibbles(const typename Base::Params &, const uint32_t *) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
#pragma unroll
        for (int i = 0; i < n; i++) {
            unsigned index[8];
#pragma unroll
            for (int k = 0; k < 8; k++)
                index[k] = 16 * (k % parts) + (x[i] >> (4 * k) & 15);
#pragma unroll
            for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
                if (j >= outputs)
                    break;
                const Entry *t = (const Entry *)(coefficients + words * j);
                if constexpr (W == 16) {
                    const uint32_t even = t[index[0]] ^ t[index[1]] ^ t[index[2]] ^ t[index[3]];
                    const uint32_t odd = t[index[4]] ^ t[index[5]] ^ t[index[6]] ^ t[index[7]];
                    sum[j][i] ^= gfk::prmt(even, odd, 0x5410);
                } else {
#pragma unroll
                    for (int k = 0; k < 8; k++)
                        sum[j][i] ^= t[index[k]];
                }
            }
        }
    }
};
using Split16 = SplitNibbles<16, uint16_t>;
using Split32 = SplitNibbles<32, uint32_t>;

} // namespace

GFK_PEROP_FALLBACK(split_w8, Split8)
GFK_PEROP_FALLBACK(split_w16, Split16)
GFK_PEROP_FALLBACK(split_w32, Split32)
