/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP, fused: left to right, product = product * 2^g + reduction of the g bits that fall out +
 * multiple of the coefficient for the next group. w=8 with groups of 3 bits (the first has 2) and
 * both tables in registers; w=16 with groups of 6 (the first has 4) and w=32 with groups of 5 (the
 * first has 2), in shared memory, where no access pattern makes these tables collide. */
#include "kernels/common/split_332.cuh"
#include "perop.cuh"

namespace {

/* The reductions: v * x^w mod the polynomial, for v below 2^bits. */
template <class Entry>
void fill_reductions(const gfk_field *field, Entry *entry, unsigned bits) {
    uint32_t basis[32];
    gfk::fill_basis(field, (uint32_t)(field->polynomial ^ UINT64_C(1) << field->w), basis);
    gfk::fill_entries(entry, basis, bits);
}

struct Group8 : gfk::PeropOp<8> {
    static constexpr int words = 2;
    struct Params {
        uint32_t reduction[2]; /* eight bytes */
    };
    const Params &p;

    static Params params(const gfk_field *field) {
        Params params;
        fill_reductions(field, (uint8_t *)params.reduction, 3);
        return params;
    }
    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        gfk::fill_entries((uint8_t *)table, basis, 3);
    }
    __device__ Group8(const Params &params, const uint32_t *) : p(params) {}

    /* Interleaved: a holds the products of a0 b0 a1 b1, b those of a2 b2 a3 b3. The top bits of a's
     * and b's bytes are put into alternating nibbles. */
    __device__ void step(uint2 multiple, uint32_t &a, uint32_t &b, uint32_t indices) const {
        const uint32_t top = (a >> 5 & 0x07070707) | (b >> 1 & 0x70707070);
        const uint32_t r = gfk::prmt(p.reduction[0], p.reduction[1], top);
        const uint32_t s = gfk::prmt(p.reduction[0], p.reduction[1], top >> 16);
        a = (a << 3 & 0xf8f8f8f8) ^ gfk::prmt(r, s, 0x6420) ^
            gfk::prmt(multiple.x, multiple.y, indices);
        b = (b << 3 & 0xf8f8f8f8) ^ gfk::prmt(r, s, 0x7531) ^
            gfk::prmt(multiple.x, multiple.y, indices >> 16);
    }

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
        const gfk::AllIndices332<n> indices(x);
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint2 multiple = *(const uint2 *)(coefficients + words * j);
#pragma unroll
            for (int k = 0; k < indices.pairs; k++) {
                const gfk::Indices332 &i = indices.pair[k];
                uint32_t a = gfk::prmt(multiple.x, multiple.y, i.high);
                uint32_t b = gfk::prmt(multiple.x, multiple.y, i.high >> 16);
                step(multiple, a, b, i.middle);
                step(multiple, a, b, i.low);
                sum[j][2 * k] ^= a;
                sum[j][2 * k + 1] ^= b;
            }
        }
    }
    __device__ static void result(const uint32_t (&sum)[sums], uint32_t (&y)[n]) {
        gfk::sort_interleaved(sum, y);
    }
};

/* w = 16 and w = 32 share this struct. */
template <int W, class Entry, int BITS>
struct GroupShared : gfk::PeropOp<W> {
    using Base = gfk::PeropOp<W>;
    using Base::n, Base::sums;
    static constexpr int words = (1 << BITS) * sizeof(Entry) / 4, field_words = words;
    static constexpr bool field_staged = true;
    const Entry *reduction;

    static void fill_field(const gfk_field *field, uint32_t *table) {
        fill_reductions(field, (Entry *)table, BITS);
    }
    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        gfk::fill_entries((Entry *)table, basis, BITS);
    }
    __device__ GroupShared(const typename Base::Params &, const uint32_t *field)
        : reduction((const Entry *)field) {}

    /* The product of the symbol in the lower W bits of x; above them the result is not cleared. */
    __device__ uint32_t product(const Entry *multiple, uint32_t x) const {
        constexpr uint32_t mask = (1 << BITS) - 1;
        constexpr int first = (W - 1) / BITS * BITS; /* the lowest bit of the first group */
        uint32_t p = multiple[x >> first & ((1u << (W - first)) - 1)];
#pragma unroll
        for (int at = first - BITS; at >= 0; at -= BITS)
            p = p << BITS ^ reduction[p >> (W - BITS) & mask] ^ multiple[x >> at & mask];
        return p;
    }

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const Entry *multiple = (const Entry *)(coefficients + words * j);
#pragma unroll
            for (int i = 0; i < n; i++) {
                if constexpr (W == 16)
                    sum[j][i] ^=
                        gfk::prmt(product(multiple, x[i]), product(multiple, x[i] >> 16), 0x5410);
                else
                    sum[j][i] ^= product(multiple, x[i]);
            }
        }
    }
};
using Group16 = GroupShared<16, uint16_t, 6>;
using Group32 = GroupShared<32, uint32_t, 5>;

} // namespace

GFK_PEROP_ENGINE(group_w8, Group8)
GFK_PEROP_ENGINE(group_w16, Group16)
GFK_PEROP_ENGINE(group_w32, Group32)
