// SPDX-License-Identifier: BSD-3-Clause
// Products access nothing outside their regions.
#include "support/engine_fixture.h"
#include "support/fence.h"

namespace {

class ProductGuardPage : public EngineTest {
  protected:
    void run_one(const Matrix &matrix, gfk_product_t product, size_t bytes, size_t number);
};

Bytes expected_output(const gfk_field &field, const Matrix &matrix, size_t j,
                      const std::vector<Bytes> &in, Bytes sum) {
    for (size_t i = 0; i < matrix.cols; i++)
        sum = xor_of(sum, product_of(field, matrix.at(j, i), in[i]));
    return sum;
}

void ProductGuardPage::run_one(const Matrix &matrix, gfk_product_t product, size_t bytes,
                               size_t number) {
    Random random(number);
    const gfk_accumulate mode = number % 2 ? GFK_XOR : GFK_SET;
    std::vector<Bytes> content;
    std::vector<LoneRegion> regions;
    std::vector<void *> pointers;
    for (size_t i = 0; i < matrix.cols + matrix.rows; i++) {
        // Aligned, at one phase, and each at its own.
        const size_t phase = number % 3 == 0 ? 0 : number % 3 == 1 ? symbol_bytes() : i % 16;
        content.push_back(random.bytes(bytes));
        regions.emplace_back(on_host(engine()), content.back(), phase, (number + i) % 2 == 0);
        pointers.push_back(regions.back().data());
    }
    const gfk_regions in = {pointers.data(), nullptr, 0};
    const gfk_regions out = {pointers.data() + matrix.cols, nullptr, 0};
    ASSERT_OK(gfk_product_run(product, &in, &out, bytes, mode, nullptr, 0, nullptr));
    for (size_t j = 0; j < matrix.rows; j++) {
        const Bytes before = mode == GFK_XOR ? content[matrix.cols + j] : Bytes(bytes);
        ASSERT_EQ(expected_output(field(), matrix, j, content, before),
                  regions[matrix.cols + j].read())
            << engine()->id << " " << matrix.cols << " inputs, output " << j << ", " << bytes
            << " bytes, case " << number;
    }
    count_checked();
}

TEST_P(ProductGuardPage, IsNeverTouched) {
    struct Shape {
        size_t cols, rows;
    };
    const std::vector<Shape> shapes = {{4, 2},  {10, 4}, {10, 1}, {16, 1}, {9, 3},
                                       {16, 4}, {30, 3}, {17, 6}, {40, 2}, {40, 24}};
    // On a device it takes a sanitizer to see more than other tests do, and allocating takes long.
    const bool few = options.reduced || !on_host(engine());
    size_t number = 0;
    for (const Shape &shape : shapes) {
        if (!takes(field(), shape.rows, shape.cols))
            continue;
        Random random(shape.cols);
        const Matrix matrix = random_matrix(w(), shape.rows, shape.cols, random);
        const Product product = make_product(field(), engine(), matrix);
        ASSERT_EQ(info_of(product.get()).workspace_bytes, 0u);
        std::vector<size_t> lengths = {symbol_bytes(), 3 * symbol_bytes(), 16 * symbol_bytes(),
                                       2048 + symbol_bytes()};
        if (!few)
            lengths.insert(lengths.end(), {48, 4096, 4096 - symbol_bytes(), 20000});
        if (!on_host(engine()) && shape.cols == 10)
            lengths.push_back(300000); // more than a tile for every processor
        if (engine()->family == GFK_ENGINE_BMMA && w() == 32 && shape.cols == 10)
            lengths.push_back(1400000 + symbol_bytes()); // long enough for warpgroups
        for (size_t bytes : lengths)
            for (size_t repeat = 0; repeat < (few ? 2 : 6); repeat++) {
                ASSERT_NO_FATAL_FAILURE(run_one(matrix, product.get(), bytes, number++));
            }
    }
}

PER_ENGINE(ProductGuardPage, engines());

} // namespace
