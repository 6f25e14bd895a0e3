// SPDX-License-Identifier: BSD-3-Clause
// Fields and their scalar arithmetic, against GF-Complete and against the laws of a field; the
// arithmetic of work on matrices, against products by the school's method.
#include <algorithm>
#include <cstring>

#include "oracle/oracle.h"
#include "support/harness.h"

#include "host/base/arithmetic.h"
#include "host/base/poly.h"

namespace {

const unsigned WIDTHS[] = {8, 16, 32};

// One per width that is irreducible but not GF-Complete's default.
uint64_t other_polynomial(unsigned w) {
    return w == 8 ? 0x11b : w == 16 ? 0x1002d : 0x1000000c5;
}

uint32_t divide(const gfk_field &f, uint32_t a, uint32_t b) {
    uint32_t quotient = 0;
    require_success(gfk_field_divide(&f, a, b, &quotient), "gfk_field_divide");
    return quotient;
}

uint32_t inverse(const gfk_field &f, uint32_t a) {
    uint32_t result = 0;
    require_success(gfk_field_inverse(&f, a, &result), "gfk_field_inverse");
    return result;
}

TEST(Field, DefaultPolynomials) {
    EXPECT_EQ(GFK_POLYNOMIAL_W8, make_field(8).polynomial);
    EXPECT_EQ(GFK_POLYNOMIAL_W16, make_field(16).polynomial);
    EXPECT_EQ(GFK_POLYNOMIAL_W32, make_field(32).polynomial);
    for (unsigned w : WIDTHS) {
        const gfk_field implicit = make_field(w), explicit_ = make_field(w, implicit.polynomial);
        EXPECT_EQ(w, implicit.w);
        EXPECT_EQ(implicit.polynomial, explicit_.polynomial);
        EXPECT_EQ(implicit.generator, explicit_.generator);
        EXPECT_EQ(2u, implicit.generator) << "GF-Complete's polynomials are primitive";
        count_checked();
    }
}

TEST(Field, OtherPolynomials) {
    for (unsigned w : WIDTHS)
        EXPECT_EQ(other_polynomial(w), make_field(w, other_polynomial(w)).polynomial);
    EXPECT_EQ(3u, make_field(8, 0x11b).generator) << "x does not generate the field of AES";
}

// There are 30 irreducible polynomials of degree 8 and 4080 of degree 16.
TEST(Field, CountOfIrreduciblePolynomials) {
    gfk_field f;
    unsigned found = 0;
    for (uint64_t p = 0x100; p < 0x200; p++)
        found += gfk_field_init(&f, 8, p) == GFK_STATUS_SUCCESS;
    EXPECT_EQ(30u, found);
    found = 0;
    for (uint64_t p = 0x10000; p < 0x20000 && !options.reduced; p++)
        found += gfk_field_init(&f, 16, p) == GFK_STATUS_SUCCESS;
    EXPECT_EQ(options.reduced ? 0u : 4080u, found);
    count_checked(256 + 65536);
}

// A polynomial of degree 8 is reducible iff something of degree 1 to 4 divides it.
TEST(Field, ReduciblePolynomialsAreRefused) {
    for (uint64_t p = 0x100; p < 0x200; p++) {
        bool reducible = false;
        for (uint64_t d = 2; d < 32; d++) {
            uint64_t rest = p;
            for (int shift = 8; shift >= 0; shift--)
                if ((rest ^ d << shift) < rest)
                    rest ^= d << shift;
            reducible |= rest == 0;
        }
        gfk_field f;
        std::memset(&f, 0x5a, sizeof f);
        const gfk_field before = f;
        EXPECT_STATUS(reducible ? GFK_STATUS_REDUCIBLE_POLYNOMIAL : GFK_STATUS_SUCCESS,
                      gfk_field_init(&f, 8, p))
            << std::hex << p;
        if (reducible) {
            EXPECT_EQ(0, std::memcmp(&before, &f, sizeof f)) << "written in spite of the error";
        }
        count_checked();
    }
    gfk_field f;
    // Squares, even ones, and x^w + 1.
    for (uint64_t p : {UINT64_C(0x10000), UINT64_C(0x10001), UINT64_C(0x10100), UINT64_C(0x1100a)})
        EXPECT_STATUS(GFK_STATUS_REDUCIBLE_POLYNOMIAL, gfk_field_init(&f, 16, p));
    for (uint64_t p : {UINT64_C(0x100000000), UINT64_C(0x100000001), UINT64_C(0x100400006)})
        EXPECT_STATUS(GFK_STATUS_REDUCIBLE_POLYNOMIAL, gfk_field_init(&f, 32, p));
}

TEST(Field, BadInit) {
    gfk_field f = make_field(8);
    const gfk_field before = f;
    EXPECT_STATUS(INVALID, gfk_field_init(nullptr, 8, 0));
    for (unsigned w : {0u, 1u, 4u, 7u, 9u, 24u, 31u, 33u, 64u, 128u, 0xffffffffu})
        EXPECT_STATUS(GFK_STATUS_NOT_SUPPORTED, gfk_field_init(&f, w, 0)) << w;
    for (unsigned w : WIDTHS)
        for (uint64_t p : {UINT64_C(1), UINT64_C(0x1d), UINT64_C(0x100b), UINT64_C(0x400007),
                           UINT64_C(0x11d) << 2, UINT64_C(0x300000007), UINT64_MAX})
            EXPECT_STATUS(INVALID, gfk_field_init(&f, w, p)) << w;
    EXPECT_STATUS(INVALID, gfk_field_init(&f, 8, GFK_POLYNOMIAL_W16));
    EXPECT_STATUS(INVALID, gfk_field_init(&f, 16, GFK_POLYNOMIAL_W8));
    EXPECT_STATUS(INVALID, gfk_field_init(&f, 32, GFK_POLYNOMIAL_W16));
    EXPECT_EQ(0, std::memcmp(&before, &f, sizeof f));
}

// A field put together by hand with a reducible polynomial: no answer, but an end.
TEST(Field, ForgedField) {
    uint32_t out = 77;
    for (uint64_t polynomial : {UINT64_C(0x100), UINT64_C(0x101), UINT64_C(0x1ff)})
        for (uint32_t a = 2; a < 256; a++) {
            const gfk_field f = {8, 2, polynomial};
            const gfk_status status = gfk_field_inverse(&f, a, &out);
            EXPECT_TRUE(status == GFK_STATUS_SUCCESS || status == INVALID);
        }
    const gfk_field f = {8, 2, 0x101}; // (x + 1)^8
    out = 77;
    EXPECT_STATUS(INVALID, gfk_field_inverse(&f, 3, &out));
    EXPECT_STATUS(INVALID, gfk_field_divide(&f, 1, 3, &out));
    EXPECT_EQ(77u, out);
}

TEST(Field, BadArithmetic) {
    const gfk_field forged = {};
    uint32_t out = 77;
    const auto refused = [](gfk_status status, const gfk_field *f, uint32_t a, uint32_t b,
                            uint32_t *to) {
        EXPECT_STATUS(status, gfk_field_multiply(f, a, b, to));
        EXPECT_STATUS(status, gfk_field_divide(f, a, b, to));
        EXPECT_STATUS(status, gfk_field_inverse(f, std::max(a, b), to));
        EXPECT_STATUS(status, gfk_field_pow(f, std::max(a, b), 2, to));
    };
    refused(INVALID, nullptr, 1, 1, &out);
    refused(INVALID, &forged, 1, 1, &out);
    for (unsigned w : WIDTHS) {
        const gfk_field f = make_field(w);
        refused(INVALID, &f, 1, 1, nullptr);
        EXPECT_STATUS(GFK_STATUS_DIVISION_BY_ZERO, gfk_field_divide(&f, 1, 0, &out));
        EXPECT_STATUS(GFK_STATUS_DIVISION_BY_ZERO, gfk_field_divide(&f, 0, 0, &out));
        EXPECT_STATUS(GFK_STATUS_DIVISION_BY_ZERO, gfk_field_inverse(&f, 0, &out));
        if (w < 32) {
            refused(GFK_STATUS_INVALID_CONSTANT, &f, 1u << w, 1, &out);
            refused(GFK_STATUS_INVALID_CONSTANT, &f, 1, 1u << w, &out);
        }
    }
    EXPECT_EQ(77u, out) << "written in spite of an error";
}

void compare_with_oracle(const gfk_field &f, Oracle &o, uint32_t a, uint32_t b) {
    ASSERT_EQ(oracle_multiply(o.get(), a, b), multiply(f, a, b)) << a << " * " << b;
    if (b != 0) {
        ASSERT_EQ(oracle_divide(o.get(), a, b), divide(f, a, b)) << a << " / " << b;
    }
    count_checked();
}

TEST(Field, AgreesWithGfComplete) {
    for (unsigned w : WIDTHS)
        for (uint64_t polynomial : {UINT64_C(0), other_polynomial(w)}) {
            const gfk_field f = make_field(w, polynomial);
            Oracle o = make_oracle(w, polynomial);
            Random random(w);
            for (int i = 0; i < (options.reduced ? 1000 : polynomial ? 20000 : 100000); i++)
                compare_with_oracle(f, o, random.symbol(w), random.symbol(w));
        }
}

TEST(Field, AgreesWithGfCompleteOnAllOfW8) {
    const gfk_field f = make_field(8);
    Oracle o = make_oracle(8);
    for (uint32_t a = 0; a < 256; a++)
        for (uint32_t b = 0; b < 256; b++)
            compare_with_oracle(f, o, a, b);
}

void check_laws(const gfk_field &f) {
    Random random(f.polynomial);
    for (int i = 0; i < 1000; i++) {
        const uint32_t a = random.symbol(f.w), b = random.symbol(f.w), c = random.symbol(f.w);
        ASSERT_EQ(multiply(f, a, b), multiply(f, b, a));
        ASSERT_EQ(multiply(f, a, multiply(f, b, c)), multiply(f, multiply(f, a, b), c));
        ASSERT_EQ(multiply(f, a, b ^ c), multiply(f, a, b) ^ multiply(f, a, c));
        ASSERT_EQ(a, multiply(f, a, 1));
        ASSERT_EQ(0u, multiply(f, a, 0));
        ASSERT_LE(multiply(f, a, b), largest(f.w));
        if (b != 0) {
            ASSERT_EQ(a, divide(f, multiply(f, a, b), b));
            ASSERT_EQ(1u, multiply(f, b, inverse(f, b)));
            ASSERT_EQ(multiply(f, a, inverse(f, b)), divide(f, a, b));
        }
        const uint64_t m = random.below(1000), n = random.below(1000);
        ASSERT_EQ(multiply(f, power(f, a, m), power(f, a, n)), power(f, a, m + n));
        ASSERT_EQ(a, power(f, a, UINT64_C(1) << f.w)) << "Frobenius";
        count_checked();
    }
    for (uint32_t a : {0u, 1u, 2u, largest(f.w)}) {
        EXPECT_EQ(1u, power(f, a, 0));
        EXPECT_EQ(a, power(f, a, 1));
        EXPECT_EQ(multiply(f, a, a), power(f, a, 2));
    }
    EXPECT_EQ(1u, power(f, 3, UINT64_MAX / ((UINT64_C(1) << f.w) - 1) * largest(f.w)));
}

TEST(Field, Laws) {
    for (unsigned w : WIDTHS) {
        check_laws(make_field(w));
        check_laws(make_field(w, other_polynomial(w)));
    }
}

// The powers of the generator are all non-zero elements, and no smaller element does that.
TEST(Field, GeneratorIsTheSmallest) {
    for (unsigned w : {8u, 16u})
        for (uint64_t p : {UINT64_C(0), other_polynomial(w)}) {
            const gfk_field f = make_field(w, p);
            for (uint32_t g = 2; g <= f.generator; g++) {
                uint32_t order = 0, x = 1;
                do {
                    x = multiply(f, x, g);
                    order++;
                } while (x != 1);
                EXPECT_EQ(g == f.generator, order == largest(w)) << w << ' ' << g;
                count_checked();
            }
        }
    std::vector<uint64_t> list = polynomials(32);
    list.push_back(0);
    for (uint64_t p : list) {
        const gfk_field f = make_field(32, p);
        for (uint32_t g = 2; g <= f.generator; g++) {
            bool generates = power(f, g, UINT32_MAX) == 1;
            for (uint32_t prime : {3u, 5u, 17u, 257u, 65537u}) // whose product 2^32 - 1 is
                generates = generates && power(f, g, UINT32_MAX / prime) != 1;
            EXPECT_EQ(g == f.generator, generates) << p << ' ' << g;
            count_checked();
        }
    }
}

// ---- arithmetic of matrices, which is not exported ----------------------------------------------

// The school's method: all shifts first, then the division by the polynomial.
uint32_t school_product(const gfk_field &f, uint32_t a, uint32_t b) {
    uint64_t product = 0;
    for (unsigned i = 0; i < f.w; i++)
        if (b >> i & 1)
            product ^= static_cast<uint64_t>(a) << i;
    for (unsigned i = f.w; i-- > 0;)
        if (product >> (f.w + i) & 1)
            product ^= f.polynomial << i;
    return static_cast<uint32_t>(product);
}

// Where carries of the polynomial and the ends of loops are: few bits, nearly all bits, and both
// sides of the polynomial itself.
std::vector<uint32_t> edges(const gfk_field &f) {
    const uint32_t most = largest(f.w), low = static_cast<uint32_t>(f.polynomial) & most;
    std::vector<uint32_t> list = {0, 3, most, most - 1, most / 2, low, low ^ 1, low ^ most};
    for (unsigned i = 0; i < f.w; i++)
        list.push_back(1u << i);
    return list;
}

class Arithmetic : public testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Widths, Arithmetic, testing::Values(8, 16, 32));

TEST_P(Arithmetic, AgreesWithSchool) {
    const unsigned w = GetParam();
    std::vector<uint64_t> list = polynomials(w);
    list.push_back(0);
    for (uint64_t polynomial : list) {
        const gfk_field f = make_field(w, polynomial);
        gfk_arithmetic a = {};
        require_success(gfk_arithmetic_create(&a, &f), "gfk_arithmetic_create");
        gfk_inverter inverter;
        gfk_inverter_init(&inverter, &f);
        Random random(f.polynomial);
        std::vector<uint32_t> xs = edges(f);
        while (xs.size() < (options.reduced ? 100 : 400))
            xs.push_back(random.symbol(w));
        for (uint32_t x : xs) {
            gfk_nibbles nibbles;
            gfk_nibbles_expand(&nibbles, w, f.polynomial, x);
            for (uint32_t y : xs) {
                const uint32_t expected = school_product(f, x, y);
                ASSERT_EQ(expected, gfk_times(&a, x, y)) << x << " * " << y;
                ASSERT_EQ(expected, gfk_nibbles_times(&nibbles, w, y)) << x << " * " << y;
                ASSERT_EQ(expected, multiply(f, x, y)) << x << " * " << y;
                count_checked();
            }
            if (x == 0)
                continue;
            ASSERT_EQ(1u, school_product(f, x, inverse(f, x))) << x;
            ASSERT_EQ(inverse(f, x), gfk_inverse(&a, x)) << x;
            ASSERT_EQ(inverse(f, x), gfk_invert(&inverter, w, f.polynomial, x)) << x;
            const uint32_t y = xs[random.below(xs.size())];
            ASSERT_EQ(y, school_product(f, x, gfk_quotient(&a, y, x))) << y << " / " << x;
        }
        gfk_arithmetic_destroy(&a);
    }
}

} // namespace
