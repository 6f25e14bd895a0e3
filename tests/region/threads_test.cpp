// SPDX-License-Identifier: BSD-3-Clause
// Many threads, one multiplier; and multipliers that come and go in all threads at once.
#include "support/row_fixture.h"

namespace {

constexpr int THREADS = 8;

class Threads : public RowTest {
  protected:
    // What one thread multiplies: its own constants and data, the products known beforehand.
    struct Work {
        std::vector<uint32_t> cs;
        Bytes in;
        std::vector<Bytes> products;
    };
    std::vector<Work> make_work(size_t bytes) {
        std::vector<Work> all(THREADS);
        for (int t = 0; t < THREADS; t++) {
            Random random(t);
            all[t].cs = {random.symbol(w()) | 2, random.symbol(w()) | 2, 0, 1};
            all[t].in = random.bytes(bytes);
            for (uint32_t c : all[t].cs)
                all[t].products.push_back(product_of(field(), c, all[t].in));
        }
        return all;
    }
};

TEST_P(Threads, ShareAMultiplier) {
    const size_t bytes = 4096 + 3 * symbol_bytes();
    const std::vector<Work> work = make_work(bytes);
    Multiplier m = make_multiplier(field(), row());
    const size_t workspace_bytes = info_of(m.get()).workspace_bytes;
    on_threads(THREADS, [&](int t) {
        const Stream stream(on_host(row()));
        Memory src(row(), work[t].in), dst(row(), bytes), workspace(row(), workspace_bytes);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 8; again++)
            for (size_t i = 0; i < work[t].cs.size() && result; i++) {
                const uint32_t c = work[t].cs[i];
                require_success(gfk_region_multiply(m.get(), c, src.data(), dst.data(), bytes,
                                                    GFK_SET, workspace.data(), workspace_bytes,
                                                    stream.get()),
                                row()->id);
                stream.finish();
                result = same(row(), c, work[t].products[i], dst.read(), GFK_SET, "threads");
                count_checked();
            }
        return result;
    });
}

// One prepared workspace, read by all.
TEST_P(Threads, ShareAWorkspace) {
    const size_t bytes = 1024 + symbol_bytes();
    const std::vector<Work> work = make_work(bytes);
    const uint32_t c = largest(w()) - 1;
    Runner runner(field(), row());
    runner.prepare(c);
    if (!on_host(row()))
        device::synchronize(nullptr);
    on_threads(THREADS, [&](int t) {
        const Stream stream(on_host(row()));
        Memory src(row(), work[t].in), dst(row(), bytes);
        const Bytes expected = product_of(field(), c, work[t].in);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 8 && result; again++) {
            runner.run_prepared(c, src.data(), dst.data(), bytes, GFK_SET, stream.get());
            stream.finish();
            result = same(row(), c, expected, dst.read(), GFK_SET, "threads");
            count_checked();
        }
        return result;
    });
}

TEST_P(Threads, CreateRunDestroy) {
    const size_t bytes = 256 + symbol_bytes();
    const std::vector<Work> work = make_work(bytes);
    on_threads(THREADS, [&](int t) {
        testing::AssertionResult result = testing::AssertionSuccess();
        for (size_t i = 0; i < work[t].cs.size() && result; i++) {
            Runner runner(field(), row());
            result = same(row(), work[t].cs[i], work[t].products[i],
                          runner.product(work[t].cs[i], work[t].in), GFK_SET, "threads");
            count_checked();
        }
        return result;
    });
}

PER_ROW(Threads, rows());

} // namespace
