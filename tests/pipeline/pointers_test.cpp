// SPDX-License-Identifier: BSD-3-Clause
// check_pointers on simulated devices: which memory an object on the CPU and one on a device take.
#include "fixture.h"
#include "host/device/device.h"
#include "host/product/engine.h"
#include "rs/codes.h"
#include "support/simulated_device.h"

namespace {

class Pointers : public testing::Test {
  protected:
    static constexpr size_t BYTES = 8192;
    void SetUp() override {
        const simulated_device bus = SIMULATED_DEVICE_INIT;
        simulated_device_set(&bus);
        int previous = 0;
        device_[0] = simulated_device_memory(BYTES);
        ASSERT_OK(gfk_device_enter(1, &previous));
        const gfk_status status = gfk_device_alloc(&device_[1], BYTES);
        ASSERT_OK(gfk_device_leave(previous, status));
        pinned_ = make_pinned(BYTES);
    }
    void TearDown() override {
        for (int i : {0, 1})
            gfk_device_free(i, device_[i]);
        EXPECT_EQ(0u, simulated_device_faults());
    }
    // Memory of every kind, and whether an object in this place may access it.
    std::vector<std::pair<void *, bool>> memories(int place) {
        return {{host_.data(), place == GFK_CPU},
                {pinned_.get(), true},
                {device_[0], place == 0},
                {device_[1], place == 1}};
    }
    void *good(int place) { return place == GFK_CPU ? host_.data() : device_[place]; }
    static gfk_product_desc product_desc(int place, bool check) {
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = place;
        desc.check_pointers = check;
        return desc;
    }
    static void expect(bool allowed, gfk_status status, int place) {
        EXPECT_STATUS(allowed ? GFK_STATUS_SUCCESS : GFK_STATUS_WRONG_DEVICE, status) << place;
        count_checked();
    }

    std::vector<uint8_t> host_ = std::vector<uint8_t>(BYTES);
    Pinned pinned_;
    void *device_[2] = {};
};

TEST_F(Pointers, OfProducts) {
    const gfk_field field = make_field(8);
    const uint32_t one = 1;
    for (int place : {GFK_CPU, 0})
        for (bool check : {true, false}) {
            const gfk_product_desc desc = product_desc(place, check);
            gfk_product_t product = nullptr;
            ASSERT_OK(gfk_product_create(&product, &field, 1, 1, &one, &desc));
            const size_t bytes = BYTES / 2;
            const gfk_regions right = {nullptr, good(place), bytes};
            for (const auto &[memory, allowed] : memories(place)) {
                const gfk_regions other = {nullptr, static_cast<uint8_t *>(memory) + bytes, bytes};
                const gfk_operand operands[] = {gfk_operand_regions(&other, 1, bytes, GFK_READ),
                                                gfk_operand_regions(&right, 1, bytes, GFK_WRITE)};
                expect(allowed || !check, gfk_operands_check(place, check, operands, 2), place);
                for (const auto &[in, out] : {std::pair(&other, &right), {&right, &other}}) {
                    if (!allowed && check)
                        expect(false, gfk_product_run(product, in, out, bytes, GFK_SET, nullptr),
                               place);
                    expect(true, gfk_product_run(product, in, out, 0, GFK_SET, nullptr), place);
                }
            }
            gfk_product_destroy(product);
        }
}

TEST_F(Pointers, OfMultipliers) {
    const gfk_field field = make_field(8);
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = "split_w8_host";
    desc.check_pointers = true;
    gfk_multiplier_t m = nullptr;
    ASSERT_OK(gfk_multiplier_create(&m, &field, &desc));
    gfk_multiplier_info info;
    ASSERT_OK(gfk_multiplier_get_info(m, &info));
    ASSERT_LT(0u, info.workspace_bytes);
    alignas(16) uint8_t workspace[BYTES] = {}, region[64] = {};
    const auto multiply = [&](const void *src, void *dst, void *space) {
        return gfk_region_multiply(m, 2, src, dst, 64, GFK_SET, space, BYTES, nullptr);
    };
    for (const auto &[memory, allowed] : memories(GFK_CPU)) {
        expect(allowed, multiply(memory, region, workspace), GFK_CPU);
        expect(allowed, multiply(region, memory, workspace), GFK_CPU);
        expect(allowed, multiply(region, region, memory), GFK_CPU);
        expect(allowed, gfk_region_prepare(m, 2, memory, BYTES, nullptr), GFK_CPU);
    }
    gfk_multiplier_destroy(m);
}

// A call on host memory takes no vectors, payloads or results in device memory.
TEST_F(Pointers, OfRecoders) {
    const Pipeline pipeline = make_pipeline(pipeline_desc());
    const gfk_field field = make_field(8);
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = GFK_CPU;
    gfk_rlnc_t made = nullptr;
    ASSERT_OK(gfk_rlnc_create(&made, &field, 4, 100, &desc));
    const Owned<struct gfk_rlnc, gfk_rlnc_destroy> code(made);
    for (int in_device = 0; in_device <= 4; in_device++) { // one of the four, or none
        const auto at = [&](int i) {
            return static_cast<uint8_t *>(i == in_device ? device_[0] : host_.data()) + 1000 * i;
        };
        const gfk_regions from = {nullptr, at(2), 100}, to = {nullptr, at(3), 100};
        EXPECT_STATUS(in_device < 4 ? GFK_STATUS_INVALID_ARGUMENT : GFK_STATUS_SUCCESS,
                      gfk_rlnc_recode_host(pipeline.get(), made, 0, 0, 3, 1, 5, at(0), 4, &from,
                                           at(1), 4, &to, nullptr));
        count_checked();
    }
}

// Words, results and workspaces of a code, and the regions of a batch.
TEST_F(Pointers, OfCodes) {
    for (int place : {GFK_CPU, 0}) {
        const RsCode code =
            make_rs_code(product_desc(place, true), make_field(8), {GFK_RS_CAUCHY, 1, 2});
        auto *memory = static_cast<uint8_t *>(good(place));
        const gfk_regions data = {nullptr, memory, 64}, parity = {nullptr, memory + 64, 64};
        auto *verdict = reinterpret_cast<gfk_rs_verdict *>(memory + 256);
        auto *counts = reinterpret_cast<uint64_t *>(memory + 512);
        size_t workspace = 0;
        ASSERT_OK(gfk_rs_locate_workspace(code.get(), 64, &workspace));
        ASSERT_GE(BYTES - 1024, workspace);
        for (const auto &[other, allowed] : memories(place)) {
            if (allowed)
                continue; // what passes runs, which simulated devices cannot
            const auto locate = [&](void *v, void *c, void *w) {
                return gfk_rs_locate(code.get(), &data, &parity, 64, GFK_RS_REPORT,
                                     static_cast<gfk_rs_verdict *>(v), static_cast<uint64_t *>(c),
                                     w, workspace, nullptr);
            };
            const auto space = reinterpret_cast<void *>(
                (reinterpret_cast<uintptr_t>(memory) + 1024 + 255) / 256 * 256);
            const auto aligned =
                reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(other) + 255) / 256 * 256);
            expect(false, locate(other, counts, space), place);
            expect(false, locate(verdict, other, space), place);
            expect(false, locate(verdict, counts, aligned), place);
            expect(false,
                   gfk_rs_verify(code.get(), &data, &parity, 64, static_cast<uint32_t *>(other),
                                 nullptr),
                   place);
            const gfk_regions elsewhere = {nullptr, other, 64};
            expect(false, gfk_rs_encode(code.get(), &elsewhere, &parity, 64, nullptr), place);
            expect(false, gfk_rs_delta(code.get(), memory, other, memory + 64, 64, nullptr), place);
            expect(false, gfk_rs_update(code.get(), 0, memory, other, &parity, 64, nullptr), place);
            const gfk_rs_stripe stripe = {elsewhere, parity, 64, nullptr, 0};
            gfk_rs_batch_t batch = nullptr;
            expect(false, gfk_rs_batch_create(&batch, code.get(), &stripe, 1, nullptr), place);
            EXPECT_EQ(nullptr, batch);
        }
    }
}

} // namespace
