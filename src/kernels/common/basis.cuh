/* SPDX-License-Identifier: BSD-3-Clause */
/* The basis of a constant c, and table entries from it. */
#pragma once

#include <string.h>

#include "host/region/kernel.h"
#include "portable.h"

namespace gfk {

/* The products c * 2^i, in kernel parameters and so in the constant bank. */
struct Basis {
    uint32_t v[32];

    Basis() = default;
    explicit Basis(const gfk_call *call) { memcpy(v, call->basis, sizeof v); }
};

/* The XOR of basis[first + b] over the set bits b of v. Fast where `first` is the same for
 * a warp. */
template <int BITS>
GFK_BOTH uint32_t combine(const uint32_t *basis, int first, uint32_t v) {
    uint32_t entry = 0;
    GFK_UNROLL
    for (int b = 0; b < BITS; b++)
        if (v >> b & 1)
            entry ^= basis[first + b];
    return entry;
}

/* Entry v of a table of 4 * N bytes for PRMT: of four or eight entries combine(basis, first, v). */
template <int N>
inline void pack_table(uint32_t (&table)[N], const uint32_t *basis, int first) {
    for (int i = 0; i < N; i++) {
        table[i] = 0;
        for (int v = 0; v < 4; v++)
            table[i] |= combine<3>(basis, first, 4 * i + v) << (8 * v);
    }
}

} // namespace gfk
