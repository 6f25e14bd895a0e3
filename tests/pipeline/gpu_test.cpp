// SPDX-License-Identifier: BSD-3-Clause
// Calls on host memory and the CUDA around them: other people's pinned memory, memory that is
// pinned in part, device memory, the current device, errors left behind.
#include "fixture.h"
#include "support/device.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace {

class HostGpu : public HostTest {
  protected:
    static constexpr size_t BYTES = size_t(1) << 20;
    void set_up() override { pipeline_ = make_pipeline(desc()); }
    // dst = c * src, compared in full; `as_usual`: the report adds up.
    gfk_pipeline_report multiply_region(const uint8_t *src, uint8_t *dst, size_t bytes = BYTES,
                                        bool as_usual = true) {
        const gfk_field field = make_field(8);
        const Bytes expected = product_of(field, 0x8e, Bytes(src, src + bytes));
        gfk_pipeline_report report = {};
        EXPECT_OK(gfk_region_multiply_host(pipeline_.get(), &field, 0x8e, src, dst, bytes, GFK_SET,
                                           &report));
        EXPECT_EQ(bytes, first_difference(expected.data(), dst, bytes));
        EXPECT_FALSE(device::error_pending());
        if (as_usual)
            expect_sound(report, pipeline_.get(), bytes);
        count_checked();
        return report;
    }
    Pipeline pipeline_;
};

TEST_P(HostGpu, MemoryPinnedByOthers) {
    Random random(1);
    auto *memory = static_cast<uint8_t *>(device::allocate_pinned(2 * BYTES));
    random.fill(memory, 2 * BYTES);
    EXPECT_EQ(0u, multiply_region(memory, memory + BYTES).staged_regions);
    EXPECT_EQ(0u, multiply_region(memory + 3, memory + BYTES + 5, BYTES - 8).staged_regions);
    device::release_pinned(memory);
}

TEST_P(HostGpu, MemoryPinnedLater) {
    Random random(2);
    Bytes src = random.bytes(BYTES), dst = random.bytes(BYTES);
    EXPECT_EQ(2u, multiply_region(src.data(), dst.data()).staged_regions);
    ASSERT_OK(gfk_pinned_register(src.data(), src.size()));
    EXPECT_EQ(1u, multiply_region(src.data(), dst.data()).staged_regions);
    ASSERT_OK(gfk_pinned_unregister(src.data()));
    EXPECT_EQ(2u, multiply_region(src.data(), dst.data()).staged_regions);
}

// Half of a region is pinned, at its beginning, at its end, or in the middle.
TEST_P(HostGpu, MemoryPinnedInPart) {
    Random random(3);
    const Pinned aligned = make_pinned(4096); // and so is what is registered below
    Bytes src = random.bytes(BYTES), dst = random.bytes(BYTES);
    for (size_t from : {size_t(0), BYTES / 4, BYTES / 2}) {
        ASSERT_OK(gfk_pinned_register(src.data() + from, BYTES / 2));
        EXPECT_EQ(2u, multiply_region(src.data(), dst.data()).staged_regions) << from;
        ASSERT_OK(gfk_pinned_unregister(src.data() + from));
    }
}

// Two registrations that meet inside a region: slower, but right.
TEST_P(HostGpu, MemoryPinnedInPieces) {
    Random random(4);
    const size_t page = 4096;
    Bytes memory = random.bytes(BYTES + page), dst = random.bytes(BYTES);
    uint8_t *src = memory.data() + (page - reinterpret_cast<uintptr_t>(memory.data()) % page);
    ASSERT_OK(gfk_pinned_register(src, BYTES / 2));
    ASSERT_OK(gfk_pinned_register(src + BYTES / 2, BYTES / 2));
    multiply_region(src, dst.data(), BYTES, false);
    ASSERT_OK(gfk_pinned_unregister(src));
    ASSERT_OK(gfk_pinned_unregister(src + BYTES / 2));
}

// Two registrations that meet between two regions, which pointers list in equal steps.
TEST_P(HostGpu, RegionsPinnedApart) {
    Random random(8);
    const size_t page = 4096;
    const gfk_field field = make_field(8);
    Bytes memory = random.bytes(2 * BYTES + page), dst = random.bytes(BYTES);
    uint8_t *src = memory.data() + (page - reinterpret_cast<uintptr_t>(memory.data()) % page);
    for (size_t gap : {size_t(0), size_t(48)}) {
        ASSERT_OK(gfk_pinned_register(src, BYTES));
        ASSERT_OK(gfk_pinned_register(src + BYTES, BYTES));
        void *in[] = {src, src + BYTES}, *out[] = {dst.data()};
        const gfk_regions ins = {in, nullptr, 0}, outs = {out, nullptr, 0};
        const uint32_t matrix[] = {0x8e, 0x53};
        const size_t bytes = BYTES - gap;
        ASSERT_OK(gfk_product_host(pipeline_.get(), &field, 1, 2, matrix, &ins, &outs, bytes,
                                   GFK_SET, nullptr));
        const Bytes expected =
            xor_of(product_of(field, 0x8e, Bytes(src, src + bytes)),
                   product_of(field, 0x53, Bytes(src + BYTES, src + BYTES + bytes)));
        EXPECT_EQ(bytes, first_difference(expected.data(), dst.data(), bytes));
        EXPECT_FALSE(device::error_pending());
        ASSERT_OK(gfk_pinned_unregister(src));
        ASSERT_OK(gfk_pinned_unregister(src + BYTES));
        count_checked();
    }
}

TEST_P(HostGpu, DeviceMemoryIsRefused) {
    void *there = device::allocate(4096);
    const Bytes before(4096, 1);
    Bytes after(4096);
    device::upload(there, before.data(), 4096);
    expect_refused(pipeline_.get(), there, 4096);
    EXPECT_FALSE(device::error_pending());
    device::download(after.data(), there, 4096);
    EXPECT_EQ(before, after);
    device::release(there);
}

TEST_P(HostGpu, TheCurrentDeviceStays) {
    if (device::count() < 2)
        GTEST_SKIP() << "there are no two devices to mix up";
    const int other[] = {1};
    gfk_pipeline_desc d = desc();
    d.devices = other;
    d.device_count = 1;
    pipeline_ = make_pipeline(d);
    Random random(5);
    const Bytes src = random.bytes(BYTES);
    Bytes dst = random.bytes(BYTES);
    for (int current : {0, 1}) {
        device::select(current);
        multiply_region(src.data(), dst.data());
        EXPECT_EQ(current, device::current());
    }
    device::select(0);
    pipeline_.reset();
    EXPECT_EQ(0, device::current());
}

// Calls on all devices there are, in any order. The bytes are the reference engine's, and no device
// is left out. In the first call a device that allocates its buffers late may find nothing to do.
TEST_P(HostGpu, SeveralDevicesMakeTheSameBytes) {
    if (!on_gpu() || device::count() < 2)
        GTEST_SKIP() << "there are no two devices";
    constexpr size_t K = 4, M = 2, REGION = 16 * BYTES + 13;
    std::vector<int> devices(static_cast<size_t>(device::count()));
    std::iota(devices.begin(), devices.end(), 0);
    Random random(7);
    for (bool reversed : {false, true}) {
        if (reversed)
            std::reverse(devices.begin(), devices.end());
        for (Place place : {Place::PINNED, Place::PAGEABLE}) {
            gfk_pipeline_desc d = desc();
            d.devices = devices.data();
            d.device_count = devices.size();
            d.device_memory = size_t(14) << 20; // many chunks, so that there are some for everybody
            const Pipeline pipeline = make_pipeline(d);
            for (bool first : {true, false}) {
                const HostRun run = run_product(pipeline.get(), make_field(8), M, K, REGION,
                                                GFK_SET, place, random);
                ASSERT_OK(run.status);
                EXPECT_TRUE(run.right);
                const gfk_pipeline_report &report = run.report;
                EXPECT_OK(report.device_status);
                expect_sound(report, pipeline.get(), REGION);
                for (size_t i = 0; !first && path() == GFK_PATH_GPU && i < devices.size(); i++)
                    EXPECT_LT(0u, report.device_bytes[i]) << "device " << devices[i];
                count_checked();
            }
        }
    }
}

// A device without free memory: the CPU does the work and says why.
TEST_P(HostGpu, NoMemoryLeft) {
    std::vector<void *> all;
    for (size_t piece = size_t(8) << 30; piece >= size_t(1) << 20; piece /= 2)
        while (void *memory = device::allocate(piece))
            all.push_back(memory);
    Random random(6);
    const Bytes src = random.bytes(8 * BYTES);
    Bytes dst = random.bytes(8 * BYTES);
    const gfk_pipeline_report report = multiply_region(src.data(), dst.data(), dst.size(), false);
    EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, report.device_status);
    EXPECT_EQ(dst.size(), report.cpu_bytes);
    for (void *memory : all)
        device::release(memory);
    multiply_region(src.data(), dst.data()); // and from now on the device again
}

INSTANTIATE_TEST_SUITE_P(Paths, HostGpu, testing::Values(GFK_PATH_GPU, GFK_PATH_BOTH), path_name);

// ---- above 4 GiB --------------------------------------------------------------------------------

class HostHuge : public HostTest {};

// In place, so that 4 GiB and a little more is all that it takes.
TEST_P(HostHuge, InPlaceBeyondFourGiB) {
    const size_t blocks = 4096 + 5, bytes = blocks * MIB;
    HostMemory room(bytes + (size_t(2) << 30));
    if (!room.is_there())
        GTEST_SKIP() << "there is not so much memory";
    const Pipeline pipeline = make_pipeline(desc());
    const std::unique_ptr<uint8_t[]> memory(new uint8_t[bytes]);
    fill_in_parallel(memory.get(), bytes);
    room.release();
    const gfk_field field = make_field(16);
    gfk_pipeline_report report;
    ASSERT_OK(gfk_region_multiply_host(pipeline.get(), &field, 0x1234, memory.get(), memory.get(),
                                       bytes, GFK_SET, &report));
    expect_sound(report, pipeline.get(), bytes);
    for (size_t i = 0; i < blocks; i += i < 4 || i > 4090 ? 1 : 97) {
        const Bytes expected = product_of(field, 0x1234, Random(i).bytes(MIB));
        ASSERT_EQ(MIB, first_difference(expected.data(), memory.get() + i * MIB, MIB)) << i;
        count_checked();
    }
}

PER_PATH(HostHuge);

} // namespace
