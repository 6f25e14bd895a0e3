// SPDX-License-Identifier: BSD-3-Clause
// Which path AUTO takes without a calibration, and how CPU and devices share a call, on simulated
// devices.
#include <cstring>

#include "fixture.h"
#include "support/simulated_device.h"

namespace {

class HostRule : public testing::Test {
  protected:
    void SetUp() override {
        const simulated_device bus = SIMULATED_DEVICE_INIT;
        simulated_device_set(&bus);
    }
    void TearDown() override {
        const simulated_device usual = SIMULATED_DEVICE_INIT;
        simulated_device_set(&usual);
        EXPECT_EQ(0u, simulated_device_faults());
    }

    // What a call does with 4 inputs and 2 outputs that have `total` bytes together.
    static gfk_pipeline_report report(size_t total, Place place, unsigned threads,
                                      std::vector<int> devices = {0}, uint64_t polynomial = 0) {
        gfk_pipeline_desc desc = pipeline_desc();
        desc.threads = threads;
        desc.devices = devices.data();
        desc.device_count = devices.size();
        const Pipeline pipeline = make_pipeline(desc);
        const size_t bytes = total / 6;
        Random random(total);
        const HostRun run = run_product(pipeline.get(), make_field(8, polynomial), 2, 4, bytes,
                                        GFK_SET, place, random);
        require_success(run.status, "gfk_product_host");
        EXPECT_TRUE(run.right);
        const gfk_pipeline_report &report = run.report;
        EXPECT_NE(nullptr, std::strstr(report.reason, "no calibration")) << report.reason;
        EXPECT_EQ(report.path == GFK_PATH_CPU ? bytes : 0u, report.cpu_bytes) << report.reason;
        count_checked();
        return report;
    }
    // Is there an engine of ISA-L's for w = 8?
    static bool has_isal() {
        return gfk_engine_available(gfk_engine_find("isal_w8"), GFK_CPU, nullptr) ==
               GFK_STATUS_SUCCESS;
    }
};

// Regions of 64 KiB in all and more than that; by the rates that gfk/host.h states.
TEST_F(HostRule, WithoutIsal) {
    SKIP_SLOW();
    const uint64_t another = 0x12b; // which ISA-L lacks
    for (Place place : {Place::PAGEABLE, Place::PINNED})
        for (unsigned threads : {1u, 64u}) {
            EXPECT_EQ(GFK_PATH_CPU, report(MIB / 16, place, threads, {0}, another).path);
            EXPECT_EQ(threads == 1 ? GFK_PATH_GPU : GFK_PATH_CPU,
                      report(16 * MIB, place, threads, {0}, another).path)
                << place_name(place) << ", threads: " << threads;
        }
    EXPECT_EQ(GFK_PATH_GPU, report(16 * MIB, Place::PINNED, 4, {0}, another).path);
}

TEST_F(HostRule, WithIsal) {
    SKIP_SLOW();
    if (!has_isal())
        GTEST_SKIP() << "there is no ISA-L";
    for (unsigned threads : {1u, 4u, 12u, 64u}) {
        const gfk_path path = threads < 12 ? GFK_PATH_GPU : GFK_PATH_CPU;
        EXPECT_EQ(GFK_PATH_CPU, report(MIB / 4, Place::PINNED, threads).path) << threads;
        EXPECT_EQ(GFK_PATH_CPU, report(16 * MIB, Place::PAGEABLE, threads).path) << threads;
        EXPECT_EQ(path, report(16 * MIB, Place::PINNED, threads).path) << threads;
    }
    EXPECT_EQ(GFK_PATH_GPU, report(64 * MIB, Place::PINNED, 12, {0, 1}).path);
}

TEST_F(HostRule, Matmuls) {
    const gfk_field field = make_field(8);
    for (Place place : {Place::PAGEABLE, Place::PINNED})
        for (bool large : {false, true}) {
            gfk_pipeline_desc desc = pipeline_desc();
            desc.threads = 4;
            gfk_matrix a = {};
            a.kind = GFK_MATRIX_RANDOM;
            a.rows = a.cols = large ? 128 : 16;
            const size_t bytes = large ? 16384 : 256;
            Random random;
            HostStage stage(a.cols, a.rows, bytes, place, random);
            gfk_pipeline_report report;
            ASSERT_OK(gfk_matmul_host(make_pipeline(desc).get(), &field, &a, stage.in(),
                                      stage.out(), bytes, GFK_SET, &report));
            EXPECT_EQ(large ? GFK_PATH_GPU : GFK_PATH_CPU, report.path) << place_name(place);
            EXPECT_EQ(large ? bytes : 0, report.gpu_bytes);
            count_checked();
        }
}

// However long a chunk may be, a device that is slow holds a small part of the call when the CPU has
// done all the rest.
TEST_F(HostRule, ASlowDeviceHoldsLittle) {
    simulated_device slow = SIMULATED_DEVICE_INIT;
    slow.wait_us = 300000;
    simulated_device_set(&slow);
    gfk_pipeline_desc desc = pipeline_desc(GFK_PATH_BOTH);
    desc.threads = 4;
    desc.chunk = size_t(1) << 30;
    const Pipeline pipeline = make_pipeline(desc);
    for (Place place : {Place::PAGEABLE, Place::PINNED}) {
        uint64_t held = 0;
        for (uint64_t again = 0; again < 50 && held == 0; again++) { // the CPU may do all of a call
            Random random(again);
            const HostRun run = run_product(pipeline.get(), make_field(8, 0x12b), 2, 4, MIB,
                                            GFK_SET, place, random);
            ASSERT_OK(run.status);
            EXPECT_TRUE(run.right);
            held = run.report.gpu_bytes;
        }
        EXPECT_GT(held, 0u) << place_name(place);
        EXPECT_LE(held, MIB / 2) << place_name(place);
        count_checked();
    }
}

} // namespace
