// SPDX-License-Identifier: BSD-3-Clause
// Bad input to the region calls, where each mistake has its own status and nothing is written; allocations
// that fail.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "support/row_fixture.h"

namespace {

struct Arguments {
    gfk_multiplier_t multiplier;
    uint32_t c;
    const void *src;
    void *dst;
    size_t bytes;
    int mode; // not the enumeration, which must not hold the wrong values tried here
    void *workspace;
    size_t workspace_bytes;
    gfk_stream_t stream;
};

gfk_status multiply(const Arguments &a) {
    return gfk_region_multiply(a.multiplier, a.c, a.src, a.dst, a.bytes,
                               static_cast<gfk_accumulate>(a.mode), a.workspace, a.workspace_bytes,
                               a.stream);
}

gfk_status multiply_prepared(const Arguments &a) {
    return gfk_region_multiply_prepared(a.multiplier, a.c, a.src, a.dst, a.bytes,
                                        static_cast<gfk_accumulate>(a.mode), a.workspace,
                                        a.workspace_bytes, a.stream);
}

gfk_status prepare(const Arguments &a) {
    return gfk_region_prepare(a.multiplier, a.c, a.workspace, a.workspace_bytes, a.stream);
}

class Errors : public RowTest {
  protected:
    // Source, destination and workspace lie in one buffer, with room around each.
    void set_up() override {
        multiplier_ = make_multiplier(field(), row());
        workspace_bytes_ = info_of(multiplier_.get()).workspace_bytes;
        content_ = Random().bytes(4096 + round_up(workspace_bytes_, 16) + 1024);
        memory_ = std::make_unique<Memory>(row(), content_);
        good_ = {multiplier_.get(),
                 largest(w()),
                 memory_->data() + 512,
                 memory_->data() + 2048,
                 BYTES,
                 GFK_SET,
                 workspace_bytes_ != 0 ? memory_->data() + 4096 : nullptr,
                 workspace_bytes_,
                 nullptr};
    }

    void expect_untouched() {
        const size_t n = content_.size();
        EXPECT_EQ(n, first_difference(content_.data(), memory_->view(0, n), n))
            << row()->id << ": a refused call has written this byte";
    }

    // A call with one wrong argument has its status and writes nothing.
    void refused(gfk_status status, const std::function<void(Arguments &)> &spoil,
                 bool by_prepare = false) {
        Arguments a = good_;
        spoil(a);
        EXPECT_STATUS(status, multiply(a));
        EXPECT_STATUS(status, multiply_prepared(a));
        if (by_prepare) {
            EXPECT_STATUS(status, prepare(a));
        }
        expect_untouched();
        count_checked(by_prepare ? 3 : 2);
    }

    static constexpr size_t BYTES = 192;
    Multiplier multiplier_;
    size_t workspace_bytes_ = 0;
    Bytes content_;
    std::unique_ptr<Memory> memory_;
    Arguments good_ = {};
};

TEST_P(Errors, NullPointers) {
    refused(INVALID, [](Arguments &a) { a.multiplier = nullptr; }, true);
    refused(INVALID, [](Arguments &a) { a.src = a.dst = nullptr; });
}

TEST_P(Errors, Mode) {
    for (int mode : {2, 3, -1})
        refused(INVALID, [&](Arguments &a) { a.mode = mode; });
}

TEST_P(Errors, NotWholeSymbols) {
    for (size_t bytes = 1; bytes < BYTES; bytes++)
        if (bytes % symbol_bytes() != 0)
            refused(GFK_STATUS_INVALID_SIZE, [&](Arguments &a) { a.bytes = bytes; });
    if (symbol_bytes() > 1)
        refused(GFK_STATUS_INVALID_SIZE, [](Arguments &a) { a.bytes = SIZE_MAX; }); // odd
}

TEST_P(Errors, WrapsAround) {
    for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
        for (bool in_place : {false, true})
            refused(GFK_STATUS_INVALID_SIZE, [&](Arguments &a) {
                a.mode = mode;
                a.bytes = SIZE_MAX - 3; // a multiple of 4
                if (in_place)
                    a.dst = const_cast<void *>(a.src);
            });
}

TEST_P(Errors, ConstantOutsideTheField) {
    if (w() == 32)
        return; // there is none
    for (uint32_t c : {largest(w()) + 1, largest(w()) + 2, 0x80000000u, 0xffffffffu})
        refused(GFK_STATUS_INVALID_CONSTANT, [&](Arguments &a) { a.c = c; }, true);
}

TEST_P(Errors, PartialOverlap) {
    const auto n = static_cast<ptrdiff_t>(BYTES);
    for (uint32_t c : {0u, 1u, 2u})
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            for (ptrdiff_t k = -n + 1; k < n; k++) {
                Arguments a = good_;
                a.c = c;
                a.mode = mode;
                a.dst = memory_->data() + 512 + k;
                if (k != 0) {
                    EXPECT_STATUS(GFK_STATUS_OVERLAP, multiply(a)) << "shifted by " << k;
                    EXPECT_STATUS(GFK_STATUS_OVERLAP, multiply_prepared(a)) << "shifted by " << k;
                    count_checked(2);
                }
            }
    expect_untouched();
    for (ptrdiff_t k : {-n, n}) { // neighbours do not overlap
        Arguments a = good_;
        a.dst = memory_->data() + 512 + k;
        EXPECT_OK(multiply(a));
    }
}

// c = 0 and c = 1 take a workspace as other constants do, but nobody has to prepare it.
TEST_P(Errors, SpecialConstantsLeaveTheWorkspaceAlone) {
    for (uint32_t c : {0u, 1u}) {
        Arguments a = good_;
        a.c = c;
        a.mode = GFK_XOR;
        a.dst = memory_->data() + 512; // in place: the sum is 0
        if (c == 0)
            a.dst = memory_->data() + 2048;
        EXPECT_OK(prepare(a));
        EXPECT_OK(multiply_prepared(a));
        EXPECT_EQ(c == 0 ? Bytes(content_.begin() + 512, content_.begin() + 512 + BYTES)
                         : Bytes(BYTES),
                  memory_->read(512, BYTES));
        EXPECT_EQ(Bytes(content_.begin() + 4096, content_.end()),
                  memory_->read(4096, content_.size() - 4096));
        count_checked();
    }
}

TEST_P(Errors, CheckedPointers) {
    const bool host = on_host(row());
    if (host && device::count() == 0)
        return; // there is no other memory than the host's
    const gfk_field f = field();
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = row()->id;
    desc.check_pointers = true;
    gfk_multiplier_t made = nullptr;
    ASSERT_OK(gfk_multiplier_create(&made, &f, &desc));
    const Multiplier owner(made);
    const Memory elsewhere(!host, Bytes(round_up(workspace_bytes_, 16) + BYTES));
    const auto checking = [&](Arguments &a) { a.multiplier = made; };
    refused(GFK_STATUS_WRONG_DEVICE, [&](Arguments &a) { checking(a), a.src = elsewhere.data(); });
    refused(GFK_STATUS_WRONG_DEVICE, [&](Arguments &a) { checking(a), a.dst = elsewhere.data(); });
    if (workspace_bytes_ != 0)
        refused(
            GFK_STATUS_WRONG_DEVICE,
            [&](Arguments &a) { checking(a), a.workspace = elsewhere.data(); }, true);
    Arguments a = good_;
    checking(a);
    EXPECT_OK(multiply(a));
    EXPECT_FALSE(device::error_pending());
}

// Not an error: nothing to do.
TEST_P(Errors, ZeroBytes) {
    Arguments a = good_;
    a.bytes = 0;
    for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
        for (uint32_t c : {0u, 1u, 2u, largest(w())}) {
            a.mode = mode;
            a.c = c;
            a.src = good_.src;
            a.dst = good_.dst;
            EXPECT_OK(multiply_prepared(a));
            EXPECT_OK(multiply(a));
            a.src = nullptr;
            EXPECT_OK(multiply(a));
            a.dst = nullptr;
            EXPECT_OK(multiply(a));
            EXPECT_OK(multiply_prepared(a));
            count_checked(5);
        }
    content_.resize(4096); // the workspace may have been prepared
    expect_untouched();
}

// None of the refusals may leave an error for the caller's own cudaGetLastError.
TEST_P(Errors, LeaveNoCudaError) {
    if (on_host(row()))
        return;
    Arguments a = good_;
    a.bytes = symbol_bytes();
    ASSERT_OK(multiply(a));
    EXPECT_FALSE(device::error_pending());
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
