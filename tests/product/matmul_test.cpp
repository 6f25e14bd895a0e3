// SPDX-License-Identifier: BSD-3-Clause
// Matmuls on the CPU and on the current device, against scalar arithmetic.
#include <algorithm>
#include <cstring>

#include "support/guarded_regions.h"
#include "support/places.h"

namespace {

constexpr gfk_status SIZE = GFK_STATUS_INVALID_SIZE;

gfk_matmul_desc desc_of(bool host, unsigned threads = 0) {
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.device = host ? GFK_CPU : GFK_CURRENT_DEVICE;
    desc.threads = threads;
    return desc;
}

size_t workspace_of(const gfk_field &field, size_t rows, size_t cols, size_t bytes,
                    const gfk_matmul_desc &desc) {
    size_t workspace = 0;
    EXPECT_OK(gfk_matmul_workspace(&field, rows, cols, bytes, &desc, &workspace));
    return workspace;
}

// The first multiple of 256 bytes.
template <class T>
uint8_t *round_up(T &workspace) {
    return reinterpret_cast<uint8_t *>(
        ::round_up(reinterpret_cast<uintptr_t>(workspace.data()), 256));
}

// The elements of a generated matrix in memory, each row with a gap behind it.
Bytes elements_of(const gfk_field &field, const gfk_matrix &a, size_t stride) {
    std::vector<uint32_t> elements(a.rows * a.cols);
    require_success(gfk_matrix_fill(&field, &a, elements.data()), "gfk_matrix_fill");
    Bytes bytes(a.rows * stride * field.w / 8);
    for (size_t j = 0; j < a.rows; j++)
        for (size_t i = 0; i < a.cols; i++)
            set_symbol(bytes.data(), j * stride + i, field.w, elements[j * a.cols + i]);
    return bytes;
}

// A matrix, of random bytes or generated, and the regions of one call.
class Matmul {
  public:
    Matmul(bool host, const gfk_field &field, size_t rows, size_t cols, size_t bytes,
           const Layout &layout, Random &random, unsigned threads = 0,
           const gfk_matrix *generated = nullptr)
        : field_(field), rows_(rows), cols_(cols), stride_(cols + 3), desc_(desc_of(host, threads)),
          elements_(generated ? elements_of(field, *generated, stride_)
                              : random.bytes(rows * stride_ * field.w / 8)),
          matrix_(host, generated ? Bytes(16) : elements_),
          a_(generated ? *generated
                       : gfk_matrix GFK_MATRIX_DENSE_INIT(matrix_.data(), rows, cols, stride_)),
          regions_(host, cols, rows, bytes, layout, random),
          space_(workspace_of(field, rows, cols, bytes, desc_)),
          workspace_(host, random.bytes(space_ + 256)) {
        refill(random);
    }
    void refill(Random &random) {
        content_ = random.bytes(regions_.size());
        regions_.write(content_);
    }
    gfk_status run(gfk_accumulate mode, gfk_stream_t stream = nullptr) {
        return gfk_matmul(&field_, &a_, regions_.in(), regions_.out(), regions_.bytes(), mode,
                          &desc_, round_up(workspace_), space_, stream);
    }
    // By scalar arithmetic.
    testing::AssertionResult is_product(gfk_accumulate mode) {
        Bytes expected = content_;
        parallel(rows_, [&](size_t j) {
            uint8_t *out = regions_.in_copy(expected, cols_ + j);
            if (mode == GFK_SET)
                std::fill_n(out, regions_.bytes(), uint8_t(0));
            for (size_t i = 0; i < cols_; i++)
                Times(field_, element(j, i))
                    .add(regions_.in_copy(content_, i), out, regions_.bytes());
        });
        count_checked();
        return regions_.is(expected, "matmul, w = " + std::to_string(field_.w) +
                                         (mode == GFK_XOR ? ", xor" : ", set"));
    }
    // By an engine on the CPU, if there is one of this family.
    testing::AssertionResult is_product_of(gfk_engine_family family, gfk_accumulate mode) {
        std::vector<uint32_t> matrix;
        for (size_t j = 0; j < rows_; j++)
            for (size_t i = 0; i < cols_; i++)
                matrix.push_back(element(j, i));
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = GFK_CPU;
        desc.family = family;
        gfk_product_t made = nullptr;
        const gfk_status status =
            gfk_product_create(&made, &field_, rows_, cols_, matrix.data(), &desc);
        if (status == GFK_STATUS_NOT_SUPPORTED && family != GFK_ENGINE_HOST)
            return testing::AssertionSuccess();
        require_success(status, "gfk_product_create");
        const Owned<struct gfk_product, gfk_product_destroy> product(made);
        Bytes expected = content_;
        std::vector<void *> pointers;
        for (size_t i = 0; i < cols_ + rows_; i++)
            pointers.push_back(regions_.in_copy(expected, i));
        const gfk_regions in = {pointers.data(), nullptr, 0}, out = {&pointers[cols_], nullptr, 0};
        require_success(
            gfk_product_run(made, &in, &out, regions_.bytes(), mode, nullptr, 0, nullptr),
            "gfk_product_run");
        count_checked();
        return regions_.is(expected, gfk_engine_family_name(family));
    }

  private:
    uint32_t element(size_t j, size_t i) const {
        return get_symbol(elements_.data(), j * stride_ + i, field_.w);
    }

    gfk_field field_;
    size_t rows_, cols_, stride_;
    gfk_matmul_desc desc_;
    Bytes elements_, content_;
    Memory matrix_;
    gfk_matrix a_;
    GuardedRegions regions_;
    size_t space_;
    Memory workspace_;
};

class MatmulTest : public PlaceTest {
  protected:
    void check(const gfk_field &field, size_t rows, size_t cols, size_t bytes, const Layout &layout,
               Random &random, unsigned threads = 0, const gfk_matrix *generated = nullptr) {
        Matmul matmul(host(), field, rows, cols, bytes, layout, random, threads, generated);
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            matmul.refill(random);
            ASSERT_OK(matmul.run(mode)) << rows << " x " << cols;
            ASSERT_TRUE(matmul.is_product(mode)) << rows << " x " << cols;
        }
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
        Matmul matmul(host(), field(), rows, cols, bytes, {Layout::PHASES, 0, 0}, random);
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            matmul.refill(random);
            ASSERT_OK(matmul.run(mode)) << rows << " x " << cols;
            ASSERT_TRUE(matmul.is_product(mode));
            for (gfk_engine_family family : {GFK_ENGINE_HOST, GFK_ENGINE_GFCOMPLETE})
                ASSERT_TRUE(matmul.is_product_of(family, mode)) << rows << " x " << cols;
        }
    }
}

// So much work that elements are divided into halves: twice, then as often as there are kernels.
TEST_P(MatmulTest, Halves) {
    if (host())
        GTEST_SKIP() << "the CPU divides nothing";
    Random random;
    struct Shape {
        size_t rows, cols, symbols;
    };
    const Shape shapes[3][2] = {{{186, 207, 60 * 256 - 3}, {843, 904, 21 * 256 - 3}},
                                {{229, 207, 26 * 256 - 3}, {781, 907, 24 * 256 - 3}},
                                {{115, 207, 26 * 256 - 3}, {467, 509, 21 * 256 - 3}}};
    for (const auto &[rows, cols, symbols] : shapes[w() == 8 ? 0 : w() == 16 ? 1 : 2]) {
        const size_t bytes = symbols * symbol();
        check(make_field(w()), rows, cols, bytes, {Layout::PHASE, 0, 0}, random);
        check(make_field(w(), polynomials(w()).back()), rows, cols, bytes, {Layout::PHASES, 0, 0},
              random);
        if (options.reduced)
            continue;
        gfk_matrix a = {};
        a.rows = rows;
        a.cols = cols;
        std::vector<uint32_t> points(std::max(rows, cols));
        for (size_t i = 0; i < points.size(); i++)
            points[i] = static_cast<uint32_t>(i) & largest(w());
        const auto check_kind = [&](gfk_matrix_kind kind, bool by_rows, bool by_cols) {
            a.kind = kind;
            a.row_points = by_rows ? points.data() : nullptr;
            a.col_points = by_cols ? points.data() : nullptr;
            check(make_field(w()), rows, cols, bytes, {Layout::PHASE, 0, 0}, random, 0, &a);
        };
        check_kind(GFK_MATRIX_RANDOM, false, false);
        if (w() > 8) {
            check_kind(GFK_MATRIX_CAUCHY, false, false);
            check_kind(GFK_MATRIX_VANDERMONDE, true, false);
        }
        if (w() > 8 || cols <= 256)
            check_kind(GFK_MATRIX_VANDERMONDE, false, true);
        if (w() == 16)
            check_kind(GFK_MATRIX_PAR2, false, false);
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

TEST_P(MatmulTest, Graph) {
    if (host())
        GTEST_SKIP() << "the CPU has no graphs";
    Random random;
    const Stream stream(false);
    Matmul matmul(false, make_field(w()), 40, 60, 3000 * symbol(), {Layout::PHASE, 0, 0}, random);
    for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
        ASSERT_OK(matmul.run(mode)); // CUDA loads the code now
        device::Graph graph(stream.get());
        ASSERT_OK(matmul.run(mode, stream.get()));
        graph.end();
        for (int replay = 0; replay < (options.reduced ? 3 : 20); replay++) {
            matmul.refill(random);
            graph.launch(stream.get());
            stream.finish();
            ASSERT_TRUE(matmul.is_product(mode));
        }
    }
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
    Matmul matmul(false, field, 40, 60, 3000 * symbol(), {Layout::PHASE, 0, 0}, random, 0, &a);
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
        Matmul matmul(host(), make_field(w()), 20 + 7 * (size_t)thread, 50, 900 * symbol(),
                      {Layout::PHASES, 0, 0}, random);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            matmul.refill(random);
            if (matmul.run(GFK_SET, stream.get()) != GFK_STATUS_SUCCESS)
                return testing::AssertionFailure() << "a matmul failed";
            stream.finish();
            result = matmul.is_product(GFK_SET);
        }
        return result;
    });
}

TEST_P(MatmulTest, Errors) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t rows = 5, cols = 7, bytes = 600 * symbol(), room = 4096;
    Bytes content = random.bytes((rows + cols) * room);
    const gfk_matmul_desc desc = desc_of(host());
    Memory memory(host(), content), matrix(host(), random.bytes(rows * cols * symbol()));
    const size_t space = workspace_of(field, rows, cols, bytes, desc);
    Memory workspace(host(), random.bytes(space + 512));
    struct Call {
        const gfk_field *field;
        gfk_matrix a;
        gfk_regions b, c;
        size_t bytes;
        int mode;
        uint8_t *workspace;
        size_t workspace_bytes;
        gfk_matmul_desc desc;
        gfk_stream_t stream;
    };
    const Call good = {&field,
                       GFK_MATRIX_DENSE_INIT(matrix.data(), rows, cols, cols),
                       {{nullptr}, {memory.data()}, room},
                       {{nullptr}, {memory.data() + cols * room}, room},
                       bytes,
                       GFK_SET,
                       round_up(workspace),
                       space,
                       desc,
                       nullptr};
    const auto call = [](const Call &x) {
        return gfk_matmul(x.field, &x.a, &x.b, &x.c, x.bytes, static_cast<gfk_accumulate>(x.mode),
                          &x.desc, x.workspace, x.workspace_bytes, x.stream);
    };
    const auto refused = [&](gfk_status status, const std::function<void(Call &)> &spoil) {
        Call bad = good;
        spoil(bad);
        EXPECT_EQ(status, call(bad));
        EXPECT_TRUE(content == memory.read()) << "a refused call has written";
        count_checked();
    };
    refused(INVALID, [](Call &x) { x.field = nullptr; });
    refused(INVALID, [](Call &x) { x.a.elements = nullptr; });
    refused(INVALID, [](Call &x) { x.a.rows = 0; });
    refused(INVALID, [](Call &x) { x.a.cols = 0; });
    refused(INVALID, [](Call &x) { x.a.stride = x.a.cols - 1; });
    refused(INVALID, [](Call &x) { x.b.base = nullptr; });
    refused(INVALID, [](Call &x) { x.c.base = nullptr; });
    refused(INVALID, [](Call &x) { x.c.stride = x.bytes - 1; });
    refused(INVALID, [](Call &x) { x.mode = 2; });
    refused(INVALID, [](Call &x) { x.workspace += 128; });
    refused(INVALID, [](Call &x) { x.desc.size--; });
    refused(INVALID, [](Call &x) { x.desc.device = GFK_CURRENT_DEVICE - 1; });
    refused(GFK_STATUS_NO_DEVICE, [](Call &x) { x.desc.device = 1000; });
    const Bytes other(rows * cols * symbol());
    if (host())
        refused(GFK_STATUS_STREAM_ON_HOST,
                [&](Call &x) { x.stream = (gfk_stream_t)workspace.data(); });
    else
        refused(GFK_STATUS_WRONG_DEVICE, [&](Call &x) {
            x.desc.check_pointers = true;
            x.a.elements = other.data();
        });
    refused(SIZE, [](Call &x) { x.a.rows = SIZE_MAX / 2; });
    refused(SIZE, [](Call &x) { x.a.cols = SIZE_MAX / 2; });
    refused(SIZE, [](Call &x) { x.a.stride = SIZE_MAX; });
    if (symbol() > 1) {
        refused(SIZE, [](Call &x) { x.bytes--; });
        refused(INVALID, [](Call &x) { x.a.elements = (const uint8_t *)x.a.elements + 1; });
    }
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
    const gfk_status small = GFK_STATUS_WORKSPACE_TOO_SMALL, overlap = GFK_STATUS_OVERLAP;
    uint8_t *const end = reinterpret_cast<uint8_t *>(UINTPTR_MAX - 255); // of the address space
    refused(SIZE, [=](Call &x) { x.workspace = end; });
    refused(SIZE, [=](Call &x) { x.b.base = end; });
    refused(SIZE, [=](Call &x) { x.c.base = end; });
    refused(SIZE, [=](Call &x) {
        x.a.kind = GFK_MATRIX_VANDERMONDE;
        x.a.rows = 100;
        x.a.row_points = reinterpret_cast<uint32_t *>(end);
    });
    refused(small, [](Call &x) { x.workspace = nullptr; });
    refused(small, [](Call &x) { x.workspace_bytes--; });
    refused(overlap, [&](Call &x) { x.c.base = memory.data() + (cols - 1) * room + bytes - 1; });
    refused(overlap, [&](Call &x) { x.a.elements = memory.data() + cols * room + symbol(); });
    if (host()) // points 0 to 4 in place of the first output
        for (bool in_workspace : {false, true})
            refused(overlap, [&](Call &x) {
                uint8_t *at = in_workspace ? x.workspace : memory.data() + cols * room;
                const uint32_t five[] = {0, 1, 2, 3, 4};
                std::memcpy(at, five, sizeof five);
                content = memory.read();
                x.a.kind = GFK_MATRIX_VANDERMONDE;
                x.a.row_points = reinterpret_cast<const uint32_t *>(at);
            });
    refused(overlap, [&](Call &x) { x.c.base = x.workspace; });
    refused(overlap, [&](Call &x) { x.b.base = x.workspace; });
    Call nothing = good; // not an error
    nothing.bytes = 0;
    nothing.b.base = nothing.c.base = nullptr;
    EXPECT_OK(call(nothing));
    EXPECT_OK(call(good));
    EXPECT_FALSE(device::error_pending());
}

INSTANTIATE_AT(MatmulTest, places());

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
            EXPECT_EQ(batches * (32768 + 32768 / w) + ::round_up(4 * (1 + cols), 256), bytes);
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
        gfk_field bad = field;
        bad.polynomial ^= 1;
        EXPECT_EQ(INVALID, gfk_matmul_workspace(&bad, 1, 1, 64, nullptr, &bytes));
        EXPECT_EQ(INVALID, gfk_matmul_workspace(nullptr, 1, 1, 64, nullptr, &bytes));
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
