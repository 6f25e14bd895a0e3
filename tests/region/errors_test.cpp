// SPDX-License-Identifier: BSD-3-Clause
// What region calls refuse beyond what all calls do (tests/calls): constants; allocations that fail.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/row_fixture.h"

namespace {

class Errors : public RowTest {
  protected:
    // Source, destination and workspace lie in one buffer, with room around each.
    void set_up() override {
        multiplier_ = make_multiplier(field(), row());
        workspace_bytes_ = info_of(multiplier_.get()).workspace_bytes;
        content_ = Random().bytes(4096 + round_up(workspace_bytes_, 16) + 1024);
        memory_ = std::make_unique<Memory>(row(), content_);
    }
    void *workspace() { return workspace_bytes_ != 0 ? memory_->data() + 4096 : nullptr; }
    gfk_status prepare(uint32_t c) {
        return gfk_region_prepare(multiplier_.get(), c, workspace(), workspace_bytes_, nullptr);
    }
    gfk_status multiply(uint32_t c, size_t dst, gfk_accumulate mode, bool is_prepared) {
        uint8_t *const at = memory_->data();
        return is_prepared
                   ? gfk_region_multiply_prepared(multiplier_.get(), c, at + SRC, at + dst, BYTES,
                                                  mode, workspace(), workspace_bytes_, nullptr)
                   : gfk_region_multiply(multiplier_.get(), c, at + SRC, at + dst, BYTES, mode,
                                         workspace(), workspace_bytes_, nullptr);
    }

    static constexpr size_t BYTES = 192, SRC = 512, DST = 2048;
    Multiplier multiplier_;
    size_t workspace_bytes_ = 0;
    Bytes content_;
    std::unique_ptr<Memory> memory_;
};

TEST_P(Errors, ConstantOutsideTheField) {
    if (w() == 32)
        return; // there is none
    for (uint32_t c : {largest(w()) + 1, largest(w()) + 2, 0x80000000u, 0xffffffffu}) {
        EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT, multiply(c, DST, GFK_SET, false));
        EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT, multiply(c, DST, GFK_SET, true));
        EXPECT_STATUS(GFK_STATUS_INVALID_CONSTANT, prepare(c));
        count_checked(3);
    }
    EXPECT_TRUE(content_ == memory_->read()) << "a refused call has written";
}

// Whatever the constant; neighbours do not overlap.
TEST_P(Errors, PartialOverlap) {
    for (uint32_t c : {0u, 1u, 2u})
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            for (bool is_prepared : {false, true})
                for (size_t dst : {SRC - BYTES + 1, SRC - 1, SRC + 1, SRC + BYTES - 1}) {
                    EXPECT_STATUS(GFK_STATUS_OVERLAP, multiply(c, dst, mode, is_prepared)) << dst;
                    count_checked();
                }
    EXPECT_TRUE(content_ == memory_->read()) << "a refused call has written";
    for (size_t dst : {SRC - BYTES, SRC + BYTES})
        EXPECT_OK(multiply(2, dst, GFK_SET, false));
}

// c = 0 and c = 1 take a workspace as other constants do, but nobody has to prepare it.
TEST_P(Errors, SpecialConstantsLeaveTheWorkspaceAlone) {
    for (uint32_t c : {0u, 1u}) {
        EXPECT_OK(prepare(c));
        EXPECT_OK(multiply(c, c == 0 ? DST : SRC, GFK_XOR, true)); // in place: the sum is 0
        EXPECT_EQ(c == 0 ? Bytes(content_.begin() + SRC, content_.begin() + SRC + BYTES)
                         : Bytes(BYTES),
                  memory_->read(SRC, BYTES));
        EXPECT_EQ(Bytes(content_.begin() + 4096, content_.end()),
                  memory_->read(4096, content_.size() - 4096));
        count_checked();
    }
}

// ---- allocations that fail ----------------------------------------------------------------------

gfk_multiplier_desc unlimited(Row row) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = row->id;
    desc.table_limit = UINT64_MAX;
    return desc;
}

// The status of creating the row's multiplier in a process that may use little address space.
gfk_status create_with_little_memory(Row row) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit = {rlim_t(1) << 30, rlim_t(1) << 30};
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(255);
        const gfk_field field = make_field(row->w);
        const gfk_multiplier_desc desc = unlimited(row);
        rlimit there = limit;
        const auto untouched = reinterpret_cast<gfk_multiplier_t>(&there);
        gfk_multiplier_t m = untouched;
        const gfk_status status = gfk_multiplier_create(&m, &field, &desc);
        _exit(m == untouched ? status : 254);
    }
    int result = 0;
    EXPECT_EQ(child, waitpid(child, &result, 0));
    EXPECT_TRUE(WIFEXITED(result));
    return static_cast<gfk_status>(WEXITSTATUS(result));
}

class OutOfMemory : public RowTest {};

TEST_P(OutOfMemory, IsAStatus) {
    if (row()->table_bytes <= uint64_t(1) << 30)
        GTEST_SKIP() << "its tables are the caller's workspace";
    if (on_host(row())) {
        if (SANITIZED)
            GTEST_SKIP() << "no memory limits under a sanitizer";
        EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, create_with_little_memory(row()));
        count_checked();
        return;
    }
    // Leave half of what the tables need.
    std::vector<void *> blocks;
    for (size_t block = size_t(1) << 36; block >= size_t(1) << 30; block /= 2)
        while (device::free_bytes() > block + row()->table_bytes / 2)
            if (void *memory = device::allocate(block))
                blocks.push_back(memory);
            else
                break;
    const gfk_field f = field();
    const gfk_multiplier_desc desc = unlimited(row());
    const auto untouched = reinterpret_cast<gfk_multiplier_t>(&blocks);
    gfk_multiplier_t m = untouched;
    EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, gfk_multiplier_create(&m, &f, &desc));
    EXPECT_EQ(untouched, m);
    EXPECT_FALSE(device::error_pending());
    for (void *memory : blocks)
        device::release(memory);
    count_checked();
}

PER_ROW(Errors, rows());
PER_ROW(OutOfMemory, giant_rows());

} // namespace
