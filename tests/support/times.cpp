// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic that results are compared with. Most of a run's time is spent here, so sanitizers leave
// this file alone.
#include "harness.h"

uint32_t get_symbol(const void *buffer, size_t i, unsigned w) {
    const auto *p = static_cast<const uint8_t *>(buffer) + i * (w / 8);
    uint32_t symbol = 0;
    for (unsigned byte = 0; byte < w / 8; byte++)
        symbol |= static_cast<uint32_t>(p[byte]) << (8 * byte);
    return symbol;
}

void set_symbol(void *buffer, size_t i, unsigned w, uint32_t symbol) {
    auto *p = static_cast<uint8_t *>(buffer) + i * (w / 8);
    for (unsigned byte = 0; byte < w / 8; byte++)
        p[byte] = static_cast<uint8_t>(symbol >> (8 * byte));
}

Times::Times(const gfk_field &field, uint32_t c) : w_(field.w) {
    for (unsigned bit = 0; bit < w_; bit++) {
        const unsigned top = 1u << bit % 8;
        uint32_t *table = table_[bit / 8];
        for (unsigned x = 0; x < top; x++)
            table[top + x] = table[x] ^ c;
        c = multiply(field, c, 2);
    }
}

template <unsigned W>
void Times::add_symbols(const void *in, void *sum, size_t bytes) const {
    for (size_t i = 0; i < bytes / (W / 8); i++) {
        const uint32_t x = get_symbol(in, i, W);
        uint32_t y = get_symbol(sum, i, W);
        for (unsigned byte = 0; byte < W / 8; byte++)
            y ^= table_[byte][x >> (8 * byte) & 255];
        set_symbol(sum, i, W, y);
    }
}

void Times::add(const void *in, void *sum, size_t bytes) const {
    w_ == 8    ? add_symbols<8>(in, sum, bytes)
    : w_ == 16 ? add_symbols<16>(in, sum, bytes)
               : add_symbols<32>(in, sum, bytes);
}

Bytes product_of(const gfk_field &field, uint32_t c, const Bytes &in) {
    Bytes out(in.size());
    Times(field, c).add(in.data(), out.data(), in.size());
    return out;
}
