// SPDX-License-Identifier: BSD-3-Clause
// The compiled kernels of matmuls: their list, each of them by its id, and the choice among them.
#include <set>

#include "matmul_fixture.h"
#include "support/compiled_kernels.h"

namespace {

// What an id says: matmul_w<W>/wgmma[_levels<N>] or matmul_w<W>/clmad. Without levels a kernel on wgmma computes
// tiles of 128 rows of bits and takes batches of 1024 bits, else 192 and 512; clmad computes tiles of 32 outputs
// and takes batches of 256 bits.
struct Division {
    unsigned w, levels, h; // h: bits of a piece
    bool clmad;
    size_t parts = 1;
    explicit Division(CompiledKernel kernel) : w(kernel->w), levels(0), h(0) {
        const std::string id = kernel->id, base = "matmul_w" + std::to_string(w) + "/wgmma";
        const std::string more = base + "_levels";
        h = w;
        clmad = id == "matmul_w" + std::to_string(w) + "/clmad";
        if (clmad)
            return;
        if (id != base && (id.rfind(more, 0) != 0 || id.size() != more.size() + 1))
            throw std::runtime_error(id + " says nothing of levels");
        if (id != base)
            levels = (unsigned)(id.back() - '0');
        h = w >> levels;
        for (unsigned level = 0; level < levels; level++)
            parts *= 3;
    }
    size_t outputs() const { return clmad ? 32 : (levels == 0 ? 128 : 192) / h; } // of a tile
    size_t inputs() const {                                                       // of a batch
        return (clmad ? 256 : levels == 0 ? 1024 : 512) / h;
    }
    std::string symbol() const { // of the kernel that multiplies
        return clmad
                   ? "multiply_symbolsINS0_9ClmadTileILi" + std::to_string(w) + "EE"
                   : "multiply_bitsILi" + std::to_string(w) + "ELi" + std::to_string(levels) + "EE";
    }
    // For one tile of symbols and of outputs.
    size_t workspace(size_t cols) const {
        const size_t batches = parts * ((cols + inputs() - 1) / inputs());
        const size_t data = clmad ? 0 : (levels == 0 ? 1024 : 512) / 8 * 256;
        const size_t matrix = clmad ? 32 * 32 : levels == 0 ? outputs() * 256 : 192 * 64;
        return batches * (data + matrix) + ::round_up(4 * (1 + cols), 256);
    }
};

gfk_matmul_desc desc_of(const char *id) {
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.kernel = id;
    return desc;
}

class MatmulKernels : public testing::TestWithParam<CompiledKernel> {
  protected:
    void SetUp() override {
        if (device::count() == 0)
            SKIP_WITHOUT_GPU("there is no GPU");
        const auto cc = (size_t)device::compute_capability(device::current());
        if (cc < GetParam()->cc.min || cc > largest(GetParam()->cc, cc))
            GTEST_SKIP() << "no kernel for compute capability " << cc;
        const gfk_field field = make_field(GetParam()->w);
        const gfk_matmul_desc desc = desc_of(GetParam()->id);
        const char *id;
        if (gfk_matmul_kernel_id(&field, 1, 1, 64, &desc, &id) == GFK_STATUS_NOT_SUPPORTED)
            GTEST_SKIP() << "built without CLMAD";
    }
    const Division division{GetParam()};
    void check(size_t rows, size_t cols, size_t symbols, const Layout &layout,
               uint64_t polynomial = 0, const gfk_matrix *generated = nullptr) {
        const unsigned w = division.w;
        Matmul(desc_of(GetParam()->id), make_field(w, polynomial), rows, cols, symbols * w / 8,
               layout, random_, generated)
            .check(random_);
    }
    Random random_;
};

// Two tiles of outputs and more tiles in all than a device has multiprocessors: blocks take another
// tile while the ring still has the batches of the one before. In all parts together there are more
// batches than the ring has stages. The sanitizers run this test.
TEST_P(MatmulKernels, TwoTilesEach) {
    const size_t cols = division.parts == 1 ? 8 * division.inputs() + 5 : division.inputs() - 1;
    check(division.outputs() + 1, cols, 67 * 256 + 3, {Layout::PHASE, 0, 0});
}

// Rows and columns around the borders of tiles and batches, and more batches than the ring has stages.
TEST_P(MatmulKernels, Shapes) {
    const size_t outputs = division.outputs(), inputs = division.inputs();
    std::vector<size_t> all_rows = {1, outputs + 1}, all_cols = {1, 8 * inputs + 5};
    if (!options.reduced) {
        all_rows.insert(all_rows.end(), {outputs - 1, outputs, 2 * outputs + 2});
        all_cols.insert(all_cols.end(), {inputs - 1, inputs, inputs + 1});
    }
    for (size_t rows : all_rows)
        for (size_t cols : all_cols)
            for (const Layout &layout : {Layout{Layout::PHASE, 0, 0}, {Layout::PHASES, 0, 0}})
                check(rows, cols, 300, layout);
    check(outputs + 1, inputs + 1, 300, {Layout::SPACED, 3, 5}, polynomials(division.w).back());
}

// More regions than the pointers of a launch, which are not a whole number of tiles of outputs.
TEST_P(MatmulKernels, Pointers) {
    check(1100, 5, 300, {Layout::PHASES, 0, 0});
    if (!options.reduced)
        check(5, 1100, 300, {Layout::PHASES, 0, 0});
}

TEST_P(MatmulKernels, RandomShapes) {
    for (int i = 0; i < (options.reduced ? 2 : 8); i++)
        check(1 + random_.below(400), 1 + random_.below(900), 1 + random_.below(24000 / division.w),
              {Layout::PHASES, 0, 0});
}

// Every kind of matrix, more than a tile and a batch of each.
TEST_P(MatmulKernels, Generated) {
    const unsigned w = division.w;
    gfk_matrix a = {};
    a.rows = division.outputs() + 3;
    a.cols = w == 8 ? 256 - a.rows : division.inputs() + 7;
    std::vector<uint32_t> points(std::max(a.rows, a.cols));
    for (size_t i = 0; i < points.size(); i++)
        points[i] = (uint32_t)i & largest(w);
    const auto check_kind = [&](gfk_matrix_kind kind, bool by_rows, bool by_cols) {
        a.kind = kind;
        a.row_points = by_rows ? points.data() : nullptr;
        a.col_points = by_cols ? points.data() : nullptr;
        check(a.rows, a.cols, 300, {Layout::PHASE, 0, 0}, 0, &a);
    };
    check_kind(GFK_MATRIX_CAUCHY, false, false);
    check_kind(GFK_MATRIX_RANDOM, false, false);
    check_kind(GFK_MATRIX_VANDERMONDE, true, false);
    check_kind(GFK_MATRIX_VANDERMONDE, false, true);
    if (w == 16)
        check_kind(GFK_MATRIX_PAR2, false, false);
}

// The id of the list, the kernel that a call launches, and nothing else.
TEST_P(MatmulKernels, Launched) {
    const unsigned w = division.w;
    const gfk_matmul_desc desc = desc_of(GetParam()->id);
    const gfk_field field = make_field(w);
    const char *id = nullptr;
    ASSERT_OK(gfk_matmul_kernel_id(&field, 40, 60, 3000 * w / 8, &desc, &id));
    EXPECT_STREQ(GetParam()->id, id);
    const Stream stream(false);
    Matmul matmul(desc, field, 40, 60, 3000 * w / 8, {Layout::PHASE, 0, 0}, random_);
    ASSERT_OK(matmul.run(GFK_SET)); // CUDA loads the code now
    device::Graph graph(stream.get());
    ASSERT_OK(matmul.run(GFK_SET, stream.get()));
    graph.end();
    size_t found = 0;
    for (const std::string &kernel : graph.kernels())
        if (kernel.find("multiply_bits") != std::string::npos ||
            kernel.find("multiply_symbols") != std::string::npos) {
            EXPECT_NE(std::string::npos, kernel.find(division.symbol())) << kernel;
            found++;
        }
    EXPECT_EQ(1u, found);
    count_checked();
}

INSTANTIATE_TEST_SUITE_P(Kernels, MatmulKernels, testing::ValuesIn(compiled_kernels("matmul")),
                         compiled_kernel_name);

// ---- the choice ---------------------------------------------------------------------------------

class MatmulChoice : public PlaceTest {};

// Every kernel is the choice for some shape.
TEST_P(MatmulChoice, EveryKernel) {
    const gfk_field field = make_field(w());
    const gfk_matmul_desc desc = ::desc_of(host());
    std::set<std::string> chosen, listed;
    for (CompiledKernel kernel : compiled_kernels("matmul", w()))
        listed.insert(kernel->id);
    for (size_t rows = 1; rows <= 4096; rows *= 4)
        for (size_t cols = 1; cols <= 4096; cols *= 4)
            for (size_t bytes = 1024; bytes <= 1 << 24; bytes *= 4) {
                const char *id = "none";
                ASSERT_OK(gfk_matmul_kernel_id(&field, rows, cols, bytes, &desc, &id));
                if (host()) {
                    ASSERT_EQ(nullptr, id);
                } else {
                    ASSERT_NE(nullptr, id);
                    chosen.insert(id);
                }
                count_checked();
            }
    EXPECT_EQ(host() ? std::set<std::string>() : listed, chosen);
}

// So much work that elements are divided into halves: twice, then as often as there are kernels.
TEST_P(MatmulChoice, Levels) {
    if (host())
        GTEST_SKIP() << "the CPU divides nothing";
    Random random;
    struct Shape {
        size_t rows, cols, symbols;
    };
    const Shape shapes[3][2] = {{{282, 187, 81 * 256 - 3}, {906, 827, 67 * 256 - 3}},
                                {{300, 250, 66 * 256 - 3}, {1290, 1467, 15 * 256 - 3}},
                                {{600, 500, 25 * 256 - 3}, {378, 763, 25 * 256 - 3}}};
    const gfk_field field = make_field(w());
    const gfk_matmul_desc desc = ::desc_of(false);
    unsigned before = 0;
    for (const auto &[rows, cols, symbols] : shapes[w() == 8 ? 0 : w() == 16 ? 1 : 2]) {
        const char *id = nullptr;
        ASSERT_OK(gfk_matmul_kernel_id(&field, rows, cols, symbols * symbol(), &desc, &id));
        const std::string last(1, std::string(id).back());
        const auto levels = (unsigned)(last[0] - '0');
        EXPECT_TRUE(levels > before && levels < 5) << id;
        before = levels;
        Matmul matmul(desc, field, rows, cols, symbols * symbol(), {Layout::PHASES, 0, 0}, random);
        matmul.check(random);
    }
}

INSTANTIATE_AT(MatmulChoice, test_places());

// ---- the list, without a device -----------------------------------------------------------------

// The workspace of each kernel shows that an id and its kernel mean the same division.
TEST(MatmulKernelList, WorkspaceOfEach) {
    for (CompiledKernel kernel : compiled_kernels("matmul")) {
        const Division division(kernel);
        const gfk_matmul_desc desc = desc_of(kernel->id);
        const gfk_field field = make_field(division.w);
        for (size_t cols : {1, 100, 4096}) {
            EXPECT_EQ(division.workspace(cols),
                      workspace_of(field, 1, cols, 256 * division.w / 8, desc))
                << kernel->id;
            count_checked();
        }
    }
}

// A kernel without levels is the first one of each width, and levels increase up to the one on clmad, the last.
TEST(MatmulKernelList, Levels) {
    for (unsigned w : {8u, 16u, 32u}) {
        const auto kernels = compiled_kernels("matmul", w);
        ASSERT_FALSE(kernels.empty());
        EXPECT_EQ(0u, Division(kernels[0]).levels);
        for (size_t i = 0; i < kernels.size(); i++) {
            EXPECT_EQ(w, kernels[i]->w);
            EXPECT_EQ(i + 1 == kernels.size(), Division(kernels[i]).clmad);
            EXPECT_TRUE(i == 0 || Division(kernels[i]).clmad ||
                        Division(kernels[i - 1]).levels < Division(kernels[i]).levels);
            count_checked();
        }
    }
}

TEST(MatmulKernelList, Refused) {
    const gfk_field field = make_field(8);
    size_t bytes = 77;
    const char *id = "unchanged";
    const auto refused = [&](gfk_status status, const char *kernel, bool host = false) {
        gfk_matmul_desc desc = desc_of(kernel);
        desc.device = host ? GFK_CPU : GFK_CURRENT_DEVICE;
        EXPECT_EQ(status, gfk_matmul_workspace(&field, 1, 1, 64, &desc, &bytes)) << kernel;
        EXPECT_EQ(status, gfk_matmul_kernel_id(&field, 1, 1, 64, &desc, &id)) << kernel;
        EXPECT_EQ(77u, bytes);
        EXPECT_STREQ("unchanged", id);
        count_checked();
    };
    refused(GFK_STATUS_UNKNOWN_METHOD, "matmul_w8/none");
    refused(GFK_STATUS_UNKNOWN_METHOD, "invert_batch_w8/warp_8");
    refused(INVALID, "matmul_w16/wgmma");
    refused(INVALID, "matmul_w8/wgmma", true);
    const gfk_matmul_desc desc = ::desc_of(true);
    EXPECT_EQ(INVALID, gfk_matmul_kernel_id(nullptr, 1, 1, 64, &desc, &id));
    EXPECT_EQ(INVALID, gfk_matmul_kernel_id(&field, 0, 1, 64, &desc, &id));
    EXPECT_EQ(INVALID, gfk_matmul_kernel_id(&field, 1, 1, 64, &desc, nullptr));
    if (device::count() == 0) {
        EXPECT_EQ(GFK_STATUS_NO_DEVICE, gfk_matmul_kernel_id(&field, 1, 1, 64, nullptr, &id));
    }
}

} // namespace
