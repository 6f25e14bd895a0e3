// SPDX-License-Identifier: BSD-3-Clause
// Bad stripes in batches: each mistake has its own status, and only that stripe is left out.
#include <algorithm>
#include <fstream>
#include <limits>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_fixture.h"

namespace {

class RsBatchErrors : public RsBatch {
  protected:
    static constexpr size_t K = 5, M = 3, BYTES = 256;

    void set_up() override {
        code_ = make_code({GFK_RS_CAUCHY, K, M});
        stripes_ = std::make_unique<Stripes>(host(), code_.get(), random_);
        stripes_->add(BYTES, {}, true, 0);
        stripes_->add(BYTES, {}, true, 0); // the bad one
        stripes_->add(BYTES, {4, 6}, false, 0);
        stripes_->place();
    }
    // Makes the second stripe another one, and expects that it is left out, for the status
    // returned.
    gfk_status left_out(const gfk_rs_stripe &bad) {
        std::vector<gfk_rs_stripe> list = stripes_->list();
        list[1] = bad;
        gfk_rs_batch_t batch = nullptr;
        const gfk_status status =
            gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), nullptr);
        EXPECT_EQ(nullptr, batch);
        gfk_status statuses[] = {GFK_STATUS_INTERNAL, GFK_STATUS_INTERNAL, GFK_STATUS_INTERNAL};
        require_success(
            gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), statuses),
            "gfk_rs_batch_create");
        const Batch made(batch);
        EXPECT_OK(statuses[0]);
        EXPECT_STATUS(status, statuses[1]);
        EXPECT_OK(statuses[2]);
        stripes_->refill();
        stripes_->leave_out(1);
        expect_runs(batch);
        EXPECT_TRUE(stripes_->is_whole());
        EXPECT_FALSE(device::error_pending());
        count_checked();
        return status;
    }
    void expect_left_out(gfk_status expected, const gfk_rs_stripe &bad, const char *what) {
        EXPECT_STATUS(expected, left_out(bad)) << what;
    }
    static void expect_runs(gfk_rs_batch_t batch) { EXPECT_OK(gfk_rs_batch_run(batch, nullptr)); }
    // The second stripe with other pointers.
    void expect_pointers(gfk_status expected, std::vector<void *> pointers, const char *what,
                         const std::vector<size_t> &lost) {
        gfk_rs_stripe bad = stripes_->list()[1];
        bad.data.pointers = pointers.data();
        bad.parity.pointers = pointers.data() + K;
        bad.lost = lost.data();
        bad.lost_count = lost.size();
        expect_left_out(expected, bad, what);
    }
    std::vector<void *> pointers() {
        const gfk_rs_stripe &stripe = stripes_->list()[1];
        return {stripe.data.pointers, stripe.data.pointers + K + M};
    }

    Random random_;
    RsCode code_;
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
    with(INVALID, {1, 1}, "one twice");
    with(INVALID, {6, 1, 6}, "parity twice");
    with(INVALID, {K + M}, "beyond the last");
    with(INVALID, {std::numeric_limits<size_t>::max()}, "far beyond");
    bad.lost = nullptr;
    bad.lost_count = 1;
    expect_left_out(INVALID, bad, "no list");
}

TEST_P(RsBatchErrors, Regions) {
    gfk_rs_stripe bad = stripes_->list()[1];
    bad.data = {nullptr, nullptr, 0};
    expect_left_out(INVALID, bad, "no data");
    bad.data = stripes_->list()[1].data;
    bad.bytes = SIZE_MAX / 16 * 16;
    expect_left_out(GFK_STATUS_INVALID_SIZE, bad, "most bytes");
    bad.bytes = size_t(1) << 36;
    if (!host())
        expect_left_out(GFK_STATUS_INVALID_SIZE, bad, "64 GiB");
}

TEST_P(RsBatchErrors, RegionsOfLosses) {
    for (size_t i : {size_t(0), size_t(3), K, K + 2}) {
        std::vector<void *> bad = pointers();
        bad[i] = nullptr;
        expect_pointers(INVALID, bad, "NULL, 3 lost", {3, 0, K + 1});
    }
    std::vector<void *> bad = pointers();
    bad[1] = static_cast<uint8_t *>(bad[K]) + 16; // lost overlaps what is read
    expect_pointers(GFK_STATUS_OVERLAP, bad, "lost overlaps", {1});
    bad[1] = static_cast<uint8_t *>(bad[K + 1]) - 16; // parity that is not read
    expect_pointers(GFK_STATUS_OVERLAP, bad, "lost overlaps what is there", {1});
}

// Inputs may be the same, what is not read may overlap them or be missing, and stripes that have
// nothing to do may overlap anything.
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
    few[K + 1] = nullptr;
    few[K + 2] = few[1];
    list[2].data.pointers = few.data();
    list[2].parity.pointers = few.data() + K;
    list[2].lost = lost;
    list[2].lost_count = 1;
    gfk_status statuses[3];
    gfk_rs_batch_t batch = nullptr;
    ASSERT_OK(gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), statuses));
    for (gfk_status status : statuses)
        EXPECT_OK(status);
    gfk_rs_batch_destroy(batch);
    count_checked();
}

// A matrix that is not MDS: some losses cannot be made good for.
TEST_P(RsBatchErrors, Singular) {
    const RsCode code = make_code({GFK_RS_CUSTOM, 2, 2, {1, 1, 1, 1}, GFK_RS_UNCHECKED});
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
    EXPECT_OK(statuses[0]);
    EXPECT_STATUS(GFK_STATUS_SINGULAR, statuses[1]);
    EXPECT_OK(statuses[2]);
    expect_runs(batch);
    EXPECT_TRUE(stripes.is_whole());
    gfk_rs_batch_destroy(batch);
    count_checked();
}

// So many losses that the pool's threads invert them: each stripe has the status of a decoder.
TEST_P(RsBatchErrors, ManySingular) {
    const size_t k = 12, m = 6, count = options.reduced ? 100 : host() ? 500 : 3000;
    Elements matrix = matrix_of(make_field(w()), GFK_RS_CAUCHY, k, m);
    for (size_t j : {1, 4}) // rows that say the same, of which one may help
        std::copy_n(matrix.begin(), k, matrix.begin() + static_cast<ptrdiff_t>(j * k));
    const RsCode code = make_code({GFK_RS_CUSTOM, k, m, matrix, GFK_RS_UNCHECKED});
    Stripes stripes(host(), code.get(), random_);
    for (size_t s = 0; s < count; s++)
        stripes.add(w() / 8, stripes.random_loss(1 + random_.below(m)), false, 0, true);
    stripes.place();
    std::vector<gfk_status> statuses(count, GFK_STATUS_INTERNAL);
    gfk_rs_batch_t made = nullptr;
    ASSERT_OK(
        gfk_rs_batch_create(&made, code.get(), stripes.list().data(), count, statuses.data()));
    const Batch batch(made);
    size_t singular = 0;
    for (size_t s = 0; s < count; s++) {
        const gfk_rs_stripe &stripe = stripes.list()[s];
        gfk_rs_decoder_t decoder = nullptr;
        const gfk_status status = gfk_rs_decoder_create(&decoder, code.get(), stripe.lost,
                                                        stripe.lost_count, nullptr, 0, nullptr);
        gfk_rs_decoder_destroy(decoder);
        ASSERT_STATUS(status, statuses[s]) << s;
        if (status == GFK_STATUS_SINGULAR) {
            stripes.leave_out(s);
            singular++;
        }
    }
    EXPECT_GT(singular, count / 20);
    EXPECT_LT(singular, count);
    expect_runs(made);
    EXPECT_TRUE(stripes.is_whole());
    count_checked(count);
}

// The address space that this process has, and a little.
bool limit_memory(rlim_t more) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
    const rlimit limit = {bytes, bytes};
    return pages != 0 && setrlimit(RLIMIT_AS, &limit) == 0;
}

// Stripes by themselves, then one that is wrong, then so many that memory ends: each is told.
TEST_P(RsBatchErrors, OutOfMemory) {
    if (SANITIZED || !host())
        GTEST_SKIP() << "memory is limited for the CPU alone, and not under a sanitizer";
    const pid_t child = fork();
    if (child == 0) {
        std::vector<gfk_rs_stripe> list(1000000, stripes_->list()[0]);
        std::vector<gfk_status> statuses(list.size(), GFK_STATUS_INTERNAL);
        list[7].bytes = SIZE_MAX / 4 * 4;
        if (!limit_memory(rlim_t(1) << 26))
            _exit(2);
        const auto untouched = reinterpret_cast<gfk_rs_batch_t>(&list);
        gfk_rs_batch_t batch = untouched;
        const gfk_status all =
            gfk_rs_batch_create(&batch, code_.get(), list.data(), list.size(), statuses.data());
        const auto first = std::find(statuses.begin(), statuses.end(), GFK_STATUS_OUT_OF_MEMORY);
        const bool as_told =
            all == GFK_STATUS_OUT_OF_MEMORY && batch == untouched && first - statuses.begin() > 7 &&
            std::count(statuses.begin(), first, GFK_STATUS_SUCCESS) ==
                first - statuses.begin() - 1 &&
            statuses[7] == GFK_STATUS_INVALID_SIZE &&
            std::count(first, statuses.end(), GFK_STATUS_OUT_OF_MEMORY) == statuses.end() - first;
        _exit(as_told ? 0 : 1);
    }
    int result = 0;
    ASSERT_EQ(child, waitpid(child, &result, 0));
    ASSERT_TRUE(WIFEXITED(result));
    EXPECT_EQ(0, WEXITSTATUS(result));
    EXPECT_TRUE(stripes_->is_untouched());
    count_checked();
}

TEST_P(RsBatchErrors, Calls) {
    gfk_rs_batch_t batch = nullptr;
    const gfk_rs_stripe *list = stripes_->list().data();
    gfk_status statuses[] = {GFK_STATUS_INTERNAL, GFK_STATUS_INTERNAL, GFK_STATUS_INTERNAL};
    EXPECT_STATUS(INVALID, gfk_rs_batch_create(nullptr, code_.get(), list, 3, statuses));
    EXPECT_STATUS(INVALID, gfk_rs_batch_create(&batch, nullptr, list, 3, statuses));
    EXPECT_STATUS(INVALID, gfk_rs_batch_create(&batch, code_.get(), nullptr, 3, statuses));
    EXPECT_EQ(nullptr, batch);
    for (gfk_status status : statuses)
        EXPECT_STATUS(GFK_STATUS_INTERNAL, status) << "written without stripes";
    EXPECT_STATUS(INVALID, gfk_rs_batch_run(nullptr, nullptr));
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
    EXPECT_TRUE(stripes_->is_untouched());
    count_checked();
}

PER_PLACE(RsBatchErrors);

} // namespace
