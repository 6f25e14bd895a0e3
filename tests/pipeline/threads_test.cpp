// SPDX-License-Identifier: BSD-3-Clause
// Threads that share a pipeline, and threads with pipelines of their own.
#include "fixture.h"

namespace {

class HostThreads : public HostTest {
  protected:
    // Products in a thread: its own regions and matrices.
    testing::AssertionResult work(gfk_pipeline_t pipeline, int thread) {
        Random random(static_cast<uint64_t>(thread));
        for (int again = 0; again < 6; again++) {
            const unsigned w = again % 3 == 0 ? 8 : again % 3 == 1 ? 16 : 32;
            const HostRun run =
                run_product(pipeline, make_field(w), 2, 3, 40000, again % 2 ? GFK_XOR : GFK_SET,
                            places()[static_cast<size_t>(thread + again) % 5], random);
            require_success(run.status, "gfk_product_host");
            if (!run.right)
                return run.right;
            count_checked();
        }
        return testing::AssertionSuccess();
    }
    gfk_pipeline_desc small() const {
        gfk_pipeline_desc d = desc();
        d.chunk = 20000;
        return d;
    }
};

TEST_P(HostThreads, ShareAPipeline) {
    const Pipeline pipeline = make_pipeline(small());
    on_threads(6, [&](int thread) { return work(pipeline.get(), thread); });
}

TEST_P(HostThreads, PipelinesOfTheirOwn) {
    on_threads(4, [&](int thread) {
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 3 && result; again++)
            result = work(make_pipeline(small()).get(), 10 * again + thread);
        return result;
    });
}

PER_PATH(HostThreads);

} // namespace
