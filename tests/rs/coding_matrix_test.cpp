// SPDX-License-Identifier: BSD-3-Clause
// The named matrices: what they are by definition, what other libraries compute, which are MDS.
#include <functional>

#include "codes.h"
#include "oracle/oracle.h"

namespace {

const gfk_rs_matrix NAMED[] = {GFK_RS_CAUCHY,      GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN,
                               GFK_RS_CAUCHY_GOOD, GFK_RS_GEN_RS,      GFK_RS_GEN_CAUCHY1};

bool has_width(gfk_rs_matrix which, unsigned w) {
    return w == 8 || (which != GFK_RS_GEN_RS && which != GFK_RS_GEN_CAUCHY1);
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
        EXPECT_NE(nullptr, gfk_rs_matrix_name(static_cast<gfk_rs_matrix>(wrong)));
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
    for (gfk_rs_matrix which : NAMED) {
        EXPECT_STATUS(INVALID, gfk_rs_fill_matrix(&field, which, 4, 2, nullptr));
        refused(INVALID, nullptr, which, 4, 2);
        refused(INVALID, &forged, which, 4, 2);
        refused(INVALID, &field, which, 0, 2);
        refused(INVALID, &field, which, 4, 0);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, 255, 2);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, 1, 256);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, SIZE_MAX, 2);
        refused(GFK_STATUS_INVALID_SIZE, &field, which, 2, SIZE_MAX);
        if (which == GFK_RS_CAUCHY || which == GFK_RS_VANDERMONDE)
            continue;
        refused(GFK_STATUS_NOT_SUPPORTED, &other, which, 4, 2);
        if (!has_width(which, 32))
            refused(GFK_STATUS_NOT_SUPPORTED, &wide, which, 4, 2);
    }
    refused(GFK_STATUS_INVALID_SIZE, &wide, GFK_RS_CAUCHY, size_t(1) << 31, size_t(1) << 31);
    for (int wrong : {static_cast<int>(GFK_RS_CUSTOM), -1, 7}) {
        EXPECT_STATUS(INVALID, gfk_rs_fill_matrix(&field, static_cast<gfk_rs_matrix>(wrong), 4, 2,
                                                  matrix.data()));
        EXPECT_EQ(before, matrix);
        count_checked();
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
    const gfk_rs_matrix cauchy = GFK_RS_CAUCHY, vandermonde = GFK_RS_VANDERMONDE;
    const gfk_rs_matrix sol = GFK_RS_REED_SOL_VAN, good = GFK_RS_CAUCHY_GOOD;
    const Known list[] = {
        {8, cauchy, 4, 2, {71, 167, 122, 186, 167, 71, 186, 122}},
        {8, vandermonde, 4, 2, {27, 28, 18, 20, 28, 27, 20, 18}},
        {8, vandermonde, 5, 2, {7, 7, 6, 6, 1, 9, 8, 9, 8, 1}},
        {8, sol, 5, 2, {1, 1, 1, 1, 1, 1, 166, 82, 245, 167}},
        {8, sol, 4, 3, {1, 1, 1, 1, 1, 217, 92, 172, 1, 70, 143, 200}},
        {8, good, 5, 2, {1, 1, 1, 1, 1, 1, 2, 142, 4, 71}},
        {8, good, 4, 3, {1, 1, 1, 1, 200, 151, 172, 1, 140, 1, 92, 70}},
        {8, GFK_RS_GEN_RS, 4, 3, {1, 1, 1, 1, 1, 2, 4, 8, 1, 4, 16, 64}},
        {8, GFK_RS_GEN_CAUCHY1, 5, 2, {167, 71, 186, 122, 1, 122, 186, 71, 167, 142}},
        {16, cauchy, 5, 2, {20482, 52231, 27502, 30723, 1, 30723, 27502, 52231, 20482, 34821}},
        {16, sol, 4, 3, {1, 1, 1, 1, 1, 30466, 13750, 60935, 1, 52230, 34820, 17411}},
        {16, good, 4, 3, {1, 1, 1, 1, 17411, 49158, 60935, 1, 34823, 1, 13750, 52230}},
        {32,
         cauchy,
         4,
         2,
         {3224371202, 2860515331, 2145386497, 1840101082, 2860515331, 3224371202, 1840101082,
          2145386497}},
        {32, vandermonde, 4, 2, {27, 28, 18, 20, 28, 27, 20, 18}},
        {32,
         sol,
         4,
         3,
         {1, 1, 1, 1, 1, 2955673602, 920050540, 1612185600, 1, 3224371203, 2149580802, 1074790400}},
        {32,
         good,
         4,
         3,
         {1, 1, 1, 1, 537395201, 1, 2955673602, 920050540, 2149580801, 1, 920050540, 3224371203}}};
    for (const Known &known : list) {
        EXPECT_EQ(known.elements, matrix_of(make_field(known.w), known.which, known.k, known.m))
            << gfk_rs_matrix_name(known.which) << ", w = " << known.w;
        count_checked();
    }
}

// ---- the libraries ------------------------------------------------------------------------------

using Generate = std::function<bool(int k, int m, uint32_t *matrix)>;

[[maybe_unused]] void expect_equal(const gfk_field &field, gfk_rs_matrix which,
                                   const Generate &generate) {
    const auto check = [&](size_t k, size_t m) {
        Elements expected(k * m);
        ASSERT_TRUE(generate(static_cast<int>(k), static_cast<int>(m), expected.data()));
        ASSERT_EQ(expected, matrix_of(field, which, k, m))
            << gfk_rs_matrix_name(which) << ", w = " << field.w << ", k = " << k << ", m = " << m;
        count_checked();
    };
    const size_t most = options.reduced ? 8 : field.w == 32 ? 20 : 40; // w = 32 takes them long
    for (size_t k = 1; k <= most; k++)
        for (size_t m = 1; m <= most / 2; m++)
            check(k, m);
    for (size_t m : {1, 2, 3, 56, 128, 200, 255})
        if (field.w == 8)
            check(256 - m, m);
    if (!options.reduced && field.w == 16)
        for (size_t k : {254, 255, 300})
            for (size_t m : {2, 3})
                check(k, m);
}

TEST(RsMatrixJerasure, Equal) {
#ifdef GFK_TEST_JERASURE
    for (int w : {8, 16, 32})
        for (bool good : {false, true})
            expect_equal(make_field(static_cast<unsigned>(w)),
                         good ? GFK_RS_CAUCHY_GOOD : GFK_RS_REED_SOL_VAN,
                         [=](int k, int m, uint32_t *matrix) {
                             return oracle_jerasure_matrix(good, k, m, w, matrix) != 0;
                         });
#else
    GTEST_SKIP() << "Jerasure was not found when the tests were configured";
#endif
}

TEST(RsMatrixIsal, Equal) {
#ifdef GFK_TEST_ISAL
    for (bool cauchy : {false, true})
        expect_equal(make_field(8), cauchy ? GFK_RS_GEN_CAUCHY1 : GFK_RS_GEN_RS,
                     [=](int k, int m, uint32_t *matrix) {
                         oracle_isal_matrix(cauchy, k, m, matrix);
                         return true;
                     });
#else
    GTEST_SKIP() << "ISA-L was not found when the tests were configured";
#endif
}

// ---- which are MDS, by what gfk_rs_create says of them as custom matrices ------------------------

// The determinant of the part of a matrix in these rows and columns, by its first row.
uint32_t determinant(const gfk_field &field, const Elements &matrix, size_t k, const Indices &rows,
                     const Indices &cols) {
    if (rows.empty())
        return 1;
    uint32_t sum = 0;
    const Indices below(rows.begin() + 1, rows.end());
    for (size_t c = 0; c < cols.size(); c++) {
        const uint32_t element = matrix[rows[0] * k + cols[c]];
        Indices others = cols;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(c));
        if (element != 0)
            sum ^= multiply(field, element, determinant(field, matrix, k, below, others));
    }
    return sum;
}

Indices members(unsigned set) {
    Indices list;
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

// What create thinks of a custom matrix, which must fit what it does with it.
gfk_rs_mds judged(const gfk_field &field, size_t k, size_t m, const Elements &matrix) {
    const RsShape shape = {GFK_RS_CUSTOM, k, m, matrix, GFK_RS_UNCHECKED};
    const gfk_rs_mds mds = info_of(make_host_code(field, shape).get()).mds;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = GFK_RS_CUSTOM;
    desc.custom = matrix.data();
    desc.product.family = GFK_ENGINE_HOST;
    gfk_rs_t checked = nullptr;
    EXPECT_STATUS(mds == GFK_RS_MDS_YES  ? GFK_STATUS_SUCCESS
                  : mds == GFK_RS_MDS_NO ? GFK_STATUS_SINGULAR
                                         : GFK_STATUS_NOT_SUPPORTED,
                  gfk_rs_create(&checked, &field, k, m, &desc));
    gfk_rs_destroy(checked);
    count_checked();
    return mds;
}

TEST(RsMds, NamedMatrices) {
    for (unsigned w : {8u, 16u, 32u})
        for (gfk_rs_matrix which : {GFK_RS_CAUCHY, GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN,
                                    GFK_RS_CAUCHY_GOOD}) { // GEN_CAUCHY1 is CAUCHY
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
TEST(RsMds, GenRs) {
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
TEST(RsMds, PowersOfSmallNumbers) {
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

TEST(RsMds, AgreesWithDeterminants) {
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
TEST(RsMds, Limit) {
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
