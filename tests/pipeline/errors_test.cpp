// SPDX-License-Identifier: BSD-3-Clause
// What calls on host memory refuse on every path, beyond what all calls do (tests/calls): shapes, elements, many
// regions; reports of failed calls; descriptors of pipelines.
#include <sched.h>

#include <thread>

#include "fixture.h"
#include "rs/codes.h"

namespace {

class HostErrors : public HostTest {
  protected:
    static constexpr size_t BYTES = 4096, ROWS = 2, COLS = 3;
    void set_up() override {
        pipeline_ = make_pipeline(desc());
        Random random(1);
        stage_ = std::make_unique<HostStage>(COLS, ROWS, BYTES, Place::MIXED, random);
        stage_->expect_unchanged();
    }
    void TearDown() override {
        if (stage_ != nullptr) {
            EXPECT_TRUE(stage_->as_expected());
            count_checked();
        }
    }

    // A product with some argument that is not the fixture's own.
    struct Arguments {
        const gfk_field *field;
        size_t rows, cols;
        const uint32_t *matrix;
        const gfk_regions *in, *out;
        size_t bytes;
        gfk_pipeline_report *report;
    };
    gfk_status run(const std::function<void(Arguments &)> &spoil) {
        Arguments a = {&field_, ROWS, COLS, matrix_, stage_->in(), stage_->out(), BYTES, nullptr};
        spoil(a);
        return gfk_product_host(pipeline_.get(), a.field, a.rows, a.cols, a.matrix, a.in, a.out,
                                a.bytes, GFK_SET, a.report);
    }

    gfk_field field_ = make_field(16);
    const uint32_t matrix_[ROWS * COLS] = {1, 2, 3, 4, 5, 6};
    Pipeline pipeline_;
    std::unique_ptr<HostStage> stage_;
};

TEST_P(HostErrors, Arguments) {
    const gfk_field none = {}, wrong = {16, 2, 0x1100d};
    for (const gfk_field *field : {&none, &wrong})
        EXPECT_STATUS(INVALID, run([&](Arguments &a) { a.field = field; }));
    EXPECT_STATUS(INVALID, run([](Arguments &a) { a.rows = 0; }));
    EXPECT_STATUS(INVALID, run([](Arguments &a) { a.cols = 0; }));
    EXPECT_STATUS(INVALID, run([](Arguments &a) { a.matrix = nullptr; }));
    for (size_t rows : {SIZE_MAX / 32, SIZE_MAX / 4}) // of lists and of elements
        EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, run([&](Arguments &a) {
                          a.rows = rows;
                          a.cols = 8;
                      }));
    // Before the matrix is copied, which would take terabytes.
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, run([](Arguments &a) {
                      a.rows = a.cols = 1 << 20;
                      a.bytes--;
                  }));
    const gfk_regions null = {};
    EXPECT_STATUS(INVALID, run([&](Arguments &a) {
                      a.rows = a.cols = 1 << 20;
                      a.in = &null;
                  }));
    const uint32_t large[ROWS * COLS] = {1, 2, 3, 65536, 5, 6};
    for (size_t bytes : {BYTES, size_t(0)})
        EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT, run([&](Arguments &a) {
                          a.matrix = large;
                          a.bytes = bytes;
                      }));
}

TEST_P(HostErrors, Regions) {
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE,
                  run([](Arguments &a) { a.bytes = SIZE_MAX / 16 * 16 - 16; }));
    // Before the product is made, which would take terabytes.
    uint8_t one[2] = {};
    const gfk_regions same = gfk_inputs_spaced(one, 2);
    EXPECT_STATUS(GFK_STATUS_OVERLAP, run([&](Arguments &a) {
                      a.rows = size_t(1) << 40;
                      a.cols = 1;
                      a.in = a.out = &same;
                      a.bytes = 2;
                  }));
    // Among many outputs, in any order.
    std::vector<uint8_t> many(size_t(4) << 20);
    std::vector<void *> outputs(many.size() / 4);
    for (size_t i = 0; i < outputs.size(); i++)
        outputs[i] = &many[(i * 12345677 % outputs.size()) * 4];
    outputs[outputs.size() / 3] = &many[many.size() - 5];
    const gfk_regions scattered = {outputs.data(), nullptr, 0};
    EXPECT_STATUS(GFK_STATUS_OVERLAP, run([&](Arguments &a) {
                      a.rows = outputs.size();
                      a.cols = 1;
                      a.out = &scattered;
                      a.bytes = 2;
                  }));
    // A product with one input and one output is not region multiply.
    EXPECT_STATUS(GFK_STATUS_OVERLAP, run([&](Arguments &a) {
                      a.rows = a.cols = 1;
                      a.out = a.in;
                  }));
}

TEST_P(HostErrors, Multiply) {
    EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT,
                  gfk_region_multiply_host(pipeline_.get(), &field_, 65536, stage_->in(0),
                                           stage_->out(0), BYTES, GFK_SET, nullptr));
}

// A failed call leaves the report alone too.
TEST_P(HostErrors, Report) {
    gfk_pipeline_report report = {};
    report.seconds = -5;
    EXPECT_STATUS(GFK_STATUS_OVERLAP, run([&](Arguments &a) {
                      a.out = a.in;
                      a.report = &report;
                  }));
    EXPECT_EQ(-5, report.seconds);
    // Where there is nothing to do, too.
    alignas(8) uint8_t place[sizeof(gfk_pipeline_report) + 1];
    EXPECT_STATUS(INVALID, run([&](Arguments &a) {
                      a.bytes = 0;
                      a.report = reinterpret_cast<gfk_pipeline_report *>(place + 1);
                  }));
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
    EXPECT_STATUS(GFK_STATUS_NO_DEVICE, create(d));
    for (gfk_path path : {GFK_PATH_GPU, GFK_PATH_BOTH})
        EXPECT_STATUS(count ? GFK_STATUS_SUCCESS : GFK_STATUS_NO_DEVICE,
                      create(pipeline_desc(path)));
}

// A number that stands for no place gets one status from every call that takes a device, and so
// does the number after the last device.
TEST(HostDescriptor, NumbersOfDevices) {
    const gfk_field field = make_field(8);
    const uint32_t one = 1;
    const size_t lost = 0;
    const RsCode code = make_host_code(field, {GFK_RS_CAUCHY, 3, 2});
    for (int number : {-3, -1000, INT32_MIN, device_count(), 1000}) {
        const gfk_status status = number < 0 ? INVALID : GFK_STATUS_NO_DEVICE;
        gfk_multiplier_desc m = GFK_MULTIPLIER_DESC_INIT;
        gfk_product_desc p = GFK_PRODUCT_DESC_INIT;
        gfk_rs_desc r = GFK_RS_DESC_INIT;
        gfk_pipeline_desc d = pipeline_desc();
        m.device = p.device = r.product.device = number;
        d.devices = &number;
        d.device_count = 1;
        gfk_multiplier_t multiplier = nullptr;
        gfk_multiplier_info multiplier_info;
        gfk_product_t product = nullptr;
        gfk_product_info product_info;
        gfk_rs_t none = nullptr;
        gfk_rs_decoder_t decoder = nullptr;
        gfk_rs_updater_t updater = nullptr;
        gfk_calibration calibration;
        EXPECT_STATUS(status, gfk_multiplier_query(&field, &m, &multiplier_info)) << number;
        EXPECT_STATUS(status, gfk_multiplier_create(&multiplier, &field, &m)) << number;
        EXPECT_STATUS(status, gfk_product_query(&field, 1, 1, &p, &product_info)) << number;
        EXPECT_STATUS(status, gfk_product_create(&product, &field, 1, 1, &one, &p)) << number;
        EXPECT_STATUS(status, gfk_rs_create(&none, &field, 3, 2, &r)) << number;
        EXPECT_STATUS(status, create(d)) << number;
        EXPECT_STATUS(status, gfk_calibrate(&d, nullptr, &calibration)) << number;
        // The place of these is known: every other one is refused.
        EXPECT_STATUS(INVALID,
                      gfk_rs_decoder_create(&decoder, code.get(), &lost, 1, nullptr, 0, &p));
        EXPECT_STATUS(INVALID, gfk_rs_updater_create(&updater, code.get(), 0, &p));
        if (number < 0) {
            EXPECT_STATUS(INVALID, gfk_kernel_available(gfk_kernel_at(0), number, nullptr));
            EXPECT_STATUS(INVALID, gfk_engine_available(gfk_engine_at(0), number, nullptr));
            EXPECT_STATUS(INVALID,
                          gfk_engine_available(gfk_engine_find("host_w8"), number, nullptr));
        }
        count_checked(9);
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
    EXPECT_EQ(0u, info.streams);
    EXPECT_GE(info.threads, 1u);
    EXPECT_FALSE(info.calibrated);
    EXPECT_OK(info.calibration);
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
    EXPECT_OK(status);
    EXPECT_STATUS(INVALID, gfk_pinned_register(ours.data(), ours.size()));
    EXPECT_OK(gfk_pinned_unregister(ours.data()));
    EXPECT_STATUS(INVALID, gfk_pinned_unregister(ours.data()));
}

} // namespace
