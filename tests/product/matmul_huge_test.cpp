// SPDX-License-Identifier: BSD-3-Clause
// Matmuls beyond 4 GiB, and with 65,536 rows or columns. Some rows are computed in the same way as a random
// row vector.
#include "support/huge.h"

namespace {

class MatmulHuge : public HugeTest {
  protected:
    // C = A B, then C += A B, which leaves zeros. Rows of a dense matrix lie a->stride apart; what
    // `rows_of` writes to a vector are elements of one row.
    void check(const gfk_matrix &a, Spaced &b, Spaced &c, const std::vector<uint32_t> &r,
               const std::vector<uint32_t> &r_a,
               const std::function<std::vector<uint32_t>(size_t)> &row) {
        const gfk_field f = field();
        const gfk_matmul_desc d = desc();
        const gfk_regions in = b.regions(), out = c.regions();
        size_t space = 0;
        ASSERT_OK(gfk_matmul_workspace(&f, a.rows, a.cols, b.bytes, &d, &space));
        Memory workspace(host(), space), left(host(), b.bytes), right(host(), b.bytes);
        const auto run = [&](gfk_accumulate mode) {
            ASSERT_OK(
                gfk_matmul(&f, &a, &in, &out, b.bytes, mode, &d, workspace.data(), space, nullptr));
            finish();
        };
        run(GFK_SET);
        combine(host(), f, r_a, b.memory.data(), b.stride, b.bytes, left);
        combine(host(), f, r, c.memory.data(), c.stride, c.bytes, right);
        ASSERT_TRUE(equal(host(), left, right.data(), b.bytes)) << "(r A) B is not r C";
        Random random(1);
        for (size_t j : {size_t(0), a.rows - 1, random.below(a.rows), random.below(a.rows)}) {
            combine(host(), f, row(j), b.memory.data(), b.stride, b.bytes, left);
            ASSERT_TRUE(equal(host(), left, c.memory.data() + j * c.stride, b.bytes))
                << "row " << j;
            count_checked();
        }
        run(GFK_XOR);
        combine(host(), f, r, c.memory.data(), c.stride, c.bytes, right);
        const Memory zeros(host(), Bytes(std::min(b.bytes, MIB)));
        for (size_t at = 0; at < b.bytes; at += MIB)
            ASSERT_TRUE(equal(host(), zeros, right.data() + at, std::min(MIB, b.bytes - at)));
        count_checked();
    }
    // A dense matrix of random elements, with a gap behind each row.
    void check_dense(size_t rows, size_t cols, size_t gap, size_t bytes, size_t distance) {
        const gfk_field f = field();
        const size_t length = round_up(cols * symbol(), 4), pitch = length + gap;
        const size_t piece = host() && distance > 4 * bytes ? bytes + 8192 : distance;
        const size_t row_piece = host() && gap > 3 * length ? length + 8192 : pitch;
        NEED_MEMORY(rows * row_piece + (rows + cols) * piece + 2 * bytes);
        Spaced elements(host(), rows, length, pitch);
        Spaced b(host(), cols, bytes, distance), c(host(), rows, bytes, distance);
        fill(host(), elements, 1);
        fill(host(), b, 2);
        fill(host(), c, 3);
        const gfk_matrix a =
            GFK_MATRIX_DENSE_INIT(elements.memory.data(), rows, cols, pitch / symbol());
        Random random;
        const std::vector<uint32_t> r = random_vector(w(), rows, random);
        Memory r_a(host(), length);
        combine(host(), f, r, elements.memory.data(), pitch, length, r_a);
        check(a, b, c, r, unpack(r_a.read(), cols, w()),
              [&](size_t j) { return unpack(elements.memory.read(j * pitch, length), cols, w()); });
    }
    // Full size, or one that takes milliseconds.
    static size_t size(size_t full, size_t reduced) { return options.reduced ? reduced : full; }
};

// The regions of B, or of C, lie in more than 4 GiB.
TEST_P(MatmulHuge, ManyColumns) {
    check_dense(7, size(65536, 700), 0, 1000 * symbol(), size(65540, 5000));
}

TEST_P(MatmulHuge, ManyRows) {
    check_dense(size(65536, 700), 7, 0, 1000 * symbol(), size(65540, 5000));
}

TEST_P(MatmulHuge, LongRegions) {
    if (host() && w() != 8)
        GTEST_SKIP() << "lengths are the same for all widths, and the memory takes seconds to get";
    const size_t bytes = size(4 * GIB + 17 * MIB, 3 * MIB) + 12;
    check_dense(host() ? 1 : 3, host() ? 1 : 2, 0, bytes, bytes + 4);
}

// On the CPU most of the matrix' memory are gaps.
TEST_P(MatmulHuge, LargeMatrix) {
    if (host())
        check_dense(size(4200, 70), 100, MIB, 64 * symbol(), 300);
    else
        check_dense(size(65600, 700), size(65600 / symbol(), 100), 0, 64 * symbol(), 300);
}

// 65,536 x 65,536 elements that are nowhere at once.
TEST_P(MatmulHuge, GeneratedMatrix) {
    const gfk_field f = field();
    const size_t n = size(host() ? 8192 : 65536, 700), bytes = 32 * symbol();
    Spaced b(host(), n, bytes, bytes), c(host(), n, bytes, bytes);
    fill(host(), b, 2);
    fill(host(), c, 3);
    gfk_matrix a = {};
    a.kind = GFK_MATRIX_RANDOM;
    a.rows = a.cols = n;
    a.seed = 5;
    const auto row = [&](size_t j) {
        gfk_matrix part = a;
        part.first = j;
        part.rows = 1;
        std::vector<uint32_t> elements(n);
        require_success(gfk_matrix_fill(&f, &part, elements.data()), "gfk_matrix_fill");
        return elements;
    };
    Random random;
    std::vector<uint32_t> r(n), r_a(n);
    std::vector<size_t> rows; // some of them: to generate all takes a CPU seconds
    for (size_t j = random.below(32); j < n; j += 1 + random.below(32)) {
        r[j] = random.symbol(w());
        rows.push_back(j);
    }
    std::mutex lock;
    parallel(rows.size(), [&](size_t which) {
        const size_t j = rows[which];
        std::vector<uint32_t> product = row(j);
        const Times times(f, r[j]);
        for (uint32_t &x : product)
            x = times(x);
        const std::lock_guard<std::mutex> guard(lock);
        for (size_t i = 0; i < n; i++)
            r_a[i] ^= product[i];
    });
    check(a, b, c, r, r_a, row);
}

INSTANTIATE_AT(MatmulHuge, matmul_places());

} // namespace
