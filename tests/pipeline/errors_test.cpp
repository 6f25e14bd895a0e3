// SPDX-License-Identifier: BSD-3-Clause
// Bad input to calls on host memory: each gets its status and changes nothing.
#include "fixture.h"

#include <sched.h>

#include <cstdint>
#include <functional>
#include <thread>

namespace {

constexpr size_t BYTES = 4096, ROWS = 2, COLS = 3;
const gfk_status INVALID = GFK_STATUS_INVALID_ARGUMENT;

class HostErrors : public HostTest {
  protected:
    void SetUp() override {
        HostTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        pipeline_ = make_pipeline(desc());
        Random random(1);
        stage_ = std::make_unique<HostStage>(COLS, ROWS, BYTES, Place::MIXED, random);
        stage_->expect_unchanged();
        for (size_t i = 0; i < COLS; i++)
            in_.push_back(stage_->in(i));
        for (size_t j = 0; j < ROWS; j++)
            out_.push_back(stage_->out(j));
    }
    void TearDown() override {
        if (stage_ != nullptr) {
            EXPECT_TRUE(stage_->as_expected());
            count_checked();
        }
    }

    // The list with one region elsewhere.
    static std::vector<void *> with(std::vector<void *> list, size_t i, void *to,
                                    long distance = 0) {
        list[i] = to == nullptr ? nullptr : static_cast<uint8_t *>(to) + distance;
        return list;
    }
    gfk_status run(const std::vector<void *> &in, const std::vector<void *> &out,
                   size_t bytes = BYTES, int mode = GFK_SET) {
        const gfk_regions i = {in.data(), nullptr, 0}, o = {out.data(), nullptr, 0};
        return run(&i, &o, bytes, mode);
    }
    gfk_status run(const gfk_regions *in, const gfk_regions *out, size_t bytes = BYTES,
                   int mode = GFK_SET) {
        return gfk_product_host(pipeline_.get(), &field_, ROWS, COLS, matrix_, in, out, bytes,
                                static_cast<gfk_accumulate>(mode), nullptr);
    }

    gfk_field field_ = make_field(16);
    const uint32_t matrix_[ROWS * COLS] = {1, 2, 3, 4, 5, 6};
    Pipeline pipeline_;
    std::unique_ptr<HostStage> stage_;
    std::vector<void *> in_, out_;
};

TEST_P(HostErrors, Arguments) {
    const gfk_regions in = {in_.data(), nullptr, 0}, out = {out_.data(), nullptr, 0};
    gfk_pipeline_t p = pipeline_.get();
    const auto bad = [&](gfk_pipeline_t pipeline, const gfk_field *field, size_t rows, size_t cols,
                         const uint32_t *matrix) {
        EXPECT_STATUS(INVALID, gfk_product_host(pipeline, field, rows, cols, matrix, &in, &out,
                                                BYTES, GFK_SET, nullptr));
    };
    const gfk_field none = {}, wrong = {16, 2, 0x1100d};
    bad(nullptr, &field_, ROWS, COLS, matrix_);
    bad(p, nullptr, ROWS, COLS, matrix_);
    bad(p, &none, ROWS, COLS, matrix_);
    bad(p, &wrong, ROWS, COLS, matrix_);
    bad(p, &field_, 0, COLS, matrix_);
    bad(p, &field_, ROWS, 0, matrix_);
    bad(p, &field_, ROWS, COLS, nullptr);
    EXPECT_STATUS(INVALID, run(nullptr, &out));
    EXPECT_STATUS(INVALID, run(&in, nullptr));
    for (int mode : {2, -1})
        EXPECT_STATUS(INVALID, run(in_, out_, BYTES, mode));
    for (size_t i = 0; i < COLS; i++)
        EXPECT_STATUS(INVALID, run(with(in_, i, nullptr), out_));
    for (size_t j = 0; j < ROWS; j++)
        EXPECT_STATUS(INVALID, run(in_, with(out_, j, nullptr)));
    const gfk_regions nowhere = {nullptr, nullptr, BYTES}, tight = {nullptr, in_[0], BYTES - 1};
    EXPECT_STATUS(INVALID, run(&nowhere, &out));
    EXPECT_STATUS(INVALID, run(&in, &nowhere));
    EXPECT_STATUS(INVALID, run(&tight, &out));
}

TEST_P(HostErrors, SizesAndConstants) {
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, run(in_, out_, BYTES - 1));
    const size_t most = SIZE_MAX / 16 * 16 - 16;
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, run(in_, out_, most));
    const gfk_regions far = {nullptr, in_[0], most / 2}, out = {out_.data(), nullptr, 0};
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, run(&far, &out));
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE,
                  gfk_product_host(pipeline_.get(), &field_, most / 4, 8, matrix_, &out, &out,
                                   BYTES, GFK_SET, nullptr));
    const uint32_t large[ROWS * COLS] = {1, 2, 3, 65536, 5, 6};
    const gfk_regions in = {in_.data(), nullptr, 0};
    for (size_t bytes : {BYTES, size_t(0)})
        EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT,
                      gfk_product_host(pipeline_.get(), &field_, ROWS, COLS, large, &in, &out,
                                       bytes, GFK_SET, nullptr));
    EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT,
                  gfk_region_multiply_host(pipeline_.get(), &field_, 65536, in_[0], out_[0], BYTES,
                                           GFK_SET, nullptr));
}

TEST_P(HostErrors, Overlap) {
    for (long distance : {0L, 2L, -2L, long(BYTES) - 1, 1 - long(BYTES)}) {
        for (void *other : {in_[0], in_[1], in_[2], out_[0]})
            EXPECT_STATUS(GFK_STATUS_OVERLAP, run(in_, with(out_, 1, other, distance)));
        if (distance != 0) {
            EXPECT_STATUS(GFK_STATUS_OVERLAP,
                          gfk_region_multiply_host(pipeline_.get(), &field_, 3, in_[0],
                                                   static_cast<uint8_t *>(in_[0]) + distance, BYTES,
                                                   GFK_SET, nullptr));
        }
    }
    // A product with one input and one output is not region multiply.
    const uint32_t three = 3;
    const gfk_regions same = {in_.data(), nullptr, 0};
    EXPECT_STATUS(GFK_STATUS_OVERLAP, gfk_product_host(pipeline_.get(), &field_, 1, 1, &three,
                                                       &same, &same, BYTES, GFK_SET, nullptr));
}

TEST_P(HostErrors, Multiply) {
    gfk_pipeline_t p = pipeline_.get();
    const auto bad = [&](gfk_pipeline_t pipeline, const gfk_field *field, const void *src,
                         void *dst, int mode) {
        EXPECT_STATUS(INVALID,
                      gfk_region_multiply_host(pipeline, field, 3, src, dst, BYTES,
                                               static_cast<gfk_accumulate>(mode), nullptr));
    };
    bad(nullptr, &field_, in_[0], out_[0], GFK_SET);
    bad(p, nullptr, in_[0], out_[0], GFK_SET);
    bad(p, &field_, nullptr, out_[0], GFK_SET);
    bad(p, &field_, in_[0], nullptr, GFK_SET);
    bad(p, &field_, in_[0], out_[0], 2);
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, gfk_region_multiply_host(p, &field_, 3, in_[0], out_[0],
                                                                    BYTES - 1, GFK_SET, nullptr));
}

// A failed call leaves the report alone too.
TEST_P(HostErrors, Report) {
    gfk_pipeline_report report = {};
    report.seconds = -5;
    const gfk_regions in = {in_.data(), nullptr, 0};
    EXPECT_STATUS(GFK_STATUS_OVERLAP, gfk_product_host(pipeline_.get(), &field_, ROWS, COLS,
                                                       matrix_, &in, &in, BYTES, GFK_SET, &report));
    EXPECT_EQ(-5, report.seconds);
}

PER_PATH(HostErrors);

// ---- descriptors --------------------------------------------------------------------------------

gfk_status create(const gfk_pipeline_desc &desc) {
    gfk_pipeline_t pipeline = nullptr;
    const gfk_status status = gfk_pipeline_create(&pipeline, &desc);
    EXPECT_EQ(status == GFK_STATUS_SUCCESS, pipeline != nullptr);
    gfk_pipeline_destroy(pipeline);
    count_checked();
    return status;
}

TEST(HostDescriptor, Contradictions) {
    EXPECT_STATUS(INVALID, gfk_pipeline_create(nullptr, nullptr));
    const int devices[] = {0, 1, 0, -1};
    const auto refused = [](gfk_path path, const std::function<void(gfk_pipeline_desc &)> &spoil) {
        gfk_pipeline_desc d = pipeline_desc(path);
        spoil(d);
        EXPECT_STATUS(INVALID, create(d));
    };
    const auto refuse_devices = [&](gfk_path path, const int *list, size_t count) {
        refused(path, [&](gfk_pipeline_desc &d) {
            d.devices = list;
            d.device_count = count;
        });
    };
    const gfk_path any = GFK_PATH_AUTO;
    refused(any, [](gfk_pipeline_desc &d) { d.size--; });
    for (int path : {4, -1})
        refused(static_cast<gfk_path>(path), [](gfk_pipeline_desc &) {});
    refuse_devices(any, devices, 0);     // none of them
    refuse_devices(any, devices, 3);     // one twice
    refuse_devices(any, devices + 3, 1); // a number that is none
    refuse_devices(any, nullptr, 1);
    refuse_devices(GFK_PATH_CPU, devices, 1);
    refused(any, [](gfk_pipeline_desc &d) { d.streams = GFK_MOST_STREAMS + 1; });
    refused(any, [](gfk_pipeline_desc &d) { d.threads = GFK_MOST_THREADS + 1; });
}

TEST(HostDescriptor, DevicesThatAreNotThere) {
    const int count = device_count();
    gfk_pipeline_desc d = pipeline_desc();
    d.devices = &count; // the number after the last one
    d.device_count = 1;
    const gfk_status status = create(d);
    EXPECT_TRUE(status == GFK_STATUS_NO_DEVICE ||
                (count == 0 && status == GFK_STATUS_NOT_SUPPORTED))
        << gfk_status_name(status);
    if (count == 0)
        for (gfk_path path : {GFK_PATH_GPU, GFK_PATH_BOTH}) {
            const gfk_status other = create(pipeline_desc(path));
            EXPECT_TRUE(other == GFK_STATUS_NO_DEVICE || other == GFK_STATUS_NOT_SUPPORTED);
        }
}

TEST(HostDescriptor, Defaults) {
    gfk_pipeline_t made = nullptr;
    ASSERT_OK(gfk_pipeline_create(&made, nullptr));
    const Pipeline pipeline(made);
    const gfk_pipeline_info info = info_of(made);
    EXPECT_EQ(device_count() ? GFK_PATH_AUTO : GFK_PATH_CPU, info.path);
    EXPECT_EQ(device_count() ? 1u : 0u, info.device_count);
    EXPECT_EQ(size_t(1) << 30, info.device_memory);
    EXPECT_EQ(size_t(256) << 20, info.pinned_memory);
    EXPECT_EQ(4u, info.streams);
    EXPECT_GE(info.threads, 1u);
    EXPECT_FALSE(info.calibrated);
    EXPECT_STATUS(GFK_STATUS_SUCCESS, info.calibration);
    EXPECT_STATUS(INVALID, gfk_pipeline_get_info(made, nullptr));
    gfk_pipeline_info other;
    EXPECT_STATUS(INVALID, gfk_pipeline_get_info(nullptr, &other));
    gfk_pipeline_destroy(nullptr);
    count_checked();
}

TEST(HostDescriptor, ThreadsAreForTheCoresOfTheCaller) {
    std::thread([] {
        cpu_set_t mask;
        ASSERT_EQ(0, sched_getaffinity(0, sizeof mask, &mask));
        int first = 0;
        while (!CPU_ISSET(first, &mask))
            first++;
        for (int cores = CPU_COUNT(&mask); cores != 0; cores = cores == 1 ? 0 : 1) {
            if (cores == 1) {
                CPU_ZERO(&mask);
                CPU_SET(first, &mask);
                ASSERT_EQ(0, sched_setaffinity(0, sizeof mask, &mask));
            }
            gfk_pipeline_t made = nullptr;
            ASSERT_OK(gfk_pipeline_create(&made, nullptr));
            const Pipeline pipeline(made);
            EXPECT_EQ(static_cast<unsigned>(cores), info_of(made).threads);
        }
    }).join();
    count_checked();
}

TEST(HostDescriptor, PathNames) {
    EXPECT_STREQ("auto", gfk_path_name(GFK_PATH_AUTO));
    EXPECT_STREQ("cpu", gfk_path_name(GFK_PATH_CPU));
    EXPECT_STREQ("gpu", gfk_path_name(GFK_PATH_GPU));
    EXPECT_STREQ("both", gfk_path_name(GFK_PATH_BOTH));
    EXPECT_NE(nullptr, gfk_path_name(static_cast<gfk_path>(17)));
    count_checked();
}

TEST(HostDescriptor, PinnedMemory) {
    void *memory = nullptr;
    EXPECT_STATUS(INVALID, gfk_pinned_alloc(nullptr, 4096));
    EXPECT_STATUS(INVALID, gfk_pinned_alloc(&memory, 0));
    EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, gfk_pinned_alloc(&memory, SIZE_MAX - 5));
    EXPECT_EQ(nullptr, memory);
    gfk_pinned_free(nullptr);
    EXPECT_STATUS(INVALID, gfk_pinned_register(nullptr, 4096));
    EXPECT_STATUS(INVALID, gfk_pinned_unregister(nullptr));
    for (size_t bytes : {1, 4096, 100000}) {
        const Pinned pinned = make_pinned(bytes);
        EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(pinned.get()) % 4096);
        Random random(bytes);
        random.fill(pinned.get(), bytes);
        count_checked();
    }
    std::vector<uint8_t> ours(1 << 20);
    const bool gpu = device_count() != 0;
    const gfk_status status = gfk_pinned_register(ours.data(), ours.size());
    if (!gpu) {
        EXPECT_TRUE(status == GFK_STATUS_NO_DEVICE || status == GFK_STATUS_NOT_SUPPORTED);
        return;
    }
    EXPECT_STATUS(GFK_STATUS_SUCCESS, status);
    EXPECT_STATUS(INVALID, gfk_pinned_register(ours.data(), ours.size()));
    EXPECT_STATUS(GFK_STATUS_SUCCESS, gfk_pinned_unregister(ours.data()));
    EXPECT_STATUS(INVALID, gfk_pinned_unregister(ours.data()));
}

} // namespace
