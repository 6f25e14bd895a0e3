// SPDX-License-Identifier: BSD-3-Clause
// What calls on the regions of a code refuse, beyond what all calls do (tests/calls).
#include "fixture.h"

namespace {

class RsCallErrors : public RsTest {
  protected:
    static constexpr size_t K = 5, M = 3, BYTES = 96;
    void set_up() override {
        Random random;
        code_ = make_code({GFK_RS_CAUCHY, K, M});
        stripe_ = std::make_unique<Stripe>(host(), code_.get(), BYTES, Layout::SPACED, random);
        for (size_t region = 0; region < K + M; region++)
            pointers_.push_back(stripe_->at(region));
    }
    gfk_regions data() { return {pointers_.data(), nullptr, 0}; }
    gfk_regions parity() { return {pointers_.data() + K, nullptr, 0}; }
    // With one region elsewhere.
    template <class Fn>
    void moved(size_t region, void *to, const Fn &fn) {
        void *const before = pointers_[region];
        pointers_[region] = to;
        fn();
        pointers_[region] = before;
    }

    RsCode code_;
    std::unique_ptr<Stripe> stripe_;
    std::vector<void *> pointers_;
};

// What is lost and not wanted may be anywhere.
TEST_P(RsCallErrors, UnusedRegions) {
    const Indices lost = {0, 3, 7}, wanted = {3};
    stripe_->lose(lost);
    const Decoder decoder = make_decoder(code_.get(), lost, &wanted);
    pointers_[0] = pointers_[1]; // lost, not wanted
    pointers_[7] = reinterpret_cast<void *>(UINTPTR_MAX - 1);
    const gfk_regions d = data(), p = parity();
    ASSERT_OK(gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES, nullptr));
    EXPECT_TRUE(stripe_->is_rebuilt(wanted));
    count_checked();
}

// Parity that a decoder need not read is not to be overwritten, but may be missing.
TEST_P(RsCallErrors, UnreadParity) {
    const Indices lost = {0, 6};
    const Decoder decoder = make_decoder(code_.get(), lost);
    stripe_->lose(lost);
    const gfk_regions d = data(), p = parity();
    for (size_t region : lost)
        for (ptrdiff_t offset :
             {ptrdiff_t(1) - ptrdiff_t(BYTES), ptrdiff_t(0), ptrdiff_t(BYTES) - 1})
            moved(region, stripe_->at(7) + offset, [&] {
                EXPECT_STATUS(GFK_STATUS_OVERLAP,
                              gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES, nullptr));
                EXPECT_STATUS(
                    GFK_STATUS_OVERLAP,
                    gfk_rs_decode(code_.get(), lost.data(), 2, nullptr, 0, &d, &p, BYTES, nullptr));
                EXPECT_TRUE(stripe_->is_rebuilt({}));
                count_checked();
            });
    moved(7, nullptr,
          [&] { ASSERT_OK(gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES, nullptr)); });
    EXPECT_TRUE(stripe_->is_rebuilt(lost));
}

TEST_P(RsCallErrors, VerifyReadsRegionsThatOverlap) {
    Word differs(host());
    const gfk_regions d = data(), p = parity();
    moved(2, pointers_[3], [&] {
        EXPECT_OK(gfk_rs_verify(code_.get(), &d, &p, BYTES, differs.address(), nullptr));
        EXPECT_EQ(1u, differs.read());
        count_checked();
    });
}

TEST_P(RsCallErrors, DeltaOfOneRegionThrice) {
    EXPECT_STATUS(GFK_STATUS_OVERLAP, gfk_rs_delta(code_.get(), pointers_[0], pointers_[0],
                                                   pointers_[0], BYTES, nullptr));
    EXPECT_TRUE(stripe_->is_whole());
    count_checked();
}

TEST_P(RsCallErrors, NoBytesDoNotDiffer) {
    const gfk_regions none = {nullptr, nullptr, 0};
    Word differs(host());
    differs.poison();
    EXPECT_OK(gfk_rs_verify(code_.get(), &none, &none, 0, differs.address(), nullptr));
    EXPECT_EQ(0u, differs.read());
    count_checked();
}

// A decoder without work still wants its arguments right.
TEST_P(RsCallErrors, NothingLost) {
    const Decoder decoder = make_decoder(code_.get(), {});
    const gfk_regions d = data(), p = parity();
    EXPECT_STATUS(INVALID, gfk_rs_decoder_run(decoder.get(), nullptr, &p, BYTES, nullptr));
    EXPECT_STATUS(INVALID, gfk_rs_decoder_run(decoder.get(), &d, nullptr, BYTES, nullptr));
    for (int i = 0; i < 2; i++) // the second decoder is kept
        EXPECT_STATUS(INVALID, gfk_rs_decode(code_.get(), nullptr, 0, nullptr, 0, i ? nullptr : &d,
                                             i ? &p : nullptr, BYTES, nullptr));
    const gfk_regions none = {nullptr, nullptr, 0};
    EXPECT_OK(gfk_rs_decoder_run(decoder.get(), &none, &none, BYTES, nullptr));
    EXPECT_OK(gfk_rs_decode(code_.get(), nullptr, 0, nullptr, 0, &none, &none, BYTES, nullptr));
    if (w() > 8) {
        EXPECT_STATUS(GFK_STATUS_INVALID_SIZE,
                      gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES + 1, nullptr));
    }
    if (host()) {
        EXPECT_STATUS(
            GFK_STATUS_STREAM_ON_HOST,
            gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES, reinterpret_cast<gfk_stream_t>(this)));
    }
    count_checked(3);
}

PER_PLACE(RsCallErrors);

} // namespace
