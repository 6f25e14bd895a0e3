/* SPDX-License-Identifier: BSD-3-Clause */
/* Single symbols in memory, and the numbers that belong to a width. */
#pragma once

#include <type_traits>

#include "vector_io.cuh"

namespace gfk {

/* The unsigned integer of w bits. */
template <int W>
using Symbol = std::conditional_t<W == 8, uint8_t, std::conditional_t<W == 16, uint16_t, uint32_t>>;

/* The polynomial of a field of w bits without its leading term. */
inline uint32_t lower_polynomial(unsigned w, uint64_t polynomial) {
    return (uint32_t)(polynomial ^ UINT64_C(1) << w);
}

/* Symbol i of the symbols at p. Aligned: p is a multiple of the symbol's size. */
template <int W, bool Aligned = true>
__device__ inline uint32_t load_symbol(const uint8_t *p, uint64_t i = 0) {
    return Aligned ? ((const Symbol<W> *)p)[i] : load_bytes(p + i * (W / 8), W / 8);
}
template <int W, bool Aligned = true>
__device__ inline void store_symbol(uint8_t *p, uint64_t i, uint32_t x) {
    if (Aligned)
        ((Symbol<W> *)p)[i] = (Symbol<W>)x;
    else
        store_bytes(p + i * (W / 8), W / 8, x);
}

} // namespace gfk
