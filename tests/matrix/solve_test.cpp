// SPDX-License-Identifier: BSD-3-Clause
// Solutions of A X = B on the CPU and on the current device, against scalar arithmetic.
#include <algorithm>

#include "fixture.h"

namespace {

// The regions of a call, whose right answer is known.
class Solution : public Job {
  public:
    Solution(bool host, const gfk_field &field, const DenseMatrix &a, size_t bytes,
             const Layout &layout, Random &random)
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

class SolveTest : public PlaceTest {};

TEST_P(SolveTest, Regular) {
    Random random;
    const gfk_field field = make_field(w());
    gfk_matrix_record record = {};
    for (size_t n : {size_t(1), size_t(50), size_t(1024 / w() + 1), size_t(150)})
        for (const Layout &layout : {Layout{Layout::PHASES, 0, 0}, {Layout::SPACED, 0, 16}})
            for (size_t bytes :
                 {symbol(), 130 * symbol(), (options.reduced ? 200 : 700) * symbol()}) {
                Solution solution(host(), field, regular(field, n, random), bytes, layout, random);
                ASSERT_OK(solution.start(nullptr));
                ASSERT_OK(solution.wait(nullptr, record));
                ASSERT_EQ(n, record.rank);
                ASSERT_TRUE(solution.is_solved()) << "n = " << n << ", " << bytes << " bytes";
            }
}

// Every small size, and random ones, each region at its own phase.
TEST_P(SolveTest, EverySmallSize) {
    Random random;
    std::vector<size_t> sizes = indices(1, 13);
    for (int i = 0; i < (options.reduced ? 1 : 12); i++)
        sizes.push_back(1 + random.below(255));
    for (size_t n : sizes) {
        Solution solution(host(), field(), regular(field(), n, random),
                          (1 + random.below(600)) * symbol(), {Layout::PHASES, 0, 0}, random);
        gfk_matrix_record record = {};
        ASSERT_OK(solution.start(nullptr));
        ASSERT_OK(solution.wait(nullptr, record));
        ASSERT_TRUE(solution.is_solved()) << "n = " << n;
    }
}

TEST_P(SolveTest, Singular) {
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
TEST_P(SolveTest, Nothing) {
    Random random;
    const gfk_field field = make_field(w());
    gfk_matrix_record record = {};
    Solution solution(host(), field, regular(field, 40, random), 0, {Layout::PHASE, 0, 0}, random);
    ASSERT_OK(solution.start(nullptr));
    ASSERT_OK(solution.wait(nullptr, record));
    ASSERT_EQ(40u, record.rank);
    ASSERT_TRUE(solution.is_solved());
}

TEST_P(SolveTest, Graph) {
    if (host())
        GTEST_SKIP() << "the CPU has no graphs";
    Random random;
    const gfk_field field = make_field(w());
    const Stream stream(false);
    const size_t n = 3 * 1024 / w() + 7;
    const DenseMatrix a = regular(field, n, random);
    std::vector<bool> dependent(n);
    dependent[n - 2] = true;
    const DenseMatrix singular = with_dependent_rows(field, dependent, n, random);
    Solution solution(false, field, a, 900 * symbol(), {Layout::PHASES, 0, 0}, random);
    ASSERT_OK(solution.start(nullptr)); // CUDA loads the code now
    device::Graph graph(stream.get());
    ASSERT_OK(solution.start(stream.get()));
    graph.end();
    for (int replay = 0; replay < 6; replay++) { // the graph finds out what each matrix is
        const DenseMatrix &now = replay % 3 == 1 ? singular : a;
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

INSTANTIATE_AT(SolveTest, matmul_places());

} // namespace
