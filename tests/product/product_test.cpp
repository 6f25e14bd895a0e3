// SPDX-License-Identifier: BSD-3-Clause
// Every engine against scalar arithmetic, on long regions against rows * cols region multiplies:
// shapes, matrices, lengths, places, fields, and no access outside the regions.
#include <algorithm>

#include "support/engine_fixture.h"

namespace {

// What a small test varies without multiplying everything with everything.
std::vector<Layout> some_layouts(size_t symbol_bytes) {
    return {{Layout::PHASE, 0, 0},
            {Layout::SPACED, symbol_bytes, 0},
            {Layout::PHASES, 0, 0},
            {Layout::SPACED, 0, 5}};
}

class ProductTest : public EngineTest {
  protected:
    // A random matrix in each layout (none given: some) and mode, if the engine takes the shape.
    void check_random(size_t rows, size_t cols, size_t bytes, std::vector<Layout> layouts = {},
                      uint64_t polynomial = 0) {
        const gfk_field f = make_field(w(), polynomial);
        if (!takes(f, rows, cols))
            return;
        Random random(polynomial + rows + 1000 * cols + bytes);
        if (layouts.empty())
            layouts = some_layouts(symbol_bytes());
        check(f, random_matrix(w(), rows, cols, random), bytes, layouts, random);
    }
};
class ProductShapes : public ProductTest {};
class ProductMatrices : public ProductTest {};
class ProductPlaces : public ProductTest {};
class ProductWide : public ProductTest {};
class ProductPolynomials : public ProductTest {};

TEST_P(ProductShapes, UpToTwelveByTwelve) {
    const size_t most = options.reduced ? 6 : 12;
    for (size_t rows = 1; rows <= most; rows++)
        for (size_t cols = 1; cols <= most; cols++) {
            const size_t symbols = 1 + Random(100 * rows + cols).below(80);
            ASSERT_NO_FATAL_FAILURE(check_random(rows, cols, symbols * symbol_bytes()));
        }
}

// Bytes of ones: a bit of an output counts as many ones as its column of the bit matrix has. With four for
// an input, 64 inputs have 256, which no longer fit a byte; one input more or less makes 255 or 257.
TEST_P(ProductMatrices, DenseColumns) {
    const size_t rows = 8, cols = 64, bytes = 300000;
    if (w() != 8)
        GTEST_SKIP() << "for bytes";
    SKIP_UNLESS_TAKES(rows, cols);
    std::vector<uint32_t> constants[9]; // by the ones of bit 0's column
    for (uint32_t c = 1; c < 256; c++) {
        size_t ones = 0;
        for (unsigned i = 0; i < 8; i++)
            ones += multiply(field(), c, 1u << i) & 1;
        constants[ones].push_back(c);
    }
    for (const size_t ones : {255u, 256u, 257u, 512u}) {
        Matrix matrix = constant_matrix(rows, cols, 1);
        for (size_t i = 0; i < cols; i++)
            matrix.elements[i] = constants[ones / cols + (i < ones % cols)][0];
        const Product product = make_product(field(), engine(), matrix);
        Memory memory(on_host(engine()), Bytes((cols + rows) * bytes, 0xff));
        const gfk_regions in = {nullptr, memory.data(), bytes};
        const gfk_regions out = {nullptr, memory.data() + cols * bytes, bytes};
        ASSERT_OK(gfk_product_run(product.get(), &in, &out, bytes, GFK_SET, nullptr));
        const Bytes got = memory.read();
        for (size_t j = 0; j < rows; j++) {
            uint32_t sum = 0;
            for (size_t i = 0; i < cols; i++)
                sum ^= multiply(field(), matrix.at(j, i), 0xff);
            const auto *at = got.data() + (cols + j) * bytes;
            ASSERT_TRUE(std::all_of(at, at + bytes, [&](uint8_t x) { return x == sum; }))
                << engine()->id << ", " << ones << " ones, output " << j;
            count_checked();
        }
    }
}

// Every constant of w = 8, and as many of the others, times every symbol of w = 8.
TEST_P(ProductMatrices, ConstantsTimesSymbols) {
    const size_t rows = 8, cols = 32;
    Random random;
    Matrix matrix = constant_matrix(rows, cols, 0);
    for (size_t i = 0; i < rows * cols; i++)
        matrix.elements[i] = w() == 8 ? static_cast<uint32_t>(i) : random.symbol(w());
    for (unsigned bit = 0; w() > 8 && bit < w(); bit++)
        matrix.elements[3 * bit] = 1u << bit;
    SKIP_UNLESS_TAKES(rows, cols);
    const Product product = make_product(field(), engine(), matrix);
    const size_t symbols = 256, bytes = symbols * symbol_bytes();
    Memory memory(on_host(engine()), bytes * (cols + rows));
    const gfk_regions in = {nullptr, memory.data(), bytes};
    const gfk_regions out = {nullptr, memory.data() + cols * bytes, bytes};
    // One input at a time: the others are zero, so that every product is seen alone.
    for (size_t input = 0; input < cols; input++) {
        Bytes content(memory.size(), 0);
        for (size_t s = 0; s < symbols; s++)
            set_symbol(content.data() + input * bytes, s, w(),
                       w() == 8 ? static_cast<uint32_t>(s) : random.symbol(w()));
        memory.write(0, content.data(), content.size(), false);
        ASSERT_OK(gfk_product_run(product.get(), &in, &out, bytes, GFK_SET, nullptr));
        const Bytes got = memory.read();
        const Bytes source(got.begin() + static_cast<long>(input * bytes),
                           got.begin() + static_cast<long>((input + 1) * bytes));
        for (size_t j = 0; j < rows; j++) {
            const Bytes expected = product_of(field(), matrix.at(j, input), source);
            const uint8_t *output = got.data() + (cols + j) * bytes;
            const size_t at = first_difference(expected.data(), output, bytes);
            ASSERT_EQ(bytes, at) << "engine " << engine()->id << ", constant "
                                 << matrix.at(j, input) << ", byte " << at << ": expected "
                                 << +expected[at] << ", got " << +output[at];
            count_checked();
        }
    }
}

TEST_P(ProductMatrices, SpecialOnes) {
    Random random;
    Matrix rows_of_zeros = random_matrix(w(), 5, 7, random), rows_of_ones = rows_of_zeros;
    for (size_t j : {0, 3, 4})
        for (size_t i = 0; i < 7; i++) {
            rows_of_zeros.elements[7 * j + i] = 0;
            rows_of_ones.elements[7 * j + i] = 1;
        }
    Matrix equal_columns = random_matrix(w(), 6, 3, random); // an engine may add the inputs first
    for (size_t i = 0; i < 18; i++)
        equal_columns.elements[i] = equal_columns.elements[i - i % 3];
    for (const Matrix &matrix :
         {constant_matrix(6, 6, 0), constant_matrix(6, 6, 1), identity_matrix(6, 6),
          identity_matrix(9, 4), identity_matrix(4, 9), constant_matrix(6, 6, largest(w())),
          constant_matrix(5, 10, 2), rows_of_zeros, rows_of_ones, equal_columns})
        if (takes(field(), matrix.rows, matrix.cols)) {
            ASSERT_NO_FATAL_FAILURE(
                check(field(), matrix, 45 * symbol_bytes(), some_layouts(symbol_bytes()), random));
        }
}

// All lengths around multiples of 16 bytes, at all phases alike, and at phases of their own.
TEST_P(ProductPlaces, LengthsAndPhases) {
    SKIP_UNLESS_TAKES(3, 5);
    Random random;
    const Matrix matrix = random_matrix(w(), 3, 5, random);
    const Product product = make_product(field(), engine(), matrix);
    const size_t step = options.reduced ? 5 : 1;
    for (size_t symbols = 1; symbols * symbol_bytes() <= 100; symbols += step)
        for (size_t number = 0; number < 20; number++) {
            Layout layout = {Layout::PHASE, number, 0};
            if (number >= 16)
                layout = number < 18 ? Layout{Layout::PHASES, 0, 0}
                                     : Layout{Layout::SPACED, number % 16, 2 * number - 35};
            Stage stage(engine(), field(), matrix, symbols * symbol_bytes(), layout, random);
            ASSERT_NO_FATAL_FAILURE(check(product.get(), stage, random));
        }
}

TEST_P(ProductPlaces, AroundTiles) {
    SKIP_UNLESS_TAKES(5, 6);
    const size_t tile = std::max<size_t>(engine()->tile_bytes, 4096);
    for (size_t tiles : {1, 2, 5})
        for (long more : {-17, -16, -1, 0, 1, 15, 16, 33}) {
            const size_t bytes = tiles * tile + static_cast<size_t>(more) * symbol_bytes();
            ASSERT_NO_FATAL_FAILURE(check_random(5, 6, bytes));
        }
}

// Inputs may overlap, and be one another.
TEST_P(ProductPlaces, InputsThatOverlap) {
    SKIP_UNLESS_TAKES(4, 6);
    Random random;
    const Matrix matrix = random_matrix(w(), 4, 6, random);
    const Product product = make_product(field(), engine(), matrix);
    const size_t bytes = 160 * symbol_bytes();
    const Bytes content = random.bytes(8 * bytes);
    Memory memory(on_host(engine()), content);
    std::vector<void *> in, out;
    for (size_t i = 0; i < 6; i++)
        in.push_back(memory.data() + (i < 3 ? 0 : 24 * i));
    for (size_t j = 0; j < 4; j++)
        out.push_back(memory.data() + (3 + j) * bytes);
    const gfk_regions ins = {in.data(), nullptr, 0}, outs = {out.data(), nullptr, 0};
    ASSERT_OK(gfk_product_run(product.get(), &ins, &outs, bytes, GFK_SET, nullptr));
    const Bytes got = memory.read();
    for (size_t j = 0; j < 4; j++)
        for (size_t s = 0; s < bytes / symbol_bytes(); s++) {
            uint32_t sum = 0;
            for (size_t i = 0; i < 6; i++)
                sum ^= multiply(field(), matrix.at(j, i),
                                get_symbol(content.data() + (i < 3 ? 0 : 24 * i), s, w()));
            ASSERT_EQ(sum, get_symbol(got.data() + (3 + j) * bytes, s, w()))
                << engine()->id << ", output " << j << ", symbol " << s;
            count_checked();
        }
}

// Wide matrices, and more addresses than one launch can carry.
TEST_P(ProductWide, Shapes) {
    using Shapes = std::vector<std::pair<size_t, size_t>>;
    const Shapes shapes = options.reduced ? Shapes{{66, 70}, {3, 1030}, {1030, 2}}
                          : w() == 8  ? Shapes{{255, 255}, {10, 50}, {16, 32}, {3, 1030}, {2100, 2}}
                          : w() == 16 ? Shapes{{24, 1000}, {3, 1030}, {2100, 2}}
                                      : Shapes{{20, 300}, {3, 1030}, {2100, 2}};
    const size_t bytes = (options.reduced ? 20 : 77) * symbol_bytes();
    for (const auto &[rows, cols] : shapes)
        ASSERT_NO_FATAL_FAILURE(check_random(rows, cols, bytes));
}

// The kernels for many inputs and outputs, with regions so long that threads go around more than
// once; the phase and the odd length cut the cells at both ends. Few inputs have such a kernel for
// regions from 2 MiB on.
TEST_P(ProductWide, LongRegions) {
    if (!on_host(engine()) && (w() == 16 || engine()->family == GFK_ENGINE_PEROP))
        GTEST_SKIP() << "for engines of bytes or words with kernels for long regions";
    struct Case {
        size_t rows, cols, bytes;
    };
    const size_t many = 300007, few = (2 << 20) + 300007,
                 words = options.reduced ? 1300004 : 3000004;
    // On the CPU: tiles that threads share; more tables than the host engine keeps.
    const std::vector<Case> cases =
        on_host(engine()) ? std::vector<Case>{{5, 6, 200004}, {33, 90, 12004}}
        : w() == 8
            ? std::vector<Case>{{5, 6, few},    {7, 20, few},     {27, 63, many},
                                {33, 65, many}, {129, 100, many}, {40, 150, many},
                                {9, 190, many}, {60, 200, many},  {70, 256, many}}
            : std::vector<Case>{{3, 4, words},  {4, 7, words},  {4, 10, words}, {3, 16, words},
                                {4, 17, words}, {4, 24, words}, {3, 31, words}};
    for (const Case &c : cases)
        ASSERT_NO_FATAL_FAILURE(
            check_random(c.rows, c.cols, c.bytes, {{Layout::PHASE, w() == 8 ? 5u : 4u, 0}}));
}

// Small tests meet the kernels for short regions; these shapes are those of the others that take
// few inputs and outputs.
TEST_P(ProductWide, LongRegionsOfFew) {
    if (engine()->family != GFK_ENGINE_PRMT && engine()->family != GFK_ENGINE_BMMA)
        GTEST_SKIP() << "for engines with kernels for short regions";
    const std::pair<size_t, size_t> shapes[] = {{1, 1},  {2, 4},  {3, 8},  {4, 8},
                                                {3, 12}, {4, 10}, {4, 12}, {3, 16},
                                                {4, 16}, {3, 20}, {4, 24}, {4, 32}};
    for (const auto &[rows, cols] : shapes)
        for (size_t bytes : {700004, 1500004}) {
            if (options.reduced && rows * cols > 24)
                continue;
            ASSERT_NO_FATAL_FAILURE(check_random(rows, cols, bytes + symbol_bytes(),
                                                 {{Layout::PHASE, 3 * symbol_bytes(), 0}}));
        }
}

TEST_P(ProductPolynomials, OtherFields) {
    for (uint64_t polynomial : polynomials(w()))
        ASSERT_NO_FATAL_FAILURE(check_random(4, 5, 131 * symbol_bytes(), {}, polynomial));
}

// ---- no access outside the regions --------------------------------------------------------------

class ProductGuardPage : public EngineTest {
  protected:
    void run_one(const Matrix &matrix, gfk_product_t product, size_t bytes, size_t number) {
        Random random(number);
        const gfk_accumulate mode = number % 2 ? GFK_XOR : GFK_SET;
        std::vector<Bytes> content;
        for (size_t i = 0; i < matrix.cols + matrix.rows; i++)
            content.push_back(random.bytes(bytes));
        const auto phase = [&](size_t i) { // aligned, at one phase, and each at its own
            return number % 3 == 0 ? 0 : number % 3 == 1 ? symbol_bytes() : i % 16;
        };
        LoneRegions regions(on_host(engine()), matrix.cols, content, phase, number);
        ASSERT_OK(gfk_product_run(product, regions.in(), regions.out(), bytes, mode, nullptr));
        for (size_t j = 0; j < matrix.rows; j++) {
            Bytes expected = mode == GFK_XOR ? content[matrix.cols + j] : Bytes(bytes);
            for (size_t i = 0; i < matrix.cols; i++)
                Times(field(), matrix.at(j, i)).add(content[i].data(), expected.data(), bytes);
            ASSERT_EQ(expected, regions[matrix.cols + j].read())
                << engine()->id << " " << matrix.cols << " inputs, output " << j << ", " << bytes
                << " bytes, case " << number;
        }
        count_checked();
    }
};

TEST_P(ProductGuardPage, IsNeverTouched) {
    const std::pair<size_t, size_t> shapes[] = {{4, 2},  {10, 4}, {10, 1}, {16, 1}, {9, 3},
                                                {16, 4}, {30, 3}, {17, 6}, {40, 2}, {40, 24}};
    // On a device it takes a sanitizer to see more than other tests do, and allocating takes long.
    const bool few = options.reduced || !on_host(engine());
    size_t number = 0;
    for (const auto &[cols, rows] : shapes) {
        if (!takes(field(), rows, cols))
            continue;
        Random random(cols);
        const Matrix matrix = random_matrix(w(), rows, cols, random);
        const Product product = make_product(field(), engine(), matrix);
        std::vector<size_t> lengths = {symbol_bytes(), 3 * symbol_bytes(), 16 * symbol_bytes(),
                                       2048 + symbol_bytes()};
        if (!few)
            lengths.insert(lengths.end(), {48, 4096, 4096 - symbol_bytes(), 20000});
        if (!on_host(engine()) && cols == 10)
            lengths.push_back(300000); // more than a tile for every processor
        if (engine()->family == GFK_ENGINE_BMMA && w() == 32 && cols == 10)
            lengths.push_back(1400000 + symbol_bytes()); // long enough for warpgroups
        for (size_t bytes : lengths)
            for (size_t repeat = 0; repeat < (few ? 2 : 6); repeat++) {
                ASSERT_NO_FATAL_FAILURE(run_one(matrix, product.get(), bytes, number++));
            }
    }
}

PER_ENGINE(ProductShapes, engines());
PER_ENGINE(ProductMatrices, engines());
PER_ENGINE(ProductPlaces, engines());
PER_ENGINE(ProductWide, engines());
PER_ENGINE(ProductPolynomials, engines());
PER_ENGINE(ProductGuardPage, engines());

} // namespace
