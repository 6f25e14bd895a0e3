// SPDX-License-Identifier: BSD-3-Clause
// The compiled kernels of the engines: their list, and each of them by its id.
#include <algorithm>
#include <cstring>
#include <set>

#include "support/engine_fixture.h"

namespace {

using KernelInfo = const gfk_engine_kernel_info *;

struct Kernel {
    Engine engine;
    KernelInfo info;
};

std::vector<Kernel> kernels() {
    std::vector<Kernel> list;
    for (Engine engine : engines())
        for (size_t i = 0; i < gfk_engine_kernel_count(engine); i++)
            list.push_back({engine, gfk_engine_kernel_at(engine, i)});
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

TEST(EngineKernelList, IdsAreUniqueAndBeginWithTheEngine) {
    std::set<std::string> ids;
    for (const Kernel &kernel : kernels()) {
        const std::string id = kernel.info->id, engine = kernel.engine->id;
        EXPECT_TRUE(ids.insert(id).second) << "twice: " << id;
        EXPECT_EQ(engine + "/", id.substr(0, engine.size() + 1)) << id;
        EXPECT_GT(id.size(), engine.size() + 1) << id;
        EXPECT_EQ(nullptr, gfk_engine_find(kernel.info->id)) << id;
        count_checked();
    }
}

TEST(EngineKernelList, ShapesAndLabels) {
    for (const Kernel &kernel : kernels()) {
        const gfk_engine_kernel_info &info = *kernel.info;
        EXPECT_GE(info.min_inputs, 1u) << info.id;
        EXPECT_GE(info.min_outputs, 1u) << info.id;
        EXPECT_TRUE(info.max_inputs == 0 || info.max_inputs >= info.min_inputs) << info.id;
        EXPECT_TRUE(info.max_outputs == 0 || info.max_outputs >= info.min_outputs) << info.id;
        EXPECT_EQ(0u, info.labels & ~(GFK_ENGINE_KERNEL_ALIGNED | GFK_ENGINE_KERNEL_SHORT |
                                      GFK_ENGINE_KERNEL_SETS | GFK_ENGINE_KERNEL_READS));
        count_checked();
    }
}

TEST(EngineKernelList, EnginesThatAreCompiledHaveKernels) {
    for (Engine engine : engines()) {
        const size_t count = gfk_engine_kernel_count(engine);
        if (on_host(engine)) {
            EXPECT_EQ(0u, count) << engine->id;
        }
        if (engine->family == GFK_ENGINE_PRMT || engine->family == GFK_ENGINE_BMMA ||
            (engine->family == GFK_ENGINE_PEROP && !std::strstr(engine->id, "_faulty"))) {
            EXPECT_GT(count, 0u) << engine->id;
        }
        EXPECT_EQ(nullptr, gfk_engine_kernel_at(engine, count)) << engine->id;
        EXPECT_EQ(nullptr, gfk_engine_kernel_at(engine, SIZE_MAX)) << engine->id;
        count_checked();
    }
    const gfk_engine_info copy = *gfk_engine_find("prmt_w8"); // not a row of the list
    EXPECT_EQ(0u, gfk_engine_kernel_count(&copy));
    EXPECT_EQ(0u, gfk_engine_kernel_count(nullptr));
    EXPECT_EQ(nullptr, gfk_engine_kernel_at(&copy, 0));
    EXPECT_EQ(nullptr, gfk_engine_kernel_at(nullptr, 0));
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
    for (const char *id : {"prmt_w8/", "prmt_w8/none", "prmt_w8/nx2 ", "/nx2", "prmt_w9/nx2"}) {
        desc.engine = id;
        expect_refused(GFK_STATUS_UNKNOWN_METHOD, make_field(8), 2, 4, desc);
    }
}

// The field, the family and the method of a descriptor hold for a kernel's engine too.
TEST(EngineKernelChoice, Contradictions) {
    for (const Kernel &kernel : kernels()) {
        gfk_product_desc desc = kernel_desc(kernel);
        const size_t rows = kernel.info->min_outputs, cols = kernel.info->min_inputs;
        const unsigned w = kernel.engine->w;
        expect_refused(INVALID, make_field(w == 8 ? 16 : 8), rows, cols, desc);
        desc.family = GFK_ENGINE_HOST;
        expect_refused(INVALID, make_field(w), rows, cols, desc);
    }
}

TEST(EngineKernelChoice, OtherShapes) {
    for (const Kernel &kernel : kernels()) {
        const gfk_engine_kernel_info &k = *kernel.info;
        const gfk_product_desc desc = kernel_desc(kernel);
        const gfk_field field = make_field(kernel.engine->w);
        if (k.min_inputs > 1)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, k.min_outputs, k.min_inputs - 1, desc);
        if (k.max_inputs != 0)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, k.min_outputs, k.max_inputs + 1, desc);
        if (k.min_outputs > 1)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, k.min_outputs - 1, k.min_inputs, desc);
        if (k.max_outputs != 0)
            expect_refused(GFK_STATUS_NOT_SUPPORTED, field, k.max_outputs + 1, k.min_inputs, desc);
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
    const gfk_engine_kernel_info &kernel() const { return *GetParam().info; }
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
            const unsigned refuses =
                mode == GFK_XOR ? GFK_ENGINE_KERNEL_SETS : GFK_ENGINE_KERNEL_READS;
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
        const gfk_status elsewhere = kernel().labels & GFK_ENGINE_KERNEL_ALIGNED
                                         ? GFK_STATUS_NOT_SUPPORTED
                                         : GFK_STATUS_SUCCESS;
        for (size_t symbols : {size_t(1), size_t(83), size_t(20011)}) {
            const size_t bytes = symbols * symbol_bytes();
            run(product.get(), matrix, bytes, {Layout::PHASE, symbol_bytes(), 0},
                GFK_STATUS_SUCCESS);
            run(product.get(), matrix, bytes, {Layout::SPACED, 0, 5}, elsewhere);
        }
    }
};

TEST_P(ProductKernels, SmallestAndLargestShape) {
    const size_t cols = kernel().max_inputs ? kernel().max_inputs : 19;
    const size_t rows = kernel().max_outputs ? kernel().max_outputs : 6;
    ASSERT_NO_FATAL_FAILURE(run_shape(kernel().min_outputs, kernel().min_inputs));
    run_shape(rows, cols);
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
        if (kernel().labels & GFK_ENGINE_KERNEL_SETS)
            return;
        ASSERT_NO_FATAL_FAILURE(run_on_streams(product.get(), in, &out, rows, GFK_XOR, 1));
        expect_products(constant_matrix(rows, cols, 0), in, out); // nothing is left
    }
};

TEST_P(LongKernels, OnThreeStreams) {
    const size_t cols = std::min<size_t>(kernel().max_inputs ? kernel().max_inputs : 24, 24);
    const size_t rows = std::min<size_t>(kernel().max_outputs ? kernel().max_outputs : 18, 18);
    Random random(rows + 100 * cols);
    ASSERT_NO_FATAL_FAILURE(run_long(random_matrix(w(), rows, cols, random)));
    run_long(constant_matrix(rows, cols, heaviest_element()));
}

std::vector<Kernel> long_kernels() {
    std::vector<Kernel> list;
    for (const Kernel &kernel : kernels())
        if (kernel.engine->family == GFK_ENGINE_BMMA &&
            !(kernel.info->labels & (GFK_ENGINE_KERNEL_SHORT | GFK_ENGINE_KERNEL_READS)))
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
    if (gfk_engine_kernel_count(engine) == 0) {
        EXPECT_EQ(nullptr, info.kernel) << engine->id;
        return;
    }
    ASSERT_NE(nullptr, info.kernel) << engine->id;
    EXPECT_TRUE(std::strstr(info.kernel->id, engine->id) == info.kernel->id);
    EXPECT_EQ(0u, info.kernel->labels & (GFK_ENGINE_KERNEL_SHORT | GFK_ENGINE_KERNEL_READS))
        << info.kernel->id;
    EXPECT_TRUE(info.kernel->max_inputs == 0 || cols <= info.kernel->max_inputs);
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
