// SPDX-License-Identifier: BSD-3-Clause
// Generated matrices on the host, against their definitions.
#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "host/product/generate.h"
#include "support/harness.h"

namespace {

using Elements = std::vector<uint32_t>;

Elements fill(const gfk_field &field, const gfk_matrix &matrix) {
    Elements out(matrix.rows * matrix.cols, 0xabababab);
    require_success(gfk_matrix_fill(&field, &matrix, out.data()), "gfk_matrix_fill");
    return out;
}

// A matrix of this kind without points.
gfk_matrix matrix_of(gfk_matrix_kind kind, size_t rows, size_t cols, uint64_t first = 0) {
    gfk_matrix m = {};
    m.kind = kind;
    m.rows = rows;
    m.cols = cols;
    m.first = first;
    return m;
}

Elements different_points(unsigned w, size_t count, Random &random) {
    std::set<uint32_t> seen;
    Elements points;
    while (points.size() < count) {
        const uint32_t point = random.symbol(w);
        if (seen.insert(point).second)
            points.push_back(point);
    }
    return points;
}

// Do the chosen rows and columns have an inverse? By elimination.
bool is_regular(const gfk_field &field, const Elements &a, size_t cols, const Indices &rows,
                const Indices &columns) {
    const size_t n = rows.size();
    Elements x;
    for (size_t j : rows)
        for (size_t i : columns)
            x.push_back(a[j * cols + i]);
    for (size_t p = 0; p < n; p++) {
        size_t pivot = p;
        while (pivot < n && x[pivot * n + p] == 0)
            pivot++;
        if (pivot == n)
            return false;
        for (size_t i = 0; i < n; i++)
            std::swap(x[pivot * n + i], x[p * n + i]);
        for (size_t j = p + 1; j < n; j++) {
            uint32_t factor = 0;
            EXPECT_OK(gfk_field_divide(&field, x[j * n + p], x[p * n + p], &factor));
            for (size_t i = p; i < n; i++)
                x[j * n + i] ^= multiply(field, factor, x[p * n + i]);
        }
    }
    return true;
}

// All subsets of `size` of the numbers below n.
void subsets(size_t n, size_t size, const std::function<void(const Indices &)> &visit,
             const Indices &chosen = {}) {
    if (chosen.size() == size) {
        visit(chosen);
        return;
    }
    for (size_t i = chosen.empty() ? 0 : chosen.back() + 1; i < n; i++) {
        Indices more = chosen;
        more.push_back(i);
        subsets(n, size, visit, more);
    }
}

class MatrixKinds : public testing::TestWithParam<unsigned> {
  protected:
    unsigned w() const { return GetParam(); }
    // The definition of an element, by the public functions of the field.
    static uint32_t inverse(const gfk_field &field, uint32_t a) {
        uint32_t inverse = 0;
        EXPECT_OK(gfk_field_inverse(&field, a, &inverse));
        return inverse;
    }
};

TEST_P(MatrixKinds, Cauchy) {
    Random random;
    for (uint64_t polynomial : polynomials(w())) {
        const gfk_field field = make_field(w(), polynomial);
        const size_t rows = 90, cols = 150;
        const Elements points = different_points(w(), rows + cols, random);
        gfk_matrix m = matrix_of(GFK_MATRIX_CAUCHY, rows, cols);
        for (int given = 0; given < 2; given++) {
            const Elements a = fill(field, m);
            for (size_t j = 0; j < rows; j++)
                for (size_t i = 0; i < cols; i++) {
                    const uint32_t x = given ? points[j] : static_cast<uint32_t>(cols + j);
                    const uint32_t y = given ? points[rows + i] : static_cast<uint32_t>(i);
                    ASSERT_EQ(inverse(field, x ^ y), a[j * cols + i]) << j << ", " << i;
                    count_checked();
                }
            m.row_points = points.data();
            m.col_points = points.data() + rows;
            m.first = 1000; // not read where there are points
        }
    }
}

TEST_P(MatrixKinds, CauchyIsTheMatrixOfCodes) {
    const gfk_field field = make_field(w());
    const size_t k = 70, m = 60;
    Elements expected(k * m);
    ASSERT_OK(gfk_rs_fill_matrix(&field, GFK_RS_CAUCHY, k, m, expected.data()));
    EXPECT_EQ(expected, fill(field, matrix_of(GFK_MATRIX_CAUCHY, m, k)));
    count_checked();
}

// Every square part is regular.
TEST_P(MatrixKinds, CauchyIsMds) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t rows = 4, cols = 6;
    const Elements points = different_points(w(), rows + cols, random);
    gfk_matrix m = matrix_of(GFK_MATRIX_CAUCHY, rows, cols);
    m.row_points = points.data();
    m.col_points = points.data() + rows;
    const Elements a = fill(field, m);
    for (size_t size = 1; size <= rows; size++)
        subsets(rows, size, [&](const Indices &j) {
            subsets(cols, size, [&](const Indices &i) {
                EXPECT_TRUE(is_regular(field, a, cols, j, i));
                count_checked();
            });
        });
}

TEST_P(MatrixKinds, Vandermonde) {
    Random random;
    for (uint64_t polynomial : polynomials(w())) {
        const gfk_field field = make_field(w(), polynomial);
        const size_t rows = 41, cols = 70;
        Elements points = different_points(w(), 200, random);
        for (uint32_t point : {0, 1}) // the powers of 0, and of 1, are special
            if (std::find(points.begin(), points.end(), point) == points.end())
                points[3 + point] = point;
            else
                std::iter_swap(points.begin() + 3 + point,
                               std::find(points.begin(), points.end(), point));
        for (uint64_t first : {uint64_t(0), uint64_t(1), uint64_t(77777), UINT64_MAX - cols + 1})
            for (bool by_rows : {false, true}) {
                gfk_matrix m = matrix_of(GFK_MATRIX_VANDERMONDE, rows, cols, first);
                (by_rows ? m.row_points : m.col_points) = points.data() + 3;
                const Elements a = fill(field, m);
                for (size_t j = 0; j < rows; j += 1 + random.below(3))
                    for (size_t i = 0; i < cols; i += 1 + random.below(3)) {
                        ASSERT_EQ(
                            power(field, points[3 + (by_rows ? j : i)], first + (by_rows ? i : j)),
                            a[j * cols + i])
                            << j << ", " << i << " from " << first;
                        count_checked();
                    }
            }
    }
}

TEST_P(MatrixKinds, VandermondeIsRegular) {
    Random random;
    const gfk_field field = make_field(w());
    const Elements points = different_points(w(), 8, random);
    gfk_matrix m = matrix_of(GFK_MATRIX_VANDERMONDE, 8, 4);
    m.row_points = points.data();
    const Elements a = fill(field, m);
    subsets(8, 4, [&](const Indices &j) {
        EXPECT_TRUE(is_regular(field, a, 4, j, indices(0, 4)));
        count_checked();
    });
    m = matrix_of(GFK_MATRIX_VANDERMONDE, 4, 8);
    m.col_points = points.data();
    const Elements b = fill(field, m);
    subsets(8, 4, [&](const Indices &i) {
        EXPECT_TRUE(is_regular(field, b, 8, indices(0, 4), i));
        count_checked();
    });
}

// Elements of w bits are the bytes of the row, and a row is the generator's output.
TEST_P(MatrixKinds, Random) {
    gfk_matrix m = matrix_of(GFK_MATRIX_RANDOM, 9, 333, 0xfffffffc);
    m.seed = 0x0123456789abcdef;
    const Elements a = fill(make_field(w()), m);
    const size_t symbol = w() / 8;
    for (size_t j = 0; j < m.rows; j++) {
        Bytes row;
        for (size_t block = 0; block * 16 < m.cols * symbol; block++) {
            const uint64_t number = m.first + j;
            uint32_t words[4] = {static_cast<uint32_t>(block), 0, static_cast<uint32_t>(number),
                                 static_cast<uint32_t>(number >> 32)};
            gfk_philox(words, m.seed);
            for (uint32_t word : words)
                for (int byte = 0; byte < 4; byte++)
                    row.push_back(static_cast<uint8_t>(word >> 8 * byte));
        }
        for (size_t i = 0; i < m.cols; i++) {
            ASSERT_EQ(get_symbol(row.data(), i, w()), a[j * m.cols + i]) << j << ", " << i;
            count_checked();
        }
    }
    m.seed++;
    EXPECT_NE(a, fill(make_field(w()), m));
}

// Each bit of 2^18 elements is 1 as often as 0, to five standard deviations.
TEST_P(MatrixKinds, RandomIsUniform) {
    const gfk_matrix m = matrix_of(GFK_MATRIX_RANDOM, 512, 512);
    const Elements a = fill(make_field(w()), m);
    for (unsigned bit = 0; bit < w(); bit++) {
        int64_t ones = 0;
        for (uint32_t element : a)
            ones += element >> bit & 1;
        EXPECT_LT(std::abs(2 * ones - int64_t(a.size())), 5 * 512);
        count_checked();
    }
    EXPECT_EQ(w() == 8, std::set<uint32_t>(a.begin(), a.end()).size() == 256);
}

// Rows of a larger matrix, by `first` or by their points.
TEST_P(MatrixKinds, Parts) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t rows = 60, cols = 130;
    const Elements points = different_points(w(), rows + cols, random);
    std::vector<gfk_matrix> matrices;
    for (gfk_matrix_kind kind :
         {GFK_MATRIX_CAUCHY, GFK_MATRIX_VANDERMONDE, GFK_MATRIX_PAR2, GFK_MATRIX_RANDOM})
        for (int given = 0; given < 4; given++) {
            gfk_matrix m = matrix_of(kind, rows, cols, 5);
            if (given & 1)
                m.row_points = points.data();
            if (given & 2)
                m.col_points = points.data() + rows;
            const bool possible = kind == GFK_MATRIX_VANDERMONDE ? given == 1 || given == 2
                                  : kind == GFK_MATRIX_PAR2      ? w() == 16
                                  : kind == GFK_MATRIX_CAUCHY    ? given == 0 || given == 3
                                                                 : true;
            if (possible)
                matrices.push_back(m);
        }
    for (const gfk_matrix &whole : matrices) {
        const Elements a = fill(field, whole);
        for (int again = 0; again < 20; again++) {
            const size_t row = random.below(rows);
            gfk_matrix m = whole;
            m.rows = 1 + random.below(rows - row);
            if (m.row_points != nullptr)
                m.row_points += row;
            if (m.row_points == nullptr || m.kind >= GFK_MATRIX_PAR2) // no points
                m.first += row;
            const Elements part = fill(field, m);
            ASSERT_TRUE(std::equal(part.begin(), part.end(), a.begin() + (ptrdiff_t)(row * cols)));
            count_checked();
        }
    }
}

TEST_P(MatrixKinds, Errors) {
    Random random;
    const gfk_field field = make_field(w());
    const uint64_t elements = uint64_t(1) << w();
    const size_t rows = 30, cols = 50;
    const Elements points = different_points(w(), rows + cols, random);
    gfk_matrix cauchy = matrix_of(GFK_MATRIX_CAUCHY, rows, cols), vandermonde = cauchy;
    cauchy.row_points = vandermonde.row_points = points.data();
    cauchy.col_points = points.data() + rows;
    vandermonde.kind = GFK_MATRIX_VANDERMONDE;
    const gfk_matrix generated = matrix_of(GFK_MATRIX_RANDOM, rows, cols);
    Elements out(rows * cols, 77), spoiled;
    const Elements untouched = out;
    const auto refused = [&](gfk_status status, gfk_matrix m,
                             const std::function<void(gfk_matrix &)> &spoil) {
        ASSERT_OK(gfk_matrix_fill(&field, &m, out.data()));
        out = untouched;
        spoil(m);
        EXPECT_STATUS(status, gfk_matrix_fill(&field, &m, out.data()));
        EXPECT_EQ(untouched, out);
        count_checked();
    };
    for (const gfk_matrix &good : {cauchy, vandermonde, generated}) {
        refused(INVALID, good, [](gfk_matrix &m) { m.rows = 0; });
        refused(INVALID, good, [](gfk_matrix &m) { m.cols = 0; });
        refused(INVALID, good, [](gfk_matrix &m) { m.kind = GFK_MATRIX_DENSE; });
        refused(INVALID, good, [](gfk_matrix &m) { m.kind = static_cast<gfk_matrix_kind>(5); });
    }
    // Every pair of equal points.
    for (size_t a = 0; a < rows + cols; a++)
        for (size_t b = 0; b < a; b++) {
            spoiled = points;
            spoiled[a] = spoiled[b];
            refused(INVALID, cauchy, [&](gfk_matrix &m) {
                m.row_points = spoiled.data();
                m.col_points = spoiled.data() + rows;
            });
            if (a < rows)
                refused(INVALID, vandermonde,
                        [&](gfk_matrix &m) { m.row_points = spoiled.data(); });
        }
    if (w() < 32) {
        spoiled = points;
        spoiled[rows - 1] = static_cast<uint32_t>(elements);
        for (const gfk_matrix &good : {cauchy, vandermonde})
            refused(GFK_STATUS_INVALID_CONSTANT, good,
                    [&](gfk_matrix &m) { m.row_points = spoiled.data(); });
    }
    // Without points.
    const gfk_matrix consecutive = matrix_of(GFK_MATRIX_CAUCHY, rows, cols, elements - rows - cols);
    refused(SIZE, consecutive, [](gfk_matrix &m) { m.first++; });
    refused(SIZE, consecutive, [](gfk_matrix &m) { m.first = UINT64_MAX; });
    refused(SIZE, consecutive, [](gfk_matrix &m) { m.rows++; });
    refused(SIZE, consecutive, [](gfk_matrix &m) { m.rows = SIZE_MAX; });
    refused(SIZE, consecutive, [](gfk_matrix &m) { m.cols = SIZE_MAX; });
    spoiled = points;
    gfk_matrix meets = matrix_of(GFK_MATRIX_CAUCHY, rows, cols);
    for (size_t j = 0; j < rows; j++)
        spoiled[j] = static_cast<uint32_t>(100 + j);
    meets.row_points = spoiled.data();
    Elements other = spoiled;
    other[7] = 49; // column 49 is point 49
    refused(INVALID, meets, [&](gfk_matrix &m) { m.row_points = other.data(); });
    refused(SIZE, vandermonde, [&](gfk_matrix &m) { m.rows = elements + 1; });
    refused(SIZE, vandermonde, [&](gfk_matrix &m) { m.first = UINT64_MAX - cols + 2; });
    refused(INVALID, vandermonde, [&](gfk_matrix &m) { m.col_points = points.data(); });
    refused(INVALID, vandermonde, [&](gfk_matrix &m) { m.row_points = nullptr; });
    refused(SIZE, generated, [&](gfk_matrix &m) { m.first = UINT64_MAX - rows + 2; });
    refused(SIZE, generated, [&](gfk_matrix &m) { m.cols = SIZE_MAX / 4 / rows + 1; });
    gfk_field bad = field;
    bad.polynomial ^= 1;
    EXPECT_STATUS(INVALID, gfk_matrix_fill(&bad, &generated, out.data()));
    EXPECT_STATUS(INVALID, gfk_matrix_fill(nullptr, &generated, out.data()));
    EXPECT_STATUS(INVALID, gfk_matrix_fill(&field, nullptr, out.data()));
    EXPECT_STATUS(INVALID, gfk_matrix_fill(&field, &generated, nullptr));
    EXPECT_EQ(untouched, out);
}

INSTANTIATE_TEST_SUITE_P(Widths, MatrixKinds, testing::Values(8u, 16u, 32u),
                         testing::PrintToStringParamName());

// Many points, in the order that is hardest for the check: one pair of equal points among them, or
// none; random, and such that the check's hashes are neighbours.
TEST(MatrixPoints, Repeats) {
    Random random;
    const gfk_field field = make_field(32);
    const size_t count = options.reduced ? 20000 : 131072;
    for (uint32_t factor :
         {0u, 0x0e8b2f51u, 1u << 15}) { // 0: random; times 0x9e3779b1 is 1; high bits
        Elements points = different_points(32, count, random);
        for (size_t i = 0; factor != 0 && i < count; i++)
            points[i] = static_cast<uint32_t>(count - i) * factor;
        gfk_matrix m = matrix_of(GFK_MATRIX_VANDERMONDE, count, 1);
        m.row_points = points.data();
        Elements out(count);
        EXPECT_LT(seconds([&] { EXPECT_OK(gfk_matrix_fill(&field, &m, out.data())); }), 5);
        for (int again = 0; again < 10; again++) {
            Elements spoiled = points;
            m.row_points = spoiled.data();
            const size_t a = random.below(count), b = (a + 1 + random.below(count - 1)) % count;
            spoiled[a] = spoiled[b];
            EXPECT_STATUS(INVALID, gfk_matrix_fill(&field, &m, out.data()));
            count_checked();
        }
    }
}

// Known answers of the authors of Philox (Random123, kat_vectors).
TEST(MatrixPhilox, KnownAnswers) {
    struct Answer {
        uint32_t counter[4];
        uint64_t key;
        uint32_t result[4];
    };
    const Answer answers[] = {{{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                              {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                               UINT64_MAX,
                               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                              {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                               0x299f31d0a4093822,
                               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (const Answer &answer : answers) {
        uint32_t words[4];
        std::memcpy(words, answer.counter, sizeof words);
        gfk_philox(words, answer.key);
        EXPECT_EQ(0, std::memcmp(words, answer.result, sizeof words));
        count_checked();
    }
}

// The constants that the specification of PAR2 lists, and all 32768 by their definition.
TEST(MatrixPar2, Constants) {
    const gfk_field field = make_field(16);
    const size_t cols = 32768;
    gfk_matrix m = matrix_of(GFK_MATRIX_PAR2, 3, cols);
    const Elements a = fill(field, m);
    const uint32_t listed[] = {2, 4, 16, 128, 256, 2048, 8192, 16384, 4107, 32856, 17132};
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++)
        EXPECT_EQ(listed[i], a[cols + i]) << i;
    uint32_t constant = 1;
    size_t i = 0;
    for (uint32_t n = 0; n < 65535; n++, constant = multiply(field, constant, 2))
        if (n % 3 != 0 && n % 5 != 0 && n % 17 != 0 && n % 257 != 0) {
            ASSERT_LT(i, cols);
            EXPECT_EQ(1u, a[i]);
            ASSERT_EQ(constant, a[cols + i]) << i;
            EXPECT_EQ(multiply(field, constant, constant), a[2 * cols + i]) << i;
            i++;
            count_checked();
        }
    EXPECT_EQ(cols, i);
    m.rows = 1;
    m.first = 65534;
    const Elements last = fill(field, m); // 1 / constant
    for (i = 0; i < cols; i++)
        ASSERT_EQ(1u, multiply(field, last[i], a[cols + i]));
}

TEST(MatrixPar2, Errors) {
    const gfk_field field = make_field(16);
    gfk_matrix m = matrix_of(GFK_MATRIX_PAR2, 2, 3, 65533);
    Elements out(6, 77);
    const Elements untouched = out;
    const gfk_status NO = GFK_STATUS_NOT_SUPPORTED;
    for (const gfk_field &other :
         {make_field(8), make_field(32), make_field(16, polynomials(16).back())})
        if (other.polynomial != GFK_POLYNOMIAL_W16) {
            EXPECT_STATUS(NO, gfk_matrix_fill(&other, &m, out.data()));
            count_checked();
        }
    m.first = 65534;
    EXPECT_STATUS(SIZE, gfk_matrix_fill(&field, &m, out.data()));
    m.first = 0;
    m.rows = 65536;
    EXPECT_STATUS(SIZE, gfk_matrix_fill(&field, &m, out.data()));
    m.rows = 2;
    m.cols = 32769;
    EXPECT_STATUS(SIZE, gfk_matrix_fill(&field, &m, out.data()));
    EXPECT_EQ(untouched, out);
    count_checked(3);
}

} // namespace
