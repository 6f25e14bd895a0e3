// SPDX-License-Identifier: BSD-3-Clause
// Inverses and ranks on the CPU and on the current device, against scalar arithmetic.
#include <algorithm>

#include "fixture.h"

namespace {

class Inversion : public Job {
  public:
    Inversion(bool host, const gfk_field &field, const DenseMatrix &a, size_t gap, Random &random)
        : Job(host, field, a, gap), inverse_(host, content_.size()) {
        size_t bytes = 0;
        EXPECT_OK(gfk_matrix_invert_workspace(&field_, rows_, &desc_, &bytes));
        make_workspace(bytes, random);
        inverse_.write(0, Bytes(inverse_.size(), 0xa7).data(), inverse_.size());
    }
    gfk_status start(gfk_stream_t stream, bool in_place = false) {
        const gfk_matrix a = matrix();
        return gfk_matrix_invert(&field_, &a, in_place ? matrix_.data() : inverse_.data(), stride_,
                                 record(), pivots(), &desc_, workspace_->data(), workspace_->size(),
                                 stream);
    }
    // What has been written, and whether nothing else has been.
    testing::AssertionResult read(DenseMatrix &inverse, bool in_place = false) {
        const Bytes bytes = (in_place ? matrix_ : inverse_).read();
        const uint8_t old = in_place ? 0x5a : 0xa7;
        const size_t symbol = field_.w / 8;
        for (size_t i = 0; i < rows_; i++) {
            for (size_t j = 0; j < rows_; j++)
                inverse.row(i)[j] = get_symbol(bytes.data(), i * stride_ + j, field_.w);
            for (size_t at = (i * stride_ + rows_) * symbol; at < (i + 1) * stride_ * symbol; at++)
                if (bytes[at] != old)
                    return testing::AssertionFailure() << "written behind row " << i;
        }
        if (!in_place && matrix_.read() != content_)
            return testing::AssertionFailure() << "the matrix has changed";
        return testing::AssertionSuccess();
    }
    bool is_untouched() { return inverse_.read() == Bytes(inverse_.size(), 0xa7); }

  private:
    Memory inverse_;
};

class MatrixTest : public PlaceTest {
  protected:
    // Around a panel's and a group's rows.
    std::vector<size_t> sizes() const {
        const size_t panel = 1024 / w();
        std::vector<size_t> sizes = {1, panel - 1, panel + 1, 129};
        if (!options.reduced)
            sizes.insert(sizes.end(), {2, 3, panel, 127, 128, 3 * panel + 5, 1000});
        return sizes;
    }
    void check_inverse(const gfk_field &field, const DenseMatrix &a, size_t gap, Random &random,
                       bool in_place = false) {
        Inversion inversion(host(), field, a, gap, random);
        DenseMatrix inverse(a.rows, a.rows);
        gfk_matrix_record record = {};
        ASSERT_OK(inversion.start(nullptr, in_place));
        ASSERT_OK(inversion.wait(nullptr, record)) << "n = " << a.rows;
        ASSERT_EQ(a.rows, record.rank);
        ASSERT_TRUE(inversion.has_pivots(std::vector<bool>(a.rows)));
        ASSERT_TRUE(inversion.read(inverse, in_place));
        ASSERT_TRUE(are_inverse(field, a, inverse, random));
    }
    void check_singular(const gfk_field &field, const DenseMatrix &a,
                        const std::vector<bool> &dependent, Random &random) {
        Inversion inversion(host(), field, a, 1, random);
        gfk_matrix_record record = {};
        ASSERT_OK(inversion.start(nullptr));
        ASSERT_STATUS(GFK_STATUS_SINGULAR, inversion.wait(nullptr, record));
        ASSERT_EQ(std::count(dependent.begin(), dependent.end(), false), record.rank);
        ASSERT_TRUE(inversion.has_pivots(dependent));
        ASSERT_TRUE(inversion.is_untouched());
        count_checked();
    }
    void check_rank(const gfk_field &field, const DenseMatrix &a,
                    const std::vector<bool> &dependent, Random &random) {
        Job job(host(), field, a, 2);
        size_t bytes = 0;
        ASSERT_OK(gfk_matrix_rank_workspace(&field, a.rows, a.cols, job.desc(), &bytes));
        job.make_workspace(bytes, random);
        const gfk_matrix matrix = job.matrix();
        gfk_matrix_record record = {};
        ASSERT_OK(gfk_matrix_rank(&field, &matrix, job.record(), job.pivots(), job.desc(),
                                  job.workspace().data(), bytes, nullptr));
        ASSERT_OK(job.wait(nullptr, record));
        ASSERT_EQ(std::count(dependent.begin(), dependent.end(), false), record.rank)
            << a.rows << " x " << a.cols;
        ASSERT_TRUE(job.has_pivots(dependent));
        ASSERT_TRUE(job.memory().read() == job.content());
        count_checked();
    }
};

TEST_P(MatrixTest, Inverse) {
    Random random;
    const gfk_field field = make_field(w());
    for (size_t n : sizes())
        check_inverse(field, regular(field, n, random), n % 3, random);
}

// Every small size, and random ones.
TEST_P(MatrixTest, InverseOfEverySmallSize) {
    Random random;
    for (size_t n = 1; n <= 12; n++)
        check_inverse(field(), regular(field(), n, random), n % 3, random);
    for (int i = 0; i < (options.reduced ? 1 : 12); i++) {
        const size_t n = 1 + random.below(255);
        check_inverse(field(), regular(field(), n, random), n % 3, random);
    }
}

TEST_P(MatrixTest, InverseInPlace) {
    Random random;
    const gfk_field field = make_field(w());
    for (size_t n : {size_t(1), size_t(130)})
        check_inverse(field, regular(field, n, random), n % 3, random, true);
}

// Pivots that are far from the diagonal.
TEST_P(MatrixTest, InverseOfSparse) {
    Random random;
    const gfk_field field = make_field(w());
    for (size_t n : sizes()) {
        check_inverse(field, permutation(field, n, random), 0, random);
        if (n > 1)
            check_inverse(field, zero_blocks(field, n, random), 0, random);
    }
}

TEST_P(MatrixTest, Polynomials) {
    Random random;
    for (uint64_t polynomial : polynomials(w())) {
        const gfk_field field = make_field(w(), polynomial);
        check_inverse(field, regular(field, 70, random), 0, random);
    }
}

TEST_P(MatrixTest, Singular) {
    Random random;
    const gfk_field field = make_field(w());
    for (size_t n : sizes())
        for (size_t lost : {size_t(1), n / 3 + 1, n}) {
            const std::vector<bool> dependent = choose(n, lost, random);
            check_singular(field, with_dependent_rows(field, dependent, n, random), dependent,
                           random);
        }
}

// The last row is a multiple of the first one, panels away.
TEST_P(MatrixTest, CopiedRow) {
    Random random;
    const gfk_field field = make_field(w());
    for (size_t n : sizes()) {
        if (n == 1)
            continue;
        DenseMatrix a = permutation(field, n, random);
        std::fill_n(a.row(n - 1), n, 0u);
        add_row(field, nonzero(w(), random), a.row(0), a.row(n - 1), n);
        std::vector<bool> dependent(n);
        dependent[n - 1] = true;
        check_singular(field, a, dependent, random);
    }
}

TEST_P(MatrixTest, Rank) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t panel = 1024 / w();
    const size_t shapes[][2] = {
        {1, 1},           {1, 500},        {500, 1}, {panel, 3 * panel + 1}, {3 * panel + 1, panel},
        {9 * panel, 200}, {200, 9 * panel}};
    for (const auto &shape : shapes) {
        const size_t rows = shape[0], cols = shape[1], most = std::min(rows, cols);
        if (options.reduced && rows * cols > 100000)
            continue;
        for (size_t rank : {size_t(0), most / 2, most}) {
            const std::vector<bool> dependent = choose(rows, rows - rank, random);
            check_rank(field, with_dependent_rows(field, dependent, cols, random), dependent,
                       random);
        }
    }
}

// Every small shape, and random ones, with a random rank.
TEST_P(MatrixTest, RankOfEverySmallShape) {
    Random random;
    const auto check = [&](size_t rows, size_t cols) {
        const size_t rank = random.below(std::min(rows, cols) + 1);
        const std::vector<bool> dependent = choose(rows, rows - rank, random);
        check_rank(field(), with_dependent_rows(field(), dependent, cols, random), dependent,
                   random);
    };
    for (size_t rows = 1; rows <= 12; rows++)
        for (size_t cols = 1; cols <= 12; cols++)
            if (!options.reduced || rows + cols > 22)
                check(rows, cols);
    for (int i = 0; i < (options.reduced ? 1 : 12); i++)
        check(1 + random.below(255), 1 + random.below(255));
}

// A product of rows x r and r x cols: with the unit matrix on top of the left factor, the first r
// rows are independent.
TEST_P(MatrixTest, RankOfProduct) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t rows = 180, cols = 150;
    for (size_t rank : {1, 2, 70, 129}) {
        const DenseMatrix right = regular(field, cols, random);
        DenseMatrix a(rows, cols);
        std::vector<bool> dependent(rows, true);
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < rank; k++)
                if (i < rank ? i == k : true)
                    add_row(field, i < rank ? 1 : random.symbol(w()), right.row(k), a.row(i), cols);
        std::fill_n(dependent.begin(), rank, false);
        check_rank(field, a, dependent, random);
    }
}

TEST_P(MatrixTest, Threads) {
    SKIP_SLOW_IF(w() != 8);
    const gfk_field field = make_field(w());
    on_threads(8, [&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        const Stream stream(host());
        const DenseMatrix a = regular(field, 60 + 17 * static_cast<size_t>(thread), random);
        Inversion inversion(host(), field, a, 0, random);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 3 && result; again++) {
            DenseMatrix inverse(a.rows, a.rows);
            gfk_matrix_record record = {};
            require_success(inversion.start(stream.get()), "gfk_matrix_invert");
            require_success(inversion.wait(stream.get(), record), "gfk_matrix_wait");
            result = inversion.read(inverse);
            if (result)
                result = are_inverse(field, a, inverse, random);
        }
        return result;
    });
}

// What is refused beyond what all calls do (tests/calls); nothing is written.
TEST_P(MatrixTest, Errors) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t n = 7, bytes = 60 * symbol(), room = 4096;
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.device = host() ? GFK_CPU : GFK_CURRENT_DEVICE;
    desc.kernel = named_matmul;
    size_t most = 0;
    ASSERT_OK(gfk_matrix_solve_workspace(&field, n, bytes, &desc, &most));
    // Rooms: the matrix, the inverse, b, x, the record, the pivots, the workspace.
    const Bytes content = random.bytes(6 * room + most + 256);
    Memory memory(host(), content);
    uint8_t *const at = memory.data();
    enum Call { INVERT, SOLVE, RANK };
    struct Arguments {
        gfk_matrix a;
        uint8_t *inverse;
        size_t stride;
        gfk_matmul_desc desc;
    };
    const gfk_regions from = {nullptr, at + 2 * room, bytes}, to = {nullptr, at + 3 * room, bytes};
    auto *written = reinterpret_cast<gfk_matrix_record *>(at + 4 * room);
    auto *pivots = reinterpret_cast<uint32_t *>(at + 5 * room);
    uint8_t *const workspace = at + 6 * room;
    const auto start = [&](Call call, const Arguments &g) {
        return call == INVERT  ? gfk_matrix_invert(&field, &g.a, g.inverse, g.stride, written,
                                                   pivots, &g.desc, workspace, most, nullptr)
               : call == SOLVE ? gfk_matrix_solve(&field, &g.a, &from, &to, bytes, written, pivots,
                                                  &g.desc, workspace, most, nullptr)
                               : gfk_matrix_rank(&field, &g.a, written, pivots, &g.desc, workspace,
                                                 most, nullptr);
    };
    const Arguments good = {GFK_MATRIX_DENSE_INIT(at, n, n, n + 1), at + room, n + 2, desc};
    for (Call call : {INVERT, SOLVE, RANK}) {
        const auto refused = [&](gfk_status status, const std::function<void(Arguments &)> &spoil) {
            Arguments bad = good;
            spoil(bad);
            EXPECT_STATUS(status, start(call, bad)) << "call " << call;
            EXPECT_TRUE(content == memory.read()) << "a refused call has written";
            count_checked();
        };
        const gfk_status size = GFK_STATUS_INVALID_SIZE, overlap = GFK_STATUS_OVERLAP;
        refused(INVALID, [](Arguments &x) { x.a.rows = 0; });
        refused(INVALID, [](Arguments &x) { x.a.cols = 0; });
        refused(INVALID, [](Arguments &x) { x.a.stride = x.a.cols - 1; });
        refused(INVALID, [](Arguments &x) { x.desc.size--; });
        refused(GFK_STATUS_UNKNOWN_METHOD, [](Arguments &x) { x.desc.kernel = "matmul_w8/none"; });
        refused(INVALID, [&](Arguments &x) {
            x.desc.kernel = w() == 8 ? "matmul_w16/clmad" : "matmul_w8/clmad";
        });
        refused(INVALID, [](Arguments &x) { x.desc.device = -3; });
        refused(size, [](Arguments &x) { x.a.rows = x.a.cols = SIZE_MAX / 2; });
        refused(size, [](Arguments &x) { x.a.stride = SIZE_MAX; });
        refused(GFK_STATUS_NOT_SUPPORTED, [](Arguments &x) { x.a.kind = GFK_MATRIX_CAUCHY; });
        refused(INVALID, [](Arguments &x) { x.a.kind = static_cast<gfk_matrix_kind>(9); });
        if (call == INVERT) {
            refused(INVALID, [](Arguments &x) { x.a.cols--; });
            refused(INVALID, [](Arguments &x) { x.stride = x.a.rows - 1; });
            refused(size, [](Arguments &x) { x.stride = SIZE_MAX; });
            refused(overlap, [&](Arguments &x) { x.inverse = at; }); // the strides differ
        }
        if (call == SOLVE)
            refused(INVALID, [](Arguments &x) { x.a.cols--; });
    }
    gfk_matrix_record record = {77, 77};
    EXPECT_STATUS(INVALID, gfk_matrix_wait(nullptr, &desc, nullptr, &record));
    EXPECT_STATUS(INVALID, gfk_matrix_wait(written, &desc, nullptr, nullptr));
    EXPECT_STATUS(INVALID, gfk_matrix_wait(written, &desc, nullptr, &record)); // random bytes
    EXPECT_EQ(77u, record.rank);
}

// The workspace of every size, without a device.
TEST(MatrixSizes, Workspace) {
    for (unsigned w : {8u, 16u, 32u}) {
        const gfk_field field = make_field(w);
        const size_t symbol = w / 8;
        for (size_t n : {1, 100, 4096, 65536}) {
            size_t invert = 0, solve = 0, rank = 0;
            ASSERT_OK(gfk_matrix_invert_workspace(&field, n, nullptr, &invert));
            ASSERT_OK(gfk_matrix_solve_workspace(&field, n, 1000 * symbol, nullptr, &solve));
            ASSERT_OK(gfk_matrix_rank_workspace(&field, n, n, nullptr, &rank));
            EXPECT_LE(n * n * symbol, invert);
            EXPECT_LE(2 * n * n * symbol, solve);
            EXPECT_EQ(invert, rank);
            EXPECT_GE(n * n * symbol + (n + 300) * 32768, invert); // nothing else grows as n * n
            count_checked(3);
        }
        size_t bytes = 77;
        EXPECT_STATUS(INVALID, gfk_matrix_invert_workspace(&field, 0, nullptr, &bytes));
        EXPECT_STATUS(INVALID, gfk_matrix_invert_workspace(&field, 5, nullptr, nullptr));
        EXPECT_STATUS(INVALID, gfk_matrix_rank_workspace(&field, 5, 0, nullptr, &bytes));
        const gfk_status size = GFK_STATUS_INVALID_SIZE;
        EXPECT_STATUS(size, gfk_matrix_invert_workspace(&field, SIZE_MAX / 2, nullptr, &bytes));
        EXPECT_STATUS(size, gfk_matrix_rank_workspace(&field, 1, SIZE_MAX, nullptr, &bytes));
        if (symbol > 1) {
            EXPECT_STATUS(size, gfk_matrix_solve_workspace(&field, 5, 1, nullptr, &bytes));
        }
        EXPECT_EQ(77u, bytes);
    }
}

INSTANTIATE_AT(MatrixTest, matmul_places());

} // namespace
