// SPDX-License-Identifier: BSD-3-Clause
// The scalar arithmetic of fields and that of work on matrices, which is not exported, against
// products by the school's method: all shifts first, then the division by the polynomial.
#include "support/harness.h"

#include "host/base/arithmetic.h"
#include "host/base/poly.h"

namespace {

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
            uint32_t inverse = 0;
            require_success(gfk_field_inverse(&f, x, &inverse), "gfk_field_inverse");
            ASSERT_EQ(1u, school_product(f, x, inverse)) << x;
            ASSERT_EQ(inverse, gfk_inverse(&a, x)) << x;
            const uint32_t y = xs[random.below(xs.size())];
            ASSERT_EQ(y, school_product(f, x, gfk_quotient(&a, y, x))) << y << " / " << x;
        }
        gfk_arithmetic_destroy(&a);
    }
}

} // namespace
