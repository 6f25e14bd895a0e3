// SPDX-License-Identifier: BSD-3-Clause
// TABLE and LOG of w = 32 for real: 16 GiB of workspace, 32 GiB of tables. Only with
// GFK_TEST_GIANT=1.
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "oracle/oracle.h"
#include "support/row_fixture.h"

namespace {

constexpr size_t GIB = size_t(1) << 30;

size_t free_bytes(Row row) {
    return on_host(row) ? free_host_bytes() : device::free_bytes();
}

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// 2^24 random symbols, then the basis, zero and all ones.
Bytes symbols() {
    Bytes in = Random(1).bytes(size_t(4) << 24);
    const size_t n = in.size() / 4;
    in.resize(in.size() + 34 * 4);
    for (unsigned i = 0; i < 32; i++)
        set_symbol(in.data(), n + i, 32, 1u << i);
    set_symbol(in.data(), n + 33, 32, 0xffffffff);
    return in;
}

class Giant : public RowTest {};

TEST_P(Giant, Products) {
    const char *wanted = std::getenv("GFK_TEST_GIANT");
    if (wanted == nullptr || std::strcmp(wanted, "1") != 0)
        GTEST_SKIP() << row()->id << ": needs up to 48 GiB of memory; set GFK_TEST_GIANT=1";
    if (free_bytes(row()) < row()->table_bytes + row()->workspace_bytes + 2 * GIB) {
        const std::string reason = std::string(row()->id) + ": too little free memory";
        if (!on_host(row()))
            SKIP_WITHOUT_GPU(reason);
        GTEST_SKIP() << reason;
    }
    const gfk_field f = field();
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = row()->id;
    desc.table_limit = row()->table_bytes + row()->workspace_bytes;
    gfk_multiplier_t made = nullptr;
    Stopwatch create;
    ASSERT_OK(gfk_multiplier_create(&made, &f, &desc));
    const Multiplier m(made);
    EXPECT_LT(create.seconds(), 60) << "to build the tables";

    const Bytes in = symbols(), acc = Random(2).bytes(in.size());
    Memory workspace(row(), row()->workspace_bytes), src(row(), in), dst(row(), acc);
    const size_t workspace_bytes = workspace.size();
    Oracle o = make_oracle(32);
    Random random;
    for (uint32_t c : {random.symbol(32) | 0x80000000u, random.symbol(32) | 2}) {
        Bytes product(in.size());
        oracle_multiply_region(o.get(), c, in.data(), product.data(), in.size());
        Stopwatch prepare;
        ASSERT_OK(gfk_region_prepare(m.get(), c, workspace.data(), workspace_bytes, nullptr));
        if (!on_host(row()))
            device::synchronize(nullptr);
        EXPECT_LT(prepare.seconds(), 60) << "to prepare a constant";
        const auto run = [&](const Memory &from, Memory &to, gfk_accumulate mode) {
            ASSERT_OK(gfk_region_multiply_prepared(m.get(), c, from.data(), to.data(), in.size(),
                                                   mode, workspace.data(), workspace_bytes,
                                                   nullptr));
            count_checked(in.size() / 4);
        };
        run(src, dst, GFK_SET);
        ASSERT_TRUE(same(row(), c, product, dst.read(), GFK_SET));
        dst.write(0, acc.data(), acc.size());
        run(src, dst, GFK_XOR);
        ASSERT_TRUE(same(row(), c, xor_of(acc, product), dst.read(), GFK_XOR));
        dst.write(0, in.data(), in.size());
        run(dst, dst, GFK_SET);
        ASSERT_TRUE(same(row(), c, product, dst.read(), GFK_SET, "in place"));
    }
}

PER_ROW(Giant, giant_rows());

} // namespace
