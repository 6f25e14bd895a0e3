// SPDX-License-Identifier: BSD-3-Clause
// Batches of stripes, on the CPU and on a device.
#include <chrono>

#include "batch_fixture.h"

namespace {

// ---- results ------------------------------------------------------------------------------------

TEST_P(RsBatch, Shapes) {
    const size_t few = options.reduced ? 10 : 40;
    for (size_t k : {1, 2, 4, 5, 8, 10, 13, 16, 20, 24, 32})
        for (size_t m : {1, 3, 4, 6})
            check_mixed(k, m, few, 600);
}
TEST_P(RsBatch, ManyRegions) {
    check_mixed(33, 2, 20, 700);
    check_mixed(10, 20, 20, 700);
    check_mixed(100, 30, 10, 200);
}
TEST_P(RsBatch, Lengths) {
    check_mixed(6, 3, options.reduced ? 10 : 60, 5000);
    check_mixed(40, 3, options.reduced ? 4 : 10, 5000);
}
TEST_P(RsBatch, Polynomials) {
    if (GetParam().side[0] == 'i')
        GTEST_SKIP() << "ISA-L has one polynomial";
    for (uint64_t polynomial : polynomials(w()))
        check_mixed(5, 4, 6, 300, polynomial);
}

// All stripes of one length, so that they are found by a division.
TEST_P(RsBatch, SameLength) {
    for (size_t bytes : {symbol_bytes(), size_t(16), size_t(128), size_t(1000), size_t(4096)})
        for (size_t count : {1, 2, 7, 100}) {
            Random random(bytes + count);
            const RsCode code = make_code({GFK_RS_CAUCHY, 10, 4});
            Stripes stripes(host(), code.get(), random);
            for (size_t s = 0; s < (bytes > 1000 ? count / 10 + 1 : count); s++)
                stripes.add(bytes, stripes.random_loss(4), false, 0);
            SCOPED_TRACE(testing::Message() << count << " of " << bytes);
            ASSERT_NO_FATAL_FAILURE(check(code.get(), stripes, count));
        }
}

// Whole and aligned cells only, of one length and of many, for the kernels whose tasks are pieces:
// enough that every block has more pieces than its shared memory holds at a time.
TEST_P(RsBatch, Pieces) {
    const size_t count = options.reduced || host() || w() != 8 ? 6 : 300;
    for (size_t k : {3, 8, 9, 10, 13})
        for (size_t m : {2, 4})
            for (bool same : {true, false}) {
                SCOPED_TRACE(testing::Message() << "(" << k << ", " << m << ")");
                Random random(k + m);
                const RsCode code = make_code({GFK_RS_CAUCHY, k, m});
                Stripes stripes(host(), code.get(), random);
                for (size_t s = 0; s < count; s++) {
                    const size_t lacking = random.below(s % 8 == 0 ? 256 : 20);
                    const size_t cells = same ? 768 : 256 * (1 + random.below(4)) - lacking;
                    const bool encode = s % 3 == 0;
                    const size_t losses = encode ? 0 : 1 + random.below(m);
                    stripes.add(16 * cells, stripes.random_loss(losses), encode, 0);
                }
                ASSERT_NO_FATAL_FAILURE(check(code.get(), stripes, count));
            }
}

TEST_P(RsBatch, Thousands) {
    const size_t count = options.reduced ? 300 : 4096;
    Random random;
    const RsCode code = make_code({GFK_RS_CAUCHY, 10, 4});
    Stripes stripes(host(), code.get(), random);
    for (size_t s = 0; s < count; s++)
        stripes.add(w() == 8 ? 256 : 64, stripes.random_loss(4), false, 0);
    stripes.place();
    const auto start = std::chrono::steady_clock::now();
    const Batch batch = make_batch(code.get(), stripes.list());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("gfk: a batch of %zu losses took %.1f ms\n", count, 1e3 * seconds);
    if (w() == 8 && !options.reduced) {
        EXPECT_LT(seconds, 1.0); // a fifth of it is what is wanted
    }
    ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr));
    ASSERT_TRUE(stripes.is_whole());
    count_checked(count);
}

// ---- threads, streams, graphs -------------------------------------------------------------------

TEST_P(RsBatch, Threads) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 6, 3});
    on_threads(8, [&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        const Stream stream(host());
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            Stripes stripes(host(), code.get(), random);
            stripes.add_mixed(20, 400);
            stripes.place();
            const Batch batch = make_batch(code.get(), stripes.list());
            require_success(gfk_rs_batch_run(batch.get(), stream.get()), "gfk_rs_batch_run");
            stream.finish();
            result = stripes.is_whole();
            count_checked();
        }
        return result;
    });
}

TEST_P(RsBatch, Graph) {
    if (host())
        GTEST_SKIP() << "graphs are for devices";
    Random random;
    const RsCode code = make_code({GFK_RS_CAUCHY, 10, 4});
    Stripes stripes(host(), code.get(), random);
    stripes.add_mixed(30, 2000);
    stripes.place();
    const Batch batch = make_batch(code.get(), stripes.list());
    ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr)); // CUDA loads the code now
    const Stream stream(false);
    {
        device::Graph graph(stream.get());
        ASSERT_OK(gfk_rs_batch_run(batch.get(), stream.get()));
        graph.end();
        gfk_rs_info info;
        ASSERT_OK(gfk_rs_get_info(code.get(), &info));
        const bool is_clmad =
            info.product.engine->family == GFK_ENGINE_CLMAD; // as the code's products
        ASSERT_EQ(1u, graph.kernels().size());
        EXPECT_EQ(is_clmad, graph.kernels()[0].find("multiply_task") != std::string::npos)
            << graph.kernels()[0];
        for (int replay = 0; replay < 20; replay++) {
            stripes.refill();
            graph.launch(stream.get());
            stream.finish();
            ASSERT_TRUE(stripes.is_whole());
            count_checked();
        }
    }
}

PER_PLACE(RsBatch);

} // namespace
