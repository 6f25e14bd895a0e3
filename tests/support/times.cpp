// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic that results are compared with. Most of a run's time is spent here, so sanitizers leave
// this file alone.
#include "harness.h"

#include <cstring>

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

namespace {

void xor_bytes(uint8_t *__restrict to, const uint8_t *__restrict from, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] ^= from[i];
}

// x * 2 of every symbol of an array.
template <class Symbol>
void double_all(Symbol *x, size_t n, uint32_t polynomial) {
    constexpr unsigned TOP = 8 * sizeof(Symbol) - 1;
    for (size_t i = 0; i < n; i++)
        x[i] = static_cast<Symbol>(x[i] << 1 ^ (polynomial & (0u - (uint32_t(x[i]) >> TOP))));
}

// The bits of a factor, which all sums share: in, in * 2, in * 4 and so on are made once.
template <class Symbol>
void add_bits(const gfk_field &field, const std::vector<uint32_t> &factors, const uint8_t *in,
              const std::vector<uint8_t *> &sums, size_t bytes) {
    constexpr size_t PIECE = 1024; // of all sums, in the nearest cache
    bytes -= bytes % sizeof(Symbol);
    Symbol x[PIECE / sizeof(Symbol)];
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        std::memcpy(x, in + at, n);
        for (unsigned bit = 0; bit < 8 * sizeof(Symbol); bit++) {
            for (size_t j = 0; j < factors.size(); j++)
                if (factors[j] >> bit & 1)
                    xor_bytes(sums[j] + at, reinterpret_cast<const uint8_t *>(x), n);
            double_all(x, n / sizeof(Symbol), static_cast<uint32_t>(field.polynomial));
        }
    }
}

} // namespace

void add_multiples(const gfk_field &field, const std::vector<uint32_t> &factors, const void *in,
                   const std::vector<uint8_t *> &sums, size_t bytes) {
    const auto *from = static_cast<const uint8_t *>(in);
    if (field.w == 32 && bytes > 1024) { // tables are faster
        for (size_t j = 0; j < factors.size(); j++)
            Times(field, factors[j]).add(in, sums[j], bytes);
        return;
    }
    field.w == 8    ? add_bits<uint8_t>(field, factors, from, sums, bytes)
    : field.w == 16 ? add_bits<uint16_t>(field, factors, from, sums, bytes)
                    : add_bits<uint32_t>(field, factors, from, sums, bytes);
}

Times::Times(const gfk_field &field, uint32_t c) : w_(field.w) {
    for (unsigned bit = 0; bit < w_; bit++) {
        const unsigned top = 1u << bit % 8;
        uint32_t *table = table_[bit / 8];
        for (unsigned x = 0; x < top; x++)
            table[top + x] = table[x] ^ c;
        const uint64_t twice = uint64_t(c) << 1;
        c = static_cast<uint32_t>(twice >> w_ ? twice ^ field.polynomial : twice);
    }
}

template <unsigned W>
void Times::add_symbols(const void *in, void *sum, size_t bytes) const {
    const auto *from = static_cast<const uint8_t *>(in);
    auto *to = static_cast<uint8_t *>(sum);
    for (size_t i = 0; i < bytes / (W / 8) * (W / 8); i += W / 8) {
        uint32_t x = 0, y = 0; // little-endian, as the symbols are
        std::memcpy(&x, from + i, W / 8);
        for (unsigned byte = 0; byte < W / 8; byte++)
            y ^= table_[byte][x >> (8 * byte) & 255];
        uint32_t z = 0;
        std::memcpy(&z, to + i, W / 8);
        z ^= y;
        std::memcpy(to + i, &z, W / 8);
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

Bytes xor_of(Bytes a, const Bytes &b) {
    xor_bytes(a.data(), b.data(), a.size());
    return a;
}
