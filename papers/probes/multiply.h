// SPDX-License-Identifier: BSD-3-Clause
// Products of bytes modulo x^8 + x^4 + x^3 + x^2 + 1, bit by bit.
#pragma once

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

constexpr unsigned kPolynomial = 0x1d; // without its leading term

ON_BOTH constexpr unsigned multiply_byte(unsigned c, unsigned x) {
    unsigned product = 0;
    for (int bit = 0; bit < 8; bit++) {
        product ^= c >> bit & 1 ? x : 0;
        x = x & 0x80 ? (x << 1 & 0xff) ^ kPolynomial : x << 1;
    }
    return product;
}
