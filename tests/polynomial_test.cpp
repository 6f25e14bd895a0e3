// SPDX-License-Identifier: BSD-3-Clause
// Every row in fields of other polynomials: all 30 of degree 8, several of degree 16 and 32.
#include "row_test.h"

namespace {

// The first polynomials of degree w that are irreducible, from a low and a random place on.
std::vector<uint64_t> polynomials(unsigned w) {
    const uint64_t lead = UINT64_C(1) << w;
    std::vector<uint64_t> list;
    const auto collect = [&](uint64_t from, size_t n) {
        gfk_field f;
        for (uint64_t p = lead | from | 1; n != 0 && p < 2 * lead; p += 2)
            if (gfk_field_init(&f, w, p) == GFK_STATUS_SUCCESS) {
                list.push_back(p);
                n--;
            }
    };
    if (w == 8) {
        collect(0, options.reduced ? 4 : 30);
        return list;
    }
    list.push_back(w == 16 ? 0x1002d : 0x1000000c5);
    Random random(w);
    collect(0, 2);
    collect(lead / 2 + lead / 4, 1); // the terms next to the leading one are set
    if (!options.reduced) {
        collect(random.symbol(w) & (lead / 2 - 1), 2);
        collect(lead - lead / 64, 2);
    }
    return list;
}

class Polynomials : public RowTest {};

TEST_P(Polynomials, AgreeWithScalarArithmetic) {
    const std::vector<uint64_t> list = polynomials(w());
    ASSERT_GE(list.size(), options.reduced ? 4u : 8u);
    for (uint64_t p : list) {
        const gfk_field f = make_field(w(), p);
        Runner runner(f, row());
        Random random(p);
        Bytes in = random.bytes(64 * symbol_bytes());
        in.resize(in.size() + w() * symbol_bytes()); // and all of the basis
        for (unsigned i = 0; i < w(); i++)
            set_symbol(in.data(), 64 + i, w(), 1u << i);
        for (uint32_t c : constants(w(), random, 8)) {
            const std::string note = "polynomial " + std::to_string(p);
            ASSERT_TRUE(
                same(row(), c, product_of(f, c, in), runner.product(c, in), GFK_SET, note.c_str()));
            count_checked();
        }
    }
}

PER_ROW(Polynomials, rows());

} // namespace
