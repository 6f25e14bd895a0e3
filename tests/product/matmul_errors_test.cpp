// SPDX-License-Identifier: BSD-3-Clause
// What gfk_matmul refuses beyond what all calls do (tests/calls), and the workspace that it asks for.
#include <cstring>
#include <string>

#include "matmul_fixture.h"

namespace {

class MatmulErrors : public PlaceTest {};

TEST_P(MatmulErrors, Arguments) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t rows = 5, cols = 7, bytes = 600 * symbol(), room = 4096;
    Bytes content = random.bytes((rows + cols) * room);
    const gfk_matmul_desc desc = desc_of(host());
    Memory memory(host(), content), matrix(host(), random.bytes(rows * cols * symbol()));
    const size_t space = workspace_of(field, rows, cols, bytes, desc);
    Memory workspace(host(), random.bytes(space + 512));
    struct Call {
        gfk_matrix a;
        gfk_matmul_desc desc;
    };
    const Call good = {GFK_MATRIX_DENSE_INIT(matrix.data(), rows, cols, cols), desc};
    const gfk_regions b = {nullptr, memory.data(), room},
                      c = {nullptr, memory.data() + cols * room, room};
    const auto call = [&](const Call &x) {
        return gfk_matmul(&field, &x.a, &b, &c, bytes, GFK_SET, &x.desc, round_up(workspace), space,
                          nullptr);
    };
    const auto refused = [&](gfk_status status, const std::function<void(Call &)> &spoil) {
        Call bad = good;
        spoil(bad);
        EXPECT_EQ(status, call(bad));
        EXPECT_TRUE(content == memory.read()) << "a refused call has written";
        count_checked();
    };
    refused(INVALID, [](Call &x) { x.a.rows = 0; });
    refused(INVALID, [](Call &x) { x.a.cols = 0; });
    refused(INVALID, [](Call &x) { x.a.stride = x.a.cols - 1; });
    refused(INVALID, [](Call &x) { x.desc.size--; });
    refused(INVALID, [](Call &x) { x.desc.device = GFK_CURRENT_DEVICE - 1; });
    refused(GFK_STATUS_NO_DEVICE, [](Call &x) { x.desc.device = 1000; });
    const std::string w8 = "matmul_w8/wgmma", own = "matmul_w" + std::to_string(w()) + "/wgmma";
    for (const char *none : {"", "matmul", "eliminate_w8/panel_128", "matmul_w8/wgmma "})
        refused(GFK_STATUS_UNKNOWN_METHOD, [=](Call &x) { x.desc.kernel = none; });
    if (host() || w() != 8)
        refused(INVALID, [&](Call &x) { x.desc.kernel = w8.c_str(); });
    if (host())
        refused(INVALID, [&](Call &x) { x.desc.kernel = own.c_str(); });
    refused(SIZE, [](Call &x) { x.a.rows = SIZE_MAX / 2; });
    refused(SIZE, [](Call &x) { x.a.cols = SIZE_MAX / 2; });
    refused(SIZE, [](Call &x) { x.a.stride = SIZE_MAX; });
    // Generated matrices; gfk_matrix_fill makes the same checks.
    const uint32_t points[rows + cols] = {9, 2, 3, 4, 5, 6, 7, 8, 1, 10, 11, 9};
    refused(INVALID, [](Call &x) { x.a.kind = static_cast<gfk_matrix_kind>(5); });
    refused(INVALID, [](Call &x) { x.a.kind = GFK_MATRIX_VANDERMONDE; });
    refused(INVALID, [&](Call &x) {
        x.a.kind = GFK_MATRIX_CAUCHY;
        x.a.row_points = points;
        x.a.col_points = points + rows;
    });
    refused(SIZE, [](Call &x) {
        x.a.kind = GFK_MATRIX_RANDOM;
        x.a.first = UINT64_MAX;
    });
    const gfk_status overlap = GFK_STATUS_OVERLAP;
    uint8_t *const end = reinterpret_cast<uint8_t *>(UINTPTR_MAX - 255); // of the address space
    refused(SIZE, [=](Call &x) {
        x.a.kind = GFK_MATRIX_VANDERMONDE;
        x.a.rows = 100;
        x.a.row_points = reinterpret_cast<uint32_t *>(end);
    });
    if (host()) // points 0 to 4 in place of the first output
        for (bool in_workspace : {false, true})
            refused(overlap, [&](Call &x) {
                uint8_t *at = in_workspace ? round_up(workspace) : memory.data() + cols * room;
                const uint32_t five[] = {0, 1, 2, 3, 4};
                std::memcpy(at, five, sizeof five);
                content = memory.read();
                x.a.kind = GFK_MATRIX_VANDERMONDE;
                x.a.row_points = reinterpret_cast<const uint32_t *>(at);
            });
    EXPECT_OK(call(good));
}

INSTANTIATE_AT(MatmulErrors, matmul_places());

// Without a device: the workspace, and that a call says what is missing.
TEST(MatmulSizes, Workspace) {
    for (unsigned w : {8u, 16u, 32u}) {
        const gfk_field field = make_field(w);
        const size_t symbol = w / 8;
        size_t bytes = 77;
        for (size_t cols : {1, 100, 4096, 65536}) {
            // A batch of inputs is 128 bytes of every symbol's position.
            const size_t batches = (cols * symbol + 127) / 128;
            ASSERT_OK(gfk_matmul_workspace(&field, 1, cols, 256 * symbol, nullptr, &bytes));
            EXPECT_EQ(batches * 32768 +
                          std::max(batches * 32768 / w, (cols * w + 255) / 256 * 1024) +
                          ::round_up(4 * (1 + cols), 256),
                      bytes);
            ASSERT_OK(gfk_matmul_workspace(&field, 100000, cols, 1 << 30, nullptr, &bytes));
            EXPECT_LE(bytes, (size_t(1) << 30) +
                                 std::max(size_t(1) << 30, 1024 * w * (cols + 1024 / w)) +
                                 4 * (100000 + cols) + 255);
            count_checked(2);
        }
        // On the CPU: the same for each thread, as far as there is work for each.
        const size_t one = workspace_of(field, 4096, 1024, 4096, desc_of(true, 1));
        EXPECT_LE(one, size_t(401) << 10);
        EXPECT_EQ(6 * one, workspace_of(field, 4096, 1024, 4096, desc_of(true, 6)));
        EXPECT_EQ(one, workspace_of(field, 1, 1, 256, desc_of(true, 4000)));
        EXPECT_EQ(0u, workspace_of(field, 1, 1, 0, desc_of(true)));
        bytes = 77;
        EXPECT_EQ(INVALID, gfk_matmul_workspace(&field, 0, 1, 64, nullptr, &bytes));
        EXPECT_EQ(INVALID, gfk_matmul_workspace(&field, 1, 0, 64, nullptr, &bytes));
        EXPECT_EQ(INVALID, gfk_matmul_workspace(&field, 1, 1, 64, nullptr, nullptr));
        EXPECT_EQ(SIZE, gfk_matmul_workspace(&field, 1, SIZE_MAX / 8, 64, nullptr, &bytes));
        EXPECT_EQ(SIZE, gfk_matmul_workspace(&field, SIZE_MAX / 8, 64, 64, nullptr, &bytes));
        if (symbol > 1) {
            EXPECT_EQ(SIZE, gfk_matmul_workspace(&field, 1, 1, 63, nullptr, &bytes));
        }
        EXPECT_EQ(77u, bytes);
    }
}

// Eliminations, and callers who take batches, ask once for the largest call.
TEST(MatmulSizes, SmallerCallsNeedNoMore) {
    Random random(11);
    const auto less = [&](size_t n, size_t unit) { return (1 + random.below(n / unit)) * unit; };
    for (unsigned w : {8u, 16u, 32u})
        for (int device : {GFK_CURRENT_DEVICE, GFK_CPU}) {
            const gfk_field field = make_field(w);
            gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
            desc.device = device;
            desc.threads = 16;
            for (int i = 0; i < 1000; i++) {
                const size_t rows = less(size_t(1) << less(17, 1), 1),
                             cols = less(size_t(1) << less(17, 1), 1);
                const size_t bytes = less(size_t(4) << less(20, 1), 4);
                const size_t r = less(rows, 1), c = less(cols, 1), b = less(bytes, 4);
                EXPECT_LE(workspace_of(field, r, c, b, desc),
                          workspace_of(field, rows, cols, bytes, desc))
                    << rows << " to " << r << ", " << cols << " to " << c << ", " << bytes << " to "
                    << b;
                count_checked();
            }
        }
}

TEST(MatmulSizes, NoDevice) {
    if (device::count() != 0)
        return;
    const gfk_field field = make_field(8);
    Bytes memory(1 << 20);
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(memory.data(), 1, 1, 1);
    const gfk_regions b = {{nullptr}, {memory.data()}, 64}, c = {{nullptr}, {&memory[64]}, 64};
    EXPECT_EQ(GFK_STATUS_NO_DEVICE, gfk_matmul(&field, &a, &b, &c, 64, GFK_SET, nullptr,
                                               &memory[4096], memory.size() - 4096, nullptr));
    count_checked();
}

} // namespace
