// SPDX-License-Identifier: BSD-3-Clause
// What a product by a constant must be whatever the numbers are: linear, the same every time, in
// every field, and without an access outside the regions.
#include <algorithm>

#include "support/guarded_regions.h"

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

// In fields of other polynomials: all 30 of degree 8, several of degree 16 and 32.
class Polynomials : public RowTest {};

TEST_P(Polynomials, AgreeWithScalarArithmetic) {
    const std::vector<uint64_t> list = polynomials(w());
    ASSERT_GE(list.size(), options.reduced ? 4u : 8u);
    for (uint64_t p : list) {
        const gfk_field f = make_field(w(), p);
        Runner runner(f, row());
        Random random(p);
        Bytes in = random.bytes(64 * symbol_bytes());
        in.resize(in.size() + w() * symbol_bytes()); // and all of the basis
        for (unsigned i = 0; i < w(); i++)
            set_symbol(in.data(), 64 + i, w(), 1u << i);
        for (uint32_t c : constants(w(), random, 8)) {
            const std::string note = "polynomial " + std::to_string(p);
            ASSERT_TRUE(
                same(row(), c, product_of(f, c, in), runner.product(c, in), GFK_SET, note.c_str()));
            count_checked();
        }
    }
}

// ---- no access outside the regions --------------------------------------------------------------

std::vector<size_t> lengths_in_fences(Row row) {
    const size_t z = row->w / 8;
    std::vector<size_t> list;
    const size_t step = !options.reduced ? 1 : on_host(row) ? 7 : 21;
    for (size_t symbols = 1; symbols <= 64; symbols += step)
        list.push_back(symbols * z);
    if (!on_host(row)) // enough for full tiles; the host rows have none
        list.push_back(std::min(1060 * row->tile_bytes, size_t(9) << 20) + 5 * z);
    if (!on_host(row) && options.reduced) { // compute-sanitizer takes its time
        list.push_back(4096 + z);
        return list;
    }
    for (size_t bytes : {128 + z, 256 - z, 512 + 3 * z, 1024 - z, 4096 - z, size_t(4096), 4096 + z})
        list.push_back(bytes);
    return list;
}

class GuardPage : public RowTest {};

TEST_P(GuardPage, IsNeverTouched) {
    const bool host = on_host(row());
    Multiplier m = make_multiplier(field(), row());
    const size_t workspace_bytes = info_of(m.get()).workspace_bytes;
    const LoneRegion workspace(host, Bytes(workspace_bytes), 0, true);
    Random random;
    const auto run = [&](size_t n, const LoneRegion &src, const Bytes &in, const LoneRegion &dst,
                         const Bytes &acc, gfk_accumulate mode) {
        const uint32_t c = random.symbol(w()) | 2;
        ASSERT_OK(gfk_region_multiply(m.get(), c, src.data(), dst.data(), n, mode, workspace.data(),
                                      workspace_bytes, nullptr));
        const Bytes product = product_of(field(), c, in);
        ASSERT_TRUE(
            same(row(), c, mode == GFK_XOR ? xor_of(product, acc) : product, dst.read(), mode));
        count_checked();
    };
    // Both ends of fences; on a device the ends of allocations, at several phases.
    for (size_t n : lengths_in_fences(row()))
        for (size_t from : host ? Indices{0, 1} : Indices{0, 1, 15})
            for (size_t to : host ? Indices{0, 1} : Indices{0, 1, 3}) {
                if (!host && n > 4096 * row()->w && from + to != 0 && from + to != 4)
                    continue; // long ones aligned and with both shifted
                const Bytes in = random.bytes(n), acc = random.bytes(n);
                const LoneRegion src(host, in, from, from != 0);
                std::vector<gfk_accumulate> modes = {GFK_SET, GFK_XOR};
                if (!host) // one of them: allocating takes long
                    modes = {random.below(2) == 0 ? GFK_SET : GFK_XOR};
                for (gfk_accumulate mode : modes) {
                    const LoneRegion dst(host, acc, to, to != 0);
                    ASSERT_NO_FATAL_FAILURE(run(n, src, in, dst, acc, mode));
                }
            }
}

PER_ROW(Properties, rows());
PER_ROW(Polynomials, rows());
PER_ROW(GuardPage, rows());

} // namespace
