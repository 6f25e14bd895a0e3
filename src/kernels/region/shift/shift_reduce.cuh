/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT's reduction, by shifts again. It is Barrett's: for a product H * x^w + L and the polynomial
 * p = x^w + r the quotient is (H * mu) / x^w with mu = x^(2w) / p, exact over GF(2), and the
 * remainder is L + quotient * r, cut to w bits. Both products are shifts, one per set bit of mu and
 * of r, and every irreducible polynomial takes the same path. */
#pragma once

#include "host/base/poly.h"
#include "kernels/common/symbol.cuh"

namespace gfk {

/* A shift of every symbol of a word, and which bits survive it. */
struct ShiftBy {
    uint32_t amount; /* to the right: the number of bits; to the left: 2^bits */
    uint32_t mask;
};

/* x^(2w) / polynomial, without its leading term x^w. */
inline uint32_t barrett(unsigned w, uint64_t polynomial) {
    return lower_polynomial(w, gfk_barrett_of(w, polynomial).quotient);
}

/* low += high * x^w mod the polynomial, in every symbol of N words. Params has the shifts of both
 * products: mu[], mu_count, r[] and r_count. */
template <class Params, int N>
__device__ inline void reduce(const Params &p, const uint32_t (&high)[N], uint32_t (&low)[N]) {
    uint32_t quotient[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        quotient[i] = high[i];
    for (int k = 0; k < p.mu_count; k++) {
        const ShiftBy s = p.mu[k];
#pragma unroll
        for (int i = 0; i < N; i++)
            quotient[i] ^= high[i] >> s.amount & s.mask;
    }
    for (int k = 0; k < p.r_count; k++) {
        const ShiftBy s = p.r[k];
#pragma unroll
        for (int i = 0; i < N; i++)
            low[i] ^= quotient[i] * s.amount & s.mask;
    }
}

} // namespace gfk
