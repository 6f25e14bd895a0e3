// SPDX-License-Identifier: BSD-3-Clause
// Regions beyond 4 GiB, where 32-bit arithmetic would wrap: each CUDA row, and one host row a
// width. And the rows whose tables are that large.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "oracle/oracle.h"
#include "support/row_fixture.h"

namespace {

constexpr size_t BEYOND = 4096 * MIB + 17 * MIB;

// ---- CUDA ---------------------------------------------------------------------------------------

class Huge : public RowTest {
  protected:
    // Checks a piece of `dst` = c * `src`, both in device memory, against GF-Complete.
    void spot_check(uint32_t c, const uint8_t *src, const uint8_t *dst, size_t at, size_t n) {
        Bytes in(n), got(n), expected(n);
        device::download(in.data(), src + at, n);
        device::download(got.data(), dst + at, n);
        Oracle o = make_oracle(w());
        oracle_multiply_region(o.get(), c, in.data(), expected.data(), n);
        EXPECT_TRUE(
            same(Case{row(), c, at, at, n, GFK_SET, "spot check"}, expected.data(), got.data(), n));
    }
};

TEST_P(Huge, BeyondFourGiB) {
    const size_t bytes = (options.reduced ? 16 * MIB : BEYOND) + 3 * symbol_bytes();
    if (device::free_bytes() < 3 * bytes + 512 * MIB)
        SKIP_WITHOUT_GPU("the device has too little free memory");
    Memory src(row(), bytes + 16), dst(row(), bytes + 16), expected(row(), bytes);
    device::fill_random(src.data(), bytes + 16, options.seed);
    // The reference works in pieces so short that nothing can wrap.
    Runner runner(field(), row()), reference(field(), reference_row(w(), false));
    Random random;
    const uint32_t c = random.symbol(w()) | 2;
    reference.prepare(c);
    for (size_t shift : {size_t(0), size_t(3)}) { // the fast path, and any other alignment
        const uint8_t *from = src.data() + shift;
        uint8_t *to = dst.data() + 2 * shift;
        for (size_t done = 0; done < bytes; done += 256 * MIB)
            reference.run_prepared(c, from + done, expected.data() + done,
                                   std::min(256 * MIB, bytes - done));
        runner.run(c, from, to, bytes);
        ASSERT_EQ(bytes, device::first_difference(expected.data(), to, bytes))
            << row()->id << ", constant " << c << ", shift " << shift << ": first bad byte";
        spot_check(c, from, to, 0, MIB);
        spot_check(c, from, to, bytes - MIB, MIB);
        // Adding the same product once more leaves zero.
        runner.run(c, from, to, bytes, GFK_XOR);
        device::fill(expected.data(), 0, bytes);
        ASSERT_EQ(bytes, device::first_difference(expected.data(), to, bytes))
            << row()->id << ", constant " << c << ", shift " << shift << ", xor: first bad byte";
        count_checked(2);
    }
}

PER_ROW(Huge, rows_that([](Row row) {
            return !on_host(row) && !is_extra(row) && !(row->labels & GFK_LABEL_GIANT);
        }));

// ---- host ---------------------------------------------------------------------------------------

class HugeHost : public RowTest {};

TEST_P(HugeHost, BeyondFourGiB) {
    const size_t bytes = (options.reduced ? 16 * MIB : BEYOND) + 3 * symbol_bytes();
    HostMemory room(2 * bytes + 256 * MIB);
    if (!room.is_there())
        GTEST_SKIP() << "the machine has too little free memory";
    Memory src(row(), bytes), dst(row(), bytes);
    const size_t chunks = (bytes + MIB - 1) / MIB;
    fill_in_parallel(src.data(), bytes);
    fill_in_parallel(dst.data(), bytes);
    room.release();
    Runner runner(field(), row());
    const uint32_t c = Random(1).symbol(w()) | 2;
    for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
        runner.run(c, src.data(), dst.data(), bytes, mode);
        std::atomic<size_t> bad{chunks};
        parallel(chunks, [&](size_t i) {
            const size_t n = std::min(MIB, bytes - i * MIB);
            Bytes expected(n); // zero once the product has been added twice
            if (mode == GFK_SET)
                oracle_multiply_region(make_oracle(w()).get(), c, src.data() + i * MIB,
                                       expected.data(), n);
            if (std::memcmp(expected.data(), dst.data() + i * MIB, n) != 0)
                bad = i;
        });
        ASSERT_EQ(chunks, bad) << row()->id << ", constant " << c << ", mode " << mode
                               << ": a bad MiB";
        count_checked();
    }
}

PER_ROW(HugeHost, rows_that([](Row row) { return row == reference_row(row->w, true); }));

// ---- tables of gigabytes ------------------------------------------------------------------------

size_t free_bytes(Row row) {
    return on_host(row) ? free_host_bytes() : device::free_bytes();
}

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

// TABLE and LOG of w = 32 for real: 16 GiB of workspace, 32 GiB of tables.
class Giant : public RowTest {};

TEST_P(Giant, Products) {
    const char *wanted = std::getenv("GFK_TEST_GIANT");
    if (wanted == nullptr || std::strcmp(wanted, "1") != 0)
        GTEST_SKIP() << row()->id << ": needs up to 48 GiB of memory; set GFK_TEST_GIANT=1";
    if (free_bytes(row()) < row()->table_bytes + row()->workspace_bytes + 2048 * MIB) {
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
    EXPECT_LT(seconds([&] { ASSERT_OK(gfk_multiplier_create(&made, &f, &desc)); }), 60)
        << "to build the tables";
    const Multiplier m(made);

    const Bytes in = symbols(), acc = Random(2).bytes(in.size());
    Memory workspace(row(), row()->workspace_bytes), src(row(), in), dst(row(), acc);
    const size_t workspace_bytes = workspace.size();
    Oracle o = make_oracle(32);
    Random random;
    for (uint32_t c : {random.symbol(32) | 0x80000000u, random.symbol(32) | 2}) {
        Bytes product(in.size());
        oracle_multiply_region(o.get(), c, in.data(), product.data(), in.size());
        const auto prepare = [&] {
            ASSERT_OK(gfk_region_prepare(m.get(), c, workspace.data(), workspace_bytes, nullptr));
            if (!on_host(row()))
                device::synchronize(nullptr);
        };
        EXPECT_LT(seconds(prepare), 60) << "to prepare a constant";
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
