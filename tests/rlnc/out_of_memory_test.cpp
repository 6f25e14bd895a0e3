// SPDX-License-Identifier: BSD-3-Clause
// Network coding where one allocation after the other fails. The linker puts the functions below in
// the place of malloc and its like (pipeline/CMakeLists.txt).
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fixture.h"
#include "pipeline/fixture.h"

namespace {

std::atomic<int> left{-1}; // allocations that succeed before one fails; below 0: none fails

bool fails() {
    return left >= 0 && left-- == 0;
}

} // namespace

extern "C" {
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes) {
    return fails() ? nullptr : __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
    return fails() ? nullptr : __real_calloc(count, bytes);
}
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return fails() ? nullptr : __real_aligned_alloc(alignment, bytes);
}
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    return fails() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}
}

namespace {

constexpr size_t N = 40, RECEIVED = 45, BYTES = 3000;

// Calls with each allocation in turn missing, until none is. Returns how many were.
int without_each_allocation(const std::function<gfk_status()> &call,
                            const std::function<void()> &after_failure) {
    for (int allocations = 0;; allocations++) {
        left = allocations;
        const gfk_status status = call();
        const bool has_failed = left < 0;
        left = -1;
        if (!has_failed) {
            EXPECT_OK(status);
            return allocations;
        }
        EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, status) << allocations;
        after_failure();
        count_checked();
    }
}

class RlncOutOfMemory : public testing::Test {
  protected:
    RlncOutOfMemory() {
        gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
        desc.device = GFK_CPU;
        const gfk_field field = make_field(8);
        gfk_rlnc_t made = nullptr;
        require_success(gfk_rlnc_create(&made, &field, N, BYTES, &desc), "gfk_rlnc_create");
        code.reset(made);
        for (uint32_t p = 0; p < RECEIVED; p++)
            headers.push_back({3, p, 0});
        EXPECT_OK(gfk_rlnc_vectors(code.get(), &range, vectors.data(), N, nullptr));
        EXPECT_OK(
            gfk_rlnc_encode_host(pipeline.get(), code.get(), 3, 0, RECEIVED, &from, &to, nullptr));
    }
    Random random;
    Pipeline pipeline = make_pipeline(pipeline_desc(GFK_PATH_CPU));
    Rlnc code;
    gfk_rlnc_range range = {3, 1, 0, RECEIVED};
    Headers headers;
    Bytes sources = random.bytes(N * BYTES), vectors = Bytes(RECEIVED * N);
    Bytes payloads = Bytes(RECEIVED * BYTES);
    gfk_regions from = {nullptr, sources.data(), BYTES}, to = {nullptr, payloads.data(), BYTES};
};

// All or nothing: vectors, payloads and the report.
TEST_F(RlncOutOfMemory, Recode) {
    const size_t count = 7;
    const Bytes content = random.bytes(count * (N + BYTES));
    Bytes made = content;
    gfk_pipeline_report report, before;
    memset(&report, 99, sizeof report);
    before = report;
    const gfk_regions out = {nullptr, &made[count * N], BYTES};
    const auto recode = [&] {
        return gfk_rlnc_recode_host(pipeline.get(), code.get(), 3, 0, count, 1, RECEIVED,
                                    vectors.data(), N, &to, made.data(), N, &out, &report);
    };
    const auto is_untouched = [&] {
        EXPECT_TRUE(made == content);
        EXPECT_EQ(0, memcmp(&report, &before, sizeof report));
    };
    EXPECT_LE(3, without_each_allocation(recode, is_untouched));
    EXPECT_FALSE(made == content);
    EXPECT_EQ(BYTES, report.cpu_bytes);
}

// The sources may have been written, what describes them has not.
TEST_F(RlncOutOfMemory, Decode) {
    Bytes out(N * BYTES), decoded(N, 99);
    gfk_rlnc_record record;
    gfk_pipeline_report report, before;
    memset(&report, 99, sizeof report);
    before = report;
    record.rank = 99;
    const gfk_regions made = {nullptr, out.data(), BYTES};
    const auto decode = [&] {
        return gfk_rlnc_decode_host(pipeline.get(), code.get(), 3, headers.data(), RECEIVED,
                                    nullptr, 0, &to, &made, decoded.data(), &record, &report);
    };
    const auto is_untouched = [&] {
        EXPECT_TRUE(decoded == Bytes(N, 99));
        EXPECT_EQ(99u, record.rank);
        EXPECT_EQ(0, memcmp(&report, &before, sizeof report));
    };
    EXPECT_LE(10, without_each_allocation(decode, is_untouched));
    EXPECT_TRUE(out == sources);
    EXPECT_TRUE(decoded == Bytes(N, 1));
}

// Packets that were not taken keep their outcome, and can be given once more.
TEST_F(RlncOutOfMemory, DecoderAdd) {
    for (int allocations = 0, failed = 1; failed; allocations++) {
        gfk_rlnc_decoder_t made = nullptr;
        ASSERT_OK(gfk_rlnc_decoder_create(&made, code.get(), 3, 1, RECEIVED - N));
        const Owned<struct gfk_rlnc_decoder, gfk_rlnc_decoder_destroy> decoder(made);
        Bytes outcomes(RECEIVED, 0), out(N * BYTES);
        left = allocations;
        const gfk_status status = gfk_rlnc_decoder_add(made, headers.data(), RECEIVED, nullptr, 0,
                                                       &to, outcomes.data(), nullptr);
        failed = left < 0;
        left = -1;
        ASSERT_STATUS(failed ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS, status);
        for (size_t i = 0; i < RECEIVED; i++)
            if (outcomes[i] == 0) {
                ASSERT_TRUE(failed);
                const gfk_regions one = {nullptr, &payloads[i * BYTES], BYTES};
                ASSERT_OK(
                    gfk_rlnc_decoder_add(made, &headers[i], 1, nullptr, 0, &one, nullptr, nullptr));
            }
        const gfk_regions all = {nullptr, out.data(), BYTES};
        gfk_rlnc_record record;
        ASSERT_OK(gfk_rlnc_decoder_decode(made, &all, nullptr, nullptr));
        ASSERT_OK(gfk_rlnc_decoder_wait(made, nullptr, 0, 1, &record));
        ASSERT_TRUE(out == sources);
        ASSERT_EQ(RECEIVED - N, record.kept);
        count_checked();
    }
}

} // namespace
