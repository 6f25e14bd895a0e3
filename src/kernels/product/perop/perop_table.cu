/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE, fused: one lookup per symbol in the row of all products with the coefficient. w=8: rows of
 * 256 bytes in shared memory; w=16: rows of 128 KiB, gathered through the caches. */
#include "perop.cuh"

namespace {

template <int W, class Entry>
struct Table : gfk::PeropOp<W> {
    using Base = gfk::PeropOp<W>;
    using Base::n, Base::sums;
    static constexpr int words = (1 << W) * sizeof(Entry) / 4;
    static constexpr bool staged = W == 8;

    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        gfk::fill_entries((Entry *)table, basis, W);
    }
    __device__ Table(const typename Base::Params &, const uint32_t *) {}

    /* The products of a word's symbols, in a word. */
    __device__ static uint32_t product(const Entry *row, uint32_t x) {
        if constexpr (W == 8)
            return gfk::prmt(gfk::prmt(row[x & 255], row[x >> 8 & 255], 0x0040),
                             gfk::prmt(row[x >> 16 & 255], row[x >> 24], 0x0040), 0x5410);
        else
            return gfk::prmt(__ldg(row + (x & 0xffff)), __ldg(row + (x >> 16)), 0x5410);
    }

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
#pragma unroll
            for (int i = 0; i < n; i++)
                sum[j][i] ^= product((const Entry *)(coefficients + words * j), x[i]);
        }
    }
};

} // namespace

GFK_PEROP_ENGINE(table_w8, Table<8, uint8_t>)
GFK_PEROP_ENGINE(table_w16, Table<16, uint16_t>)
