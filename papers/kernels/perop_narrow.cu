/* SPDX-License-Identifier: BSD-3-Clause */
/* The perop engines of TABLE, LOG, BYTWO_b and SHIFT at w=8 with 4 bytes or 1 byte per thread: one
 * word. */
#include "kernels/region/shift/shift_reduce.cuh"
#include "narrow_vector.cuh"

#include "kernels/product/perop/perop.cuh"

namespace {

/* One lookup per symbol in the row of all products with the coefficient. */
template <int Bytes>
struct Table : gfk::PeropOp<8, Bytes> {
    using Base = gfk::PeropOp<8, Bytes>;
    static constexpr int words = 64;

    static void fill(const gfk_field *field, const uint32_t *, uint32_t c, uint32_t *table) {
        uint32_t basis[32];
        gfk::fill_basis(field, c, basis);
        gfk::fill_entries((uint8_t *)table, basis, 8);
    }
    __device__ Table(const typename Base::Params &, const uint32_t *) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[1],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][1]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint8_t *row = (const uint8_t *)(coefficients + words * j);
            if constexpr (Bytes == 1)
                sum[j][0] ^= row[x[0]];
            else
                sum[j][0] ^=
                    gfk::prmt(gfk::prmt(row[x[0] & 255], row[x[0] >> 8 & 255], 0x0040),
                              gfk::prmt(row[x[0] >> 16 & 255], row[x[0] >> 24], 0x0040), 0x5410);
        }
    }
};

/* A logarithm per symbol, and for every coefficient an addition and an antilogarithm; the tables of
 * perop_log_w8. */
template <int Bytes>
struct Log : gfk::PeropOp<8, Bytes> {
    using Base = gfk::PeropOp<8, Bytes>;
    struct Tables {
        uint16_t log[256];
        uint8_t antilog[1024];
    };
    static constexpr int field_words = sizeof(Tables) / 4;
    static constexpr bool field_staged = true;
    const Tables &t;

    static void fill_field(const gfk_field *field, uint32_t *tables) {
        Tables *t = (Tables *)tables;
        uint32_t x = 1;
        for (unsigned i = 0; i < 1024; i++) {
            t->antilog[i] = i < 509 ? (uint8_t)x : 0;
            if (i < 255)
                t->log[x] = (uint16_t)i;
            x = gfk_poly_multiply(x, field->generator, 8, field->polynomial);
        }
        t->log[0] = 510;
    }
    static void fill(const gfk_field *, const uint32_t *tables, uint32_t c, uint32_t *word) {
        *word = ((const Tables *)tables)->log[c];
    }
    __device__ Log(const typename Base::Params &, const uint32_t *field)
        : t(*(const Tables *)field) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[1],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][1]) const {
        uint32_t log[Bytes];
#pragma unroll
        for (int k = 0; k < Bytes; k++)
            log[k] = t.log[x[0] >> (8 * k) & 255];
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint8_t *window = t.antilog + coefficients[j];
            if constexpr (Bytes == 1)
                sum[j][0] ^= window[log[0]];
            else
                sum[j][0] ^= gfk::prmt(gfk::prmt(window[log[0]], window[log[1]], 0x0040),
                                       gfk::prmt(window[log[2]], window[log[3]], 0x0040), 0x5410);
        }
    }
};

/* One doubling of the operand per bit of the coefficients, which serves all outputs. */
template <int Bytes>
struct BytwoB : gfk::PeropOp<8, Bytes> {
    struct Params {
        uint32_t polynomial; /* without its leading term, in every symbol of a word */
    };
    const uint32_t polynomial;

    static Params params(const gfk_field *field) {
        return {gfk::replicate<8>((uint32_t)(field->polynomial ^ UINT64_C(1) << 8))};
    }
    __device__ BytwoB(const Params &params, const uint32_t *) : polynomial(params.polynomial) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[1],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][1]) const {
        uint32_t c[gfk::PEROP_OUTPUTS] = {}, any = 0, operand = x[0];
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j < outputs)
                c[j] = coefficients[j];
            any |= c[j];
        }
        for (unsigned bit = 0; any >> bit != 0;) {
#pragma unroll
            for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++)
                if (c[j] >> bit & 1)
                    sum[j][0] ^= operand;
            if (++bit == 8)
                break;
            operand = gfk::double_xor<8>(operand, polynomial, 0);
        }
    }
};

/* The lowest set bit, taken away; 0 if there is none. */
__device__ inline uint32_t take_bit(uint32_t &bits) {
    const uint32_t bit = bits & (0 - bits);
    bits ^= bit;
    return bit;
}

/* A shift for each set bit of the coefficient, as a multiplication by a power of 2, and one reduction
 * per output. A symbol has 16 bits of a register. */
template <int Bytes>
struct Shift : gfk::PeropOp<8, Bytes> {
    struct Params {
        gfk::ShiftBy mu[8], r[8];
        int mu_count, r_count;
    };
    static constexpr int sums = Bytes == 1 ? 1 : 2;
    const Params &p;

    static Params params(const gfk_field *field) {
        const uint32_t mu = gfk::barrett(8, field->polynomial);
        Params p = {};
        for (int b = 0; b < 8; b++) {
            /* The upper halves have 7 bits, so the two lowest bits of mu shift all away. */
            if (b >= 2 && mu >> b & 1)
                p.mu[p.mu_count++] = {(uint32_t)(8 - b), gfk::replicate<8>(255u >> (8 - b))};
            if (field->polynomial >> b & 1)
                p.r[p.r_count++] = {UINT32_C(1) << b, gfk::replicate<8>(255u << b & 255)};
        }
        return p;
    }
    __device__ Shift(const Params &params, const uint32_t *) : p(params) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[1],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
        uint32_t lanes[sums];
#pragma unroll
        for (int i = 0; i < sums; i++)
            lanes[i] = gfk::prmt(x[0], 0, i ? 0x4342 : 0x4140);
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            for (uint32_t bits = coefficients[j]; bits != 0;) {
                const uint32_t a = take_bit(bits), b = take_bit(bits);
#pragma unroll
                for (int i = 0; i < sums; i++)
                    sum[j][i] ^= lanes[i] * a ^ lanes[i] * b;
            }
        }
    }
    __device__ void result(const uint32_t (&sum)[sums], uint32_t (&y)[1]) const {
        const uint32_t second = sums == 1 ? 0 : sum[sums - 1];
        const uint32_t high[1] = {gfk::prmt(sum[0], second, 0x7531)};
        y[0] = gfk::prmt(sum[0], second, 0x6420);
        gfk::reduce(p, high, y);
    }
};

} // namespace

GFK_PEROP_ENGINE(table_w8_4, Table<4>)
GFK_PEROP_ENGINE(table_w8_1, Table<1>)
GFK_PEROP_ENGINE(bytwo_b_w8_4, BytwoB<4>)
GFK_PEROP_ENGINE(bytwo_b_w8_1, BytwoB<1>)
GFK_PEROP_ENGINE(shift_w8_4, Shift<4>)
GFK_PEROP_ENGINE(shift_w8_1, Shift<1>)
GFK_PEROP_ENGINE(log_w8_4, Log<4>)
GFK_PEROP_ENGINE(log_w8_1, Log<1>)
