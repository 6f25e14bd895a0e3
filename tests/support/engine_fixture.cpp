// SPDX-License-Identifier: BSD-3-Clause
// engine_fixture.h.
#include "engine_fixture.h"

#include <algorithm>
#include <sstream>

std::vector<Engine> engines() {
    std::vector<Engine> list;
    for (size_t i = 0; i < gfk_engine_count(); i++)
        list.push_back(gfk_engine_at(i));
    return list;
}

std::vector<Engine> cuda_engines() {
    std::vector<Engine> list;
    for (Engine engine : engines())
        if (!on_host(engine))
            list.push_back(engine);
    return list;
}

std::string engine_name(const testing::TestParamInfo<Engine> &info) {
    return info.param->id;
}

Matrix random_matrix(unsigned w, size_t rows, size_t cols, Random &random) {
    return {rows, cols, random_elements(w, rows * cols, random)};
}

Matrix constant_matrix(size_t rows, size_t cols, uint32_t c) {
    return {rows, cols, std::vector<uint32_t>(rows * cols, c)};
}

Matrix identity_matrix(size_t rows, size_t cols) {
    Matrix m = constant_matrix(rows, cols, 0);
    for (size_t i = 0; i < std::min(rows, cols); i++)
        m.elements[i * cols + i] = 1;
    return m;
}

gfk_product_desc product_desc(Engine engine) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.engine = engine->id;
    desc.table_limit = UINT64_C(8) << 30;
    return desc;
}

Product make_product(const gfk_field &field, Engine engine, const Matrix &matrix) {
    const gfk_product_desc desc = product_desc(engine);
    gfk_product_t product = nullptr;
    require_success(gfk_product_create(&product, &field, matrix.rows, matrix.cols,
                                       matrix.elements.data(), &desc),
                    engine->id);
    return Product(product);
}

gfk_product_info info_of(gfk_product_t product) {
    gfk_product_info info;
    require_success(gfk_product_get_info(product, &info), "gfk_product_get_info");
    return info;
}

Stage::Stage(Engine engine, const gfk_field &field, const Matrix &matrix, size_t bytes,
             const Layout &layout, Random &random)
    : engine_(engine), field_(field), matrix_(matrix),
      regions_(on_host(engine), matrix.cols, matrix.rows, bytes, layout, random) {}

void Stage::refill(Random &random, bool wait) {
    content_ = random.bytes(regions_.size());
    regions_.write(content_, wait);
}

void Stage::run(gfk_product_t product, gfk_accumulate mode, gfk_stream_t stream) {
    require_success(gfk_product_run(product, in(), out(), bytes(), mode, stream), engine_->id);
}

testing::AssertionResult Stage::is_product(gfk_accumulate mode) {
    return bytes() <= 32768 ? compare(by_scalar_arithmetic(mode), mode, "scalar arithmetic")
                            : compare(by_region_multiplies(mode), mode, "region multiplies");
}

Bytes Stage::by_region_multiplies(gfk_accumulate mode) {
    Memory memory(on_host(engine_), content_);
    Runner runner(field_, reference_row(engine_->w, on_host(engine_)));
    const auto at = [&](size_t region) {
        return memory.data() + (regions_.at(region) - regions_.memory().data());
    };
    for (size_t j = 0; j < matrix_.rows; j++)
        for (size_t i = 0; i < matrix_.cols; i++)
            runner.run(matrix_.at(j, i), at(i), at(matrix_.cols + j), bytes(),
                       i == 0 ? mode : GFK_XOR);
    return memory.read();
}

Bytes Stage::by_scalar_arithmetic(gfk_accumulate mode) {
    Bytes expected = content_;
    std::vector<uint8_t *> outs;
    for (size_t j = 0; j < matrix_.rows; j++) {
        outs.push_back(regions_.in_copy(expected, matrix_.cols + j));
        if (mode == GFK_SET)
            std::fill_n(outs[j], bytes(), uint8_t(0));
    }
    std::vector<uint32_t> column(matrix_.rows);
    for (size_t i = 0; i < matrix_.cols; i++) {
        for (size_t j = 0; j < matrix_.rows; j++)
            column[j] = matrix_.at(j, i);
        add_multiples(field_, column, regions_.in_copy(content_, i), outs, bytes());
    }
    return expected;
}

testing::AssertionResult Stage::is_untouched() {
    return compare(content_, GFK_SET, "a run that is refused");
}

testing::AssertionResult Stage::compare(const Bytes &expected, gfk_accumulate mode,
                                        const char *by) {
    std::ostringstream who;
    who << "engine " << engine_->id << ", by " << by << ", mode "
        << (mode == GFK_XOR ? "xor" : "set") << ", polynomial " << std::hex << std::showbase
        << field_.polynomial;
    return regions_.is(expected, who.str());
}

void EngineTest::SetUp() {
    const char *reason = nullptr;
    if (gfk_engine_available(engine(), GFK_CURRENT_DEVICE, &reason) == GFK_STATUS_SUCCESS)
        return set_up();
    // An engine without its library, or for other devices, is not a missing GPU.
    if (on_host(engine()))
        GTEST_SKIP() << engine()->id << ": " << reason;
    if (device::count() > 0) {
        const auto cc = static_cast<unsigned>(device::compute_capability(device::current()));
        if ((engine()->cc_min && cc < engine()->cc_min) ||
            (engine()->cc_max && cc > engine()->cc_max))
            GTEST_SKIP() << engine()->id << ": " << reason;
    }
    SKIP_WITHOUT_GPU(std::string(engine()->id) + ": " + reason);
}

bool EngineTest::takes(const gfk_field &f, size_t rows, size_t cols) const {
    const gfk_product_desc desc = product_desc(engine());
    gfk_product_info info;
    const gfk_status status = gfk_product_query(&f, rows, cols, &desc, &info);
    if (status != GFK_STATUS_NOT_SUPPORTED)
        require_success(status, engine()->id);
    return status == GFK_STATUS_SUCCESS && info.table_bytes <= desc.table_limit &&
           (on_host(engine()) || info.table_bytes + (UINT64_C(1) << 30) <= device::free_bytes());
}

void EngineTest::check(gfk_product_t product, Stage &stage, Random &random) {
    for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
        stage.refill(random, false);
        stage.run(product, mode);
        ASSERT_TRUE(stage.is_product(mode));
        count_checked();
    }
}

void EngineTest::check(const gfk_field &f, const Matrix &matrix, size_t bytes,
                       const std::vector<Layout> &layouts, Random &random) {
    const Product product = make_product(f, engine(), matrix);
    for (const Layout &layout : layouts) {
        Stage stage(engine(), f, matrix, bytes, layout, random);
        ASSERT_NO_FATAL_FAILURE(check(product.get(), stage, random));
    }
}
