/* SPDX-License-Identifier: BSD-3-Clause */
/* The basis of a constant c, and table entries from it. */
#pragma once

#include "host/region/kernel.h"

namespace gfk {

/* The products c * 2^i, in kernel parameters and so in the constant bank. */
struct Basis {
    uint32_t v[32];
};

inline Basis basis_of(const gfk_call *call) {
    Basis b;
    for (int i = 0; i < 32; i++)
        b.v[i] = call->basis[i];
    return b;
}

/* The XOR of basis[first + b] over the set bits b of v. Fast where `first` is the same for
 * a warp. */
template <int BITS>
__device__ inline uint32_t combine(const uint32_t *basis, int first, uint32_t v) {
    uint32_t entry = 0;
#pragma unroll
    for (int b = 0; b < BITS; b++)
        if (v >> b & 1)
            entry ^= basis[first + b];
    return entry;
}

} // namespace gfk
