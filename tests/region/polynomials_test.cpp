// SPDX-License-Identifier: BSD-3-Clause
// Rows in fields of other polynomials: all 30 of degree 8, several of degree 16 and 32.
#include "support/row_fixture.h"

namespace {

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
