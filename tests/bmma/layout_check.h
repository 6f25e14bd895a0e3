// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the BMMA engines' layouts share.
#pragma once

#include "support/harness.h"

#include "kernels/product/bmma/operand.h"

using Regions = std::vector<std::vector<uint32_t>>; // words

// Runs one unit of random regions, or of all ones, by run_unit(table, in, out), and compares every
// symbol with the field's own product. Words: of a region in a unit. Outputs hold something before.
template <class T, size_t Words = T::tile_bytes / 4, class Run>
void check_unit(size_t rows, size_t cols, uint64_t polynomial, bool ones, Run run_unit) {
    Random random(rows * 1000 + cols);
    gfk_field field;
    ASSERT_EQ(gfk_field_init(&field, T::w, polynomial), GFK_STATUS_SUCCESS);
    std::vector<uint32_t> matrix(rows * cols);
    for (auto &c : matrix)
        c = random.symbol(T::w);
    Regions in(cols, std::vector<uint32_t>(Words)), out(rows, std::vector<uint32_t>(Words));
    for (auto &region : in)
        for (auto &word : region)
            word = ones ? 0xffffffff : random.symbol(32);
    for (auto &region : out)
        for (auto &word : region)
            word = random.symbol(32);
    std::vector<uint32_t> table(gfk::bmma::matrix_words<T>(rows, cols));
    gfk::bmma::build_matrix<T>(table.data(), field.polynomial, rows, cols, matrix.data());
    run_unit(table, in, out);
    for (size_t j = 0; j < rows; j++)
        for (size_t at = 0; at < Words; at++) {
            uint32_t expected = 0;
            for (size_t i = 0; i < cols; i++)
                expected ^= multiply_word(field, matrix[j * cols + i], in[i][at]);
            ASSERT_EQ(out[j][at], expected) << "output " << j << " word " << at;
            count_checked();
        }
}
