/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p and BYTWO_b, fused, on packed symbols: one doubling per bit of the coefficient, of the
 * product or of the operand. The operand's doublings serve all outputs. All threads branch alike.
 */
#include "perop.cuh"

namespace {

/* What both share: a coefficient's data is the coefficient, and a word's product is a word. */
template <int W>
struct Bytwo {
    static constexpr int w = W, words = 1, field_words = 0;
    static constexpr bool staged = true, field_staged = false;
    template <int BYTES>
    static constexpr int sums = (BYTES + 3) / 4;
    struct Params {
        uint32_t polynomial; /* without its leading term, in every symbol of a word */
    };
    const uint32_t polynomial;

    static Params params(const gfk_field *field) {
        return {gfk::replicate<W>((uint32_t)(field->polynomial ^ UINT64_C(1) << W))};
    }
    static void fill_field(const gfk_field *, uint32_t *) {}
    static void fill(const gfk_field *, const uint32_t *, uint32_t c, uint32_t *word) { *word = c; }
    __device__ explicit Bytwo(const Params &params) : polynomial(params.polynomial) {}

    template <int BYTES, int N, int S>
    __device__ void result(const uint32_t (&sum)[S], uint32_t (&y)[N]) const {
#pragma unroll
        for (int n = 0; n < N; n++)
            y[n] = sum[n];
    }
};

template <int W>
struct BytwoP : Bytwo<W> {
    __device__ BytwoP(const typename Bytwo<W>::Params &params, const uint32_t *)
        : Bytwo<W>(params) {}

    template <int BYTES, int N, int S>
    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[N],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][S]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint32_t c = coefficients[j];
            if (c == 0)
                continue;
            uint32_t product[N];
#pragma unroll
            for (int n = 0; n < N; n++)
                product[n] = x[n]; /* at c's top bit; above it the product is zero */
            for (int bit = 30 - __clz(c); bit >= 0; bit--) {
                if (c >> bit & 1) {
#pragma unroll
                    for (int n = 0; n < N; n++)
                        product[n] = gfk::double_xor<W>(product[n], this->polynomial, x[n]);
                } else {
#pragma unroll
                    for (int n = 0; n < N; n++)
                        product[n] = gfk::double_xor<W>(product[n], this->polynomial, 0);
                }
            }
#pragma unroll
            for (int n = 0; n < N; n++)
                sum[j][n] ^= product[n];
        }
    }
};

template <int W>
struct BytwoB : Bytwo<W> {
    __device__ BytwoB(const typename Bytwo<W>::Params &params, const uint32_t *)
        : Bytwo<W>(params) {}

    template <int BYTES, int N, int S>
    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[N],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][S]) const {
        uint32_t c[gfk::PEROP_OUTPUTS] = {}, any = 0, operand[N];
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j < outputs)
                c[j] = coefficients[j];
            any |= c[j];
        }
#pragma unroll
        for (int n = 0; n < N; n++)
            operand[n] = x[n];
        for (unsigned bit = 0; any >> bit != 0;) {
#pragma unroll
            for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
                if (c[j] >> bit & 1) {
#pragma unroll
                    for (int n = 0; n < N; n++)
                        sum[j][n] ^= operand[n];
                }
            }
            if (++bit == W)
                break;
#pragma unroll
            for (int n = 0; n < N; n++)
                operand[n] = gfk::double_xor<W>(operand[n], this->polynomial, 0);
        }
    }
};

} // namespace

GFK_PEROP_ENGINE(bytwo_p_w8, BytwoP<8>, 16)
GFK_PEROP_ENGINE(bytwo_p_w8_4, BytwoP<8>, 4)
GFK_PEROP_ENGINE(bytwo_p_w8_1, BytwoP<8>, 1)
GFK_PEROP_ENGINE(bytwo_p_w16, BytwoP<16>, 16)
GFK_PEROP_ENGINE(bytwo_p_w32, BytwoP<32>, 16)
GFK_PEROP_ENGINE(bytwo_b_w8, BytwoB<8>, 16)
GFK_PEROP_ENGINE(bytwo_b_w8_4, BytwoB<8>, 4)
GFK_PEROP_ENGINE(bytwo_b_w8_1, BytwoB<8>, 1)
GFK_PEROP_ENGINE(bytwo_b_w16, BytwoB<16>, 16)
GFK_PEROP_ENGINE(bytwo_b_w32, BytwoB<32>, 16)
