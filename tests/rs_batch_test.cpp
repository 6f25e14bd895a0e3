// SPDX-License-Identifier: BSD-3-Clause
// Batches of stripes, on the CPU and on a device.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>

#include <gfk/rs.h>

#include "engine_test.h"

namespace {

struct CodeDeleter {
    void operator()(gfk_rs_t code) const { gfk_rs_destroy(code); }
};
using Code = std::unique_ptr<struct gfk_rs, CodeDeleter>;
struct BatchDeleter {
    void operator()(gfk_rs_batch_t batch) const { gfk_rs_batch_destroy(batch); }
};
using Batch = std::unique_ptr<struct gfk_rs_batch, BatchDeleter>;

// Stripes of one code in one buffer with random bytes between the regions. `whole` is the buffer as
// it should be; what is lost, or parity to be computed, is other bytes in memory.
class Stripes {
  public:
    Stripes(bool host, gfk_rs_t code, Random &random) : host_(host), random_(random) {
        gfk_rs_info info;
        require_success(gfk_rs_get_info(code, &info), "gfk_rs_get_info");
        field_ = info.field;
        k_ = info.k;
        m_ = info.m;
        matrix_.resize(k_ * m_);
        require_success(gfk_rs_get_matrix(code, matrix_.data()), "gfk_rs_get_matrix");
    }

    // lost: as the caller of the library would list it; encode: all parity, and no list.
    // phase: of all regions modulo 16; beyond 15: each its own.
    void add(size_t bytes, std::vector<size_t> lost, bool encode, size_t phase,
             bool spaced = false) {
        Spec spec{bytes, std::move(lost), encode, spaced, {}, {}, {}};
        const size_t slot = round_up(bytes, 16) + 48;
        for (size_t i = 0; i < k_ + m_; i++, end_ += slot)
            spec.offsets.push_back(end_ + 16 +
                                   (phase < 16 || spaced ? phase % 16 : random_.below(16)));
        specs_.push_back(std::move(spec));
    }
    // A number of stripes with every kind of length, place and loss.
    void add_mixed(size_t count, size_t most_bytes) {
        const size_t symbol = field_.w / 8;
        for (size_t s = 0; s < count; s++) {
            const size_t kind = random_.below(8);
            const size_t symbols = kind == 0   ? 0
                                   : kind == 1 ? 1
                                   : kind == 2 ? most_bytes / symbol
                                               : random_.below(most_bytes / symbol);
            const size_t place = random_.below(4);
            const size_t phase = place == 0   ? 0
                                 : place == 1 ? random_.below(16) / symbol * symbol
                                 : place == 2 ? random_.below(16)
                                              : 16;
            const bool encode = random_.below(4) == 0;
            add(symbols * symbol,
                encode ? std::vector<size_t>() : random_loss(random_.below(m_ + 1)), encode, phase,
                random_.below(3) == 0);
        }
    }
    std::vector<size_t> random_loss(size_t count) {
        std::vector<size_t> all(k_ + m_);
        std::iota(all.begin(), all.end(), 0);
        for (size_t i = 0; i < count; i++)
            std::swap(all[i], all[i + random_.below(all.size() - i)]);
        all.resize(count);
        return all;
    }

    void place() {
        memory_ = std::make_unique<Memory>(host_, end_ + 64);
        for (Spec &spec : specs_) {
            for (size_t offset : spec.offsets)
                spec.pointers.push_back(memory_->data() + offset);
            hide_unread(spec);
            gfk_rs_stripe stripe = {};
            stripe.data = {spec.pointers.data(), nullptr, 0};
            stripe.parity = {spec.pointers.data() + k_, nullptr, 0};
            if (spec.spaced) {
                const size_t stride = spec.offsets[1] - spec.offsets[0];
                stripe.data = {nullptr, memory_->data() + spec.offsets[0], stride};
                stripe.parity = {nullptr, memory_->data() + spec.offsets[k_], stride};
            }
            stripe.bytes = spec.bytes;
            static const size_t none = 0;
            stripe.lost = spec.encode ? nullptr : spec.lost.empty() ? &none : spec.lost.data();
            stripe.lost_count = spec.lost.size();
            list_.push_back(stripe);
        }
        refill();
    }
    void refill() {
        const unsigned w = field_.w;
        whole_ = random_.bytes(end_ + 64);
        damaged_ = whole_;
        for (const Spec &spec : specs_) {
            for (size_t j = 0; j < m_; j++)
                for (size_t s = 0; s < spec.bytes / (w / 8); s++) {
                    uint32_t sum = 0;
                    for (size_t i = 0; i < k_; i++)
                        sum ^= times(matrix_[j * k_ + i],
                                     get_symbol(whole_.data() + spec.offsets[i], s, w));
                    set_symbol(whole_.data() + spec.offsets[k_ + j], s, w, sum);
                }
            std::vector<bool> lost(k_ + m_, false);
            for (size_t i : spec.lost)
                lost[i] = true;
            for (size_t i = 0; i < k_ + m_; i++)
                if (!lost[i] && !(spec.encode && i >= k_))
                    std::memcpy(damaged_.data() + spec.offsets[i], whole_.data() + spec.offsets[i],
                                spec.bytes);
            for (size_t i : spec.lost)
                random_.fill(damaged_.data() + spec.offsets[i], spec.bytes);
        }
        memory_->write(0, damaged_.data(), damaged_.size());
    }
    std::vector<gfk_rs_stripe> &list() { return list_; }
    // A stripe that is left out stays as it is.
    void leave_out(size_t s) {
        const Spec &spec = specs_[s];
        for (size_t offset : spec.offsets)
            std::memcpy(whole_.data() + offset, damaged_.data() + offset, spec.bytes);
    }
    testing::AssertionResult is_whole() { return is(whole_); }
    testing::AssertionResult is_untouched() { return is(damaged_); }

  private:
    struct Spec {
        size_t bytes;
        std::vector<size_t> lost;
        bool encode, spaced;
        std::vector<size_t> offsets;
        std::vector<void *> pointers;
        std::vector<bool> unused;
    };

    // The last parity regions are not read when fewer than m regions are lost.
    void hide_unread(Spec &spec) {
        if (spec.encode || spec.spaced)
            return;
        size_t needed = 0; // data regions that parity must stand for
        for (size_t i : spec.lost)
            needed += i < k_;
        for (size_t j = 0; j < m_; j++) {
            const bool lost =
                std::find(spec.lost.begin(), spec.lost.end(), k_ + j) != spec.lost.end();
            if (lost)
                continue;
            if (needed != 0)
                needed--;
            else
                spec.pointers[k_ + j] = nullptr;
        }
    }
    uint32_t times(uint32_t a, uint32_t b) {
        if (field_.w != 8)
            return multiply(field_, a, b);
        if (products_.empty())
            for (uint32_t x = 0; x < 256; x++)
                for (uint32_t y = 0; y < 256; y++)
                    products_.push_back(static_cast<uint8_t>(multiply(field_, x, y)));
        return products_[a << 8 | b];
    }
    testing::AssertionResult is(const Bytes &expected) {
        const Bytes got = memory_->read();
        const size_t at = first_difference(expected.data(), got.data(), got.size());
        if (at == got.size())
            return testing::AssertionSuccess();
        for (size_t s = 0; s < specs_.size(); s++)
            for (size_t i = 0; i < k_ + m_; i++)
                if (at >= specs_[s].offsets[i] && at < specs_[s].offsets[i] + specs_[s].bytes)
                    return testing::AssertionFailure()
                           << "stripe " << s << " of " << specs_[s].bytes << " bytes, region " << i
                           << ", byte " << at - specs_[s].offsets[i] << "; seed " << options.seed;
        return testing::AssertionFailure()
               << "byte " << at << " is in no region; seed " << options.seed;
    }

    bool host_;
    Random &random_;
    gfk_field field_;
    size_t k_, m_;
    std::vector<uint32_t> matrix_;
    Bytes products_;
    std::vector<Spec> specs_;
    size_t end_ = 0;
    std::unique_ptr<Memory> memory_;
    Bytes whole_, damaged_;
    std::vector<gfk_rs_stripe> list_;
};

struct Place {
    bool host;
    unsigned w;
};
void PrintTo(const Place &place, std::ostream *out) {
    *out << (place.host ? "host_w" : "gpu_w") << place.w;
}

class RsBatch : public testing::TestWithParam<Place> {
  protected:
    void SetUp() override {
        if (!host() && device::count() == 0)
            SKIP_WITHOUT_GPU("there is no GPU");
    }
    bool host() const { return GetParam().host; }
    unsigned w() const { return GetParam().w; }
    size_t symbol_bytes() const { return w() / 8; }
    Code make_code(size_t k, size_t m, uint64_t polynomial = 0) {
        const gfk_field field = make_field(w(), polynomial);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        if (host())
            desc.product.family = GFK_ENGINE_HOST;
        else
            desc.product.device = device::current();
        gfk_rs_t code = nullptr;
        require_success(gfk_rs_create(&code, &field, k, m, &desc), "gfk_rs_create");
        return Code(code);
    }
    static Batch make_batch(gfk_rs_t code, const std::vector<gfk_rs_stripe> &stripes) {
        gfk_rs_batch_t batch = nullptr;
        require_success(gfk_rs_batch_create(&batch, code, stripes.data(), stripes.size(), nullptr),
                        "gfk_rs_batch_create");
        return Batch(batch);
    }
    void check_mixed(size_t k, size_t m, size_t count, size_t bytes, uint64_t polynomial = 0) {
        SCOPED_TRACE(testing::Message() << "(" << k << ", " << m << ")");
        Random random(k * 1000 + m);
        Code code = make_code(k, m, polynomial);
        Stripes stripes(host(), code.get(), random);
        stripes.add_mixed(count, bytes);
        stripes.place();
        const Batch batch = make_batch(code.get(), stripes.list());
        code.reset(); // the batch lives on
        for (int again = 0; again < 2; again++) {
            ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr));
            ASSERT_TRUE(stripes.is_whole());
            count_checked(count);
            stripes.refill();
        }
    }
};

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
    for (uint64_t polynomial : polynomials(w()))
        check_mixed(5, 4, 6, 300, polynomial);
}

// All stripes of one length, so that they are found by a division.
TEST_P(RsBatch, SameLength) {
    for (size_t bytes : {symbol_bytes(), size_t(16), size_t(128), size_t(1000), size_t(4096)})
        for (size_t count : {1, 2, 7, 100}) {
            Random random(bytes + count);
            const Code code = make_code(10, 4);
            Stripes stripes(host(), code.get(), random);
            for (size_t s = 0; s < (bytes > 1000 ? count / 10 + 1 : count); s++)
                stripes.add(bytes, stripes.random_loss(4), false, 0);
            stripes.place();
            const Batch batch = make_batch(code.get(), stripes.list());
            ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr));
            ASSERT_TRUE(stripes.is_whole()) << count << " of " << bytes;
            count_checked(count);
        }
}

TEST_P(RsBatch, Thousands) {
    const size_t count = options.reduced ? 300 : 4096;
    Random random;
    const Code code = make_code(10, 4);
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

// ---- what is wrong with a stripe ----------------------------------------------------------------

class RsBatchErrors : public RsBatch {
  protected:
    static constexpr size_t K = 5, M = 3, BYTES = 256;

    void SetUp() override {
        RsBatch::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        code_ = make_code(K, M);
        stripes_ = std::make_unique<Stripes>(host(), code_.get(), random_);
        stripes_->add(BYTES, {}, true, 0);
        stripes_->add(BYTES, {}, true, 0); // the bad one
        stripes_->add(BYTES, {4, 6}, false, 0);
        stripes_->place();
    }
    // Makes the second stripe another one, and expects that it is left out.
    void expect_left_out(gfk_status expected, const gfk_rs_stripe &bad, const char *what) {
        std::vector<gfk_rs_stripe> list = stripes_->list();
        list[1] = bad;
        gfk_rs_batch_t batch = nullptr;
        EXPECT_STATUS(expected,
                      gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), nullptr))
            << what;
        EXPECT_EQ(nullptr, batch);
        gfk_status statuses[] = {GFK_STATUS_INTERNAL, GFK_STATUS_INTERNAL, GFK_STATUS_INTERNAL};
        ASSERT_OK(gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), statuses))
            << what;
        EXPECT_STATUS(GFK_STATUS_SUCCESS, statuses[0]) << what;
        EXPECT_STATUS(expected, statuses[1]) << what;
        EXPECT_STATUS(GFK_STATUS_SUCCESS, statuses[2]) << what;
        stripes_->refill();
        stripes_->leave_out(1);
        expect_runs(batch);
        EXPECT_TRUE(stripes_->is_whole()) << what;
        gfk_rs_batch_destroy(batch);
        EXPECT_FALSE(device::error_pending()) << what;
        count_checked();
    }
    static void expect_runs(gfk_rs_batch_t batch) {
        EXPECT_STATUS(GFK_STATUS_SUCCESS, gfk_rs_batch_run(batch, nullptr));
    }
    // The second stripe with other pointers.
    void expect_pointers(gfk_status expected, std::vector<void *> pointers, const char *what,
                         const std::vector<size_t> &lost = {}) {
        gfk_rs_stripe bad = stripes_->list()[1];
        bad.data.pointers = pointers.data();
        bad.parity.pointers = pointers.data() + K;
        bad.lost = lost.empty() ? nullptr : lost.data();
        bad.lost_count = lost.size();
        expect_left_out(expected, bad, what);
    }
    std::vector<void *> pointers() {
        const gfk_rs_stripe &stripe = stripes_->list()[1];
        return {stripe.data.pointers, stripe.data.pointers + K + M};
    }

    Random random_;
    Code code_;
    std::unique_ptr<Stripes> stripes_;
};

TEST_P(RsBatchErrors, Losses) {
    gfk_rs_stripe bad = stripes_->list()[1];
    const auto with = [&](gfk_status expected, const std::vector<size_t> &lost, const char *what) {
        bad.lost = lost.data();
        bad.lost_count = lost.size();
        expect_left_out(expected, bad, what);
    };
    with(GFK_STATUS_TOO_MANY_ERASURES, {0, 1, 2, 3}, "four lost");
    with(GFK_STATUS_INVALID_ARGUMENT, {1, 1}, "one twice");
    with(GFK_STATUS_INVALID_ARGUMENT, {6, 1, 6}, "parity twice");
    with(GFK_STATUS_INVALID_ARGUMENT, {K + M}, "beyond the last");
    with(GFK_STATUS_INVALID_ARGUMENT, {std::numeric_limits<size_t>::max()}, "far beyond");
    bad.lost = nullptr;
    bad.lost_count = 1;
    expect_left_out(GFK_STATUS_INVALID_ARGUMENT, bad, "no list");
}

TEST_P(RsBatchErrors, Addresses) {
    for (size_t i = 0; i < K + M; i++) {
        std::vector<void *> bad = pointers();
        bad[i] = nullptr;
        expect_pointers(GFK_STATUS_INVALID_ARGUMENT, bad, "NULL");
        bad[i] = reinterpret_cast<void *>(UINTPTR_MAX / 16 * 16);
        expect_pointers(GFK_STATUS_INVALID_SIZE, bad, "wraps around");
    }
    for (size_t i : {size_t(0), size_t(3), K, K + 2}) {
        std::vector<void *> bad = pointers();
        bad[i] = nullptr;
        expect_pointers(GFK_STATUS_INVALID_ARGUMENT, bad, "NULL, 3 lost", {3, 0, K + 1});
    }
    gfk_rs_stripe bad = stripes_->list()[1];
    bad.data = {nullptr, nullptr, BYTES};
    expect_left_out(GFK_STATUS_INVALID_ARGUMENT, bad, "no base");
    bad.data = {nullptr, pointers()[0], BYTES - 1};
    expect_left_out(GFK_STATUS_INVALID_ARGUMENT, bad, "stride");
    bad.data = {nullptr, pointers()[0], std::numeric_limits<size_t>::max() / 2};
    expect_left_out(GFK_STATUS_INVALID_SIZE, bad, "spaced beyond the end");
}

TEST_P(RsBatchErrors, Sizes) {
    gfk_rs_stripe bad = stripes_->list()[1];
    for (size_t bytes : {size_t(1), BYTES - 1, BYTES + symbol_bytes() / 2})
        if (bytes % symbol_bytes() != 0) {
            bad.bytes = bytes;
            expect_left_out(GFK_STATUS_INVALID_SIZE, bad, "half a symbol");
        }
    bad.bytes = std::numeric_limits<size_t>::max() / 16 * 16;
    expect_left_out(GFK_STATUS_INVALID_SIZE, bad, "too long");
    if (!host()) {
        bad.bytes = size_t(1) << 36;
        expect_left_out(GFK_STATUS_INVALID_SIZE, bad, "64 GiB");
    }
}

TEST_P(RsBatchErrors, Overlap) {
    for (size_t j = K; j < K + M; j++)
        for (size_t i = 0; i < j; i++)
            for (long distance : {0L, 1L, 255L, -1L, -255L}) {
                std::vector<void *> bad = pointers();
                bad[j] = static_cast<uint8_t *>(bad[i]) + distance;
                expect_pointers(GFK_STATUS_OVERLAP, bad, "parity overlaps");
            }
    std::vector<void *> bad = pointers();
    bad[1] = static_cast<uint8_t *>(bad[K]) + 16; // lost overlaps what is read
    expect_pointers(GFK_STATUS_OVERLAP, bad, "lost overlaps", {1});
}

// Inputs may be the same, what is not read or written may overlap anything, and so may stripes that
// have nothing to do.
TEST_P(RsBatchErrors, NothingWrong) {
    std::vector<gfk_rs_stripe> list = stripes_->list();
    std::vector<void *> same = pointers();
    same[1] = same[0];
    list[0].data.pointers = list[1].data.pointers = same.data();
    list[0].parity.pointers = list[1].parity.pointers = same.data() + K;
    list[1].bytes = 0;
    list[1].data = list[1].parity = {nullptr, nullptr, 0};
    const size_t lost[] = {2};
    std::vector<void *> few = pointers();
    few[K + 1] = few[K + 2] = few[2];
    list[2].data.pointers = few.data();
    list[2].parity.pointers = few.data() + K;
    list[2].lost = lost;
    list[2].lost_count = 1;
    gfk_status statuses[3];
    gfk_rs_batch_t batch = nullptr;
    ASSERT_OK(gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), statuses));
    for (gfk_status status : statuses)
        EXPECT_STATUS(GFK_STATUS_SUCCESS, status);
    gfk_rs_batch_destroy(batch);
    count_checked();
}

// A matrix that is not MDS: some losses cannot be made good for.
TEST_P(RsBatchErrors, Singular) {
    const uint32_t ones[4] = {1, 1, 1, 1};
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = GFK_RS_CUSTOM;
    desc.custom = ones;
    desc.flags = GFK_RS_UNCHECKED;
    if (host())
        desc.product.family = GFK_ENGINE_HOST;
    else
        desc.product.device = device::current();
    const gfk_field field = make_field(w());
    gfk_rs_t made = nullptr;
    ASSERT_OK(gfk_rs_create(&made, &field, 2, 2, &desc));
    const Code code(made);
    Stripes stripes(host(), code.get(), random_);
    stripes.add(BYTES, {0, 2}, false, 0);
    stripes.add(BYTES, {0, 1}, false, 0);
    stripes.add(BYTES, {}, true, 0);
    stripes.place();
    stripes.leave_out(1);
    gfk_status statuses[3];
    gfk_rs_batch_t batch = nullptr;
    EXPECT_STATUS(GFK_STATUS_SINGULAR,
                  gfk_rs_batch_create(&batch, code.get(), stripes.list().data(), 3, nullptr));
    EXPECT_EQ(nullptr, batch);
    ASSERT_OK(gfk_rs_batch_create(&batch, code.get(), stripes.list().data(), 3, statuses));
    EXPECT_STATUS(GFK_STATUS_SUCCESS, statuses[0]);
    EXPECT_STATUS(GFK_STATUS_SINGULAR, statuses[1]);
    EXPECT_STATUS(GFK_STATUS_SUCCESS, statuses[2]);
    expect_runs(batch);
    EXPECT_TRUE(stripes.is_whole());
    gfk_rs_batch_destroy(batch);
    count_checked();
}

TEST_P(RsBatchErrors, Calls) {
    gfk_rs_batch_t batch = nullptr;
    const gfk_rs_stripe *list = stripes_->list().data();
    EXPECT_STATUS(GFK_STATUS_INVALID_ARGUMENT,
                  gfk_rs_batch_create(nullptr, code_.get(), list, 3, nullptr));
    EXPECT_STATUS(GFK_STATUS_INVALID_ARGUMENT,
                  gfk_rs_batch_create(&batch, nullptr, list, 3, nullptr));
    EXPECT_STATUS(GFK_STATUS_INVALID_ARGUMENT,
                  gfk_rs_batch_create(&batch, code_.get(), nullptr, 3, nullptr));
    EXPECT_EQ(nullptr, batch);
    EXPECT_STATUS(GFK_STATUS_INVALID_ARGUMENT, gfk_rs_batch_run(nullptr, nullptr));
    gfk_rs_batch_destroy(nullptr);
    EXPECT_TRUE(stripes_->is_untouched());

    // No stripes at all.
    ASSERT_OK(gfk_rs_batch_create(&batch, code_.get(), nullptr, 0, nullptr));
    expect_runs(batch);
    if (host()) {
        int anything = 0;
        EXPECT_STATUS(GFK_STATUS_STREAM_ON_HOST,
                      gfk_rs_batch_run(batch, reinterpret_cast<gfk_stream_t>(&anything)));
    }
    gfk_rs_batch_destroy(batch);
    if (host()) {
        int anything = 0;
        const Batch full = make_batch(code_.get(), stripes_->list());
        EXPECT_STATUS(GFK_STATUS_STREAM_ON_HOST,
                      gfk_rs_batch_run(full.get(), reinterpret_cast<gfk_stream_t>(&anything)));
    }
    EXPECT_TRUE(stripes_->is_untouched());
    count_checked();
}

TEST_P(RsBatchErrors, WrongDevice) {
    if (host() || device::count() < 2)
        GTEST_SKIP() << "there are no two devices to mix up";
    const int mine = device::current();
    Batch batch = make_batch(code_.get(), stripes_->list());
    device::select(1 - mine);
    EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE, gfk_rs_batch_run(batch.get(), nullptr));
    batch = make_batch(code_.get(), stripes_->list()); // made for the code's device
    EXPECT_EQ(1 - mine, device::current());
    device::select(mine);
    EXPECT_TRUE(stripes_->is_untouched());
    expect_runs(batch.get());
    EXPECT_TRUE(stripes_->is_whole());
    count_checked();
}

// ---- threads, streams, graphs
// --------------------------------------------------------------------

TEST_P(RsBatch, Threads) {
    const Code code = make_code(6, 3);
    on_threads(8, [&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        const gfk_stream_t stream = host() ? nullptr : device::create_stream();
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            Stripes stripes(host(), code.get(), random);
            stripes.add_mixed(20, 400);
            stripes.place();
            const Batch batch = make_batch(code.get(), stripes.list());
            require_success(gfk_rs_batch_run(batch.get(), stream), "gfk_rs_batch_run");
            if (stream != nullptr)
                device::synchronize(stream);
            result = stripes.is_whole();
            count_checked();
        }
        if (stream != nullptr)
            device::destroy_stream(stream);
        return result;
    });
}

TEST_P(RsBatch, Graph) {
    if (host())
        GTEST_SKIP() << "graphs are for devices";
    Random random;
    const Code code = make_code(10, 4);
    Stripes stripes(host(), code.get(), random);
    stripes.add_mixed(30, 2000);
    stripes.place();
    const Batch batch = make_batch(code.get(), stripes.list());
    ASSERT_OK(gfk_rs_batch_run(batch.get(), nullptr)); // CUDA loads the code now
    const gfk_stream_t stream = device::create_stream();
    {
        device::Graph graph(stream);
        ASSERT_OK(gfk_rs_batch_run(batch.get(), stream));
        graph.end();
        for (int replay = 0; replay < 20; replay++) {
            stripes.refill();
            graph.launch(stream);
            device::synchronize(stream);
            ASSERT_TRUE(stripes.is_whole());
            count_checked();
        }
    }
    device::destroy_stream(stream);
}

const Place places[] = {{true, 8}, {true, 16}, {true, 32}, {false, 8}, {false, 16}, {false, 32}};
std::string place_name(const testing::TestParamInfo<Place> &info) {
    return testing::PrintToString(info.param);
}
INSTANTIATE_TEST_SUITE_P(Places, RsBatch, testing::ValuesIn(places), place_name);
INSTANTIATE_TEST_SUITE_P(Places, RsBatchErrors, testing::ValuesIn(places), place_name);

} // namespace
