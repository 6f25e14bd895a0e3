// SPDX-License-Identifier: BSD-3-Clause
// Locating: damage of known symbols, for every matrix, on the host and on the device.
#include <algorithm>
#include <cstring>

#include "corrupted_codeword.h"

namespace {

class RsLocate : public SideTest {
  protected:
    // Up to t symbols at about half of the positions: reported, then repaired.
    void check(const gfk_field &field, const RsShape &shape, size_t symbols, bool phases,
               uint64_t stream = 0) {
        Random random(stream);
        const RsCode code = make_rs_code(host(), field, shape);
        const size_t t = info_of(code.get()).locatable;
        ASSERT_EQ(shape.m / 2, t);
        CorruptedCodeword codeword(host(), code.get(), symbols * (field.w / 8), phases, random);
        for (size_t symbol = 0; symbol < symbols; symbol++)
            if (symbols == 1 || random.below(2) == 0)
                codeword.damage_some(symbol, 1 + random.below(t), random);
        for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
            ASSERT_OK(codeword.locate(repair));
            ASSERT_TRUE(codeword.is_exact(repair));
            count_checked(symbols);
        }
    }
};
PER_SIDE(RsLocate);

const gfk_rs_matrix of_points[] = {GFK_RS_CAUCHY, GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN,
                                   GFK_RS_CAUCHY_GOOD, GFK_RS_GEN_CAUCHY1};

bool has(gfk_rs_matrix matrix, unsigned w) {
    return w == 8 || matrix != GFK_RS_GEN_CAUCHY1;
}

Elements random_mds(const gfk_field &field, size_t k, size_t m, Random &random) {
    Elements matrix = matrix_of(field, GFK_RS_CAUCHY, k, m), factors(k + m);
    for (uint32_t &factor : factors)
        factor = random.symbol(field.w) | 1;
    for (size_t e = 0; e < k * m; e++)
        matrix[e] = multiply(field, matrix[e], multiply(field, factors[e % k], factors[k + e / k]));
    return matrix;
}

TEST_P(RsLocate, SmallShapes) {
    const size_t lengths[] = {1, 7, 33, 200};
    size_t number = 0;
    for (unsigned w : {8u, 16u, 32u})
        for (gfk_rs_matrix matrix : of_points)
            for (size_t k : {1, 2, 3, 5, 10})
                for (size_t m : {2, 3, 4, 5, 8, 12}) {
                    if (!has(matrix, w) || (options.reduced && number++ % 4 != 0))
                        continue;
                    for (size_t symbols : lengths) {
                        ASSERT_NO_FATAL_FAILURE(check(make_field(w), {matrix, k, m}, symbols,
                                                      symbols % 2 == 1, symbols));
                    }
                }
}

TEST_P(RsLocate, LargeShapes) {
    const size_t shapes[][2] = {{254, 2}, {253, 3}, {2, 254}, {223, 32}, {128, 128}, {60, 20}};
    for (unsigned w : {8u, 16u, 32u})
        for (gfk_rs_matrix matrix : of_points)
            for (const auto &shape : shapes) {
                if (!has(matrix, w) || (w == 32 && shape[1] > 32))
                    continue;
                ASSERT_NO_FATAL_FAILURE(check(make_field(w), {matrix, shape[0], shape[1]},
                                              options.reduced ? 2 : 6, true));
            }
}

TEST_P(RsLocate, Polynomials) {
    for (unsigned w : {8u, 16u, 32u})
        for (uint64_t polynomial : polynomials(w))
            for (gfk_rs_matrix matrix : {GFK_RS_CAUCHY, GFK_RS_VANDERMONDE}) {
                ASSERT_NO_FATAL_FAILURE(
                    check(make_field(w, polynomial), {matrix, 6, 5}, 40, false));
            }
}

// Codes whose points are not known are searched.
TEST_P(RsLocate, Search) {
    for (unsigned w : {8u, 16u, 32u}) {
        const gfk_field field = make_field(w);
        Random random(w);
        for (size_t k : {1, 2, 4, 10})
            for (size_t m : {2, 3, 4, 6}) {
                ASSERT_NO_FATAL_FAILURE(check(
                    field, {GFK_RS_CUSTOM, k, m, random_mds(field, k, m, random)}, 60, k % 2 == 0));
            }
    }
    const gfk_field field = make_field(8);
    for (const auto &shape :
         {std::pair<size_t, size_t>{10, 4}, {21, 4}, {100, 2}, {30, 3}, {5, 5}, {4, 8}, {2, 17}})
        check(field, {GFK_RS_GEN_RS, shape.first, shape.second}, 20, true);
}

// Chunks of 64 KiB, of which only some are looked at.
TEST_P(RsLocate, LongRegions) {
    for (unsigned w : {8u, 16u, 32u}) {
        const size_t size = w / 8, chunk = 65536 / size;
        const RsCode code = make_rs_code(host(), make_field(w), {GFK_RS_CAUCHY, 10, 4});
        for (size_t tail : {size_t(0), size_t(1), chunk / 8 + 13}) {
            const size_t symbols = 5 * chunk + tail;
            Random random(tail);
            CorruptedCodeword codeword(host(), code.get(), symbols * size, tail % 2 == 1, random);
            const size_t first = chunk - 1; // the last symbol of the first chunk
            const size_t damaged[] = {first,           chunk,      chunk + chunk / 8,
                                      3 * chunk - 1,   4 * chunk,  4 * chunk + chunk / 8 - 1,
                                      5 * chunk - 100, symbols - 1};
            for (size_t symbol : damaged)
                codeword.damage_some(symbol, 1 + random.below(2), random);
            for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
                ASSERT_OK(codeword.locate(repair));
                ASSERT_TRUE(codeword.is_exact(repair));
                EXPECT_EQ(first * size, codeword.verdict().first_corrupt);
                count_checked();
            }
        }
    }
}

// Two regions damaged all over stand out in the counts.
TEST_P(RsLocate, WholeRegions) {
    for (unsigned w : {8u, 16u, 32u}) {
        const size_t symbols = 3000;
        Random random;
        const RsCode code = make_rs_code(host(), make_field(w), {GFK_RS_VANDERMONDE, 6, 4});
        CorruptedCodeword codeword(host(), code.get(), symbols * (w / 8), false, random);
        for (size_t symbol = 0; symbol < symbols; symbol++)
            for (size_t region : {2, 7})
                codeword.damage(region, symbol, 1 + static_cast<uint32_t>(symbol % 255));
        ASSERT_OK(codeword.locate(GFK_RS_REPAIR));
        ASSERT_TRUE(codeword.is_exact(GFK_RS_REPAIR));
        EXPECT_EQ(symbols, codeword.counts()[2]);
        EXPECT_EQ(symbols, codeword.counts()[7]);
        count_checked(symbols);
    }
}

// Damage of all kinds at once, from no region to more than t: whole regions and parts of them,
// another region in each stretch, scattered symbols, other symbols at every position. A guess for
// many positions at once must not show.
TEST_P(RsLocate, AsOneByOne) {
    const size_t shapes[][2] = {{10, 4}, {5, 2}, {4, 3}, {20, 9}, {60, 24}};
    const size_t rounds = options.reduced ? 1 : 6;
    for (unsigned w : {8u, 16u, 32u})
        for (const auto &shape : shapes)
            for (size_t round = 0; round < rounds; round++) {
                Random random(1000 * w + 10 * shape[1] + round);
                const size_t k = shape[0], m = shape[1], t = m / 2, n = k + m;
                const gfk_field field = make_field(w);
                RsShape code_shape = {of_points[round % 4], k, m};
                if (m < 5 && round == 5)
                    code_shape = {GFK_RS_CUSTOM, k, m, random_mds(field, k, m, random)};
                const RsCode code = make_rs_code(host(), field, code_shape);
                const size_t most = m > 9 ? 4000 : options.reduced ? 10000 : 24000;
                const size_t symbols = most * 8 / w + random.below(100);
                CorruptedCodeword codeword(host(), code.get(), symbols * (w / 8), round % 2 == 1,
                                           random);
                for (size_t kind = 0; kind < 2; kind++) {
                    const bool whole = random.below(2) == 0;
                    const size_t begin = whole ? 0 : random.below(symbols);
                    const size_t end = whole ? symbols : begin + random.below(symbols - begin);
                    const size_t errors = 1 + random.below(random.below(3) == 0 ? m : t);
                    const size_t step = 200 + random.below(symbols);
                    Indices wrong = random_indices(n, errors, random);
                    for (size_t symbol = begin; symbol < end; symbol++)
                        switch ((round + kind) % 4) {
                        case 2: // other regions in each stretch
                            if ((symbol - begin) % step == 0)
                                wrong = random_indices(n, errors, random);
                            /* fall through */
                        case 0: // garbage: some symbols are right by chance
                            for (size_t region : wrong)
                                if (random.below(20) != 0)
                                    codeword.damage(region, symbol,
                                                    1 + (uint32_t)random.below(255));
                            break;
                        case 1:
                            codeword.damage_some(symbol, 1 + random.below(t), random);
                            break;
                        default:
                            if (random.below(500) == 0)
                                codeword.damage_some(symbol, 1 + random.below(m), random);
                        }
                }
                for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
                    ASSERT_OK(codeword.locate(repair));
                    ASSERT_TRUE(codeword.is_as_one_by_one(repair));
                    count_checked(symbols);
                }
            }
}

// Other regions at every position, mostly up to t: recurrences of many positions are found together
// for w = 8, for every polynomial and up to 32 terms.
TEST_P(RsLocate, RecurrencesAsOneByOne) {
    const size_t shapes[][2] = {{4, 6}, {100, 24}, {180, 64}, {20, 7}, {30, 33}, {180, 63}};
    const auto fields = polynomials(8);
    for (size_t number = 0; number < (options.reduced ? 2 : 6); number++) {
        const auto &[k, m] = shapes[number];
        Random random(number);
        const size_t t = m / 2, symbols = 2100 + random.below(400);
        const RsCode code = make_rs_code(host(), make_field(8, fields[number % fields.size()]),
                                         {of_points[number % 2], k, m}); // Cauchy, Vandermonde
        CorruptedCodeword codeword(host(), code.get(), symbols, number % 2 == 1, random);
        for (size_t symbol = 0; symbol < symbols; symbol++)
            if (random.below(9) != 0)
                codeword.damage_some(symbol, 1 + random.below(symbol % 50 == 0 ? m : t), random);
        for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
            ASSERT_OK(codeword.locate(repair));
            ASSERT_TRUE(codeword.is_as_one_by_one(repair));
            count_checked(symbols);
        }
    }
}

// Long regions. A device searches the beginning of each eighth of the regions first, and what it
// finds there decides how it goes on: t regions at once, as many that no guess explains, none, or
// other symbols at every position. Further damage is elsewhere: scattered symbols and stretches, up
// to m at a position.
TEST_P(RsLocate, LongRegionsAsOneByOne) {
    const struct {
        unsigned w;
        size_t k, m;
    } shapes[] = {{8, 12, 4},  {8, 20, 5},  {8, 100, 24}, {16, 12, 4},
                  {16, 26, 6}, {32, 12, 3}, {32, 24, 4},  {32, 40, 4}};
    size_t number = 0;
    for (const auto &[w, k, m] : shapes)
        for (size_t kind = 0; kind < 4; kind++) {
            if (options.reduced && number++ % 3 != 0)
                continue;
            Random random(100 * w + 10 * kind + k);
            const size_t size = w / 8, t = m / 2, n = k + m;
            const size_t symbols =
                ((host() ? options.reduced ? 2 : 4 : 129) << 20) / n / size + random.below(9999);
            const size_t eighth = symbols / 8, part = 6144 / size;
            const RsCode code = make_rs_code(host(), make_field(w), {GFK_RS_CAUCHY, k, m});
            CorruptedCodeword codeword(host(), code.get(), symbols * size, kind % 2 == 1, random);
            const auto stretch = [&](size_t begin, size_t end, size_t errors) {
                const Indices wrong = random_indices(n, errors, random);
                for (size_t symbol = begin; symbol < end && symbol < symbols; symbol++)
                    for (size_t region : wrong)
                        if (random.below(99) != 0)
                            codeword.damage(region, symbol, 1 + (uint32_t)random.below(255));
            };
            const uint64_t seed = random.below(1 << 30);
            for (size_t i = 0; i < 8 && kind < 3; i++) {
                random = Random(seed); // the same regions
                if (kind != 2)
                    stretch(i * eighth - (i ? part : 0), i * eighth + part, kind == 0 ? t : t + 1);
            }
            for (size_t symbol = 0; symbol < symbols - part && kind == 3; symbol++)
                if (symbol % eighth < part || eighth - symbol % eighth < part)
                    codeword.damage_some(symbol, t, random);
            stretch(eighth / 2, eighth / 2 + part, t);
            stretch(symbols - part / 3, symbols, t);
            for (size_t i = 0; i < 200; i++) {
                const size_t symbol = eighth + part + random.below(eighth / 2);
                codeword.damage_some(symbol, 1 + random.below(m), random);
            }
            for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
                ASSERT_OK(codeword.locate(repair));
                ASSERT_TRUE(codeword.is_as_one_by_one(repair));
                count_checked(symbols);
            }
        }
}

TEST_P(RsLocate, NothingWrong) {
    for (unsigned w : {8u, 16u, 32u})
        for (size_t symbols : {0, 1, 100, 40000}) {
            Random random;
            const RsCode code = make_rs_code(host(), make_field(w), {GFK_RS_CAUCHY, 4, 3});
            CorruptedCodeword codeword(host(), code.get(), symbols * (w / 8), true, random);
            for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
                ASSERT_OK(codeword.locate(repair));
                ASSERT_TRUE(codeword.is_exact(repair));
                count_checked();
            }
        }
}

// Beyond t: every damaged position is noticed while at most m symbols are wrong; what is named is
// a codeword after repair, right or not.
TEST_P(RsLocate, TooManyErrors) {
    for (unsigned w : {8u, 16u, 32u}) {
        const gfk_field field = make_field(w);
        for (size_t m : {2, 3, 4, 5, 8}) {
            std::vector<RsShape> shapes;
            for (gfk_rs_matrix matrix : of_points)
                if (has(matrix, w))
                    shapes.push_back({matrix, 7, m});
            Random random(m);
            if (m < 6)
                shapes.push_back({GFK_RS_CUSTOM, 7, m, random_mds(field, 7, m, random)});
            for (const RsShape &shape : shapes) {
                const RsCode code = make_rs_code(host(), field, shape);
                CorruptedCodeword codeword(host(), code.get(), 150 * (w / 8), true, random);
                for (size_t symbol = 0; symbol < 150; symbol += 1 + random.below(2))
                    codeword.damage_some(symbol, m / 2 + 1 + random.below(m - m / 2), random);
                ASSERT_OK(codeword.locate(GFK_RS_REPORT));
                ASSERT_TRUE(codeword.is_consistent());
                ASSERT_TRUE(codeword.is_untouched());
                const uint64_t unexplained = codeword.verdict().unexplained;
                if (w > 8) { // hardly any wrong symbol explains a random error
                    EXPECT_GE(10 * unexplained, 9 * codeword.verdict().corrupt);
                }
                ASSERT_OK(codeword.locate(GFK_RS_REPAIR));
                ASSERT_TRUE(codeword.is_consistent());
                EXPECT_EQ(unexplained, codeword.verdict().unexplained);
                codeword.adopt();
                ASSERT_OK(codeword.locate(GFK_RS_REPORT));
                EXPECT_EQ(unexplained, codeword.verdict().corrupt);
                EXPECT_EQ(unexplained, codeword.verdict().unexplained);
                count_checked();
            }
        }
    }
}

// An odd number of parity regions tells t + 1 errors from t others.
TEST_P(RsLocate, OneErrorTooMany) {
    for (unsigned w : {8u, 16u, 32u})
        for (size_t m : {3, 5, 7}) {
            const size_t symbols = options.reduced ? 200 : 2000;
            Random random(m);
            const RsCode code = make_rs_code(host(), make_field(w), {GFK_RS_CAUCHY, 20, m});
            CorruptedCodeword codeword(host(), code.get(), symbols * (w / 8), false, random);
            for (size_t symbol = 0; symbol < symbols; symbol++)
                codeword.damage_some(symbol, m / 2 + 1, random);
            ASSERT_OK(codeword.locate(GFK_RS_REPAIR));
            ASSERT_TRUE(codeword.is_consistent());
            EXPECT_EQ(symbols, codeword.verdict().unexplained);
            ASSERT_TRUE(codeword.is_untouched());
            count_checked(symbols);
        }
}

// More regions than a kernel's parameters hold addresses: equally spaced ones only, on a device.
TEST_P(RsLocate, ManyRegions) {
    const gfk_field field = make_field(16);
    check(field, {GFK_RS_CAUCHY, 1100, 4}, 30, false);
    Random random;
    const RsCode code = make_rs_code(host(), field, {GFK_RS_CAUCHY, 1021, 4});
    CorruptedCodeword codeword(host(), code.get(), 20, true, random);
    codeword.damage(3, 4, 5);
    if (host()) {
        ASSERT_OK(codeword.locate(GFK_RS_REPAIR));
        ASSERT_TRUE(codeword.is_exact(GFK_RS_REPAIR));
    } else {
        ASSERT_STATUS(GFK_STATUS_NOT_SUPPORTED, codeword.locate(GFK_RS_REPAIR));
        ASSERT_TRUE(codeword.is_untouched());
    }
    count_checked();
}

TEST_P(RsLocate, NotOffered) {
    const gfk_field field = make_field(8);
    Random random;
    const size_t many = 40, more = 10; // C(50, 5) is above 100,000
    const RsShape shapes[] = {
        {GFK_RS_CAUCHY, 5, 1},
        {GFK_RS_GEN_RS, 6, 5, {}, GFK_RS_UNCHECKED}, // not MDS
        {GFK_RS_CUSTOM, many, more, random_mds(field, many, more, random), GFK_RS_UNCHECKED},
        {GFK_RS_CUSTOM, 5, 11, random_mds(field, 5, 11, random)}}; // C(16, 5) is not
    for (size_t i = 0; i < 4; i++) {
        const RsCode code = make_rs_code(host(), field, shapes[i]);
        size_t workspace = 4711;
        const bool offered = i == 3;
        EXPECT_EQ(offered ? shapes[i].m / 2 : 0, info_of(code.get()).locatable);
        EXPECT_STATUS(offered ? GFK_STATUS_SUCCESS : GFK_STATUS_NOT_SUPPORTED,
                      gfk_rs_locate_workspace(code.get(), 64, &workspace));
        EXPECT_EQ(!offered, workspace == 4711);
        if (!offered) {
            gfk_rs_verdict verdict;
            uint64_t counts[64];
            Bytes bytes(64 * 64);
            const gfk_regions regions = {nullptr, bytes.data(), 64};
            EXPECT_STATUS(GFK_STATUS_NOT_SUPPORTED,
                          gfk_rs_locate(code.get(), &regions, &regions, 64, GFK_RS_REPORT, &verdict,
                                        counts, nullptr, 0, nullptr));
        }
        count_checked();
    }
}

} // namespace
