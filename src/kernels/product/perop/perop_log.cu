/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, fused: an input's logarithms are looked up once; for every coefficient an addition and an
 * antilogarithm. w=8: both tables in shared memory, log 0 = 510 and antilogarithms that go round
 * twice and are 0 from 509 on, so that neither a zero nor a sum needs a branch. w=16: both tables
 * through the caches. */
#include "perop.cuh"

namespace {

/* log[0 .. 2^w - 1], of which log[0] is left alone, and the powers of the generator. */
template <class Entry>
void fill_logarithms(const gfk_field *field, uint16_t *log, Entry *power) {
    const uint32_t order = (UINT32_C(1) << field->w) - 1;
    uint32_t x = 1;
    for (uint32_t i = 0; i < order; i++) {
        power[i] = (Entry)x;
        log[x] = (uint16_t)i;
        x = gfk_poly_multiply(x, field->generator, field->w, field->polynomial);
    }
}

struct Log8 : gfk::PeropOp<8> {
    struct Tables {
        uint16_t log[256];
        uint8_t antilog[1024];
    };
    static constexpr int field_words = sizeof(Tables) / 4;
    static constexpr bool field_staged = true;
    const Tables &t;

    static void fill_field(const gfk_field *field, uint32_t *tables) {
        Tables *t = (Tables *)tables;
        fill_logarithms(field, t->log, t->antilog);
        t->log[0] = 510;
        for (unsigned i = 255; i < 1024; i++)
            t->antilog[i] = i < 509 ? t->antilog[i - 255] : 0;
    }
    static void fill(const gfk_field *, const uint32_t *tables, uint32_t c, uint32_t *word) {
        *word = ((const Tables *)tables)->log[c];
    }
    __device__ Log8(const Params &, const uint32_t *field) : t(*(const Tables *)field) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
#pragma unroll
        for (int i = 0; i < n; i++) {
            uint32_t log[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                log[k] = t.log[x[i] >> (8 * k) & 255];
#pragma unroll
            for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
                if (j >= outputs)
                    break;
                const uint8_t *window = t.antilog + coefficients[j];
                sum[j][i] ^= gfk::prmt(gfk::prmt(window[log[0]], window[log[1]], 0x0040),
                                       gfk::prmt(window[log[2]], window[log[3]], 0x0040), 0x5410);
            }
        }
    }
};

struct Log16 : gfk::PeropOp<16> {
    static constexpr uint32_t order = 65535, none = 0xffffffff; /* the logarithm of c = 0 */
    struct Tables {
        uint16_t log[65536], antilog[65536];
    };
    static constexpr int field_words = sizeof(Tables) / 4;
    const Tables &t;

    static void fill_field(const gfk_field *field, uint32_t *tables) {
        Tables *t = (Tables *)tables;
        fill_logarithms(field, t->log, t->antilog);
        t->log[0] = 0; /* any: the product is masked out */
        t->antilog[order] = 1;
    }
    static void fill(const gfk_field *, const uint32_t *tables, uint32_t c, uint32_t *word) {
        *word = c ? ((const Tables *)tables)->log[c] : none;
    }
    __device__ Log16(const Params &, const uint32_t *field) : t(*(const Tables *)field) {}

    __device__ uint32_t power(uint32_t log, uint32_t log_c) const {
        const uint32_t exponent = log + log_c;
        return __ldg(t.antilog + (exponent < order ? exponent : exponent - order));
    }

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
        uint32_t even[n], odd[n], not_zero[n];
#pragma unroll
        for (int i = 0; i < n; i++) {
            even[i] = __ldg(t.log + (x[i] & 0xffff));
            odd[i] = __ldg(t.log + (x[i] >> 16));
            not_zero[i] = (x[i] & 0xffff ? 0xffff : 0) | (x[i] >> 16 ? 0xffff0000 : 0);
        }
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint32_t log_c = coefficients[j];
            if (log_c == none)
                continue;
#pragma unroll
            for (int i = 0; i < n; i++)
                sum[j][i] ^=
                    gfk::prmt(power(even[i], log_c), power(odd[i], log_c), 0x5410) & not_zero[i];
        }
    }
};

} // namespace

GFK_PEROP_ENGINE(log_w8, Log8)
GFK_PEROP_ENGINE(log_w16, Log16)
