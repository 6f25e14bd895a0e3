/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE, fused: one lookup per symbol in the row of all products with the coefficient. w=8: rows of
 * 256 bytes in shared memory; w=16: rows of 128 KiB, gathered through the caches. */
#include "perop.cuh"

namespace {

template <int W, class Entry>
struct Table {
    static constexpr int w = W, field_words = 0;
    static constexpr int words = (1 << W) * sizeof(Entry) / 4;
    static constexpr bool staged = W == 8, field_staged = false;
    template <int BYTES>
    static constexpr int sums = (BYTES + 3) / 4;
    struct Params {};

    static Params params(const gfk_field *) { return {}; }
    static void fill_field(const gfk_field *, uint32_t *) {}
    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        gfk::fill_entries((Entry *)table, basis, W);
    }
    __device__ Table(const Params &, const uint32_t *) {}

    /* The products of a word's symbols, in a word. */
    template <int BYTES>
    __device__ uint32_t product(const Entry *row, uint32_t x) const {
        if constexpr (BYTES == 1)
            return row[x];
        else if constexpr (W == 8)
            return gfk::prmt(gfk::prmt(row[x & 255], row[x >> 8 & 255], 0x0040),
                             gfk::prmt(row[x >> 16 & 255], row[x >> 24], 0x0040), 0x5410);
        else
            return gfk::prmt(__ldg(row + (x & 0xffff)), __ldg(row + (x >> 16)), 0x5410);
    }

    template <int BYTES, int N, int S>
    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[N],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][S]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
#pragma unroll
            for (int n = 0; n < N; n++)
                sum[j][n] ^= product<BYTES>((const Entry *)(coefficients + words * j), x[n]);
        }
    }
    template <int BYTES, int N, int S>
    __device__ void result(const uint32_t (&sum)[S], uint32_t (&y)[N]) const {
#pragma unroll
        for (int n = 0; n < N; n++)
            y[n] = sum[n];
    }
};
using Table8 = Table<8, uint8_t>;
using Table16 = Table<16, uint16_t>;

} // namespace

GFK_PEROP_ENGINE(table_w8, Table8, 16)
GFK_PEROP_ENGINE(table_w8_4, Table8, 4)
GFK_PEROP_ENGINE(table_w8_1, Table8, 1)
GFK_PEROP_ENGINE(table_w16, Table16, 16)
