// SPDX-License-Identifier: BSD-3-Clause
// Calls on the regions of a code: every mistake has its status and changes nothing.
#include <algorithm>
#include <cstring>
#include <functional>

#include "fixture.h"
#include "support/region_mistakes.h"

namespace {

constexpr size_t K = 5, M = 3, BYTES = 96;
class RsCallErrors : public RsTest {
  protected:
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
    gfk_stream_t no_stream() { // not NULL
        return reinterpret_cast<gfk_stream_t>(pointers_[0]);
    }

    RsCode code_;
    std::unique_ptr<Stripe> stripe_;
    std::vector<void *> pointers_;
};

TEST_P(RsCallErrors, DataAndParity) {
    const gfk_rs_t code = code_.get();
    const Indices lost = {1, 6}, sources = {0, 2, 3, 4, 5}, none;
    const Decoder decoder = make_decoder(code, lost);
    Word differs(host());
    // A call on data and parity, and what it reads and writes.
    struct Operation {
        const char *name;
        Indices reads, writes;
        std::function<gfk_status(const gfk_regions *, const gfk_regions *, size_t, gfk_stream_t)>
            run;
    };
    const Operation operations[] = {
        {"encode", indices(0, K), indices(K, K + M),
         [&](auto d, auto p, size_t n, auto s) { return gfk_rs_encode(code, d, p, n, s); }},
        {"decoder", sources, lost,
         [&](auto d, auto p, size_t n, auto s) {
             return gfk_rs_decoder_run(decoder.get(), d, p, n, s);
         }},
        {"decode", sources, lost,
         [&](auto d, auto p, size_t n, auto s) {
             return gfk_rs_decode(code, lost.data(), 2, nullptr, 0, d, p, n, s);
         }},
        {"verify", indices(0, K + M), none, [&](auto d, auto p, size_t n, auto s) {
             return gfk_rs_verify(code, d, p, n, differs.address(), s);
         }}};
    for (const Operation &operation : operations) {
        SCOPED_TRACE(operation.name);
        stripe_->lose(operation.writes);
        differs.poison();
        expect_region_mistakes(
            {pointers_, K, BYTES, symbol_bytes(), operation.reads, operation.writes,
             [&](auto d, auto p, size_t n) { return operation.run(d, p, n, nullptr); },
             [&] {
                 EXPECT_TRUE(differs.poisoned());
                 return stripe_->is_rebuilt({});
             }});
        const gfk_regions d = data(), p = parity();
        if (host()) {
            EXPECT_STATUS(GFK_STATUS_STREAM_ON_HOST, operation.run(&d, &p, BYTES, no_stream()));
            EXPECT_TRUE(stripe_->is_rebuilt({}));
        }
        // The arguments were good.
        ASSERT_OK(operation.run(&d, &p, BYTES, nullptr));
        ASSERT_TRUE(stripe_->is_rebuilt(operation.writes));
    }
    EXPECT_EQ(0u, differs.read());
}

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

TEST_P(RsCallErrors, VerifyWord) {
    Word differs(host());
    const gfk_regions d = data(), p = parity();
    differs.poison();
    const auto refused = [&](gfk_status status, void *word) {
        EXPECT_STATUS(status, gfk_rs_verify(code_.get(), &d, &p, BYTES,
                                            static_cast<uint32_t *>(word), nullptr));
        EXPECT_TRUE(stripe_->is_whole());
        EXPECT_TRUE(differs.poisoned());
        count_checked();
    };
    auto *const bytes = reinterpret_cast<uint8_t *>(differs.address());
    for (size_t offset : {1, 2, 3})
        refused(INVALID, bytes + offset);
    for (size_t region = 0; region < K + M; region++) {
        const auto start = reinterpret_cast<uintptr_t>(pointers_[region]);
        refused(GFK_STATUS_OVERLAP, reinterpret_cast<void *>(round_up(start, 4)));
        refused(GFK_STATUS_OVERLAP, reinterpret_cast<void *>((start + BYTES - 1) / 4 * 4));
    }
    // Regions that are only read may overlap.
    moved(2, pointers_[3], [&] {
        EXPECT_OK(gfk_rs_verify(code_.get(), &d, &p, BYTES, differs.address(), nullptr));
        EXPECT_EQ(1u, differs.read());
    });
}

TEST_P(RsCallErrors, NoBytes) {
    const Indices lost = {1, 6};
    const Decoder decoder = make_decoder(code_.get(), lost);
    const Updater updater = make_updater(code_.get(), 2);
    stripe_->lose(lost);
    const gfk_regions some[] = {data(), {nullptr, nullptr, 0}, {nullptr, pointers_[0], 0}};
    for (const gfk_regions &d : some)
        for (const gfk_regions &p : some) {
            Word differs(host());
            differs.poison();
            const gfk_rs_t code = code_.get();
            const gfk_status statuses[] = {
                gfk_rs_encode(code, &d, &p, 0, nullptr),
                gfk_rs_decoder_run(decoder.get(), &d, &p, 0, nullptr),
                gfk_rs_decode(code, lost.data(), 2, nullptr, 0, &d, &p, 0, nullptr),
                gfk_rs_verify(code, &d, &p, 0, differs.address(), nullptr),
                gfk_rs_updater_run(updater.get(), nullptr, nullptr, &p, 0, nullptr),
                gfk_rs_updater_apply(updater.get(), nullptr, &p, 0, nullptr),
                gfk_rs_update(code, 1, nullptr, nullptr, &p, 0, nullptr),
                gfk_rs_apply_delta(code, 1, nullptr, &p, 0, nullptr),
                gfk_rs_delta(code, nullptr, nullptr, nullptr, 0, nullptr)};
            for (size_t i = 0; i < std::size(statuses); i++)
                EXPECT_OK(statuses[i]) << "call " << i;
            EXPECT_EQ(0u, differs.read());
            EXPECT_TRUE(stripe_->is_rebuilt({}));
            count_checked(std::size(statuses));
        }
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
        EXPECT_STATUS(GFK_STATUS_STREAM_ON_HOST,
                      gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES, no_stream()));
    }
    count_checked(3);
}

// Changes: every operation gets its inputs, an output region and parity from one list.
TEST_P(RsCallErrors, Changes) {
    const gfk_rs_t code = code_.get();
    const Updater updater = make_updater(code, 2);
    Memory memory(host(), 3 * 256);
    uint8_t *const b = memory.data() + 3, *const a = memory.data() + 256 + 5,
                   *const out = memory.data() + 512 + 1;
    Random random;
    const Bytes content = random.bytes(memory.size());
    memory.write(0, content.data(), content.size());
    using Change = std::function<gfk_status(const void *, const void *, void *, const gfk_regions *,
                                            size_t, gfk_stream_t)>;
    struct {
        const char *name;
        Change call;
        bool reads_both, has_parity;
    } const changes[] = {{"updater_run",
                          [&](auto from, auto to, auto, auto p, size_t n, auto s) {
                              return gfk_rs_updater_run(updater.get(), from, to, p, n, s);
                          },
                          true, true},
                         {"updater_apply",
                          [&](auto from, auto, auto, auto p, size_t n, auto s) {
                              return gfk_rs_updater_apply(updater.get(), from, p, n, s);
                          },
                          false, true},
                         {"update",
                          [&](auto from, auto to, auto, auto p, size_t n, auto s) {
                              return gfk_rs_update(code, 2, from, to, p, n, s);
                          },
                          true, true},
                         {"apply_delta",
                          [&](auto from, auto, auto, auto p, size_t n, auto s) {
                              return gfk_rs_apply_delta(code, 2, from, p, n, s);
                          },
                          false, true},
                         {"delta",
                          [&](auto from, auto to, auto d, auto, size_t n, auto s) {
                              return gfk_rs_delta(code, from, to, d, n, s);
                          },
                          true, false}};
    for (const auto &change : changes) {
        SCOPED_TRACE(change.name);
        const gfk_regions good = parity();
        const auto refused = [&](gfk_status status, const char *what, const void *from,
                                 const void *to, void *delta, const gfk_regions *p,
                                 size_t bytes = BYTES, gfk_stream_t stream = nullptr) {
            EXPECT_STATUS(status, change.call(from, to, delta, p, bytes, stream)) << what;
            EXPECT_TRUE(stripe_->is_whole()) << what;
            EXPECT_EQ(content, memory.read()) << what;
            count_checked();
        };
        refused(INVALID, "no input", nullptr, a, out, &good);
        if (change.reads_both)
            refused(INVALID, "no second input", b, nullptr, out, &good);
        if (w() > 8)
            refused(GFK_STATUS_INVALID_SIZE, "half a symbol", b, a, out, &good, BYTES + 1);
        if (host())
            refused(GFK_STATUS_STREAM_ON_HOST, "stream", b, a, out, &good, BYTES, no_stream());
        if (change.has_parity) {
            const gfk_regions narrow = {nullptr, pointers_[K], BYTES - 1};
            const gfk_regions none = {nullptr, nullptr, BYTES};
            refused(INVALID, "no parity", b, a, out, nullptr);
            refused(INVALID, "stride", b, a, out, &narrow);
            refused(INVALID, "no base", b, a, out, &none);
            moved(K + 1, nullptr, [&] { refused(INVALID, "a region", b, a, out, &good); });
            moved(K + 1, b + BYTES - 1,
                  [&] { refused(GFK_STATUS_OVERLAP, "overlap", b, a, out, &good); });
            moved(K + 1, stripe_->at(K) + 1,
                  [&] { refused(GFK_STATUS_OVERLAP, "overlap", b, a, out, &good); });
        } else {
            refused(INVALID, "no output", b, a, nullptr, nullptr);
            for (uint8_t *input : {b, a})
                for (ptrdiff_t offset : {1 - ptrdiff_t(BYTES), ptrdiff_t(-1), ptrdiff_t(1)})
                    refused(GFK_STATUS_OVERLAP, "overlap", b, a, input + offset, nullptr);
            refused(GFK_STATUS_OVERLAP, "one region thrice", b, b, b, nullptr);
        }
    }
}

TEST_P(RsCallErrors, WrongDevice) {
    if (host() || device::count() < 2)
        GTEST_SKIP() << "there are not two GPUs";
    const gfk_rs_t code = code_.get();
    const Decoder decoder = make_decoder(code, {1, 6}), nothing = make_decoder(code, {});
    const Updater updater = make_updater(code, 2);
    const gfk_regions d = data(), p = parity();
    Word differs(false);
    const size_t lost = 1;
    device::select(1);
    const gfk_status statuses[] = {
        gfk_rs_encode(code, &d, &p, BYTES, nullptr),
        gfk_rs_decoder_run(decoder.get(), &d, &p, BYTES, nullptr),
        gfk_rs_decoder_run(nothing.get(), &d, &p, BYTES, nullptr),
        gfk_rs_decode(code, &lost, 1, nullptr, 0, &d, &p, BYTES, nullptr),
        gfk_rs_verify(code, &d, &p, BYTES, differs.address(), nullptr),
        gfk_rs_updater_run(updater.get(), pointers_[0], pointers_[1], &p, BYTES, nullptr),
        gfk_rs_delta(code, pointers_[0], pointers_[1], pointers_[2], BYTES, nullptr)};
    device::select(0);
    for (size_t i = 0; i < std::size(statuses); i++)
        EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE, statuses[i]) << "call " << i;
    EXPECT_TRUE(stripe_->is_whole());
    count_checked(std::size(statuses));
}

// Every pointer of a code that checks them; the other side's memory is there with a GPU only.
TEST_P(RsCallErrors, CheckedPointers) {
    gfk_product_desc desc = product_desc();
    desc.check_pointers = true;
    const RsCode checking = make_rs_code(desc, make_field(w()), {GFK_RS_CAUCHY, K, M});
    const gfk_rs_t code = checking.get();
    const gfk_regions d = data(), p = parity();
    Word differs(host());
    ASSERT_OK(gfk_rs_verify(code, &d, &p, BYTES, differs.address(), nullptr));
    EXPECT_EQ(0u, differs.read());
    count_checked();
    if (device::count() == 0)
        return;
    const Memory elsewhere(!host(), Bytes(BYTES));
    void *const wrong = elsewhere.data();
    const size_t lost = 1;
    EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE,
                  gfk_rs_verify(code, &d, &p, BYTES, static_cast<uint32_t *>(wrong), nullptr));
    moved(2, wrong, [&] {
        const gfk_status statuses[] = {
            gfk_rs_encode(code, &d, &p, BYTES, nullptr),
            gfk_rs_decode(code, &lost, 1, nullptr, 0, &d, &p, BYTES, nullptr),
            gfk_rs_verify(code, &d, &p, BYTES, differs.address(), nullptr),
            gfk_rs_update(code, 0, pointers_[2], pointers_[0], &p, BYTES, nullptr),
            gfk_rs_delta(code, pointers_[0], pointers_[2], pointers_[1], BYTES, nullptr)};
        for (size_t i = 0; i < std::size(statuses); i++)
            EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE, statuses[i]) << "call " << i;
        count_checked(std::size(statuses));
    });
    EXPECT_TRUE(stripe_->is_whole());
    EXPECT_FALSE(device::error_pending());
}

PER_PLACE(RsCallErrors);

} // namespace
