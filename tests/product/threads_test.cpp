// SPDX-License-Identifier: BSD-3-Clause
// Products from many threads.
#include "support/engine_fixture.h"

namespace {

class ProductThreads : public EngineTest {
  protected:
    static constexpr size_t ROWS = 3, COLS = 7;
    // One product run by a thread on its own buffers, and its own stream on a device.
    testing::AssertionResult run_often(gfk_product_t product, const Matrix &matrix, int thread) {
        Random random(static_cast<uint64_t>(thread));
        Stage stage(engine(), field(), matrix, 9000 + 33 * symbol_bytes(),
                    {thread % 2 ? Layout::PHASES : Layout::PHASE, 0, 0}, random);
        const Stream stream(on_host(engine()));
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 8 && result; again++) {
            const gfk_accumulate mode = again % 2 ? GFK_XOR : GFK_SET;
            stage.refill(random);
            stage.run(product, mode, stream.get());
            stream.finish();
            result = stage.is_product(mode);
            count_checked();
        }
        return result;
    }
};

TEST_P(ProductThreads, ShareAProduct) {
    SKIP_UNLESS_TAKES(ROWS, COLS);
    Random random;
    const Matrix matrix = random_matrix(w(), ROWS, COLS, random);
    const Product product = make_product(field(), engine(), matrix);
    on_threads(8, [&](int t) { return run_often(product.get(), matrix, t); });
}

TEST_P(ProductThreads, CreateRunDestroy) {
    SKIP_UNLESS_TAKES(ROWS, COLS);
    on_threads(8, [&](int t) {
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            Random random(static_cast<uint64_t>(100 * t + again));
            const Matrix matrix = random_matrix(w(), ROWS, COLS, random);
            const Product product = make_product(field(), engine(), matrix);
            result = run_often(product.get(), matrix, t);
        }
        return result;
    });
}

PER_ENGINE(ProductThreads, engines());

} // namespace
