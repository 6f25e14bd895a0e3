// SPDX-License-Identifier: BSD-3-Clause
// The compiled kernels of the engines: their list, and each of them by its id.
#include <algorithm>
#include <cstring>
#include <set>

#include "support/compiled_kernels.h"
#include "support/engine_fixture.h"

namespace {

struct Kernel {
    Engine engine;
    CompiledKernel info;
};

std::vector<Kernel> kernels() {
    std::vector<Kernel> list;
    for (Engine engine : engines())
        for (CompiledKernel info : compiled_kernels(engine->id))
            list.push_back({engine, info});
    return list;
}

std::string kernel_name(const testing::TestParamInfo<Kernel> &info) {
    std::string name = info.param.info->id;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
}

gfk_product_desc kernel_desc(const Kernel &kernel) {
    gfk_product_desc desc = product_desc(kernel.engine);
    desc.engine = kernel.info->id;
    return desc;
}

// ---- the list -----------------------------------------------------------------------------------

TEST(CompiledKernelList, IdsBoundsAndLabels) {
    std::set<std::string> ids;
    for (CompiledKernel kernel : compiled_kernels(nullptr)) {
        const std::string id = kernel->id;
        EXPECT_TRUE(ids.insert(id).second) << "twice: " << id;
        EXPECT_NE(std::string::npos, id.find("_w" + std::to_string(kernel->w) + "/")) << id;
        EXPECT_NE('/', id.back()) << id;
        EXPECT_EQ(nullptr, gfk_engine_find(kernel->id)) << id;
        for (const gfk_bounds &b : {kernel->inputs, kernel->outputs, kernel->batch, kernel->cc})
            EXPECT_TRUE(b.max == 0 || b.max >= b.min) << id;
        EXPECT_EQ(0u, kernel->labels & ~(GFK_KERNEL_ALIGNED | GFK_KERNEL_SHORT | GFK_KERNEL_SETS |
                                         GFK_KERNEL_READS));
        count_checked();
    }
}

// The kernels of an owner are those whose ids begin with it, in the order of the whole list.
TEST(CompiledKernelList, Owners) {
    const std::vector<CompiledKernel> all = compiled_kernels(nullptr);
    std::set<std::string> owners;
    for (CompiledKernel kernel : all) {
        const std::string id = kernel->id, owner = id.substr(0, id.find('/'));
        owners.insert(owner);
        owners.insert(owner.substr(0, owner.rfind("_w")));
    }
    for (const char *call : {"matmul", "eliminate", "invert_batch", "rlnc_take"})
        for (const char *w : {"", "_w8", "_w16", "_w32"})
            EXPECT_EQ(1u, owners.count(std::string(call) + w)) << call << w;
    for (const std::string &owner : owners) {
        std::vector<CompiledKernel> expected;
        for (CompiledKernel kernel : all)
            for (const char *end : {"/", "_w8/", "_w16/", "_w32/"})
                if (std::string(kernel->id).rfind(owner + end, 0) == 0)
                    expected.push_back(kernel);
        EXPECT_EQ(expected, compiled_kernels(owner.c_str())) << owner;
        EXPECT_EQ(nullptr, gfk_compiled_kernel_at(owner.c_str(), expected.size())) << owner;
        EXPECT_EQ(nullptr, gfk_compiled_kernel_at(owner.c_str(), SIZE_MAX)) << owner;
        count_checked();
    }
    EXPECT_EQ(nullptr, gfk_compiled_kernel_at(nullptr, all.size()));
    for (const char *none : {"", "bmma_w", "bmma_w8/", "bmma_w8/streamed", "matmul_w9", "host_w8",
                             "invert_batch_w8/warp_8/", "perop"}) {
        EXPECT_EQ(0u, gfk_compiled_kernel_count(none)) << none;
        EXPECT_EQ(nullptr, gfk_compiled_kernel_at(none, 0)) << none;
    }
}

TEST(CompiledKernelList, EnginesThatAreCompiledHaveKernels) {
    for (Engine engine : engines()) {
        const size_t count = gfk_compiled_kernel_count(engine->id);
        if (on_host(engine)) {
            EXPECT_EQ(0u, count) << engine->id;
        } else if (!std::strstr(engine->id, "_faulty")) {
            EXPECT_GT(count, 0u) << engine->id;
        }
        count_checked();
    }
}

// ---- what create refuses ------------------------------------------------------------------------

void expect_refused(gfk_status expected, const gfk_field &field, size_t rows, size_t cols,
                    const gfk_product_desc &desc) {
    const Matrix matrix = constant_matrix(rows, cols, 1);
    gfk_product_t product = nullptr;
    gfk_product_info info;
    EXPECT_STATUS(expected, gfk_product_query(&field, rows, cols, &desc, &info));
    EXPECT_STATUS(expected,
                  gfk_product_create(&product, &field, rows, cols, matrix.elements.data(), &desc));
    EXPECT_EQ(nullptr, product);
    count_checked();
}

TEST(EngineKernelChoice, UnknownIds) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    for (const char *id : {"prmt_w8/", "prmt_w8/none", "prmt_w8/nx2 ", "/nx2", "prmt_w9/nx2",
                           "matmul_w8/clmad", "rlnc_take_w8/block_128"}) {
        desc.engine = id;
        expect_refused(GFK_STATUS_UNKNOWN_METHOD, make_field(8), 2, 4, desc);
    }
}

// The field, the family and the method of a descriptor hold for a kernel's engine too.
TEST(EngineKernelChoice, Contradictions) {
    for (const Kernel &kernel : kernels()) {
        gfk_product_desc desc = kernel_desc(kernel);
        const size_t rows = smallest(kernel.info->outputs), cols = smallest(kernel.info->inputs);
        const unsigned w = kernel.engine->w;
        expect_refused(INVALID, make_field(w == 8 ? 16 : 8), rows, cols, desc);
        desc.family = GFK_ENGINE_HOST;
        expect_refused(INVALID, make_field(w), rows, cols, desc);
    }
}

TEST(EngineKernelChoice, OtherShapes) {
    for (const Kernel &kernel : kernels()) {
        const auto &[in, out] = std::pair(kernel.info->inputs, kernel.info->outputs);
        const size_t cols = smallest(in), rows = smallest(out);
        const gfk_product_desc desc = kernel_desc(kernel);
        const gfk_field field = make_field(kernel.engine->w);
        if (cols > 1)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, rows, cols - 1, desc);
        if (in.max != 0)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, rows, in.max + 1, desc);
        if (rows > 1)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, rows - 1, cols, desc);
        if (out.max != 0)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, out.max + 1, cols, desc);
    }
}

// ---- each kernel --------------------------------------------------------------------------------

class ProductKernels : public testing::TestWithParam<Kernel> {
  protected:
    void SetUp() override {
        const char *reason = nullptr;
        if (gfk_engine_available(engine(), GFK_CURRENT_DEVICE, &reason) == GFK_STATUS_SUCCESS)
            return;
        if (device::count() > 0)
            GTEST_SKIP() << engine()->id << ": " << reason;
        SKIP_WITHOUT_GPU(std::string(engine()->id) + ": " + reason);
    }
    Engine engine() const { return GetParam().engine; }
    const gfk_compiled_kernel_info &kernel() const { return *GetParam().info; }
    unsigned w() const { return engine()->w; }
    size_t symbol_bytes() const { return engine()->w / 8; }

    // NULL: this device or this build lacks what the kernel needs.
    Product make(const Matrix &matrix) const {
        const gfk_product_desc desc = kernel_desc(GetParam());
        const gfk_field field = make_field(w());
        gfk_product_t product = nullptr;
        const gfk_status status = gfk_product_create(&product, &field, matrix.rows, matrix.cols,
                                                     matrix.elements.data(), &desc);
        if (status != GFK_STATUS_NOT_SUPPORTED)
            require_success(status, kernel().id);
        return Product(product);
    }
    // One run in each mode, compared in full. A kernel that does not take the regions says so, and
    // writes nothing.
    void run(gfk_product_t product, const Matrix &matrix, size_t bytes, const Layout &layout,
             gfk_status when_set) {
        Random random(bytes);
        Stage stage(engine(), make_field(w()), matrix, bytes, layout, random);
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            stage.refill(random, false);
            const unsigned refuses = mode == GFK_XOR ? GFK_KERNEL_SETS : GFK_KERNEL_READS;
            const gfk_status expected =
                kernel().labels & refuses ? GFK_STATUS_NOT_SUPPORTED : when_set;
            const gfk_status status =
                gfk_product_run(product, stage.in(), stage.out(), bytes, mode, nullptr);
            EXPECT_STATUS(expected, status) << kernel().id << ", " << layout.text();
            if (status == GFK_STATUS_SUCCESS) {
                ASSERT_TRUE(stage.is_product(mode)) << kernel().id;
            } else {
                ASSERT_TRUE(stage.is_untouched()) << kernel().id;
            }
            count_checked();
        }
    }
    // The element of which bit 0 of all products with powers of x is 1: columns of such elements have the
    // most ones that a kernel may count. Bit 0 of x^w is 1, and 0 of the powers before: so x^(w - i) decides
    // about the product with x^i, and not about those before.
    uint32_t heaviest_element() const {
        const gfk_field field = make_field(w());
        uint32_t c = 1;
        for (unsigned i = 1; i < w(); i++)
            if (!(multiply(field, c, 1u << i) & 1))
                c ^= 1u << (w() - i);
        return c;
    }
    void run_shape(size_t rows, size_t cols) {
        Random random(rows + 100 * cols);
        run_matrix(random_matrix(w(), rows, cols, random));
        if (cols * w() >= 128) // counts that do not fit bytes, or not twice
            run_matrix(constant_matrix(rows, cols, heaviest_element()));
    }
    void run_matrix(const Matrix &matrix) {
        const Product product = make(matrix);
        if (product == nullptr)
            return;
        EXPECT_EQ(GetParam().info, info_of(product.get()).kernel);
        const gfk_status elsewhere =
            kernel().labels & GFK_KERNEL_ALIGNED ? GFK_STATUS_NOT_SUPPORTED : GFK_STATUS_SUCCESS;
        for (size_t symbols : {size_t(1), size_t(83), size_t(20011)}) {
            const size_t bytes = symbols * symbol_bytes();
            run(product.get(), matrix, bytes, {Layout::PHASE, symbol_bytes(), 0},
                GFK_STATUS_SUCCESS);
            run(product.get(), matrix, bytes, {Layout::SPACED, 0, 5}, elsewhere);
        }
    }
};

TEST_P(ProductKernels, SmallestAndLargestShape) {
    const gfk_bounds in = kernel().inputs, out = kernel().outputs;
    ASSERT_NO_FATAL_FAILURE(run_shape(smallest(out), smallest(in)));
    run_shape(largest(out, 6), largest(in, 19));
}

// Kernels with state from tile to tile and from panel to panel: in regions so long that a block has many tiles, with
// several launches, whole panels and a rest of outputs, and on several streams at once.
class LongKernels : public ProductKernels {
  protected:
    static constexpr size_t BYTES = 96 * MIB + 52, STRIDE = 96 * MIB + 4096;

    // The outputs of each stream lie behind those of the stream before.
    void run_on_streams(gfk_product_t product, const Memory &in, Memory *out, size_t rows,
                        gfk_accumulate mode, int times) {
        const gfk_regions ins = {nullptr, in.data(), STRIDE};
        const Stream streams[3] = {Stream(false), Stream(false), Stream(false)};
        for (int again = 0; again < times; again++)
            for (int s = 0; s < 3; s++) {
                const gfk_regions outs = {nullptr, out->data() + s * rows * STRIDE, STRIDE};
                ASSERT_OK(gfk_product_run(product, &ins, &outs, BYTES, mode, streams[s].get()));
            }
        for (const Stream &stream : streams)
            stream.finish();
    }
    void expect_products(const Matrix &matrix, const Memory &in, const Memory &out) {
        Memory expected(false, BYTES);
        for (size_t j = 0; j < matrix.rows; j++) {
            device::combine(w(), make_field(w()).polynomial, &matrix.elements[j * matrix.cols],
                            matrix.cols, in.data(), STRIDE, BYTES, expected.data());
            for (size_t s = 0; s < 3; s++)
                ASSERT_EQ(BYTES,
                          device::first_difference(
                              expected.data(), out.data() + (s * matrix.rows + j) * STRIDE, BYTES))
                    << kernel().id << ", output " << j << ", stream " << s;
            count_checked();
        }
    }
    void run_long(const Matrix &matrix) {
        const Product product = make(matrix);
        if (product == nullptr)
            return;
        const size_t rows = matrix.rows, cols = matrix.cols;
        if (device::free_bytes() < (cols + 3 * rows + 1) * STRIDE + 1024 * MIB)
            SKIP_WITHOUT_GPU("the device has too little free memory");
        Memory in(false, cols * STRIDE), out(false, 3 * rows * STRIDE);
        device::fill_random(in.data(), in.size(), options.seed);
        device::fill_random(out.data(), out.size(), options.seed + 1);
        ASSERT_NO_FATAL_FAILURE(run_on_streams(product.get(), in, &out, rows, GFK_SET, 2));
        ASSERT_NO_FATAL_FAILURE(expect_products(matrix, in, out));
        if (kernel().labels & GFK_KERNEL_SETS)
            return;
        ASSERT_NO_FATAL_FAILURE(run_on_streams(product.get(), in, &out, rows, GFK_XOR, 1));
        expect_products(constant_matrix(rows, cols, 0), in, out); // nothing is left
    }
};

TEST_P(LongKernels, OnThreeStreams) {
    const size_t cols = std::min<size_t>(largest(kernel().inputs, 24), 24);
    const size_t rows =
        std::max<size_t>(kernel().outputs.min, std::min<size_t>(largest(kernel().outputs, 18), 18));
    Random random(rows + 100 * cols);
    ASSERT_NO_FATAL_FAILURE(run_long(random_matrix(w(), rows, cols, random)));
    run_long(constant_matrix(rows, cols, heaviest_element()));
}

std::vector<Kernel> long_kernels() {
    std::vector<Kernel> list;
    for (const Kernel &kernel : kernels())
        if (kernel.engine->family == GFK_ENGINE_BMMA &&
            !(kernel.info->labels & (GFK_KERNEL_SHORT | GFK_KERNEL_READS)))
            list.push_back(kernel);
    return list;
}

// An engine takes one of its own kernels, which takes the shape and is not one for short regions.
void expect_kernel_of_long_regions(Engine engine, size_t rows, size_t cols) {
    const gfk_field field = make_field(engine->w);
    const gfk_product_desc desc = product_desc(engine);
    gfk_product_info info;
    if (gfk_product_query(&field, rows, cols, &desc, &info) != GFK_STATUS_SUCCESS)
        return;
    if (gfk_compiled_kernel_count(engine->id) == 0) {
        EXPECT_EQ(nullptr, info.kernel) << engine->id;
        return;
    }
    ASSERT_NE(nullptr, info.kernel) << engine->id;
    EXPECT_TRUE(std::strstr(info.kernel->id, engine->id) == info.kernel->id);
    EXPECT_EQ(0u, info.kernel->labels & (GFK_KERNEL_SHORT | GFK_KERNEL_READS)) << info.kernel->id;
    EXPECT_LE(cols, largest(info.kernel->inputs, cols));
    count_checked();
}

TEST(EngineKernelChoice, InfoNamesTheKernelOfLongRegions) {
    for (Engine engine : engines())
        for (size_t rows : {1, 2, 4, 7})
            for (size_t cols : {1, 4, 10, 20, 40})
                expect_kernel_of_long_regions(engine, rows, cols);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProductKernels);
INSTANTIATE_TEST_SUITE_P(Kernels, ProductKernels, testing::ValuesIn(kernels()), kernel_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LongKernels);
INSTANTIATE_TEST_SUITE_P(Kernels, LongKernels, testing::ValuesIn(long_kernels()), kernel_name);

} // namespace
