// SPDX-License-Identifier: BSD-3-Clause
// The named matrices: what they are by definition, what other libraries compute, and which of them
// are MDS.
#include <cstring>
#include <functional>

#include <gfk/rs.h>

#include "harness.h"
#ifdef GFK_TEST_ISAL
#include "oracle_isal.h"
#endif
#ifdef GFK_TEST_JERASURE
#include "oracle_jerasure.h"
#endif

namespace {

using Elements = std::vector<uint32_t>;

const gfk_rs_matrix named[] = {GFK_RS_CAUCHY,      GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN,
                               GFK_RS_CAUCHY_GOOD, GFK_RS_GEN_RS,      GFK_RS_GEN_CAUCHY1};

bool has(gfk_rs_matrix which, unsigned w) {
    return w == 8 || (which != GFK_RS_GEN_RS && which != GFK_RS_GEN_CAUCHY1);
}

Elements matrix_of(const gfk_field &field, gfk_rs_matrix which, size_t k, size_t m) {
    Elements matrix(k * m, 0xdeadbeef);
    require_success(gfk_rs_fill_matrix(&field, which, k, m, matrix.data()), "gfk_rs_fill_matrix");
    return matrix;
}

uint32_t power(const gfk_field &field, uint32_t a, size_t exponent) {
    uint32_t result = 0;
    require_success(gfk_field_pow(&field, a, exponent, &result), "gfk_field_pow");
    return result;
}

// ---- the functions ------------------------------------------------------------------------------

TEST(RsMatrix, Names) {
    const char *const names[] = {"cauchy", "vandermonde", "reed_sol_van", "cauchy_good",
                                 "gen_rs", "gen_cauchy1", "custom"};
    for (int i = 0; i < 7; i++) {
        EXPECT_STREQ(names[i], gfk_rs_matrix_name(static_cast<gfk_rs_matrix>(i)));
        count_checked();
    }
    for (int wrong : {-1, 7, 1000000}) {
        gfk_rs_matrix which;
        std::memcpy(&which, &wrong, sizeof which);
        EXPECT_NE(nullptr, gfk_rs_matrix_name(which));
        count_checked();
    }
}

TEST(RsMatrix, Refusals) {
    const gfk_field field = make_field(8), wide = make_field(32), other = make_field(8, 0x12b);
    Elements matrix(64, 0xdeadbeef);
    const Elements before = matrix;
    const auto refused = [&](gfk_status status, const gfk_field *f, gfk_rs_matrix which, size_t k,
                             size_t m) {
        EXPECT_STATUS(status, gfk_rs_fill_matrix(f, which, k, m, matrix.data()));
        EXPECT_EQ(before, matrix);
        count_checked();
    };
    gfk_field forged = field;
    forged.polynomial = 0x11c;
    for (gfk_rs_matrix which : named) {
        EXPECT_STATUS(GFK_STATUS_INVALID_ARGUMENT,
                      gfk_rs_fill_matrix(&field, which, 4, 2, nullptr));
        refused(GFK_STATUS_INVALID_ARGUMENT, nullptr, which, 4, 2);
        refused(GFK_STATUS_INVALID_ARGUMENT, &forged, which, 4, 2);
        refused(GFK_STATUS_INVALID_ARGUMENT, &field, which, 0, 2);
        refused(GFK_STATUS_INVALID_ARGUMENT, &field, which, 4, 0);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, 255, 2);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, 1, 256);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, SIZE_MAX, 2);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, 2, SIZE_MAX);
        if (which == GFK_RS_CAUCHY || which == GFK_RS_VANDERMONDE)
            continue;
        refused(GFK_STATUS_NOT_SUPPORTED, &other, which, 4, 2);
        if (!has(which, 32))
            refused(GFK_STATUS_NOT_SUPPORTED, &wide, which, 4, 2);
    }
    refused(GFK_STATUS_INVALID_SIZE, &wide, GFK_RS_CAUCHY, size_t(1) << 31, size_t(1) << 31);
    for (int wrong : {static_cast<int>(GFK_RS_CUSTOM), -1, 7}) {
        gfk_rs_matrix which;
        std::memcpy(&which, &wrong, sizeof which);
        refused(GFK_STATUS_INVALID_ARGUMENT, &field, which, 4, 2);
    }
}

// ---- definitions --------------------------------------------------------------------------------

class RsMatrixField : public testing::TestWithParam<unsigned> {
  protected:
    std::vector<gfk_field> fields() const {
        std::vector<gfk_field> list{make_field(GetParam())};
        for (uint64_t polynomial : polynomials(GetParam()))
            list.push_back(make_field(GetParam(), polynomial));
        return list;
    }
};
INSTANTIATE_TEST_SUITE_P(Widths, RsMatrixField, testing::Values(8, 16, 32));

TEST_P(RsMatrixField, Cauchy) {
    for (const gfk_field &field : fields())
        for (size_t k : {1, 2, 3, 7, 10, 40})
            for (size_t m : {1, 2, 4, 9}) {
                const Elements matrix = matrix_of(field, GFK_RS_CAUCHY, k, m);
                for (size_t e = 0; e < k * m; e++)
                    ASSERT_EQ(1u, multiply(field, matrix[e],
                                           static_cast<uint32_t>((k + e / k) ^ (e % k))));
                count_checked();
            }
}

// Applied to the columns r^c of the upper k rows, the matrix gives those of the rows below.
TEST_P(RsMatrixField, Vandermonde) {
    for (const gfk_field &field : fields())
        for (size_t k : {1, 2, 3, 7, 10, 40})
            for (size_t m : {1, 2, 4, 9}) {
                const Elements matrix = matrix_of(field, GFK_RS_VANDERMONDE, k, m);
                for (size_t j = 0; j < m; j++)
                    for (size_t c = 0; c < k; c++) {
                        uint32_t sum = 0;
                        for (size_t i = 0; i < k; i++)
                            sum ^= multiply(field, matrix[j * k + i],
                                            power(field, static_cast<uint32_t>(i), c));
                        ASSERT_EQ(power(field, static_cast<uint32_t>(k + j), c), sum)
                            << "k " << k << ", m " << m << ", row " << j << ", column " << c;
                    }
                count_checked();
            }
}

// As the libraries wrote them, for machines without the libraries.
TEST(RsMatrix, KnownValues) {
    struct Known {
        unsigned w;
        gfk_rs_matrix which;
        size_t k, m;
        Elements elements;
    };
    const Known list[] = {
        {8, GFK_RS_CAUCHY, 4, 2, {71, 167, 122, 186, 167, 71, 186, 122}},
        {8, GFK_RS_VANDERMONDE, 4, 2, {27, 28, 18, 20, 28, 27, 20, 18}},
        {8, GFK_RS_VANDERMONDE, 5, 2, {7, 7, 6, 6, 1, 9, 8, 9, 8, 1}},
        {8, GFK_RS_REED_SOL_VAN, 5, 2, {1, 1, 1, 1, 1, 1, 166, 82, 245, 167}},
        {8, GFK_RS_REED_SOL_VAN, 4, 3, {1, 1, 1, 1, 1, 217, 92, 172, 1, 70, 143, 200}},
        {8, GFK_RS_CAUCHY_GOOD, 5, 2, {1, 1, 1, 1, 1, 1, 2, 142, 4, 71}},
        {8, GFK_RS_CAUCHY_GOOD, 4, 3, {1, 1, 1, 1, 200, 151, 172, 1, 140, 1, 92, 70}},
        {8, GFK_RS_GEN_RS, 4, 3, {1, 1, 1, 1, 1, 2, 4, 8, 1, 4, 16, 64}},
        {8, GFK_RS_GEN_CAUCHY1, 5, 2, {167, 71, 186, 122, 1, 122, 186, 71, 167, 142}},
        {16,
         GFK_RS_CAUCHY,
         5,
         2,
         {20482, 52231, 27502, 30723, 1, 30723, 27502, 52231, 20482, 34821}},
        {16,
         GFK_RS_REED_SOL_VAN,
         4,
         3,
         {1, 1, 1, 1, 1, 30466, 13750, 60935, 1, 52230, 34820, 17411}},
        {16,
         GFK_RS_CAUCHY_GOOD,
         4,
         3,
         {1, 1, 1, 1, 17411, 49158, 60935, 1, 34823, 1, 13750, 52230}},
        {32,
         GFK_RS_CAUCHY,
         4,
         2,
         {3224371202, 2860515331, 2145386497, 1840101082, 2860515331, 3224371202, 1840101082,
          2145386497}},
        {32, GFK_RS_VANDERMONDE, 4, 2, {27, 28, 18, 20, 28, 27, 20, 18}},
        {32,
         GFK_RS_REED_SOL_VAN,
         4,
         3,
         {1, 1, 1, 1, 1, 2955673602, 920050540, 1612185600, 1, 3224371203, 2149580802, 1074790400}},
        {32,
         GFK_RS_CAUCHY_GOOD,
         4,
         3,
         {1, 1, 1, 1, 537395201, 1, 2955673602, 920050540, 2149580801, 1, 920050540, 3224371203}},
    };
    for (const Known &known : list) {
        EXPECT_EQ(known.elements, matrix_of(make_field(known.w), known.which, known.k, known.m))
            << gfk_rs_matrix_name(known.which) << ", w = " << known.w;
        count_checked();
    }
}

// ---- the libraries ------------------------------------------------------------------------------

using Generate = std::function<bool(int k, int m, uint32_t *matrix)>;

void expect_equal(const gfk_field &field, gfk_rs_matrix which, const Generate &generate) {
    const auto check = [&](size_t k, size_t m) {
        Elements expected(k * m);
        ASSERT_TRUE(generate(static_cast<int>(k), static_cast<int>(m), expected.data()));
        ASSERT_EQ(expected, matrix_of(field, which, k, m))
            << gfk_rs_matrix_name(which) << ", w = " << field.w << ", k = " << k << ", m = " << m;
        count_checked();
    };
    const size_t most = options.reduced ? 8 : 40;
    for (size_t k = 1; k <= most; k++)
        for (size_t m = 1; m <= most / 2; m++)
            check(k, m);
    for (size_t m : {1, 2, 3, 56, 128, 200, 255})
        if (field.w == 8)
            check(256 - m, m);
    if (!options.reduced && field.w == 16)
        for (size_t k : {254, 300, 1000})
            for (size_t m : {2, 3})
                check(k, m);
}

TEST(RsMatrixJerasure, Equal) {
#ifdef GFK_TEST_JERASURE
    for (unsigned w : {8u, 16u, 32u}) {
        const int width = static_cast<int>(w);
        expect_equal(make_field(w), GFK_RS_REED_SOL_VAN, [=](int k, int m, uint32_t *matrix) {
            return oracle_reed_sol_van(k, m, width, matrix) != 0;
        });
        expect_equal(make_field(w), GFK_RS_CAUCHY_GOOD, [=](int k, int m, uint32_t *matrix) {
            return oracle_cauchy_good(k, m, width, matrix) != 0;
        });
    }
#else
    GTEST_SKIP() << "Jerasure was not found when the tests were configured";
#endif
}

TEST(RsMatrixIsal, Equal) {
#ifdef GFK_TEST_ISAL
    expect_equal(make_field(8), GFK_RS_GEN_RS, oracle_gen_rs);
    expect_equal(make_field(8), GFK_RS_GEN_CAUCHY1, oracle_gen_cauchy1);
#else
    GTEST_SKIP() << "ISA-L was not found when the tests were configured";
#endif
}

// ---- MDS ----------------------------------------------------------------------------------------

// The determinant of the part of a matrix in these rows and columns, by its first row.
uint32_t determinant(const gfk_field &field, const Elements &matrix, size_t k,
                     const std::vector<size_t> &rows, const std::vector<size_t> &cols) {
    if (rows.empty())
        return 1;
    uint32_t sum = 0;
    const std::vector<size_t> below(rows.begin() + 1, rows.end());
    for (size_t c = 0; c < cols.size(); c++) {
        const uint32_t element = matrix[rows[0] * k + cols[c]];
        std::vector<size_t> others = cols;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(c));
        if (element != 0)
            sum ^= multiply(field, element, determinant(field, matrix, k, below, others));
    }
    return sum;
}

std::vector<size_t> members(unsigned set) {
    std::vector<size_t> list;
    for (size_t i = 0; set >> i != 0; i++)
        if (set >> i & 1)
            list.push_back(i);
    return list;
}

bool is_mds(const gfk_field &field, const Elements &matrix, size_t k, size_t m) {
    for (unsigned rows = 1; rows < 1u << m; rows++)
        for (unsigned cols = 1; cols < 1u << k; cols++)
            if (members(rows).size() == members(cols).size() &&
                determinant(field, matrix, k, members(rows), members(cols)) == 0)
                return false;
    return true;
}

struct CodeDeleter {
    void operator()(gfk_rs_t code) const { gfk_rs_destroy(code); }
};
using Code = std::unique_ptr<struct gfk_rs, CodeDeleter>;

gfk_status create(Code &code, const gfk_field &field, size_t k, size_t m, const Elements &matrix,
                  unsigned flags = 0) {
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = GFK_RS_CUSTOM;
    desc.custom = matrix.data();
    desc.flags = flags;
    desc.product.family = GFK_ENGINE_HOST;
    gfk_rs_t made = nullptr;
    const gfk_status status = gfk_rs_create(&made, &field, k, m, &desc);
    code.reset(made);
    return status;
}

// What create thinks of a custom matrix, which must fit what it does with it.
gfk_rs_mds judged(const gfk_field &field, size_t k, size_t m, const Elements &matrix) {
    Code code;
    const gfk_status checked = create(code, field, k, m, matrix);
    require_success(create(code, field, k, m, matrix, GFK_RS_UNCHECKED), "gfk_rs_create");
    gfk_rs_info info;
    require_success(gfk_rs_get_info(code.get(), &info), "gfk_rs_get_info");
    EXPECT_STATUS(info.mds == GFK_RS_MDS_YES  ? GFK_STATUS_SUCCESS
                  : info.mds == GFK_RS_MDS_NO ? GFK_STATUS_SINGULAR
                                              : GFK_STATUS_NOT_SUPPORTED,
                  checked);
    count_checked();
    return info.mds;
}

TEST(RsMatrixMds, NamedMatrices) {
    for (unsigned w : {8u, 16u, 32u})
        for (gfk_rs_matrix which : named) {
            if (!has(which, w) || which == GFK_RS_GEN_RS)
                continue;
            const gfk_field field = make_field(w);
            for (size_t n = 2; n <= (options.reduced ? 8 : w == 8 ? 14 : 12); n++)
                for (size_t k = 1; k < n; k++)
                    EXPECT_EQ(GFK_RS_MDS_YES,
                              judged(field, k, n - k, matrix_of(field, which, k, n - k)))
                        << gfk_rs_matrix_name(which) << " " << k << " + " << n - k;
        }
}

// ISA-L's own list says where gen_rs is MDS: k <= 3; k = 4, m <= 21; k <= 5, m <= 5; k <= 21,
// m = 4; m <= 3.
TEST(RsMatrixMds, GenRs) {
    const gfk_field field = make_field(8);
    const auto mds = [&](size_t k, size_t m) {
        return judged(field, k, m, matrix_of(field, GFK_RS_GEN_RS, k, m));
    };
    for (size_t k = 1; k <= 30; k++)
        for (size_t m = 1; m <= 6; m++) {
            const gfk_rs_mds expected =
                k <= 3 || m <= 3 || (k == 4 && m <= 21) || (k == 5 && m <= 5) || (k <= 21 && m == 4)
                    ? GFK_RS_MDS_YES
                    : GFK_RS_MDS_NO;
            const gfk_rs_mds got = mds(k, m);
            if (got != GFK_RS_MDS_UNKNOWN) {
                EXPECT_EQ(expected, got) << k << " + " << m;
            }
        }
    EXPECT_EQ(GFK_RS_MDS_NO, mds(6, 5)); // the smallest trap
}

// Powers of 1, 2, 3, ... look like a Vandermonde code, but any part of the matrix counts, not only
// whole rows: 1 ^ 2 ^ 3 = 0 makes that of the exponents 0, 1 and 3 singular.
TEST(RsMatrixMds, PowersOfSmallNumbers) {
    const gfk_field field = make_field(8);
    const auto mds = [&](size_t k, size_t m, bool across) {
        Elements elements;
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < k; i++)
                elements.push_back(across ? power(field, static_cast<uint32_t>(i + 1), j)
                                          : power(field, static_cast<uint32_t>(j + 1), i));
        return judged(field, k, m, elements);
    };
    EXPECT_EQ(GFK_RS_MDS_YES, mds(3, 3, false));
    EXPECT_EQ(GFK_RS_MDS_YES, mds(3, 4, false));
    EXPECT_EQ(GFK_RS_MDS_NO, mds(4, 3, false));
    EXPECT_EQ(GFK_RS_MDS_YES, mds(4, 3, true));
    EXPECT_EQ(GFK_RS_MDS_NO, mds(3, 4, true));
}

TEST(RsMatrixMds, AgreesWithDeterminants) {
    for (unsigned w : {8u, 16u, 32u}) {
        const gfk_field field = make_field(w);
        Random random(w);
        int found[3] = {0, 0, 0};
        for (int trial = 0; trial < (options.reduced ? 100 : 600); trial++) {
            const size_t k = 1 + random.below(5), m = 1 + random.below(5);
            Elements matrix(k * m);
            for (uint32_t &element : matrix)
                element = random.symbol(w);
            if (trial % 2 != 0 && k > 1 && m > 1) { // the first and last row, dependent in front
                const uint32_t factor = 1 + static_cast<uint32_t>(random.below(255));
                matrix[k * (m - 1)] = multiply(field, matrix[0], factor);
                matrix[k * (m - 1) + 1] = multiply(field, matrix[1], factor);
            }
            const gfk_rs_mds got = judged(field, k, m, matrix);
            ASSERT_EQ(is_mds(field, matrix, k, m) ? GFK_RS_MDS_YES : GFK_RS_MDS_NO, got)
                << k << " + " << m << ", trial " << trial << ", seed " << options.seed;
            found[got]++;
        }
        EXPECT_GT(found[GFK_RS_MDS_YES], 20);
        EXPECT_GT(found[GFK_RS_MDS_NO], 20);
    }
}

// C(k + m, m) up to 1,000,000, at the bound and above; long and flat shapes too.
TEST(RsMatrixMds, Limit) {
    const gfk_field field = make_field(16);
    const auto mds = [&](size_t k, size_t m) {
        return judged(field, k, m, matrix_of(field, GFK_RS_CAUCHY, k, m));
    };
    EXPECT_EQ(GFK_RS_MDS_YES, mds(11, 11)); // 705,432
    EXPECT_EQ(GFK_RS_MDS_UNKNOWN, mds(12, 11));
    EXPECT_EQ(GFK_RS_MDS_YES, mds(1412, 2)); // 998,991
    EXPECT_EQ(GFK_RS_MDS_YES, mds(2, 1412));
    EXPECT_EQ(GFK_RS_MDS_UNKNOWN, mds(1413, 2)); // 1,000,405
    EXPECT_EQ(GFK_RS_MDS_UNKNOWN, mds(2, 1413));
    EXPECT_EQ(GFK_RS_MDS_YES, mds(60000, 1));
    EXPECT_EQ(GFK_RS_MDS_UNKNOWN, mds(2000, 20));
}

} // namespace
