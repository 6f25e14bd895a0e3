// SPDX-License-Identifier: BSD-3-Clause
// Matmuls on the CPU and on the current device, against scalar arithmetic.
#include <cstring>

#include "matmul_fixture.h"

namespace {

class MatmulTest : public PlaceTest {
  protected:
    void check(const gfk_field &field, size_t rows, size_t cols, size_t bytes, const Layout &layout,
               Random &random, unsigned threads = 0, const gfk_matrix *generated = nullptr) {
        Matmul(desc_of(host(), threads), field, rows, cols, bytes, layout, random, generated)
            .check(random);
    }
};

// Rows and columns around the tiles' and the batches' borders.
TEST_P(MatmulTest, Shapes) {
    Random random;
    const size_t outputs = 128 / w(), inputs = 1024 / w();
    std::vector<size_t> all_rows = {1, outputs + 1}, all_cols = {1, 8 * inputs + 5};
    if (!options.reduced) {
        all_rows.insert(all_rows.end(), {outputs - 1, outputs, 3 * outputs + 2});
        all_cols.insert(all_cols.end(), {inputs - 1, inputs, inputs + 1});
    }
    for (size_t rows : all_rows)
        for (size_t cols : all_cols)
            for (const Layout &layout : {Layout{Layout::PHASE, 0, 0}, {Layout::PHASES, 0, 0}})
                check(make_field(w()), rows, cols, 300 * symbol(), layout, random);
}

// All small shapes, and random ones; each region at its own phase. The references are the engines
// host and GF-Complete.
TEST_P(MatmulTest, SmallShapes) {
    Random random;
    std::vector<std::pair<size_t, size_t>> shapes;
    for (size_t rows = 1; rows <= 12; rows++)
        for (size_t cols = 1; cols <= 12; cols++)
            if (!options.reduced || rows + cols > 22)
                shapes.emplace_back(rows, cols);
    for (int i = 0; i < (options.reduced ? 1 : 12); i++)
        shapes.emplace_back(1 + random.below(255), 1 + random.below(255));
    for (const auto &[rows, cols] : shapes) {
        const size_t bytes = (1 + random.below(600)) * symbol();
        Matmul matmul(desc_of(host()), field(), rows, cols, bytes, {Layout::PHASES, 0, 0}, random);
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            matmul.refill(random);
            ASSERT_OK(matmul.run(mode)) << rows << " x " << cols;
            ASSERT_TRUE(matmul.is_product(mode));
            for (gfk_engine_family family : {GFK_ENGINE_HOST, GFK_ENGINE_GFCOMPLETE})
                ASSERT_TRUE(matmul.is_product_of(family, mode)) << rows << " x " << cols;
        }
    }
}

// Lengths around a tile's, at every phase, spaced evenly and not.
TEST_P(MatmulTest, Lengths) {
    Random random;
    std::vector<size_t> lengths = {1, 257, 1000};
    if (!options.reduced)
        lengths.insert(lengths.end(), {2, 15, 16, 17, 255, 256, 511, 5001});
    for (size_t symbols : lengths) {
        for (size_t phase : {0, 1, 4, 8, 15})
            check(make_field(w()), 20, 37, symbols * symbol(), {Layout::PHASE, phase, 0}, random);
        for (size_t extra : {0, 5})
            check(make_field(w()), 20, 37, symbols * symbol(), {Layout::SPACED, 3, extra}, random);
    }
}

// More regions than one launch takes, by pointers and evenly spaced, and than the CPU takes in a
// panel or in a pass.
TEST_P(MatmulTest, ManyRegions) {
    SKIP_SLOW_IF(w() != 8);
    Random random;
    for (const Layout &layout : {Layout{Layout::PHASES, 0, 0}, {Layout::SPACED, 0, 16}}) {
        check(make_field(w()), 1030, 40, 40 * symbol(), layout, random);
        check(make_field(w()), 20, 2500, 40 * symbol(), layout, random);
        check(make_field(w()), 600, 1000, 40 * symbol(), layout, random);
    }
}

// The work is cut differently for each number of threads.
TEST_P(MatmulTest, NumbersOfThreads) {
    if (!host())
        GTEST_SKIP() << "devices have no threads";
    Random random;
    const size_t rows = options.reduced ? 70 : 300;
    for (unsigned threads : {1, 2, 3, 7, 4000})
        check(make_field(w()), rows, 30, 9000 + 7 * w(), {Layout::PHASES, 0, 0}, random, threads);
}

// Pages of their own around every region and the matrix.
TEST_P(MatmulTest, GuardPages) {
    if (!host())
        GTEST_SKIP() << "compute-sanitizer watches devices";
    Random random;
    const gfk_field field = make_field(w());
    const gfk_matmul_desc desc = desc_of(true);
    const size_t rows = 5, cols = 9;
    for (size_t bytes : {symbol(), 100 * symbol(), 5000 * symbol()})
        for (size_t first : {0, 1}) {
            std::vector<Bytes> contents;
            for (size_t i = 0; i < rows + cols; i++)
                contents.push_back(random.bytes(bytes));
            const LoneRegions regions(true, cols, contents, [](size_t) { return 0; }, first);
            const Bytes elements = random.bytes(rows * cols * symbol());
            const LoneRegion matrix(true, elements, 0, first == 0);
            Bytes workspace(workspace_of(field, rows, cols, bytes, desc) + 256);
            const gfk_matrix a = GFK_MATRIX_DENSE_INIT(matrix.data(), rows, cols, cols);
            ASSERT_OK(gfk_matmul(&field, &a, regions.in(), regions.out(), bytes, GFK_SET, &desc,
                                 round_up(workspace), workspace.size() - 256, nullptr));
            for (size_t j = 0; j < rows; j++) {
                Bytes sum(bytes);
                for (size_t i = 0; i < cols; i++)
                    Times(field, get_symbol(elements.data(), j * cols + i, w()))
                        .add(contents[i].data(), sum.data(), bytes);
                ASSERT_EQ(0, std::memcmp(sum.data(), regions.out()->pointers[j], bytes));
            }
            count_checked();
        }
}

TEST_P(MatmulTest, Polynomials) {
    Random random;
    for (uint64_t polynomial : polynomials(w()))
        check(make_field(w(), polynomial), 17, 50, 400 * symbol(), {Layout::PHASE, 0, 0}, random);
}

// Every kind of matrix, its points given and not: around the borders of tiles and batches, more
// outputs than are prepared at a time, more points than one launch sends, other polynomials.
TEST_P(MatmulTest, Generated) {
    SKIP_SLOW_IF(w() != 8);
    Random random;
    const size_t outputs = 128 / w(), inputs = 1024 / w();
    std::vector<std::pair<size_t, size_t>> shapes = {
        {1, 1}, {outputs + 1, inputs - 1}, {3 * outputs, 200}, {100, 155}};
    if (w() > 8) // more points than GF(2^8) has elements
        shapes.insert(shapes.end(), {{4200, 5}, {5, 5000}});
    for (uint64_t polynomial : {uint64_t(0), polynomials(w()).back()})
        for (const auto &[rows, cols] : shapes) {
            const gfk_field field = make_field(w(), polynomial);
            std::vector<uint32_t> points(rows + cols);
            for (size_t i = 0; i < points.size(); i++) // all different
                points[i] = static_cast<uint32_t>(i * (w() == 32 ? 0x9e3779b1 : 77)) & largest(w());
            gfk_matrix a = {};
            a.rows = rows;
            a.cols = cols;
            const auto check_kind = [&](gfk_matrix_kind kind, uint64_t first, bool by_rows,
                                        bool by_cols) {
                a.kind = kind;
                a.first = first;
                a.seed = random.next();
                a.row_points = by_rows ? points.data() : nullptr;
                a.col_points = by_cols ? points.data() + a.rows : nullptr;
                check(field, a.rows, a.cols, 60 * symbol(), {Layout::PHASES, 0, 0}, random, 0, &a);
            };
            check_kind(GFK_MATRIX_CAUCHY, 0, false, false);
            check_kind(GFK_MATRIX_CAUCHY, 0, true, true);
            check_kind(GFK_MATRIX_RANDOM, UINT64_MAX - a.rows + 1, true, true);
            for (uint64_t first : {uint64_t(0), uint64_t(1000), uint64_t(1) << 40}) {
                check_kind(GFK_MATRIX_VANDERMONDE, first, true, false);
                check_kind(GFK_MATRIX_VANDERMONDE, first, false, true);
            }
            if (field.polynomial == GFK_POLYNOMIAL_W16)
                check_kind(GFK_MATRIX_PAR2, 65535 - a.rows, false, false);
        }
}

TEST_P(MatmulTest, RandomShapes) {
    Random random;
    for (int i = 0; i < (options.reduced ? 4 : 40); i++)
        check(make_field(w()), 1 + random.below(200), 1 + random.below(300),
              (1 + random.below(3000)) * symbol(), {Layout::PHASES, 0, 0}, random);
}

// The points are read by the call, not by the graph's replays.
TEST_P(MatmulTest, GraphOfPoints) {
    if (host())
        GTEST_SKIP() << "the CPU has no graphs";
    Random random;
    const Stream stream(false);
    const gfk_field field = make_field(w());
    std::vector<uint32_t> points(100);
    for (size_t i = 0; i < points.size(); i++)
        points[i] = static_cast<uint32_t>(200 - i);
    gfk_matrix a = {};
    a.kind = GFK_MATRIX_CAUCHY;
    a.rows = 40;
    a.cols = 60;
    a.row_points = points.data();
    a.col_points = points.data() + 40;
    Matmul matmul(desc_of(false), field, 40, 60, 3000 * symbol(), {Layout::PHASE, 0, 0}, random,
                  &a);
    ASSERT_OK(matmul.run(GFK_SET)); // CUDA loads the code now
    device::Graph graph(stream.get());
    ASSERT_OK(matmul.run(GFK_SET, stream.get()));
    graph.end();
    points.assign(points.size(), 7);
    for (int replay = 0; replay < 3; replay++) {
        matmul.refill(random);
        graph.launch(stream.get());
        stream.finish();
        ASSERT_TRUE(matmul.is_product(GFK_SET));
    }
}

TEST_P(MatmulTest, Threads) {
    on_threads(8, [&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        const Stream stream(host());
        Matmul matmul(desc_of(host()), make_field(w()), 20 + 7 * (size_t)thread, 50, 900 * symbol(),
                      {Layout::PHASES, 0, 0}, random);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            matmul.refill(random);
            require_success(matmul.run(GFK_SET, stream.get()), "gfk_matmul");
            stream.finish();
            result = matmul.is_product(GFK_SET);
        }
        return result;
    });
}

INSTANTIATE_AT(MatmulTest, matmul_places());

} // namespace
