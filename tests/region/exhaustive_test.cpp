// SPDX-License-Identifier: BSD-3-Clause
// Every product of w = 8; every product of w = 16 on the GPU and a sample on the host; basis,
// structured and random words of w = 32.
#include "oracle/oracle.h"
#include "support/row_fixture.h"

namespace {

class Exhaustive : public RowTest {};

// All symbols for w = 8 and 16. For w = 32 zero, the basis, runs of ones, repeated bytes, and as
// many random words.
Bytes all_symbols(unsigned w) {
    std::vector<uint32_t> words;
    if (w < 32) {
        for (uint32_t x = 0; x <= largest(w); x++)
            words.push_back(x);
    } else {
        words.push_back(0);
        for (unsigned i = 0; i < 32; i++)
            for (unsigned j = i; j < 32; j++)
                words.push_back(largest(j + 1) & ~((1u << i) - 1));
        for (uint32_t byte = 0; byte < 256; byte++)
            for (uint32_t mask :
                 {0x01010101u, 0x00010001u, 0x01000100u, 0x01u, 0x0100u, 0x010000u, 0x01000000u})
                words.push_back(byte * mask);
        Random random(1);
        while (words.size() < 8192)
            words.push_back(random.symbol(32));
    }
    Bytes bytes(words.size() * (w / 8));
    for (size_t i = 0; i < words.size(); i++)
        set_symbol(bytes.data(), i, w, words[i]);
    return bytes;
}

// Multiplies one source by each constant into a buffer of its own, and compares all of them.
TEST_P(Exhaustive, Products) {
    std::vector<uint32_t> cs;
    Random random;
    if (w() == 8 && !options.reduced) {
        for (uint32_t c = 0; c < 256; c++)
            cs.push_back(c);
    } else {
        cs = constants(w(), random, options.reduced ? 8 : 96);
        for (unsigned i = 0; i < w(); i += options.reduced ? 5 : 1) {
            cs.push_back(1u << i);
            cs.push_back(largest(i + 1));
        }
    }
    const Bytes in = all_symbols(w());
    const size_t n = in.size();
    Runner runner(field(), row());
    Memory src(row(), in), dst(row(), cs.size() * n);
    for (size_t i = 0; i < cs.size(); i++)
        runner.run(cs[i], src.data(), dst.data() + i * n, n);
    const uint8_t *got = dst.view(0, dst.size());
    Oracle o = make_oracle(w());
    Bytes expected(n);
    for (size_t i = 0; i < cs.size(); i++) {
        oracle_multiply_region(o.get(), cs[i], in.data(), expected.data(), n);
        ASSERT_TRUE(
            same(Case{row(), cs[i], 0, i * n, n, GFK_SET}, expected.data(), got + i * n, n));
    }
    count_checked(cs.size() * (n / symbol_bytes()));
}

PER_ROW(Exhaustive, rows());

// All 65,536 constants of w = 16 by all 65,536 symbols: 8 GiB of products per row.
class Exhaustive16 : public RowTest {};

// The products of every constant by x^0, ..., x^15, by GF-Complete; each other product is a sum of
// them, made on the device.
const std::vector<uint16_t> &products_of_bits() {
    static const std::vector<uint16_t> all = [] {
        std::vector<uint16_t> products;
        Oracle o = make_oracle(16);
        for (uint32_t c = 0; c < 65536; c++)
            for (unsigned bit = 0; bit < 16; bit++)
                products.push_back(static_cast<uint16_t>(oracle_multiply(o.get(), c, 1u << bit)));
        return products;
    }();
    return all;
}

TEST_P(Exhaustive16, AllProducts) {
    constexpr uint32_t BATCH = 2048;
    const Bytes in = all_symbols(16);
    const size_t n = in.size();
    Runner runner(field(), row());
    Memory src(row(), in), dst(row(), BATCH * n), expected(row(), BATCH * n),
        bits(row(), BATCH * 32);
    for (uint32_t first = 0; first < 65536; first += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++)
            runner.run(first + i, src.data(), dst.data() + i * n, n);
        bits.write(0, &products_of_bits()[first * 16], BATCH * 32);
        device::expand_products(bits.data(), expected.data(), BATCH);
        const size_t bad = device::first_difference(expected.data(), dst.data(), BATCH * n);
        if (bad != BATCH * n) {
            const size_t i = bad / n;
            ASSERT_TRUE(same(row(), first + static_cast<uint32_t>(i), expected.read(i * n, n),
                             dst.read(i * n, n)));
        }
        count_checked(uint64_t(BATCH) * 65536);
    }
}

PER_ROW(Exhaustive16,
        rows_that([](Row row) { return !on_host(row) && row->w == 16 && !is_extra(row); }));

} // namespace
