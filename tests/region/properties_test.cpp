// SPDX-License-Identifier: BSD-3-Clause
// What a product by a constant must be whatever the numbers are: linear, and the same every time.
#include <algorithm>

#include "support/row_fixture.h"

namespace {

class Properties : public RowTest {
  protected:
    void SetUp() override {
        RowTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        runner_ = std::make_unique<Runner>(field(), row());
        const size_t z = symbol_bytes(), tile = std::min<size_t>(row()->tile_bytes, 65536);
        lengths_ = {z, 16 - z, 48 + z, 512 + 3 * z, tile + z};
        if (options.reduced)
            lengths_ = {z, 48 + z, tile + z};
        Random random;
        constants_ = constants(w(), random);
    }

    std::unique_ptr<Runner> runner_;
    std::vector<size_t> lengths_;
    std::vector<uint32_t> constants_;
};

TEST_P(Properties, ZeroGivesZero) {
    for (size_t n : lengths_)
        for (uint32_t c : constants_) {
            ASSERT_TRUE(same(row(), c, Bytes(n), runner_->product(c, Bytes(n))));
            count_checked();
        }
}

TEST_P(Properties, SumGoesToSum) {
    Random random;
    for (size_t n : lengths_)
        for (uint32_t c : constants_) {
            const Bytes a = random.bytes(n), b = random.bytes(n);
            ASSERT_TRUE(same(row(), c, xor_of(runner_->product(c, a), runner_->product(c, b)),
                             runner_->product(c, xor_of(a, b)), GFK_SET, "f(a) + f(b) = f(a + b)"));
            count_checked();
        }
}

TEST_P(Properties, FactorsCompose) {
    Random random;
    for (size_t n : lengths_)
        for (uint32_t c : constants_) {
            const Bytes x = random.bytes(n);
            const uint32_t d = random.symbol(w());
            ASSERT_TRUE(same(row(), c, runner_->product(multiply(field(), c, d), x),
                             runner_->product(c, runner_->product(d, x)), GFK_SET,
                             "c(dx) = (cd)x"));
            count_checked();
        }
}

TEST_P(Properties, SameEveryTime) {
    Random random;
    for (size_t n : lengths_)
        for (uint32_t c : constants_) {
            const Bytes x = random.bytes(n), first = runner_->product(c, x);
            for (int again = 0; again < 2; again++)
                ASSERT_TRUE(same(row(), c, first, runner_->product(c, x), GFK_SET, "again"));
            count_checked();
        }
}

TEST_P(Properties, XorTwiceRestores) {
    Random random;
    for (size_t n : lengths_)
        for (uint32_t c : constants_) {
            const Bytes x = random.bytes(n), y = random.bytes(n);
            const Bytes once = runner_->product_xor(c, x, y);
            ASSERT_TRUE(same(row(), c, y, runner_->product_xor(c, x, once), GFK_XOR, "twice"));
            ASSERT_TRUE(same(row(), c, xor_of(y, runner_->product(c, x)), once, GFK_XOR));
            count_checked();
        }
}

PER_ROW(Properties, rows());

} // namespace
