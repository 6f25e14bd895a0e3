// SPDX-License-Identifier: BSD-3-Clause
// Regions beyond 4 GiB, where 32-bit arithmetic would wrap: each CUDA row, and one host row a
// width.
#include <algorithm>
#include <atomic>
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

std::vector<Row> fast_cuda_rows() {
    std::vector<Row> list = cuda_rows();
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](Row row) { return (row->labels & GFK_LABEL_ABLATION) != 0; }),
               list.end());
    return list;
}

PER_ROW(Huge, fast_cuda_rows());

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

std::vector<Row> one_host_row_per_width() {
    std::vector<Row> list;
    for (Row row : host_rows())
        if (row->method == GFK_METHOD_SPLIT && *row->variant == '\0')
            list.push_back(row);
    return list;
}

PER_ROW(HugeHost, one_host_row_per_width());

} // namespace
