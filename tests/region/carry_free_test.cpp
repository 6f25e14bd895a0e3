// SPDX-License-Identifier: BSD-3-Clause
// CARRY_FREE reduces by constants of the polynomial: every polynomial of degree 8 and 16 and many of
// degree 32, beside GF-Complete's CARRY_FREE, or its SHIFT where CARRY_FREE refuses the polynomial.
#include <iostream>

#include "oracle/oracle.h"
#include "support/row_fixture.h"

namespace {

class CarryFree : public RowTest {
  protected:
    // Irreducible polynomials: all of degree 8 and 16, low and random ones of degree 32.
    std::vector<gfk_field> fields() const {
        const uint64_t lead = UINT64_C(1) << w();
        std::vector<uint64_t> candidates;
        Random random;
        const uint64_t low = options.reduced ? 256 : w() == 32 ? 8192 : lead;
        while (2 * candidates.size() < low)
            candidates.push_back(lead + 2 * candidates.size() + 1);
        for (int i = w() < 32 ? 0 : options.reduced ? 100 : 10000; i-- > 0;)
            candidates.push_back(lead | random.symbol(32) | 1);
        std::vector<gfk_field> found;
        gfk_field field;
        for (uint64_t p : candidates)
            if (gfk_field_init(&field, w(), p) == GFK_STATUS_SUCCESS)
                found.push_back(field);
        return found;
    }
};

TEST_P(CarryFree, EveryPolynomial) {
    Random random;
    Bytes in = random.bytes(64 * symbol_bytes()), expected(in.size());
    set_symbol(in.data(), 0, w(), largest(w()));
    Memory src(row(), in), dst(row(), in.size());
    size_t refused_count = 0;
    const std::vector<gfk_field> list = fields();
    for (const gfk_field &f : list) {
        int refused = 0;
        Oracle o(oracle_create_carry_free(w(), f.polynomial, &refused));
        ASSERT_NE(nullptr, o) << f.polynomial;
        refused_count += refused != 0;
        Runner runner(f, row());
        const std::string note = "polynomial " + std::to_string(f.polynomial);
        for (uint32_t c : {largest(w()), 2u, random.symbol(w()), random.symbol(w())}) {
            oracle_multiply_region(o.get(), c, in.data(), expected.data(), in.size());
            runner.run(c, src.data(), dst.data(), in.size());
            ASSERT_TRUE(same(row(), c, expected, dst.read(), GFK_SET, note.c_str()));
            count_checked();
        }
    }
    std::cout << row()->id << ": " << list.size()
              << " polynomials; GF-Complete's CARRY_FREE refuses " << refused_count
              << ", compared with its SHIFT\n";
}

PER_ROW(CarryFree, rows_that([](Row row) { return row->method == GFK_METHOD_CARRY_FREE; }));

} // namespace
