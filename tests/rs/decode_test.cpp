// SPDX-License-Identifier: BSD-3-Clause
// Losing regions and rebuilding them: every pattern of small codes, random ones of large codes,
// matrices that are not MDS, and what it costs to prepare.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>

#include "fixture.h"

namespace {

class RsDecode : public RsTest {
  protected:
    // Loses, rebuilds all, then a part, with addresses of only what is needed.
    void check(gfk_rs_t code, Stripe &stripe, const Indices &lost, Random &random) {
        const gfk_rs_info info = info_of(code);
        stripe.lose(lost);
        const Decoder all = make_decoder(code, lost);
        ASSERT_OK(stripe.run(all));
        ASSERT_TRUE(stripe.is_rebuilt(lost)) << lost_text(lost);
        count_checked();
        if (lost.empty())
            return;
        const Indices order = random_indices(lost.size(), random.below(lost.size() + 1), random);
        Indices wanted, sources(info.k);
        for (size_t i : order)
            wanted.push_back(lost[i]);
        stripe.lose(lost);
        const Decoder part = make_decoder(code, lost, &wanted);
        gfk_product_info product;
        ASSERT_OK(gfk_rs_decoder_get_info(part.get(), &product, sources.data()));
        if (wanted.empty())
            sources.clear();
        else
            check_sources(info, lost, sources);
        const auto some = stripe.only({sources, wanted});
        ASSERT_OK(
            gfk_rs_decoder_run(part.get(), &some->data, &some->parity, stripe.bytes(), nullptr));
        ASSERT_TRUE(stripe.is_rebuilt(wanted)) << lost_text(lost);
        count_checked();
    }
    // Of an MDS code: the data that is there, then the first parity that is there.
    static void check_sources(const gfk_rs_info &info, const Indices &lost,
                              const Indices &sources) {
        Indices expected;
        for (size_t i = 0; expected.size() < info.k; i++)
            if (std::find(lost.begin(), lost.end(), i) == lost.end())
                expected.push_back(i);
        ASSERT_EQ(expected, sources) << lost_text(lost);
    }
    static std::string lost_text(const Indices &lost) {
        std::string text = "lost:";
        for (size_t region : lost)
            text += " " + std::to_string(region);
        return text;
    }
    Layout::Kind any_layout(Random &random) { return static_cast<Layout::Kind>(random.below(3)); }
};

TEST_P(RsDecode, EveryPattern) {
    const size_t most = options.reduced ? 6 : host() || w() == 8 ? 12 : 9;
    for (size_t n = 2; n <= most; n++)
        for (size_t m = 1; m < n; m++) {
            const gfk_rs_matrix matrix = m % 2 ? GFK_RS_CAUCHY : GFK_RS_VANDERMONDE;
            const RsCode code = make_code({matrix, n - m, m});
            Random random(n * 100 + m);
            Stripe stripe(host(), code.get(), 16 + n * symbol_bytes(), any_layout(random), random);
            for (size_t set = 0; set < size_t(1) << n; set++) {
                Indices lost;
                for (size_t i = 0; i < n; i++)
                    if (set >> i & 1)
                        lost.push_back(i);
                if (lost.size() > m)
                    continue;
                std::reverse(lost.begin(), lost.begin() + static_cast<ptrdiff_t>(lost.size() / 2));
                ASSERT_NO_FATAL_FAILURE(check(code.get(), stripe, lost, random));
            }
        }
}

TEST_P(RsDecode, RandomPatterns) {
    struct {
        unsigned w;
        size_t k, m;
    } const shapes[] = {{8, 10, 4},    {8, 20, 10}, {8, 223, 32}, {8, 128, 128},
                        {8, 2, 254},   {8, 255, 1}, {16, 10, 4},  {16, 64, 16},
                        {16, 300, 20}, {32, 10, 4}, {32, 40, 12}, {32, 100, 30}};
    for (const auto &shape : shapes) {
        if (shape.w != w())
            continue;
        const size_t n = shape.k + shape.m;
        for (gfk_rs_matrix matrix : {GFK_RS_CAUCHY, GFK_RS_VANDERMONDE, GFK_RS_REED_SOL_VAN}) {
            const RsCode code = make_code({matrix, shape.k, shape.m});
            Random random(n + matrix);
            for (size_t again = 0; again < (options.reduced ? 2u : n > 100 ? 6u : 40u); again++) {
                const size_t count = again % 2 ? shape.m : random.below(shape.m + 1);
                Stripe stripe(host(), code.get(), (1 + random.below(100)) * symbol_bytes(),
                              any_layout(random), random);
                ASSERT_NO_FATAL_FAILURE(
                    check(code.get(), stripe, random_indices(n, count, random), random));
            }
        }
    }
}

// Named matrices have decode matrices in closed form; a custom matrix with the same elements is
// inverted. At w = 32 few losses of a named matrix are inverted too: 6 * 6 and 7 * 7 are on either
// side of that.
TEST_P(RsDecode, NamedAndCustom) {
    struct {
        gfk_rs_matrix matrix;
        size_t k, m;
    } const shapes[] = {
        {GFK_RS_CAUCHY, 7, 1},         {GFK_RS_CAUCHY, 20, 8},      {GFK_RS_VANDERMONDE, 1, 5},
        {GFK_RS_VANDERMONDE, 24, 12},  {GFK_RS_REED_SOL_VAN, 6, 1}, {GFK_RS_REED_SOL_VAN, 9, 9},
        {GFK_RS_REED_SOL_VAN, 40, 20}, {GFK_RS_CAUCHY_GOOD, 8, 1},  {GFK_RS_CAUCHY_GOOD, 13, 2},
        {GFK_RS_CAUCHY_GOOD, 30, 10},  {GFK_RS_GEN_CAUCHY1, 10, 4}, {GFK_RS_GEN_CAUCHY1, 50, 50}};
    for (const auto &shape : shapes) {
        if (shape.matrix == GFK_RS_GEN_CAUCHY1 && w() != 8)
            continue;
        const auto [matrix, k, m] = shape;
        SCOPED_TRACE(testing::Message()
                     << gfk_rs_matrix_name(matrix) << " (" << k << ", " << m << ")");
        const RsCode named = make_code({matrix, k, m});
        const RsCode custom =
            make_code({GFK_RS_CUSTOM, k, m, matrix_of(named.get()), GFK_RS_UNCHECKED});
        Random random(k * 100 + m);
        for (size_t again = 0; again < (options.reduced ? 3u : 12u); again++) {
            const size_t count = again < 3 ? m : random.below(m + 1);
            const Indices lost = again == 0            ? indices(0, std::min(k, m))
                                 : again == 1 && m > 7 ? indices(0, 6)
                                 : again == 2 && m > 7 ? indices(0, 7)
                                                       : random_indices(k + m, count, random);
            Stripe stripe(host(), named.get(), 5 * symbol_bytes(), any_layout(random), random);
            ASSERT_NO_FATAL_FAILURE(check(named.get(), stripe, lost, random));
            ASSERT_NO_FATAL_FAILURE(check(custom.get(), stripe, lost, random));
        }
    }
}

// A custom matrix row by row below 4,000,000 multiplications, and by gfk_matrix_invert from there on.
TEST_P(RsDecode, WideAndNot) {
    if (w() == 8)
        GTEST_SKIP() << "w = 8 has 256 regions at most";
    const size_t k = 400, m = 101;
    const gfk_field field = make_field(w());
    const RsCode code =
        make_code({GFK_RS_CUSTOM, k, m, matrix_of(field, GFK_RS_CAUCHY, k, m), GFK_RS_UNCHECKED});
    Random random;
    for (size_t lost : {99, 100, 101}) {
        Stripe stripe(host(), code.get(), 3 * symbol_bytes(), Layout::PHASES, random);
        ASSERT_NO_FATAL_FAILURE(check(code.get(), stripe, random_indices(k, lost, random), random));
    }
}

// All data, all parity, and runs of regions that begin or end where data does.
TEST_P(RsDecode, Blocks) {
    for (size_t k : {5u, 16u, 33u})
        for (size_t m : {5u, 16u}) {
            const RsCode code = make_code({GFK_RS_CAUCHY, k, m});
            Random random(k * 100 + m);
            Stripe stripe(host(), code.get(), 4096 + 3 * symbol_bytes(), Layout::PHASES, random);
            for (size_t first = 0; first + m <= k + m; first++) {
                const Indices lost = indices(first, first + m);
                ASSERT_NO_FATAL_FAILURE(check(code.get(), stripe, lost, random));
            }
        }
}

// More regions than a call keeps addresses of: several products, of which the later ones add.
TEST_P(RsDecode, ManyRegions) {
    if (w() == 8)
        GTEST_SKIP() << "w = 8 has 256 regions at most";
    struct {
        size_t k, m, lost_data, lost_parity;
        bool custom; // by matrix inversion
    } const shapes[] = {{1024, 3, 2, 1, false},      {1025, 3, 3, 0, false},
                        {2500, 6, 3, 3, false},      {30, 1100, 5, 1060, false},
                        {1030, 1030, 5, 1025, true}, {400, 200, 150, 20, true}};
    const gfk_field field = make_field(w());
    for (const auto &shape : shapes) {
        if (options.reduced && shape.k * shape.m > 10000)
            continue;
        RsShape of_code = {GFK_RS_CAUCHY, shape.k, shape.m};
        if (shape.custom)
            of_code = {GFK_RS_CUSTOM, shape.k, shape.m,
                       matrix_of(field, GFK_RS_CAUCHY, shape.k, shape.m), GFK_RS_UNCHECKED};
        const RsCode code = make_code(of_code);
        Random random(shape.k);
        Indices lost = random_indices(shape.k, shape.lost_data, random);
        for (size_t parity : random_indices(shape.m, shape.lost_parity, random))
            lost.push_back(shape.k + parity);
        for (Layout::Kind layout : {Layout::PHASES, Layout::SPACED}) {
            Stripe stripe(host(), code.get(), 3 * symbol_bytes(), layout, random);
            ASSERT_NO_FATAL_FAILURE(check(code.get(), stripe, lost, random));
        }
    }
}

TEST_P(RsDecode, NothingLost) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 4, 2});
    Random random;
    Stripe stripe(host(), code.get(), 64, Layout::PHASES, random);
    const Indices lost = {1, 5}, none;
    stripe.lose(lost);
    for (const Decoder &decoder :
         {make_decoder(code.get(), none), make_decoder(code.get(), lost, &none)}) {
        gfk_product_info info;
        std::memset(&info, 0x5a, sizeof info);
        Indices sources(4, 4711);
        ASSERT_OK(gfk_rs_decoder_get_info(decoder.get(), &info, sources.data()));
        EXPECT_EQ(nullptr, info.engine);
        EXPECT_EQ(Indices(4, 4711), sources);
        const auto nothing = stripe.only({});
        ASSERT_OK(gfk_rs_decoder_run(decoder.get(), &nothing->data, &nothing->parity, 64, nullptr));
        ASSERT_OK(stripe.run(decoder));
        ASSERT_TRUE(stripe.is_rebuilt(none));
        count_checked();
    }
    const size_t empty = 0;
    ASSERT_OK(gfk_rs_decode(code.get(), lost.data(), 2, &empty, 0, stripe.data(), stripe.parity(),
                            64, nullptr));
    ASSERT_OK(gfk_rs_decode(code.get(), nullptr, 0, nullptr, 0, stripe.data(), stripe.parity(), 64,
                            nullptr));
    ASSERT_TRUE(stripe.is_rebuilt(none));
    count_checked(2);
}

// The decoders of gfk_rs_decode: more losses than it keeps, in any order of the lists.
TEST_P(RsDecode, Cached) {
    const RsCode code = make_code({GFK_RS_CAUCHY, 9, 3});
    Random random;
    Stripe stripe(host(), code.get(), 10 * symbol_bytes(), Layout::PHASES, random);
    for (size_t again = 0; again < (options.reduced ? 100u : 600u); again++) {
        const Indices lost = random_indices(12, random.below(4), random);
        Indices wanted(lost.begin(),
                       lost.begin() + static_cast<ptrdiff_t>(random.below(lost.size() + 1)));
        const bool all = again % 2 != 0;
        if (all)
            wanted = lost;
        stripe.lose(lost);
        for (int twice = 0; twice < 2; twice++) { // the second time it is there
            ASSERT_OK(gfk_rs_decode(code.get(), lost.data(), lost.size(),
                                    all              ? nullptr
                                    : wanted.empty() ? &again
                                                     : wanted.data(),
                                    all ? 0 : wanted.size(), stripe.data(), stripe.parity(),
                                    stripe.bytes(), nullptr));
            ASSERT_TRUE(stripe.is_rebuilt(wanted));
            stripe.lose(lost);
            count_checked();
        }
    }
}

// Not MDS: the first parity rows may say the same, others may help, or none.
TEST_P(RsDecode, Singular) {
    const std::vector<uint32_t> matrix = {1, 1, 1, 1, //
                                          1, 1, 1, 1, //
                                          1, 2, 3, 0, //
                                          2, 4, 6, 0};
    const RsCode code = make_code({GFK_RS_CUSTOM, 4, 4, matrix, GFK_RS_UNCHECKED});
    EXPECT_EQ(GFK_RS_MDS_NO, info_of(code.get()).mds);
    Random random;
    Stripe stripe(host(), code.get(), 60, Layout::PHASES, random);
    const Indices two = {0, 1}; // rows 0 and 2
    stripe.lose(two);
    const Decoder decoder = make_decoder(code.get(), two);
    Indices sources(4);
    ASSERT_OK(gfk_rs_decoder_get_info(decoder.get(), nullptr, sources.data()));
    EXPECT_EQ((Indices{2, 3, 4, 6}), sources);
    ASSERT_OK(stripe.run(decoder));
    EXPECT_TRUE(stripe.is_rebuilt(two));
    for (const Indices &lost : {Indices{0, 4, 6}, Indices{7, 0, 6, 5}, Indices{1, 3, 4, 7}}) {
        stripe.lose(lost);
        ASSERT_OK(stripe.decode(lost));
        ASSERT_TRUE(stripe.is_rebuilt(lost));
        count_checked();
    }
    // Three unknowns, two different rows; and one unknown that only row 0 and 1 know.
    for (const Indices &lost : {Indices{0, 1, 2}, Indices{3, 4, 5}, Indices{0, 1, 2, 4}}) {
        stripe.lose(lost);
        gfk_rs_decoder_t none = nullptr;
        EXPECT_STATUS(GFK_STATUS_SINGULAR, gfk_rs_decoder_create(&none, code.get(), lost.data(),
                                                                 lost.size(), nullptr, 0, nullptr));
        EXPECT_EQ(nullptr, none);
        EXPECT_STATUS(GFK_STATUS_SINGULAR, stripe.decode(lost));
        EXPECT_TRUE(stripe.is_rebuilt({}));
        count_checked();
    }
}

// So many lost regions that a matrix is inverted: the first parity regions do not determine them.
TEST_P(RsDecode, SingularWide) {
    if (w() == 8)
        GTEST_SKIP() << "w = 8 has 256 regions at most";
    const size_t k = 300, m = 200, lost_data = 150;
    std::vector<uint32_t> matrix(k * m);
    const gfk_field field = make_field(w());
    ASSERT_OK(gfk_rs_fill_matrix(&field, GFK_RS_CAUCHY, k, m, matrix.data()));
    std::copy_n(matrix.begin(), k, matrix.begin() + 7 * k); // row 7 says what row 0 says
    const RsCode code = make_code({GFK_RS_CUSTOM, k, m, matrix, GFK_RS_UNCHECKED});
    Random random;
    Stripe stripe(host(), code.get(), 5 * symbol_bytes(), Layout::PHASES, random);
    const Indices lost = random_indices(k, lost_data, random);
    stripe.lose(lost);
    const Decoder decoder = make_decoder(code.get(), lost);
    Indices sources(k);
    ASSERT_OK(gfk_rs_decoder_get_info(decoder.get(), nullptr, sources.data()));
    for (size_t i = 0; i < lost_data; i++)
        EXPECT_EQ(k + i + (i >= 7), sources[k - lost_data + i]);
    ASSERT_OK(stripe.run(decoder));
    EXPECT_TRUE(stripe.is_rebuilt(lost));
    count_checked();
}

PER_PLACE(RsDecode);

// What gfk_rs_decoder_create takes, at best of some times. The bounds are five times what is asked
// of it on one core.
double best_seconds(gfk_rs_t code, const Indices &lost, int times) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < times; i++) {
        const auto start = std::chrono::steady_clock::now();
        const Decoder decoder = make_decoder(code, lost);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

TEST(RsSetUp, Times) {
    for (unsigned w : {8u, 16u, 32u}) {
        const RsCode large = make_rs_code(true, make_field(w), {GFK_RS_CAUCHY, 128, 128});
        const RsCode small = make_rs_code(true, make_field(w), {GFK_RS_CAUCHY, 10, 4});
        Indices half;
        for (size_t i = 0; i < 256; i += 2)
            half.push_back(i);
        const int times = options.reduced ? 1 : 5;
        const double data = best_seconds(large.get(), indices(0, 128), times);
        const double both = best_seconds(large.get(), half, times);
        const double few = best_seconds(small.get(), {0, 3, 7, 11}, 20 * times);
        std::printf("gfk: w = %u: a decoder of 128 + 128 in %.2f ms (all data), %.2f ms (half of "
                    "both); of 10 + 4 in %.1f us\n",
                    w, data * 1e3, both * 1e3, few * 1e6);
        if (!options.reduced) {
            EXPECT_LT(data, 0.1);
            EXPECT_LT(both, 0.1);
            EXPECT_LT(few, 100e-6);
        }
        count_checked(3);
    }
}

} // namespace
