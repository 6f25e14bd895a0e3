// SPDX-License-Identifier: BSD-3-Clause
// Tests that run once per engine of the list.
#pragma once

#include "guarded_regions.h"

using Engine = const gfk_engine_info *;

std::vector<Engine> engines();
std::vector<Engine> cuda_engines();
std::string engine_name(const testing::TestParamInfo<Engine> &info);
inline bool on_host(Engine engine) {
    return gfk_engine_family_on_cpu(engine->family);
}
// An engine of GFK_EXTRA_ENGINES, which is no part of the library.
inline bool is_extra(Engine engine) {
    return engine->labels >> 31;
}

#define PER_ENGINE(suite, which)                                                                   \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                          \
    INSTANTIATE_TEST_SUITE_P(Engines, suite, testing::ValuesIn(which), engine_name)

struct Matrix {
    size_t rows, cols;
    std::vector<uint32_t> elements;
    uint32_t at(size_t j, size_t i) const { return elements[j * cols + i]; }
};
Matrix random_matrix(unsigned w, size_t rows, size_t cols, Random &random);
Matrix constant_matrix(size_t rows, size_t cols, uint32_t c);
Matrix identity_matrix(size_t rows, size_t cols);

using Product = Owned<struct gfk_product, gfk_product_destroy>;
gfk_product_desc product_desc(Engine engine); // of a machine where the engine may do all it wants
Product make_product(const gfk_field &field, Engine engine, const Matrix &matrix);
gfk_product_info info_of(gfk_product_t product);

// Inputs and outputs of one run. Everything that is no input is random, so poison.
class Stage {
  public:
    Stage(Engine engine, const gfk_field &field, const Matrix &matrix, size_t bytes,
          const Layout &layout, Random &random);

    const gfk_regions *in() const { return regions_.in(); }
    const gfk_regions *out() const { return regions_.out(); }
    const std::vector<void *> &pointers() const { return regions_.pointers(); }
    size_t bytes() const { return regions_.bytes(); }
    void refill(Random &random, bool wait = true); // new data everywhere; `wait`: Memory::write
    void run(gfk_product_t product, gfk_accumulate mode, gfk_stream_t stream = nullptr);
    // Does the buffer hold what it should after one run? By scalar arithmetic if the regions are
    // short, else by rows * cols region multiplies on the same side, whose launches and waits cost
    // a GPU more than scalar arithmetic costs the CPU. Guards and inputs must be as they were.
    testing::AssertionResult is_product(gfk_accumulate mode);
    testing::AssertionResult is_untouched(); // after a run that was refused

  private:
    Bytes by_scalar_arithmetic(gfk_accumulate mode);
    Bytes by_region_multiplies(gfk_accumulate mode);
    testing::AssertionResult compare(const Bytes &expected, gfk_accumulate mode, const char *by);

    Engine engine_;
    gfk_field field_;
    Matrix matrix_;
    GuardedRegions regions_;
    Bytes content_;
};

// In a test of EngineTest: skips it if the engine does not take the shape.
#define SKIP_UNLESS_TAKES(rows, cols)                                                              \
    do {                                                                                           \
        if (!takes(field(), rows, cols))                                                           \
            GTEST_SKIP() << engine()->id << " does not take this shape";                           \
    } while (false)

// Skips engines that cannot run here.
class EngineTest : public testing::TestWithParam<Engine> {
  protected:
    void SetUp() override;
    virtual void set_up() {} // what SetUp does where the test can run
    Engine engine() const { return GetParam(); }
    unsigned w() const { return engine()->w; }
    size_t symbol_bytes() const { return engine()->w / 8; }
    gfk_field field() const { return make_field(engine()->w); }
    bool takes(const gfk_field &field, size_t rows, size_t cols) const; // by gfk_product_query

    // One run in each mode with fresh data, compared in full; and that in each layout.
    static void check(gfk_product_t product, Stage &stage, Random &random);
    void check(const gfk_field &field, const Matrix &matrix, size_t bytes,
               const std::vector<Layout> &layouts, Random &random);
};
