/* SPDX-License-Identifier: BSD-3-Clause */
/* BYTWO_p and BYTWO_b, fused, on packed symbols: one doubling per bit of the coefficient, of the
 * product or of the operand. The operand's doublings serve all outputs. All threads branch alike.
 */
#include "perop.cuh"

namespace {

/* Both operations share this struct. The data of a coefficient is the coefficient. */
template <int W>
struct Bytwo : gfk::PeropOp<W> {
    struct Params {
        uint32_t polynomial; /* without its leading term, in every symbol of a word */
    };
    const uint32_t polynomial;

    static Params params(const gfk_field *field) {
        return {gfk::replicate<W>((uint32_t)(field->polynomial ^ UINT64_C(1) << W))};
    }
    __device__ explicit Bytwo(const Params &params) : polynomial(params.polynomial) {}
};

template <int W>
struct BytwoP : Bytwo<W> {
    using Base = Bytwo<W>;
    using Base::n, Base::sums;
    __device__ BytwoP(const typename Base::Params &params, const uint32_t *) : Base(params) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j >= outputs)
                break;
            const uint32_t c = coefficients[j];
            if (c == 0)
                continue;
            uint32_t product[n];
#pragma unroll
            for (int i = 0; i < n; i++)
                product[i] = x[i]; /* at c's top bit; above it the product is zero */
            for (int bit = 30 - __clz(c); bit >= 0; bit--) {
                if (c >> bit & 1) {
#pragma unroll
                    for (int i = 0; i < n; i++)
                        product[i] = gfk::double_xor<W>(product[i], this->polynomial, x[i]);
                } else {
#pragma unroll
                    for (int i = 0; i < n; i++)
                        product[i] = gfk::double_xor<W>(product[i], this->polynomial, 0);
                }
            }
#pragma unroll
            for (int i = 0; i < n; i++)
                sum[j][i] ^= product[i];
        }
    }
};

template <int W>
struct BytwoB : Bytwo<W> {
    using Base = Bytwo<W>;
    using Base::n, Base::sums;
    __device__ BytwoB(const typename Base::Params &params, const uint32_t *) : Base(params) {}

    __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
                        uint32_t (&sum)[gfk::PEROP_OUTPUTS][sums]) const {
        uint32_t c[gfk::PEROP_OUTPUTS] = {}, any = 0, operand[n];
#pragma unroll
        for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
            if (j < outputs)
                c[j] = coefficients[j];
            any |= c[j];
        }
#pragma unroll
        for (int i = 0; i < n; i++)
            operand[i] = x[i];
        for (unsigned bit = 0; any >> bit != 0;) {
#pragma unroll
            for (unsigned j = 0; j < gfk::PEROP_OUTPUTS; j++) {
                if (c[j] >> bit & 1) {
#pragma unroll
                    for (int i = 0; i < n; i++)
                        sum[j][i] ^= operand[i];
                }
            }
            if (++bit == W)
                break;
#pragma unroll
            for (int i = 0; i < n; i++)
                operand[i] = gfk::double_xor<W>(operand[i], this->polynomial, 0);
        }
    }
};

} // namespace

GFK_PEROP_ENGINE(bytwo_p_w8, BytwoP<8>)
GFK_PEROP_ENGINE(bytwo_p_w16, BytwoP<16>)
GFK_PEROP_ENGINE(bytwo_p_w32, BytwoP<32>)
GFK_PEROP_ENGINE(bytwo_b_w8, BytwoB<8>)
GFK_PEROP_ENGINE(bytwo_b_w16, BytwoB<16>)
GFK_PEROP_ENGINE(bytwo_b_w32, BytwoB<32>)
