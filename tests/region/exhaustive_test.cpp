// SPDX-License-Identifier: BSD-3-Clause
// Every product of w = 8; every product of w = 16 on the GPU and a sample on the host; basis,
// structured and random words of w = 32.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "oracle/oracle.h"
#include "support/row_fixture.h"

namespace {

class Exhaustive : public RowTest {
  protected:
    // Multiplies one source by each constant into a buffer of its own, and compares all of them.
    void check(const std::vector<uint32_t> &cs, const Bytes &in);
};

void Exhaustive::check(const std::vector<uint32_t> &cs, const Bytes &in) {
    Runner runner(field(), row());
    Memory src(row(), in), dst(row(), cs.size() * in.size());
    for (size_t i = 0; i < cs.size(); i++)
        runner.run(cs[i], src.data(), dst.data() + i * in.size(), in.size());
    const uint8_t *got = dst.view(0, dst.size());
    Oracle o = make_oracle(w());
    Bytes expected(in.size());
    for (size_t i = 0; i < cs.size(); i++) {
        oracle_multiply_region(o.get(), cs[i], in.data(), expected.data(), in.size());
        ASSERT_TRUE(same(Case{row(), cs[i], 0, i * in.size(), in.size(), GFK_SET}, expected.data(),
                         got + i * in.size(), in.size()));
    }
    count_checked(cs.size() * (in.size() / symbol_bytes()));
}

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
    check(cs, all_symbols(w()));
}

PER_ROW(Exhaustive, rows());

// All 65,536 constants of w = 16 by all 65,536 symbols: 8 GiB of products per row.
class Exhaustive16 : public RowTest {};

std::vector<Row> cuda_rows_w16() {
    std::vector<Row> list = cuda_rows();
    list.erase(std::remove_if(
                   list.begin(), list.end(),
                   [](Row row) { return row->w != 16 || (row->labels & GFK_LABEL_ABLATION) != 0; }),
               list.end());
    return list;
}

// c times every symbol, in order. The products by x^i are GF-Complete's; each other one is the sum
// of two smaller ones.
void expected_row(const uint32_t basis[16], uint16_t *row) {
    row[0] = 0;
    for (unsigned bit = 0; bit < 16; bit++)
        for (uint32_t v = 0; v < 1u << bit; v++)
            row[(1u << bit) + v] = static_cast<uint16_t>(row[v] ^ basis[bit]);
}

TEST_P(Exhaustive16, AllProducts) {
    constexpr uint32_t BATCH = 512;
    const Bytes in = all_symbols(16);
    const size_t n = in.size();
    std::vector<uint32_t> basis(size_t(65536) * 16);
    Oracle o = make_oracle(16);
    for (uint32_t c = 0; c < 65536; c++)
        for (unsigned bit = 0; bit < 16; bit++)
            basis[c * 16 + bit] = oracle_multiply(o.get(), c, 1u << bit);
    Runner runner(field(), row());
    Memory src(row(), in), dst(row(), BATCH * n);
    for (uint32_t first = 0; first < 65536; first += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++)
            runner.run(first + i, src.data(), dst.data() + i * n, n);
        const uint8_t *got = dst.view(0, dst.size());
        std::mutex mutex;
        testing::AssertionResult result = testing::AssertionSuccess();
        parallel(16, [&](size_t part) {
            std::vector<uint16_t> expected(65536);
            for (uint32_t i = static_cast<uint32_t>(part); i < BATCH; i += 16) {
                expected_row(&basis[(first + i) * 16], expected.data());
                if (std::memcmp(expected.data(), got + i * n, n) == 0)
                    continue;
                std::lock_guard<std::mutex> lock(mutex);
                result = same(Case{row(), first + i, 0, i * n, n, GFK_SET},
                              reinterpret_cast<const uint8_t *>(expected.data()), got + i * n, n);
            }
        });
        ASSERT_TRUE(result);
        count_checked(uint64_t(BATCH) * 65536);
    }
}

PER_ROW(Exhaustive16, cuda_rows_w16());

} // namespace
