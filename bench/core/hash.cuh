// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

// murmur3's finalizer: a bijection of 32-bit numbers, so what it gives for a counter is uniform.
__device__ inline uint32_t hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}
