// SPDX-License-Identifier: BSD-3-Clause
// The named matrices: what they are by definition, and what other libraries compute.
#include <functional>

#include "codes.h"
#include "oracle/oracle.h"

namespace {

const gfk_rs_matrix named[] = {GFK_RS_CAUCHY,      GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN,
                               GFK_RS_CAUCHY_GOOD, GFK_RS_GEN_RS,      GFK_RS_GEN_CAUCHY1};

bool has(gfk_rs_matrix which, unsigned w) {
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
    for (gfk_rs_matrix which : named) {
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
        if (!has(which, 32))
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

} // namespace
