// SPDX-License-Identifier: BSD-3-Clause
// Inverses, solutions and ranks on the CPU and on the current device, against scalar arithmetic.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/guarded_regions.h"

namespace {

constexpr uint32_t DEPENDENT = GFK_MATRIX_DEPENDENT;

// A matrix on the host.
struct Matrix {
    size_t rows, cols;
    std::vector<uint32_t> elements;

    Matrix(size_t m, size_t n) : rows(m), cols(n), elements(m * n) {}
    uint32_t *row(size_t i) { return &elements[i * cols]; }
    const uint32_t *row(size_t i) const { return &elements[i * cols]; }
    Bytes packed(unsigned w, size_t stride) const {
        Bytes bytes(rows * stride * w / 8, 0x5a);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                set_symbol(bytes.data(), i * stride + j, w, row(i)[j]);
        return bytes;
    }
};

// to += c * from.
void add_row(const gfk_field &field, uint32_t c, const uint32_t *from, uint32_t *to, size_t n) {
    const Times times(field, c);
    for (size_t i = 0; i < n; i++)
        to[i] ^= times(from[i]);
}

std::vector<size_t> shuffled(size_t n, Random &random) {
    std::vector<size_t> order = indices(0, n);
    for (size_t i = n; i > 1; i--)
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

uint32_t nonzero(unsigned w, Random &random) {
    return 1 + static_cast<uint32_t>(random.below(largest(w)));
}

Matrix permutation(const gfk_field &field, size_t n, Random &random) {
    Matrix a(n, n);
    const std::vector<size_t> order = shuffled(n, random);
    for (size_t i = 0; i < n; i++)
        a.row(i)[order[i]] = nonzero(field.w, random);
    return a;
}

// A regular matrix without zeros in special places: a triangle, with the columns in any order, and
// row operations from top to bottom and back.
Matrix regular(const gfk_field &field, size_t n, Random &random) {
    Matrix a(n, n);
    const std::vector<size_t> order = shuffled(n, random);
    for (size_t i = 0; i < n; i++) {
        a.row(i)[order[i]] = nonzero(field.w, random);
        for (size_t j = i + 1; j < n; j++)
            a.row(i)[order[j]] = random.symbol(field.w);
    }
    for (size_t i = 1; i < n; i++)
        add_row(field, nonzero(field.w, random), a.row(i - 1), a.row(i), n);
    for (size_t i = n - 1; i-- > 0;)
        add_row(field, nonzero(field.w, random), a.row(i + 1), a.row(i), n);
    return a;
}

// All blocks that a panel sees first are zero: (0 A; B 0).
Matrix zero_blocks(const gfk_field &field, size_t n, Random &random) {
    Matrix a(n, n);
    const size_t half = n / 2;
    const Matrix upper = regular(field, half, random), lower = regular(field, n - half, random);
    for (size_t i = 0; i < half; i++)
        std::copy_n(upper.row(i), half, a.row(i) + n - half);
    for (size_t i = half; i < n; i++)
        std::copy_n(lower.row(i - half), n - half, a.row(i));
    return a;
}

// m x n, where exactly the marked rows are sums of multiples of rows before them: zero rows, copies,
// and sums. The others are rows of a regular matrix.
Matrix with_dependent_rows(const gfk_field &field, const std::vector<bool> &dependent, size_t n,
                           Random &random) {
    Matrix a(dependent.size(), n);
    const Matrix source = regular(field, n, random);
    size_t taken = 0;
    for (size_t i = 0; i < a.rows; i++) {
        if (!dependent[i]) {
            std::copy_n(source.row(taken++), n, a.row(i));
            continue;
        }
        for (size_t parts = i == 0 ? 0 : random.below(4); parts > 0; parts--)
            add_row(field, nonzero(field.w, random), a.row(random.below(i)), a.row(i), n);
    }
    return a;
}

std::vector<bool> choose(size_t rows, size_t count, Random &random) {
    std::vector<bool> chosen(rows);
    const std::vector<size_t> order = shuffled(rows, random);
    for (size_t i = 0; i < count; i++)
        chosen[order[i]] = true;
    return chosen;
}

std::vector<uint32_t> times_vector(const gfk_field &field, const Matrix &a,
                                   const std::vector<uint32_t> &v) {
    std::vector<uint32_t> sum(a.rows);
    for (size_t j = 0; j < a.cols; j++) {
        const Times times(field, v[j]);
        for (size_t i = 0; i < a.rows; i++)
            sum[i] ^= times(a.row(i)[j]);
    }
    return sum;
}

// a * b = 1: every element of small matrices; a (b v) = v for random v, whose failure to notice a
// difference has the probability 2^-64.
testing::AssertionResult are_inverse(const gfk_field &field, const Matrix &a, const Matrix &b,
                                     Random &random) {
    const bool is_small = a.rows <= 130;
    for (size_t i = 0; i < (is_small ? a.rows : 64 / field.w); i++) {
        std::vector<uint32_t> v(a.cols);
        for (size_t j = 0; j < a.cols; j++)
            v[j] = is_small ? i == j : random.symbol(field.w);
        if (times_vector(field, a, times_vector(field, b, v)) != v)
            return testing::AssertionFailure()
                   << "not the inverse, n = " << a.rows << ", w = " << field.w << ", vector " << i;
    }
    count_checked();
    return testing::AssertionSuccess();
}

struct Place {
    bool host;
    unsigned w;
};
void PrintTo(const Place &place, std::ostream *out) {
    *out << (place.host ? "host" : "gpu") << " w" << place.w;
}

// One call's memory and arguments.
class Job {
  public:
    Job(bool host, const gfk_field &field, const Matrix &a, size_t gap)
        : host_(host), field_(field), rows_(a.rows), cols_(a.cols), stride_(a.cols + gap),
          content_(a.packed(field.w, stride_)), matrix_(host, content_), record_(host, 8),
          pivots_(host, 4 * a.rows) {
        desc_.device = host ? GFK_CPU : GFK_CURRENT_DEVICE;
        desc_.threads = 2;
        record_.set(0, 0xee);
    }
    gfk_matrix matrix() const {
        return GFK_MATRIX_DENSE_INIT(matrix_.data(), rows_, cols_, stride_);
    }
    gfk_matrix_record *record() const {
        return reinterpret_cast<gfk_matrix_record *>(record_.data());
    }
    uint32_t *pivots() const { return reinterpret_cast<uint32_t *>(pivots_.data()); }
    const gfk_matmul_desc *desc() const { return &desc_; }
    size_t stride() const { return stride_; }
    Memory &memory() { return matrix_; }
    const Bytes &content() const { return content_; }
    // Random bytes, so that nothing depends on what they are.
    void make_workspace(size_t bytes, Random &random) {
        Bytes content = random.bytes(std::min<size_t>(bytes, 1 << 20));
        workspace_ = std::make_unique<Memory>(host_, bytes);
        for (size_t at = 0; at < bytes; at += content.size())
            workspace_->write(at, content.data(), std::min(content.size(), bytes - at));
    }
    Memory &workspace() { return *workspace_; }

    gfk_status wait(gfk_stream_t stream, gfk_matrix_record &result) {
        return gfk_matrix_wait(record(), &desc_, stream, &result);
    }
    // Does the list have a column for each row, and none for the dependent ones? The columns are
    // different ones.
    testing::AssertionResult has_pivots(const std::vector<bool> &dependent) {
        const Bytes bytes = pivots_.read();
        std::vector<bool> used(cols_);
        for (size_t i = 0; i < rows_; i++) {
            const uint32_t pivot = get_symbol(bytes.data(), i, 32);
            if ((pivot == DEPENDENT) != dependent[i])
                return testing::AssertionFailure()
                       << "row " << i << " of " << rows_ << " has the pivot " << pivot;
            if (pivot == DEPENDENT)
                continue;
            if (pivot >= cols_ || used[pivot])
                return testing::AssertionFailure() << "column " << pivot << " twice, or too far";
            used[pivot] = true;
        }
        return testing::AssertionSuccess();
    }

  protected:
    bool host_;
    gfk_field field_;
    size_t rows_, cols_, stride_;
    Bytes content_;
    Memory matrix_, record_, pivots_;
    std::unique_ptr<Memory> workspace_;
    gfk_matmul_desc desc_ = GFK_MATMUL_DESC_INIT;
};

class Inversion : public Job {
  public:
    Inversion(bool host, const gfk_field &field, const Matrix &a, size_t gap, Random &random)
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
    testing::AssertionResult read(Matrix &inverse, bool in_place = false) {
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

class MatrixTest : public testing::TestWithParam<Place> {
  protected:
    void SetUp() override {
        if (host())
            return;
        if (device::count() == 0)
            SKIP_WITHOUT_GPU("there is no GPU");
        if (device::compute_capability(device::current()) != 90)
            GTEST_SKIP() << "matrices are for compute capability 9.0";
    }
    bool host() const { return GetParam().host; }
    unsigned w() const { return GetParam().w; }
    size_t symbol() const { return w() / 8; }
    // Around a panel's and a group's rows.
    std::vector<size_t> sizes() const {
        const size_t panel = 1024 / w();
        std::vector<size_t> sizes = {1, panel - 1, panel + 1, 129};
        if (!options.reduced)
            sizes.insert(sizes.end(), {2, 3, panel, 127, 128, 3 * panel + 5, 1000});
        return sizes;
    }
    void check_inverse(const gfk_field &field, const Matrix &a, size_t gap, Random &random,
                       bool in_place = false) {
        Inversion inversion(host(), field, a, gap, random);
        Matrix inverse(a.rows, a.rows);
        gfk_matrix_record record = {};
        ASSERT_OK(inversion.start(nullptr, in_place));
        ASSERT_OK(inversion.wait(nullptr, record)) << "n = " << a.rows;
        ASSERT_EQ(a.rows, record.rank);
        ASSERT_TRUE(inversion.has_pivots(std::vector<bool>(a.rows)));
        ASSERT_TRUE(inversion.read(inverse, in_place));
        ASSERT_TRUE(are_inverse(field, a, inverse, random));
    }
    void check_singular(const gfk_field &field, const Matrix &a, const std::vector<bool> &dependent,
                        Random &random) {
        Inversion inversion(host(), field, a, 1, random);
        gfk_matrix_record record = {};
        ASSERT_OK(inversion.start(nullptr));
        ASSERT_STATUS(GFK_STATUS_SINGULAR, inversion.wait(nullptr, record));
        ASSERT_EQ(std::count(dependent.begin(), dependent.end(), false), record.rank);
        ASSERT_TRUE(inversion.has_pivots(dependent));
        ASSERT_TRUE(inversion.is_untouched());
        count_checked();
    }
    void check_rank(const gfk_field &field, const Matrix &a, const std::vector<bool> &dependent,
                    Random &random) {
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
        Matrix a = permutation(field, n, random);
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

// A product of rows x r and r x cols: with the unit matrix on top of the left factor, the first r
// rows are independent.
TEST_P(MatrixTest, RankOfProduct) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t rows = 180, cols = 150;
    for (size_t rank : {1, 2, 70, 129}) {
        const Matrix right = regular(field, cols, random);
        Matrix a(rows, cols);
        std::vector<bool> dependent(rows, true);
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < rank; k++)
                if (i < rank ? i == k : true)
                    add_row(field, i < rank ? 1 : random.symbol(w()), right.row(k), a.row(i), cols);
        std::fill_n(dependent.begin(), rank, false);
        check_rank(field, a, dependent, random);
    }
}

// The regions of a call, whose right answer is known.
class Solution : public Job {
  public:
    Solution(bool host, const gfk_field &field, const Matrix &a, size_t bytes, const Layout &layout,
             Random &random)
        : Job(host, field, a, 3), regions_(host, rows_, rows_, bytes, layout, random) {
        size_t workspace = 0;
        EXPECT_OK(gfk_matrix_solve_workspace(&field_, rows_, bytes, &desc_, &workspace));
        make_workspace(workspace, random);
        before_ = random.bytes(regions_.size());
        after_ = before_;
        for (size_t i = 0; i < rows_; i++) { /* b = a x */
            uint8_t *const sum = regions_.in_copy(before_, i);
            std::fill_n(sum, bytes, uint8_t(0));
            for (size_t j = 0; j < rows_; j++)
                Times(field_, a.row(i)[j]).add(regions_.in_copy(after_, rows_ + j), sum, bytes);
        }
        for (size_t i = 0; i < rows_; i++)
            std::copy_n(regions_.in_copy(before_, i), bytes, regions_.in_copy(after_, i));
        for (size_t i = 0; i < rows_; i++) // x is not there yet
            random.fill(regions_.in_copy(before_, rows_ + i), bytes);
        refill();
    }
    void refill() { regions_.write(before_); }
    gfk_status start(gfk_stream_t stream) {
        const gfk_matrix a = matrix();
        return gfk_matrix_solve(&field_, &a, regions_.in(), regions_.out(), regions_.bytes(),
                                record(), pivots(), &desc_, workspace_->data(), workspace_->size(),
                                stream);
    }
    testing::AssertionResult is_solved() {
        count_checked();
        return regions_.is(after_, "solve");
    }
    testing::AssertionResult is_untouched() {
        count_checked();
        return regions_.is(before_, "solve of a singular matrix");
    }

  private:
    GuardedRegions regions_;
    Bytes before_, after_;
};

TEST_P(MatrixTest, Solve) {
    Random random;
    const gfk_field field = make_field(w());
    gfk_matrix_record record = {};
    for (size_t n : {size_t(1), size_t(50), size_t(1024 / w() + 1), size_t(150)})
        for (const Layout &layout : {Layout{Layout::PHASES, 0, 0}, {Layout::SPACED, 0, 16}})
            for (size_t bytes : {symbol(), 130 * symbol(), 700 * symbol()}) {
                Solution solution(host(), field, regular(field, n, random), bytes, layout, random);
                ASSERT_OK(solution.start(nullptr));
                ASSERT_OK(solution.wait(nullptr, record));
                ASSERT_EQ(n, record.rank);
                ASSERT_TRUE(solution.is_solved()) << "n = " << n << ", " << bytes << " bytes";
            }
}

TEST_P(MatrixTest, SolveSingular) {
    Random random;
    const gfk_field field = make_field(w());
    gfk_matrix_record record = {};
    for (size_t n : {1, 50, 150}) {
        const std::vector<bool> dependent = choose(n, 1, random);
        Solution solution(host(), field, with_dependent_rows(field, dependent, n, random),
                          300 * symbol(), {Layout::PHASES, 0, 0}, random);
        ASSERT_OK(solution.start(nullptr));
        ASSERT_STATUS(GFK_STATUS_SINGULAR, solution.wait(nullptr, record));
        ASSERT_EQ(n - 1, record.rank);
        ASSERT_TRUE(solution.has_pivots(dependent));
        ASSERT_TRUE(solution.is_untouched());
    }
}

// No bytes: only the record tells something.
TEST_P(MatrixTest, SolveNothing) {
    Random random;
    const gfk_field field = make_field(w());
    gfk_matrix_record record = {};
    Solution solution(host(), field, regular(field, 40, random), 0, {Layout::PHASE, 0, 0}, random);
    ASSERT_OK(solution.start(nullptr));
    ASSERT_OK(solution.wait(nullptr, record));
    ASSERT_EQ(40u, record.rank);
    ASSERT_TRUE(solution.is_solved());
}

TEST_P(MatrixTest, Graph) {
    if (host())
        return;
    Random random;
    const gfk_field field = make_field(w());
    const Stream stream(false);
    const size_t n = 3 * 1024 / w() + 7;
    const Matrix a = regular(field, n, random);
    std::vector<bool> dependent(n);
    dependent[n - 2] = true;
    const Matrix singular = with_dependent_rows(field, dependent, n, random);
    Solution solution(false, field, a, 900 * symbol(), {Layout::PHASES, 0, 0}, random);
    ASSERT_OK(solution.start(nullptr)); // CUDA loads the code now
    device::Graph graph(stream.get());
    ASSERT_OK(solution.start(stream.get()));
    graph.end();
    for (int replay = 0; replay < 6; replay++) { // the graph finds out what each matrix is
        const Matrix &now = replay % 3 == 1 ? singular : a;
        const Bytes content = now.packed(w(), solution.stride());
        solution.memory().write(0, content.data(), content.size());
        solution.refill();
        graph.launch(stream.get());
        gfk_matrix_record record = {};
        const gfk_status status = solution.wait(stream.get(), record);
        ASSERT_STATUS(&now == &a ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR, status);
        ASSERT_TRUE(&now == &a ? solution.is_solved() : solution.is_untouched());
    }
}

TEST_P(MatrixTest, Threads) {
    const gfk_field field = make_field(w());
    on_threads(8, [&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        const Stream stream(host());
        const Matrix a = regular(field, 60 + 17 * static_cast<size_t>(thread), random);
        Inversion inversion(host(), field, a, 0, random);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 3 && result; again++) {
            Matrix inverse(a.rows, a.rows);
            gfk_matrix_record record = {};
            if (inversion.start(stream.get()) != GFK_STATUS_SUCCESS ||
                inversion.wait(stream.get(), record) != GFK_STATUS_SUCCESS)
                return testing::AssertionFailure() << "an inversion failed";
            result = inversion.read(inverse);
            if (result)
                result = are_inverse(field, a, inverse, random);
        }
        return result;
    });
}

// Every mistake is refused, and nothing is written.
TEST_P(MatrixTest, Errors) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t n = 7, bytes = 60 * symbol(), room = 4096;
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.device = host() ? GFK_CPU : GFK_CURRENT_DEVICE;
    size_t most = 0;
    ASSERT_OK(gfk_matrix_solve_workspace(&field, n, bytes, &desc, &most));
    // Rooms: the matrix, the inverse, b, x, the record, the pivots, the workspace.
    const Bytes content = random.bytes(6 * room + most + 256);
    Memory memory(host(), content);
    uint8_t *const at = memory.data();
    enum Call { INVERT, SOLVE, RANK };
    struct Arguments {
        const gfk_field *field;
        gfk_matrix a;
        uint8_t *inverse;
        size_t stride;
        gfk_regions b, x;
        size_t bytes;
        uint8_t *record, *pivots;
        gfk_matmul_desc desc;
        uint8_t *workspace;
        size_t workspace_bytes;
    };
    const auto start = [](Call call, const Arguments &x) {
        auto *record = reinterpret_cast<gfk_matrix_record *>(x.record);
        auto *pivots = reinterpret_cast<uint32_t *>(x.pivots);
        return call == INVERT
                   ? gfk_matrix_invert(x.field, &x.a, x.inverse, x.stride, record, pivots, &x.desc,
                                       x.workspace, x.workspace_bytes, nullptr)
               : call == SOLVE
                   ? gfk_matrix_solve(x.field, &x.a, &x.b, &x.x, x.bytes, record, pivots, &x.desc,
                                      x.workspace, x.workspace_bytes, nullptr)
                   : gfk_matrix_rank(x.field, &x.a, record, pivots, &x.desc, x.workspace,
                                     x.workspace_bytes, nullptr);
    };
    Arguments good = {&field,
                      GFK_MATRIX_DENSE_INIT(at, n, n, n + 1),
                      at + room,
                      n + 2,
                      {{nullptr}, {at + 2 * room}, bytes},
                      {{nullptr}, {at + 3 * room}, bytes},
                      bytes,
                      at + 4 * room,
                      at + 5 * room,
                      desc,
                      at + 6 * room,
                      0};
    for (Call call : {INVERT, SOLVE, RANK}) {
        ASSERT_OK(call == INVERT
                      ? gfk_matrix_invert_workspace(&field, n, &desc, &good.workspace_bytes)
                  : call == SOLVE
                      ? gfk_matrix_solve_workspace(&field, n, bytes, &desc, &good.workspace_bytes)
                      : gfk_matrix_rank_workspace(&field, n, n, &desc, &good.workspace_bytes));
        const auto refused = [&](gfk_status status, const std::function<void(Arguments &)> &spoil) {
            Arguments bad = good;
            spoil(bad);
            EXPECT_STATUS(status, start(call, bad)) << "call " << call;
            EXPECT_TRUE(content == memory.read()) << "a refused call has written";
            count_checked();
        };
        const gfk_status size = GFK_STATUS_INVALID_SIZE, overlap = GFK_STATUS_OVERLAP;
        gfk_field unknown = field;
        unknown.polynomial ^= 1;
        refused(INVALID, [](Arguments &x) { x.field = nullptr; });
        refused(INVALID, [&](Arguments &x) { x.field = &unknown; });
        refused(INVALID, [](Arguments &x) { x.a.elements = nullptr; });
        refused(INVALID, [](Arguments &x) { x.a.rows = 0; });
        refused(INVALID, [](Arguments &x) { x.a.cols = 0; });
        refused(INVALID, [](Arguments &x) { x.a.stride = x.a.cols - 1; });
        refused(INVALID, [](Arguments &x) { x.record = nullptr; });
        refused(INVALID, [](Arguments &x) { x.record++; });
        refused(INVALID, [](Arguments &x) { x.pivots += 2; });
        refused(INVALID, [](Arguments &x) { x.desc.size--; });
        refused(INVALID, [](Arguments &x) { x.desc.device = -3; });
        refused(INVALID, [](Arguments &x) { x.workspace += 128; });
        refused(size, [](Arguments &x) { x.a.rows = x.a.cols = SIZE_MAX / 2; });
        refused(size, [](Arguments &x) { x.a.stride = SIZE_MAX; });
        refused(GFK_STATUS_NOT_SUPPORTED, [](Arguments &x) { x.a.kind = GFK_MATRIX_CAUCHY; });
        refused(INVALID, [](Arguments &x) { x.a.kind = static_cast<gfk_matrix_kind>(9); });
        refused(GFK_STATUS_WORKSPACE_TOO_SMALL, [](Arguments &x) { x.workspace_bytes--; });
        refused(GFK_STATUS_WORKSPACE_TOO_SMALL, [](Arguments &x) { x.workspace = nullptr; });
        refused(overlap, [](Arguments &x) { x.record = x.workspace; });
        refused(overlap, [](Arguments &x) { x.pivots = x.record + 4; });
        refused(overlap, [&](Arguments &x) { x.record = at + 8 * symbol(); });
        refused(overlap, [&](Arguments &x) { x.pivots = at; });
        if (symbol() > 1) {
            refused(INVALID, [&](Arguments &x) { x.a.elements = at + 1; });
        }
        if (call == INVERT) {
            refused(INVALID, [](Arguments &x) { x.a.cols--; });
            refused(INVALID, [](Arguments &x) { x.inverse = nullptr; });
            refused(INVALID, [](Arguments &x) { x.stride = x.a.rows - 1; });
            refused(size, [](Arguments &x) { x.stride = SIZE_MAX; });
            refused(overlap, [&](Arguments &x) { x.inverse = at + symbol(); });
            refused(overlap, [&](Arguments &x) { x.inverse = at; }); // the strides differ
            refused(overlap, [](Arguments &x) { x.inverse = x.workspace; });
            refused(overlap, [](Arguments &x) { x.record = x.inverse; });
        }
        if (call == SOLVE) {
            refused(INVALID, [](Arguments &x) { x.a.cols--; });
            refused(INVALID, [](Arguments &x) { x.b.base = nullptr; });
            refused(INVALID, [](Arguments &x) { x.x.base = nullptr; });
            refused(INVALID, [](Arguments &x) { x.x.stride = x.bytes - 1; });
            refused(overlap, [](Arguments &x) { x.x.base = x.b.base; });
            refused(overlap, [&](Arguments &x) { x.x.base = at; });
            refused(overlap, [](Arguments &x) { x.x.base = x.workspace; });
            refused(overlap, [](Arguments &x) { x.b.base = x.workspace; });
            refused(overlap, [](Arguments &x) { x.b.base = x.record; });
            if (symbol() > 1) {
                refused(size, [](Arguments &x) { x.bytes--; });
            }
        }
    }
    if (!host()) { // memory of the CPU
        good.desc.check_pointers = true;
        Bytes elsewhere(room);
        good.record = elsewhere.data() + (16 - reinterpret_cast<uintptr_t>(elsewhere.data()) % 16);
        EXPECT_STATUS(GFK_STATUS_WRONG_DEVICE, start(RANK, good));
        EXPECT_TRUE(content == memory.read());
    }
    gfk_matrix_record record = {77, 77};
    const auto *written = reinterpret_cast<gfk_matrix_record *>(at + 4 * room);
    EXPECT_STATUS(INVALID, gfk_matrix_wait(nullptr, &desc, nullptr, &record));
    EXPECT_STATUS(INVALID, gfk_matrix_wait(written, &desc, nullptr, nullptr));
    EXPECT_STATUS(INVALID, gfk_matrix_wait(written, &desc, nullptr, &record)); // random bytes
    EXPECT_EQ(77u, record.rank);
    if (!host()) {
        EXPECT_FALSE(device::error_pending());
    }
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
            EXPECT_GE(n * n * symbol + (n + 300) * 8192, invert); // nothing else grows as n * n
            count_checked(3);
        }
        size_t bytes = 77;
        gfk_field bad = field;
        bad.polynomial ^= 1;
        EXPECT_STATUS(INVALID, gfk_matrix_invert_workspace(&field, 0, nullptr, &bytes));
        EXPECT_STATUS(INVALID, gfk_matrix_invert_workspace(&bad, 5, nullptr, &bytes));
        EXPECT_STATUS(INVALID, gfk_matrix_invert_workspace(nullptr, 5, nullptr, &bytes));
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

std::vector<Place> places() {
    std::vector<Place> places;
    for (bool host : {true, false})
        for (unsigned w : {8u, 16u, 32u})
            places.push_back({host, w});
    return places;
}

INSTANTIATE_TEST_SUITE_P(Places, MatrixTest, testing::ValuesIn(places()),
                         [](const testing::TestParamInfo<Place> &place) {
                             return std::string(place.param.host ? "host_w" : "gpu_w") +
                                    std::to_string(place.param.w);
                         });

} // namespace
