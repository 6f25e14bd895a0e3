// SPDX-License-Identifier: BSD-3-Clause
// What products refuse beyond what all calls do (tests/calls); tables and memory that are too small; overlaps.
#include <cstring>
#include <functional>

#include "support/engine_fixture.h"

namespace {

// ---- create and query ---------------------------------------------------------------------------

struct CreateArguments {
    const gfk_field *field;
    size_t rows, cols;
    const uint32_t *matrix;
    gfk_product_desc desc;
};

const uint32_t ONES[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

class ProductDescriptor : public testing::Test {
  protected:
    ProductDescriptor() { good_.desc.device = GFK_CPU; }
    // The status comes from create, and from query unless the mistake is in the matrix.
    void refused(gfk_status expected, const std::function<void(CreateArguments &)> &spoil,
                 bool in_matrix = false) {
        CreateArguments a = good_;
        spoil(a);
        gfk_product_t product = nullptr;
        EXPECT_STATUS(expected,
                      gfk_product_create(&product, a.field, a.rows, a.cols, a.matrix, &a.desc));
        EXPECT_EQ(nullptr, product);
        if (!in_matrix) {
            gfk_product_info info, before;
            std::memset(&info, 0x5a, sizeof info);
            std::memset(&before, 0x5a, sizeof before);
            EXPECT_STATUS(expected, gfk_product_query(a.field, a.rows, a.cols, &a.desc, &info));
            EXPECT_EQ(0, std::memcmp(&before, &info, sizeof info));
        }
        EXPECT_FALSE(device::error_pending());
        count_checked();
    }
    gfk_field field_ = make_field(8);
    CreateArguments good_ = {&field_, 3, 4, ONES, GFK_PRODUCT_DESC_INIT};
};

TEST_F(ProductDescriptor, Null) {
    gfk_product_t product = nullptr;
    gfk_product_info info;
    EXPECT_STATUS(INVALID, gfk_product_create(nullptr, &field_, 3, 4, ONES, nullptr));
    EXPECT_STATUS(INVALID, gfk_product_query(&field_, 3, 4, nullptr, nullptr));
    EXPECT_STATUS(INVALID, gfk_product_get_info(nullptr, &info));
    gfk_product_destroy(nullptr);
    refused(INVALID, [](CreateArguments &a) { a.matrix = nullptr; }, true);
    EXPECT_STATUS(device::count() ? GFK_STATUS_SUCCESS : GFK_STATUS_NO_DEVICE,
                  gfk_product_create(&product, &field_, 3, 4, ONES, nullptr));
    gfk_product_destroy(product);
    ASSERT_OK(gfk_product_create(&product, &field_, 3, 4, ONES, &good_.desc));
    EXPECT_STATUS(INVALID, gfk_product_get_info(product, nullptr));
    gfk_product_destroy(product);
}

TEST_F(ProductDescriptor, ShapesAndElements) {
    refused(INVALID, [](CreateArguments &a) { a.rows = 0; });
    refused(INVALID, [](CreateArguments &a) { a.cols = 0; });
    refused(GFK_STATUS_INVALID_SIZE, [](CreateArguments &a) { a.rows = SIZE_MAX / 2; });
    refused(GFK_STATUS_INVALID_SIZE, [](CreateArguments &a) { a.rows = a.cols = size_t(1) << 32; });
    for (uint32_t element : {256u, 0xffffffffu}) {
        const uint32_t matrix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, element};
        refused(GFK_STATUS_INVALID_CONSTANT, [&](CreateArguments &a) { a.matrix = matrix; }, true);
    }
}

TEST_F(ProductDescriptor, Enumerators) {
    for (int wrong : {-1, 9, 1000})
        refused(INVALID, [&](auto &a) { std::memcpy(&a.desc.family, &wrong, sizeof wrong); });
    for (int wrong : {-1, 9, 1000})
        refused(INVALID, [&](auto &a) { std::memcpy(&a.desc.method, &wrong, sizeof wrong); });
    for (const char *engine : {"host_w9", ""})
        refused(GFK_STATUS_UNKNOWN_METHOD, [&](CreateArguments &a) { a.desc.engine = engine; });
    good_.desc.engine = "host_w16"; // the field has w = 8
    refused(INVALID, [](CreateArguments &) {});
    good_.desc.engine = "host_w8";
    refused(INVALID, [](CreateArguments &a) { a.desc.family = GFK_ENGINE_PEROP; });
    refused(INVALID, [](CreateArguments &a) { a.desc.method = GFK_METHOD_LOG; });
    refused(GFK_STATUS_UNKNOWN_METHOD, [](CreateArguments &a) {
        a.desc.engine = nullptr;
        a.desc.family = GFK_ENGINE_HOST; // has no engine of this method
        a.desc.method = GFK_METHOD_LOG;
    });
}

TEST_F(ProductDescriptor, Devices) {
    const auto named = [](CreateArguments &a) { a.desc.family = GFK_ENGINE_PEROP; };
    for (int number : {device::count(), 1000}) {
        good_.desc.device = number;
        const gfk_status status =
            gfk_engine_available(gfk_engine_find("perop_split_w8"), number, nullptr);
        EXPECT_TRUE(status == GFK_STATUS_NO_DEVICE ||
                    (status == GFK_STATUS_NOT_SUPPORTED && device::count() == 0));
        refused(status, named);
        refused(GFK_STATUS_NO_DEVICE, [](CreateArguments &) {});
    }
    for (int number : {GFK_CPU, -3, INT32_MIN}) {
        good_.desc.device = number;
        refused(INVALID, named);
        refused(INVALID, [](CreateArguments &a) { a.desc.engine = "bmma_w8"; });
        refused(INVALID, [](CreateArguments &a) { a.desc.engine = "bmma_w8/ring_24"; });
        refused(INVALID, [](CreateArguments &a) { a.desc.method = GFK_METHOD_LOG; });
        if (number != GFK_CPU)
            refused(INVALID, [](CreateArguments &a) { a.desc.family = GFK_ENGINE_HOST; });
    }
}

// ---- per engine ---------------------------------------------------------------------------------

class ProductErrors : public EngineTest {
  protected:
    static constexpr size_t COLS = 3, ROWS = 2, BYTES = 512;

    void set_up() override {
        Random random;
        field_ = field();
        const Matrix matrix = random_matrix(w(), ROWS, COLS, random);
        stage_ =
            std::make_unique<Stage>(engine(), field_, matrix, BYTES, Layout{Layout::PHASE}, random);
    }

    gfk_field field_;
    std::unique_ptr<Stage> stage_;
};

TEST_P(ProductErrors, Tables) {
    gfk_product_desc desc = product_desc(engine());
    gfk_product_info info;
    ASSERT_OK(gfk_product_query(&field_, ROWS, COLS, &desc, &info));
    if (info.table_bytes < 2)
        GTEST_SKIP() << engine()->id << " has no tables";
    desc.table_limit = info.table_bytes - 1;
    gfk_product_t product = nullptr;
    if (engine()->family == GFK_ENGINE_HOST) { // does without
        EXPECT_OK(gfk_product_query(&field_, ROWS, COLS, &desc, &info));
        EXPECT_EQ(0u, info.table_bytes);
        EXPECT_OK(gfk_product_create(&product, &field_, ROWS, COLS, ONES, &desc));
        gfk_product_destroy(product);
        count_checked();
        return;
    }
    EXPECT_STATUS(GFK_STATUS_TABLE_LIMIT,
                  gfk_product_create(&product, &field_, ROWS, COLS, ONES, &desc));
    EXPECT_EQ(nullptr, product);
    gfk_product_info again; // query says how much it would be
    EXPECT_OK(gfk_product_query(&field_, ROWS, COLS, &desc, &again));
    EXPECT_EQ(info.table_bytes, again.table_bytes);
    desc.table_limit++;
    EXPECT_OK(gfk_product_create(&product, &field_, ROWS, COLS, ONES, &desc));
    gfk_product_destroy(product);
    count_checked();
}

// Memory that both sides access passes the check, which may be a part of a graph.
TEST_P(ProductErrors, CheckedPointers) {
    gfk_product_desc desc = product_desc(engine());
    desc.check_pointers = true;
    const bool host = on_host(engine());
    gfk_product_t made = nullptr;
    ASSERT_OK(gfk_product_create(&made, &field_, ROWS, COLS, ONES, &desc));
    const Stream stream(host);
    const auto checked = [&](const gfk_regions *in, const gfk_regions *out) {
        return gfk_product_run(made, in, out, BYTES, GFK_SET, stream.get());
    };
    if (device::count() != 0) {
        void *const pinned = device::allocate_pinned(COLS * BYTES);
        std::memset(pinned, 1, COLS * BYTES);
        const gfk_regions both = {nullptr, pinned, BYTES};
        EXPECT_OK(checked(&both, stage_->out()));
        stream.finish();
        device::release_pinned(pinned);
    }
    EXPECT_OK(checked(stage_->in(), stage_->out()));
    if (!host) {
        device::Graph graph(stream.get());
        const gfk_status status = checked(stage_->in(), stage_->out());
        graph.end();
        EXPECT_OK(status);
    }
    stream.finish();
    gfk_product_destroy(made);
    EXPECT_FALSE(device::error_pending());
    count_checked();
}

// Tables that no device has room for.
TEST_P(ProductErrors, OutOfMemory) {
    gfk_product_desc desc = product_desc(engine());
    desc.table_limit = UINT64_MAX;
    const size_t rows = 2048, cols = 4096;
    gfk_product_info info;
    const gfk_status status = gfk_product_query(&field_, rows, cols, &desc, &info);
    if (on_host(engine()) || status != GFK_STATUS_SUCCESS ||
        info.table_bytes < device::free_bytes())
        GTEST_SKIP() << engine()->id << " does not need that much";
    const std::vector<uint32_t> matrix(rows * cols, 1);
    gfk_product_t product = nullptr;
    EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY,
                  gfk_product_create(&product, &field_, rows, cols, matrix.data(), &desc));
    EXPECT_EQ(nullptr, product);
    EXPECT_FALSE(device::error_pending());
    count_checked();
}

PER_ENGINE(ProductErrors, engines());

// ---- many regions -------------------------------------------------------------------------------

class ProductOverlap : public testing::Test {
  protected:
    // Checks what a run says of inputs and outputs against a comparison of all pairs.
    void check(gfk_product_t product, const gfk_regions &in, size_t ins, const gfk_regions &out,
               size_t outs, size_t bytes) {
        std::vector<uintptr_t> at;
        for (size_t i = 0; i < ins; i++)
            at.push_back(address(in, i));
        for (size_t i = 0; i < outs; i++)
            at.push_back(address(out, i));
        bool overlaps = false;
        for (size_t j = ins; j < at.size(); j++)
            for (size_t i = 0; i < j; i++)
                overlaps |= std::max(at[i], at[j]) - std::min(at[i], at[j]) < bytes;
        EXPECT_STATUS(overlaps ? GFK_STATUS_OVERLAP : GFK_STATUS_SUCCESS,
                      gfk_product_run(product, &in, &out, bytes, GFK_SET, nullptr));
        count_checked();
        overlapping_ += overlaps;
        checked_++;
    }
    Product product_of(size_t rows, size_t cols) {
        return make_product(make_field(8), gfk_engine_find("host_w8"),
                            constant_matrix(rows, cols, 1));
    }
    static uintptr_t address(const gfk_regions &regions, size_t i) {
        return reinterpret_cast<uintptr_t>(regions.pointers ? regions.pointers[i]
                                                            : static_cast<uint8_t *>(regions.base) +
                                                                  i * regions.stride);
    }
    size_t checked_ = 0, overlapping_ = 0;
};

// Thousands of regions in any order.
TEST_F(ProductOverlap, ManyRegions) {
    for (size_t rows : {3, 40, 1500})
        for (size_t trial = 0; trial < 40; trial++) {
            Random random(1000 * rows + trial);
            const size_t cols = 1 + random.below(50), bytes = 1 + random.below(40);
            const Product product = product_of(rows, cols);
            // Slots of a grid in random order; now and then one is moved.
            std::vector<size_t> slots(rows + cols);
            for (size_t i = 0; i < slots.size(); i++) {
                slots[i] = i;
                std::swap(slots[i], slots[random.below(i + 1)]);
            }
            Bytes memory((slots.size() + 2) * bytes);
            std::vector<void *> at;
            for (size_t slot : slots)
                at.push_back(memory.data() + slot * bytes);
            if (trial % 2) {
                const size_t moved = random.below(at.size());
                at[moved] = static_cast<uint8_t *>(at[moved]) + random.below(bytes + 1);
            }
            check(product.get(), {at.data(), nullptr, 0}, cols, {at.data() + cols, nullptr, 0},
                  rows, bytes);
        }
}

// Equally spaced regions, each set as stride and as addresses: interlocking, far apart, with equal
// strides, with a stride that is a multiple of the other, and with any.
TEST_F(ProductOverlap, EquallySpaced) {
    Bytes memory(2048);
    Random random(1);
    for (size_t shape = 0; shape < 50; shape++) {
        const size_t rows = 1 + random.below(9), cols = 1 + random.below(9);
        const Product product = product_of(rows, cols);
        for (size_t trial = 0; trial < 100; trial++) {
            const size_t bytes = 1 + random.below(8), most = 4 * bytes;
            const size_t stride = bytes + random.below(most);
            const size_t other = trial % 4 == 0   ? bytes + random.below(most)
                                 : trial % 4 == 1 ? 2 * stride
                                                  : stride;
            gfk_regions in = {nullptr, memory.data() + random.below(500), stride};
            gfk_regions out = {nullptr, memory.data() + random.below(500), other};
            if (trial % 8 >= 4)
                std::swap(in.stride, out.stride);
            std::vector<void *> inputs, outputs;
            for (size_t i = 0; i < cols; i++)
                inputs.push_back(reinterpret_cast<void *>(address(in, i)));
            for (size_t i = 0; i < rows; i++)
                outputs.push_back(reinterpret_cast<void *>(address(out, i)));
            for (const gfk_regions &a : {in, gfk_regions{inputs.data(), nullptr, 0}})
                for (const gfk_regions &b : {out, gfk_regions{outputs.data(), nullptr, 0}})
                    check(product.get(), a, cols, b, rows, bytes);
        }
    }
    EXPECT_GT(overlapping_, checked_ / 10);
    EXPECT_LT(overlapping_, checked_ / 10 * 9);
}

} // namespace
