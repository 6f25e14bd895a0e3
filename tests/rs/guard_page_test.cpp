// SPDX-License-Identifier: BSD-3-Clause
// Codes access nothing outside the regions.
#include <cstring>

#include "fixture.h"

namespace {

class RsGuardPage : public RsTest {
  protected:
    void run_all(const RsShape &shape, size_t bytes);
};

void RsGuardPage::run_all(const RsShape &shape, size_t bytes) {
    const size_t k = shape.k, m = shape.m;
    const RsCode code = make_code(shape);
    const gfk_rs_t made = code.get();
    for (const bool phases : {false, true}) {
        Random random(bytes);
        // The parity is made by the code itself and compared by verify and decode.
        std::vector<Bytes> whole;
        for (size_t i = 0; i < k + m; i++)
            whole.push_back(random.bytes(bytes));
        LoneRegions regions(host(), k, whole, [=](size_t i) { return phases ? i % 16 : 0; });
        const gfk_regions data = *regions.in(), parity = *regions.out();
        Word differs(host());
        const auto expect_verified = [&](uint32_t expected) {
            ASSERT_OK(gfk_rs_verify(made, &data, &parity, bytes, differs.address(), nullptr));
            ASSERT_EQ(expected, differs.read());
        };
        ASSERT_OK(gfk_rs_encode(made, &data, &parity, bytes, nullptr));
        ASSERT_NO_FATAL_FAILURE(expect_verified(0));
        for (size_t i = k; i < k + m; i++)
            whole[i] = regions[i].read();

        const Indices lost = {0, k + m - 1};
        for (size_t i : lost)
            regions[i].write(random.bytes(bytes));
        ASSERT_NO_FATAL_FAILURE(expect_verified(1));
        ASSERT_OK(gfk_rs_decode(made, lost.data(), lost.size(), nullptr, 0, &data, &parity, bytes,
                                nullptr));
        for (size_t i : lost)
            ASSERT_EQ(whole[i], regions[i].read());

        const size_t index = k - 1;
        const LoneRegion before(host(), regions[index].read(), phases ? index % 16 : 0, true);
        regions[index].write(random.bytes(bytes));
        ASSERT_OK(gfk_rs_update(made, index, before.data(), regions[index].data(), &parity, bytes,
                                nullptr));
        ASSERT_NO_FATAL_FAILURE(expect_verified(0));

        size_t needed = 0;
        ASSERT_OK(gfk_rs_locate_workspace(made, bytes, &needed));
        Memory verdict(host(), sizeof(gfk_rs_verdict)), counts(host(), 8 * (k + m)),
            workspace(host(), std::max<size_t>(needed, 1));
        Bytes wrong = regions[1].read();
        wrong.back() ^= 1;
        regions[1].write(wrong);
        ASSERT_OK(gfk_rs_locate(made, &data, &parity, bytes, GFK_RS_REPAIR,
                                reinterpret_cast<gfk_rs_verdict *>(verdict.data()),
                                reinterpret_cast<uint64_t *>(counts.data()), workspace.data(),
                                needed, nullptr));
        const Bytes found = verdict.read();
        gfk_rs_verdict v;
        std::memcpy(&v, found.data(), sizeof v);
        ASSERT_EQ(v.located, 1u);
        ASSERT_NO_FATAL_FAILURE(expect_verified(0));

        const gfk_rs_stripe stripes[] = {{data, parity, bytes, nullptr, 0}};
        gfk_rs_batch_t batch = nullptr;
        for (size_t i = k; i < k + m; i++)
            regions[i].write(random.bytes(bytes));
        ASSERT_OK(gfk_rs_batch_create(&batch, made, stripes, 1, nullptr));
        const gfk_status status = gfk_rs_batch_run(batch, nullptr);
        ASSERT_OK(gfk_rs_verify(made, &data, &parity, bytes, differs.address(), nullptr));
        const uint32_t after_batch = differs.read(); // the batch has finished, too
        gfk_rs_batch_destroy(batch);
        ASSERT_OK(status);
        ASSERT_EQ(after_batch, 0u);
        count_checked();
    }
}

TEST_P(RsGuardPage, IsNeverTouched) {
    for (const RsShape &shape : {RsShape{GFK_RS_CAUCHY, 4, 2}, RsShape{GFK_RS_CAUCHY, 10, 4},
                                 RsShape{GFK_RS_VANDERMONDE, 17, 3}})
        for (const size_t bytes : {symbol_bytes(), 5 * symbol_bytes(), 4096 + symbol_bytes(),
                                   size_t{8192}}) // whole cells: batches take pieces
            ASSERT_NO_FATAL_FAILURE(run_all(shape, bytes));
}

PER_PLACE(RsGuardPage);

} // namespace
