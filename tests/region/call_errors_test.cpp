// SPDX-License-Identifier: BSD-3-Clause
// Bad input to the region calls: each mistake has its own status, and nothing is written.
#include <cstdint>
#include <functional>

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
        EXPECT_EQ(
            content_.size(),
            first_difference(content_.data(), memory_->view(0, content_.size()), content_.size()))
            << row()->id << ": a refused call has written this byte";
    }

    // A call with one wrong argument has its status and writes nothing.
    using Spoil = std::function<void(Arguments &)>;
    void refused(gfk_status status, const Spoil &spoil) {
        Arguments a = good_;
        spoil(a);
        EXPECT_STATUS(status, multiply(a));
        EXPECT_STATUS(status, multiply_prepared(a));
        expect_untouched();
        count_checked(2);
    }
    void refused_by_all(gfk_status status, const Spoil &spoil) {
        refused(status, spoil);
        Arguments a = good_;
        spoil(a);
        EXPECT_STATUS(status, prepare(a));
        expect_untouched();
        count_checked();
    }

    static constexpr size_t BYTES = 192;
    Multiplier multiplier_;
    size_t workspace_bytes_ = 0;
    Bytes content_;
    std::unique_ptr<Memory> memory_;
    Arguments good_ = {};
};

TEST_P(Errors, NullPointers) {
    refused_by_all(INVALID, [](Arguments &a) { a.multiplier = nullptr; });
    refused(INVALID, [](Arguments &a) { a.src = nullptr; });
    refused(INVALID, [](Arguments &a) { a.dst = nullptr; });
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
    uint8_t *const end = reinterpret_cast<uint8_t *>(UINTPTR_MAX - 64 + 1);
    refused(GFK_STATUS_INVALID_SIZE, [&](Arguments &a) { a.src = end; });
    refused(GFK_STATUS_INVALID_SIZE, [&](Arguments &a) { a.dst = end; });
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
        refused_by_all(GFK_STATUS_INVALID_CONSTANT, [&](Arguments &a) { a.c = c; });
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

TEST_P(Errors, OverlapWithTheWorkspace) {
    if (workspace_bytes_ == 0)
        return;
    uint8_t *workspace = memory_->data() + 4096;
    const auto n = static_cast<ptrdiff_t>(BYTES), m = static_cast<ptrdiff_t>(workspace_bytes_);
    for (ptrdiff_t k : {-n + 1, -n / 2, ptrdiff_t(0), ptrdiff_t(1), m / 2, m - 1}) {
        refused(GFK_STATUS_OVERLAP, [&](Arguments &a) { a.src = workspace + k; });
        refused(GFK_STATUS_OVERLAP, [&](Arguments &a) { a.dst = workspace + k; });
        refused(GFK_STATUS_OVERLAP, [&](Arguments &a) { a.src = a.dst = workspace + k; });
    }
    for (ptrdiff_t k : {-n, m}) {
        Arguments a = good_;
        a.dst = workspace + k;
        EXPECT_OK(multiply(a));
    }
}

TEST_P(Errors, Workspace) {
    if (workspace_bytes_ == 0)
        return;
    const gfk_status small = GFK_STATUS_WORKSPACE_TOO_SMALL;
    refused_by_all(small, [](Arguments &a) { a.workspace = nullptr; });
    refused_by_all(small, [](Arguments &a) {
        a.workspace = nullptr;
        a.workspace_bytes = 0;
    });
    for (size_t bytes : {size_t(0), size_t(1), workspace_bytes_ / 2, workspace_bytes_ - 1})
        refused_by_all(small, [&](Arguments &a) { a.workspace_bytes = bytes; });
    for (size_t shift = 1; shift < 16; shift++)
        refused_by_all(INVALID,
                       [&](Arguments &a) { a.workspace = memory_->data() + 4096 + shift; });
}

TEST_P(Errors, StreamOnHost) {
    int anything = 0; // never looked into
    if (on_host(row()))
        refused_by_all(GFK_STATUS_STREAM_ON_HOST,
                       [&](Arguments &a) { a.stream = reinterpret_cast<gfk_stream_t>(&anything); });
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

PER_ROW(Errors, rows());

} // namespace
