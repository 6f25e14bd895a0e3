// SPDX-License-Identifier: BSD-3-Clause
// Which matrices are MDS, by what gfk_rs_create says of them as custom matrices.
#include "codes.h"

namespace {

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
