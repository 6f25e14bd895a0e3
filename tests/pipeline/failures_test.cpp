// SPDX-License-Identifier: BSD-3-Clause
// Devices that run out of memory, refuse an order, or die in the middle of a call.
#include <cstring>

#include "fixture.h"
#include "support/simulated_device.h"

namespace {

simulated_device working() {
    return SIMULATED_DEVICE_INIT;
}

constexpr simulated_time TIMES[] = {SIMULATED_MIXED, SIMULATED_LATE, SIMULATED_EARLY};

// Device 0 fails once, or for ever, after so many calls.
simulated_device broken(uint64_t after, bool for_ever) {
    simulated_device devices = working();
    devices.fails_after = after;
    devices.dies = for_ever;
    devices.time = TIMES[after % 3];
    return devices;
}

class HostFailures : public HostTest {
  protected:
    static constexpr size_t BYTES = 20000; // 20 chunks
    void SetUp() override {
        set(working());
        left_ = simulated_device_left();
        HostTest::SetUp();
    }
    void TearDown() override {
        EXPECT_EQ(left_, simulated_device_left());
        EXPECT_EQ(0u, simulated_device_faults());
        set(working());
    }
    static void set(const simulated_device &devices) { simulated_device_set(&devices); }
    // 14 regions in chunks of 1 KiB each.
    gfk_pipeline_desc small() const {
        gfk_pipeline_desc d = desc_of_chunk(14 << 10);
        d.streams = 3;
        return d;
    }
    static HostRun product(gfk_pipeline_t pipeline, gfk_accumulate mode, Place place, size_t bytes,
                           uint64_t stream) {
        Random random(stream);
        const HostRun run = run_product(pipeline, make_field(8), 4, 10, bytes, mode, place, random);
        EXPECT_EQ(0, simulated_device_current());
        count_checked();
        return run;
    }
    // It succeeds, perhaps on the CPU, and the bytes are right.
    gfk_pipeline_report right_product(gfk_pipeline_t pipeline, gfk_accumulate mode, Place place,
                                      size_t bytes, uint64_t stream) {
        const HostRun o = product(pipeline, mode, place, bytes, stream);
        EXPECT_OK(o.status) << "after " << stream;
        EXPECT_TRUE(o.right) << "after " << stream << " orders, " << place_name(place);
        return o.report;
    }
    Pipeline pipeline_on(const simulated_device &devices) const {
        set(devices);
        return make_pipeline(small());
    }
    size_t left_ = 0;
};

TEST_P(HostFailures, OrdersEarlyAndLate) {
    for (simulated_time time : TIMES) {
        simulated_device none = working();
        none.time = time;
        const Pipeline pipeline = pipeline_on(none);
        uint64_t stream = 0;
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            for (Place place : places())
                for (size_t bytes : {size_t(1), size_t(1023), size_t(1024), BYTES})
                    check(pipeline.get(), make_field(8), 4, 10, bytes, mode, place, stream++);
    }
}

// Wherever it happens, what can be made again is made again.
TEST_P(HostFailures, SetIsMadeAgain) {
    if (!on_gpu())
        GTEST_SKIP() << "no device takes part";
    const std::vector<Place> few = {Place::PAGEABLE, Place::SPACED_PINNED};
    for (bool dies : {false, true})
        for (Place place : options.reduced ? few : places())
            for (uint64_t after = 1; after < 400; after += after < 12        ? 1
                                                           : options.reduced ? 23
                                                                             : 7) {
                const Pipeline pipeline = pipeline_on(broken(after, dies));
                const gfk_pipeline_report report =
                    right_product(pipeline.get(), GFK_SET, place, BYTES, after);
                EXPECT_EQ(BYTES, report.cpu_bytes + report.gpu_bytes);
                EXPECT_LE(report.redone_bytes, report.cpu_bytes);
                const bool failed = report.device_status != GFK_STATUS_SUCCESS;
                if (path() == GFK_PATH_GPU) {
                    EXPECT_LE(report.redone_bytes != 0, failed);
                    EXPECT_EQ(report.cpu_bytes, report.redone_bytes);
                }
                if (!failed)
                    continue;
                EXPECT_STATUS(GFK_STATUS_CUDA, report.device_status);
                // The next call does without a dead device, or one that could not be entered, and
                // with one that answers again. One that dies when its product or memory is made, or
                // its first stream, is asked once more.
                const bool lost = after == 1 || (dies && after > 4);
                const gfk_pipeline_report next =
                    right_product(pipeline.get(), GFK_XOR, place, 5000, after);
                EXPECT_EQ(lost ? GFK_PATH_CPU : path(), next.path) << next.reason;
                if (lost) {
                    EXPECT_STREQ("no GPU answers any more", next.reason);
                }
            }
}

// Results that overwrite what they are made of: right, or reported as undefined. Where they go
// through pinned buffers nothing arrives early, so they are always right.
TEST_P(HostFailures, XorIsRightOrUndefined) {
    if (!on_gpu())
        GTEST_SKIP() << "no device takes part";
    size_t undefined = 0;
    for (bool dies : {false, true})
        for (Place place : {Place::PAGEABLE, Place::PINNED})
            for (uint64_t after = 1; after < 450; after += after < 12        ? 1
                                                           : options.reduced ? 23
                                                                             : 5) {
                const Pipeline pipeline = pipeline_on(broken(after, dies));
                const HostRun o = product(pipeline.get(), GFK_XOR, place, BYTES, after);
                if (place == Place::PINNED && o.status == GFK_STATUS_CUDA) {
                    undefined++;
                    EXPECT_STATUS(GFK_STATUS_CUDA, o.report.device_status);
                    continue;
                }
                ASSERT_OK(o.status);
                ASSERT_TRUE(o.right) << "after " << after << " orders, " << place_name(place);
            }
    if (path() == GFK_PATH_GPU) {
        EXPECT_GT(undefined, 0u);
    }
}

TEST_P(HostFailures, InPlaceIsRightOrUndefined) {
    if (!on_gpu())
        GTEST_SKIP() << "no device takes part";
    const gfk_field field = make_field(8);
    for (Place place : {Place::PAGEABLE, Place::PINNED})
        for (uint64_t after = 1; after < 80; after++) {
            set(broken(after, after % 2 != 0));
            gfk_pipeline_desc d = small();
            d.chunk = 2048;
            const Pipeline pipeline = make_pipeline(d);
            Random random(after);
            HostStage stage(1, 1, BYTES, place, random);
            const Bytes expected = product_of(field, 0x8e, Bytes(stage.in(0), stage.in(0) + BYTES));
            const gfk_status status = gfk_region_multiply_host(
                pipeline.get(), &field, 0x8e, stage.in(0), stage.in(0), BYTES, GFK_SET, nullptr);
            count_checked();
            if (place == Place::PINNED && status == GFK_STATUS_CUDA)
                continue;
            ASSERT_OK(status);
            ASSERT_EQ(BYTES, first_difference(expected.data(), stage.in(0), BYTES)) << after;
        }
}

TEST_P(HostFailures, TheOtherDeviceGoesOn) {
    if (!on_gpu())
        GTEST_SKIP() << "no device takes part";
    const int devices[] = {0, 1};
    for (int failing : {0, 1})
        for (uint64_t after : {1, 40, 100}) {
            simulated_device failure = working();
            failure.failing = failing;
            failure.fails_after = after;
            failure.dies = true;
            set(failure);
            gfk_pipeline_desc d = small();
            d.devices = devices;
            d.device_count = 2;
            const Pipeline pipeline = make_pipeline(d);
            bool failed = false;
            for (int again = 0; again < 3; again++) {
                const gfk_pipeline_report report =
                    right_product(pipeline.get(), GFK_SET, Place::PINNED, 10 * BYTES, after);
                EXPECT_EQ(path(), report.path);
                if (failed) { // in an earlier call: it is not asked again
                    EXPECT_OK(report.device_status);
                }
                if (failed && path() == GFK_PATH_GPU) {
                    EXPECT_EQ(10 * BYTES, report.device_bytes[1 - failing]);
                }
                failed |= report.device_status != GFK_STATUS_SUCCESS;
            }
        }
}

TEST_P(HostFailures, NoRoomOnTheDevice) {
    if (!on_gpu())
        GTEST_SKIP() << "no device takes part";
    simulated_device failure = working();
    failure.memory = 20000; // less than two chunks
    {
        const Pipeline pipeline = pipeline_on(failure);
        const gfk_pipeline_report report =
            right_product(pipeline.get(), GFK_XOR, Place::MIXED, BYTES, 1);
        EXPECT_EQ(0u, report.gpu_bytes);
        EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, report.device_status);
        // Somebody frees memory.
        set(working());
        const gfk_pipeline_report next =
            right_product(pipeline.get(), GFK_XOR, Place::MIXED, BYTES, 2);
        EXPECT_OK(next.device_status);
    }
    // Nor for the device's context, its product, its streams, an order: the next call tries again.
    for (uint64_t after : {1, 2, 4, 7, 30}) {
        failure = working();
        failure.fails_after = after;
        failure.status = GFK_STATUS_OUT_OF_MEMORY;
        const Pipeline pipeline = pipeline_on(failure);
        for (bool first : {true, false}) {
            const gfk_pipeline_report report =
                right_product(pipeline.get(), GFK_SET, Place::MIXED, 10 * BYTES, after);
            if (path() == GFK_PATH_GPU) {
                EXPECT_STATUS(first ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS,
                              report.device_status);
                EXPECT_EQ(first, report.gpu_bytes != 10 * BYTES);
            }
        }
    }
    // No memory can be pinned beyond the stage's: its 14 regions, 96 bytes between them.
    failure = working();
    failure.pinned = (14 * (BYTES + 96) + 64 + 4095) / 4096 * 4096 + 8192;
    {
        const Pipeline pipeline = pipeline_on(failure);
        const gfk_pipeline_report report =
            right_product(pipeline.get(), GFK_SET, Place::MIXED, BYTES, 1);
        EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, report.device_status);
    }
    set(working());
    // Limits below a single chunk are the same as no memory.
    for (bool pinned : {false, true}) {
        gfk_pipeline_desc d = small();
        (pinned ? d.pinned_memory : d.device_memory) = 700;
        const Pipeline pipeline = make_pipeline(d);
        const gfk_pipeline_report report =
            right_product(pipeline.get(), GFK_SET, Place::PAGEABLE, BYTES, 1);
        EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, report.device_status);
    }
}

// The limits that the caller chose hold, whatever the call.
TEST_P(HostFailures, LimitsHold) {
    if (!on_gpu())
        GTEST_SKIP() << "no device takes part";
    const size_t page = 4096, large = size_t(1) << 20, small = size_t(16) << 10, odd = 70000;
    const size_t tight = 4 * 14 * 1024; // the regions of four chunks, and nothing for their marks
    const size_t limits[][2] = {{small, small}, {small, large}, {large, small},
                                {odd, odd},     {large, odd},   {odd, large},
                                {large, large}, {tight, large}, {large, tight}};
    for (const auto &[memory, pinned] : limits)
        for (size_t bytes : {size_t(100), BYTES, options.reduced ? 3 * BYTES : 10 * BYTES}) {
            const size_t stage = 14 * (bytes + 96) + 64; // is pinned too; in pages, as all is
            simulated_device limit = working();
            limit.memory = memory;
            limit.pinned = (stage + page - 1) / page * page + (pinned + page - 1) / page * page;
            set(limit);
            gfk_pipeline_desc d = desc();
            d.device_memory = memory;
            d.pinned_memory = pinned;
            const Pipeline pipeline = make_pipeline(d);
            for (Place place : {Place::SPACED_PINNED, Place::PAGEABLE})
                for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
                    const gfk_pipeline_report report =
                        right_product(pipeline.get(), mode, place, bytes, memory);
                    EXPECT_OK(report.device_status);
                }
        }
}

// Equally spaced regions, of which only some are pinned, and one in part.
TEST_P(HostFailures, SpacedRegionsPinnedInPart) {
    const Pipeline pipeline = make_pipeline(small());
    if (info_of(pipeline.get()).device_count == 0)
        GTEST_SKIP() << "nothing can be pinned";
    const gfk_field field = make_field(8);
    const size_t k = 3, bytes = 5000, stride = 5008;
    for (size_t pinned : {size_t(100), bytes, stride + bytes / 2, 2 * stride + bytes - 1}) {
        Random random(pinned);
        Bytes data = random.bytes(k * stride), parity = random.bytes(bytes), expected(bytes);
        const std::vector<uint32_t> matrix = {2, 3, 0x53};
        for (size_t i = 0; i < k; i++) {
            const uint8_t *region = data.data() + i * stride;
            expected =
                xor_of(expected, product_of(field, matrix[i], Bytes(region, region + bytes)));
        }
        ASSERT_OK(gfk_pinned_register(data.data(), pinned));
        const gfk_regions in = {nullptr, data.data(), stride},
                          out = {nullptr, parity.data(), bytes};
        EXPECT_OK(gfk_product_host(pipeline.get(), &field, 1, k, matrix.data(), &in, &out, bytes,
                                   GFK_SET, nullptr));
        EXPECT_EQ(expected, parity) << pinned;
        ASSERT_OK(gfk_pinned_unregister(data.data()));
        count_checked();
    }
}

TEST_P(HostFailures, RegionsInDeviceMemory) {
    const Pipeline pipeline = make_pipeline(desc());
    if (info_of(pipeline.get()).device_count == 0)
        GTEST_SKIP() << "no device to ask about it";
    void *there = simulated_device_memory(4096);
    expect_refused(pipeline.get(), there, 4096);
    simulated_device_memory_free(there);
}

// A matmul on a device that fails after so many calls, or has no room for a chunk.
TEST_P(HostFailures, Matmul) {
    const size_t rows = 20, cols = 30, bytes = options.reduced ? 9000 : 20000;
    const gfk_field field = make_field(16);
    bool failed = false;
    for (uint64_t after = 0; after < 80; after += options.reduced && after > 20 ? 5 : 1) {
        Random random(after);
        gfk_pipeline_desc d = desc_of_chunk(200000);
        d.device_memory = after == 0 ? 40000 : size_t(1) << 30;
        set(broken(after, after % 2 == 1));
        const Pipeline pipeline = make_pipeline(d);
        HostStage stage(cols, rows, bytes, places()[after % places().size()], random);
        const std::vector<uint32_t> matrix = random_elements(16, rows * cols, random);
        Bytes elements(2 * matrix.size());
        for (size_t n = 0; n < matrix.size(); n++)
            set_symbol(elements.data(), n, 16, matrix[n]);
        const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements.data(), rows, cols, cols);
        stage.expect(field, matrix, GFK_SET, random);
        gfk_pipeline_report report;
        ASSERT_OK(gfk_matmul_host(pipeline.get(), &field, &a, stage.in(), stage.out(), bytes,
                                  GFK_SET, &report));
        EXPECT_TRUE(stage.as_expected()) << "after " << after;
        EXPECT_EQ(bytes, report.cpu_bytes + report.gpu_bytes);
        failed |= report.device_status != GFK_STATUS_SUCCESS;
        if (after == 0 && path() == GFK_PATH_GPU) {
            EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, report.device_status);
            EXPECT_EQ(bytes, report.cpu_bytes);
        }
        count_checked();
    }
    EXPECT_TRUE(failed || !on_gpu());
}

INSTANTIATE_TEST_SUITE_P(Paths, HostFailures,
                         testing::Values(GFK_PATH_AUTO, GFK_PATH_GPU, GFK_PATH_BOTH), path_name);

} // namespace
