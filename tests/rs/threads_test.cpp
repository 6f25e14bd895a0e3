// SPDX-License-Identifier: BSD-3-Clause
// One code, many threads; codes on streams and in graphs.
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

namespace {

constexpr int THREADS = 8;

class RsThreads : public RsTest {
  protected:
    static Indices some_loss(gfk_rs_t code, Random &random) {
        const gfk_rs_info info = info_of(code);
        return random_indices(info.k + info.m, 1 + random.below(info.m), random);
    }
    // Loses and rebuilds by the code's own decoders.
    static testing::AssertionResult decode(gfk_rs_t code, Stripe &stripe, const Stream &stream,
                                           Random &random) {
        const Indices lost = some_loss(code, random);
        stripe.lose(lost);
        require_success(stripe.decode(lost, stream.get()), "gfk_rs_decode");
        stream.finish();
        return stripe.is_whole();
    }
    testing::AssertionResult verify(gfk_rs_t code, Stripe &stripe, const Stream &stream,
                                    Random &random) {
        for (uint32_t wrong : {1u, 0u}) {
            const size_t region = random.below(info_of(code).k), at = random.below(stripe.bytes());
            stripe.write();
            if (wrong)
                stripe.flip(region, at, 1);
            const uint32_t differs = stripe.verify(stream.get());
            if (differs != wrong)
                return testing::AssertionFailure() << "differs is " << differs;
        }
        return testing::AssertionSuccess();
    }
    testing::AssertionResult update(gfk_rs_t code, Stripe &stripe, const Stream &stream,
                                    Random &random) {
        stripe.write();
        const gfk_rs_info info = info_of(code);
        const size_t region = random.below(info.k);
        const Bytes made = random.bytes(stripe.bytes());
        Memory before(host(), stripe.content(region)), after(host(), made);
        require_success(gfk_rs_update(code, region, before.data(), after.data(), stripe.parity(),
                                      stripe.bytes(), stream.get()),
                        "gfk_rs_update");
        stream.finish();
        stripe.change(region, 0, made);
        const testing::AssertionResult result = stripe.is_rebuilt(indices(info.k, info.k + info.m));
        stripe.write();
        return result;
    }
    // Threads with a stripe and a stream each do the same in rounds.
    using Round = std::function<testing::AssertionResult(Stripe &, const Stream &, Random &, int)>;
    void in_threads(gfk_rs_t code, size_t symbols, int rounds, const Round &round,
                    int threads = THREADS) {
        on_threads(threads, [&](int t) {
            Random random(static_cast<uint64_t>(t));
            Stripe stripe(host(), code, symbols * symbol_bytes(), Layout::PHASES, random);
            const Stream stream(host());
            testing::AssertionResult result = testing::AssertionSuccess();
            for (int i = 0; i < rounds && result; i++) {
                result = round(stripe, stream, random, i);
                count_checked();
            }
            return result;
        });
    }
};

// A child has the code, but none of the threads behind it.
TEST_P(RsThreads, Fork) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer allows no fork beside threads";
#endif
    if (!host())
        GTEST_SKIP() << "CUDA does not survive fork";
    RsCode code = make_code({GFK_RS_CAUCHY, 10, 4});
    Random random;
    Stripe stripe(true, code.get(), 1 << 20, Layout::PHASES, random);
    ASSERT_OK(stripe.encode());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(60); // kills who waits for threads that are not there
        stripe.lose({11, 12});
        const gfk_status status = stripe.encode();
        code.reset();
        _exit(status == GFK_STATUS_SUCCESS && stripe.is_whole() ? 0 : 1);
    }
    int ended = 0;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
    ASSERT_OK(stripe.encode());
    EXPECT_TRUE(stripe.is_whole());
    count_checked(1);
}

// 298 losses and 9 updaters for a cache of 64.
TEST_P(RsThreads, ShareACode) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 9, 3});
    in_threads(code.get(), 40, options.reduced ? 40 : 150,
               [&](Stripe &stripe, const Stream &stream, Random &random, int round) {
                   testing::AssertionResult result = decode(code.get(), stripe, stream, random);
                   if (result && round % 4 == 0)
                       result = verify(code.get(), stripe, stream, random);
                   if (result && round % 3 == 0)
                       result = update(code.get(), stripe, stream, random);
                   return result;
               });
}

// All threads want the same few decoders at once, so several make the same one.
TEST_P(RsThreads, SameLoss) {
    for (int again = 0; again < 10; again++) {
        const RsCode code = make_code({GFK_RS_CAUCHY, 3, 1});
        in_threads(code.get(), 10, 4, [&](Stripe &stripe, auto &stream, Random &random, int) {
            return decode(code.get(), stripe, stream, random);
        });
    }
}

// More threads than the cache has places, in calls that take a while.
TEST_P(RsThreads, Crowd) {
    if (!host())
        GTEST_SKIP() << "calls on a device do not take a while";
    const RsCode code = make_code({GFK_RS_CAUCHY, 9, 3});
    in_threads(
        code.get(), options.reduced ? 500 : 5000, 3,
        [&](Stripe &stripe, auto &stream, Random &random, int) {
            return decode(code.get(), stripe, stream, random);
        },
        100);
}

// One decoder, one updater and the encoder.
TEST_P(RsThreads, ShareObjects) {
    RsCode code = make_code({GFK_RS_CAUCHY, 10, 4});
    const Indices lost = {0, 9, 3, 12};
    const Decoder decoder = make_decoder(code.get(), lost);
    in_threads(code.get(), 2000, 5, [&](Stripe &stripe, auto &stream, Random &, int) {
        stripe.lose(lost);
        require_success(stripe.run(decoder, stream.get()), "gfk_rs_decoder_run");
        stream.finish();
        const testing::AssertionResult decoded = stripe.is_whole();
        stripe.lose({10, 11, 12, 13});
        require_success(stripe.encode(stream.get()), "gfk_rs_encode");
        stream.finish();
        count_checked();
        return decoded ? stripe.is_whole() : decoded;
    });
}

// Codes come and go in all threads, with decoders in their caches.
TEST_P(RsThreads, ComeAndGo) {
    on_threads(THREADS, [&](int t) {
        Random random(static_cast<uint64_t>(t));
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int round = 0; round < (options.reduced ? 3 : 10) && result; round++) {
            const RsCode code =
                make_code({GFK_RS_CAUCHY, 1 + random.below(12), 1 + random.below(5)});
            Stripe stripe(host(), code.get(), 30 * symbol_bytes(), Layout::PHASES, random);
            const Stream stream(host());
            for (int again = 0; again < 3 && result; again++)
                result = decode(code.get(), stripe, stream, random);
            count_checked();
        }
        return result;
    });
}

// ---- streams and graphs -------------------------------------------------------------------------

class RsAsync : public RsTest {
    void set_up() override {
        if (host())
            GTEST_SKIP() << "streams are for devices";
    }
};

// Encode, lose, rebuild, verify and update in one graph, with other data each time.
TEST_P(RsAsync, Graph) {
    for (Layout::Kind layout : {Layout::PHASE, Layout::PHASES}) {
        const RsCode code = make_code({GFK_RS_CAUCHY, 10, 4});
        Random random;
        const size_t bytes = 5000 * symbol_bytes();
        Stripe stripe(false, code.get(), bytes, layout, random);
        const Indices lost = {1, 4, 8, 11}, parity = {10, 11, 12, 13};
        const Decoder decoder = make_decoder(code.get(), lost);
        const Updater updater = make_updater(code.get(), 5);
        Memory after(false, bytes);
        Word before_loss(false), after_loss(false);
        const Stream stream(false);
        const auto enqueue = [&] {
            const auto check = [](gfk_status status) { require_success(status, "in a graph"); };
            const auto verify = [&](Word &differs) {
                return gfk_rs_verify(code.get(), stripe.data(), stripe.parity(), bytes,
                                     differs.address(), stream.get());
            };
            check(stripe.encode(stream.get()));
            for (size_t region : lost)
                device::fill(stripe.at(region), 0x77, bytes, stream.get());
            check(verify(before_loss));
            check(stripe.run(decoder, stream.get()));
            check(verify(after_loss));
            check(gfk_rs_updater_run(updater.get(), stripe.at(5), after.data(), stripe.parity(),
                                     bytes, stream.get()));
        };
        enqueue(); // CUDA loads the code now
        stream.finish();
        device::Graph graph(stream.get());
        enqueue();
        graph.end();
        for (int replay = 0; replay < 20; replay++) {
            stripe.refill(random);
            stripe.lose(parity);
            const Bytes made = random.bytes(bytes);
            after.write(0, made.data(), bytes);
            before_loss.poison();
            after_loss.poison();
            graph.launch(stream.get());
            stream.finish();
            EXPECT_EQ(1u, before_loss.read());
            EXPECT_EQ(0u, after_loss.read());
            stripe.change(5, 0, made); // only parity knows
            ASSERT_TRUE(stripe.is_rebuilt(parity));
            count_checked();
        }
    }
}

// What is queued before a call is its input.
TEST_P(RsAsync, StreamOrder) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 4, 2});
    Random random;
    const size_t bytes = size_t(1) << 20;
    Stripe stripe(false, code.get(), bytes, Layout::PHASE, random);
    std::vector<std::unique_ptr<Memory>> kept;
    for (size_t i = 0; i < 4; i++)
        kept.push_back(std::make_unique<Memory>(false, stripe.content(i)));
    Word differs(false);
    const Stream stream(false);
    for (int again = 0; again < 10; again++) {
        stripe.lose({0, 1, 2, 3, 4, 5});
        differs.poison();
        for (size_t i = 0; i < 4; i++)
            device::copy(stripe.at(i), kept[i]->data(), bytes, stream.get());
        ASSERT_OK(stripe.encode(stream.get()));
        const Indices lost = {3, 0};
        for (size_t region : lost)
            device::fill(stripe.at(region), again, bytes, stream.get());
        ASSERT_OK(stripe.decode(lost, stream.get()));
        ASSERT_OK(gfk_rs_verify(code.get(), stripe.data(), stripe.parity(), bytes,
                                differs.address(), stream.get()));
        stream.finish();
        ASSERT_EQ(0u, differs.read());
        ASSERT_TRUE(stripe.is_whole());
        count_checked();
    }
}

PER_PLACE(RsThreads);
// Streams are for devices.
std::vector<RsPlace> places_on_gpu() {
    std::vector<RsPlace> list;
    for (const RsPlace &place : rs_places())
        if (!place.host())
            list.push_back(place);
    return list;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RsAsync);
INSTANTIATE_TEST_SUITE_P(Places, RsAsync, testing::ValuesIn(places_on_gpu()),
                         testing::PrintToStringParamName());

} // namespace
