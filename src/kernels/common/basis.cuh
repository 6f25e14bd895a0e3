/* SPDX-License-Identifier: BSD-3-Clause */
/* Table entries from a basis, by one thread. */
#pragma once

#include "launch.cuh"

namespace gfk {

/* The XOR of basis[first + b] over the set bits b of v. Fast where `first` is the same for a warp.
 */
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
