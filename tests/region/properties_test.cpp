// SPDX-License-Identifier: BSD-3-Clause
// What a product by a constant must be whatever the numbers are: linear, and the same every time.
#include <algorithm>

#include "support/row_fixture.h"

namespace {

class Properties : public RowTest {
  protected:
    void set_up() override {
        runner_ = std::make_unique<Runner>(field(), row());
        const size_t z = symbol_bytes(), tile = std::min<size_t>(row()->tile_bytes, 65536);
        lengths_ = {z, 16 - z, 48 + z, 512 + 3 * z, tile + z};
        if (options.reduced)
            lengths_ = {z, 48 + z, tile + z};
        constants_ = constants(w(), random_);
    }
    template <class Property>
    void check(Property holds) {
        for (size_t n : lengths_)
            for (uint32_t c : constants_) {
                ASSERT_TRUE(holds(c, n));
                count_checked();
            }
    }

    Random random_;
    std::unique_ptr<Runner> runner_;
    std::vector<size_t> lengths_;
    std::vector<uint32_t> constants_;
};

TEST_P(Properties, ZeroGivesZero) {
    check([&](uint32_t c, size_t n) {
        return same(row(), c, Bytes(n), runner_->product(c, Bytes(n)));
    });
}

TEST_P(Properties, SumGoesToSum) {
    check([&](uint32_t c, size_t n) {
        const Bytes a = random_.bytes(n), b = random_.bytes(n);
        return same(row(), c, xor_of(runner_->product(c, a), runner_->product(c, b)),
                    runner_->product(c, xor_of(a, b)), GFK_SET, "f(a) + f(b) = f(a + b)");
    });
}

TEST_P(Properties, FactorsCompose) {
    check([&](uint32_t c, size_t n) {
        const Bytes x = random_.bytes(n);
        const uint32_t d = random_.symbol(w());
        return same(row(), c, runner_->product(multiply(field(), c, d), x),
                    runner_->product(c, runner_->product(d, x)), GFK_SET, "c(dx) = (cd)x");
    });
}

TEST_P(Properties, SameEveryTime) {
    check([&](uint32_t c, size_t n) {
        const Bytes x = random_.bytes(n), first = runner_->product(c, x);
        const testing::AssertionResult second =
            same(row(), c, first, runner_->product(c, x), GFK_SET, "again");
        return second ? same(row(), c, first, runner_->product(c, x), GFK_SET, "again") : second;
    });
}

TEST_P(Properties, XorTwiceRestores) {
    check([&](uint32_t c, size_t n) {
        const Bytes x = random_.bytes(n), y = random_.bytes(n);
        const Bytes once = runner_->product_xor(c, x, y);
        const testing::AssertionResult twice =
            same(row(), c, y, runner_->product_xor(c, x, once), GFK_XOR, "twice");
        return twice ? same(row(), c, xor_of(y, runner_->product(c, x)), once, GFK_XOR) : twice;
    });
}

PER_ROW(Properties, rows());

} // namespace
