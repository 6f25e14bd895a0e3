// SPDX-License-Identifier: BSD-3-Clause
#include "mma_emulation.h"

#include <bitset>

void mma(std::array<std::array<uint32_t, 4>, 32> &c, const Fragment &a, const Fragment &b) {
    const int k = static_cast<int>(b[0].size()) * 128;
    std::array<std::bitset<256>, 16> rows;
    std::array<std::bitset<256>, 8> columns;
    for (int lane = 0; lane < 32; lane++) {
        const int panel = lane >> 2, thread = lane & 3;
        for (int i = 0; i < k / 2; i++) { // k / 4 bits of each of two rows
            const bool lower = k == 128 ? i < 32 : i < 32 || (i >= 64 && i < 96);
            const int row = lower ? panel : panel + 8;
            const int column = thread * 32 + (i & 31) + (i < 64 ? 0 : 128);
            rows[row][column] = a[lane][i / 32] >> (i & 31) & 1;
        }
        for (int i = 0; i < k / 4; i++) {
            const int row = thread * 32 + (i & 31) + (i < 32 ? 0 : 128);
            columns[panel][row] = b[lane][i / 32] >> (i & 31) & 1;
        }
    }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const int row = (lane >> 2) + (i < 2 ? 0 : 8), column = (lane & 3) * 2 + (i & 1);
            c[lane][i] += static_cast<uint32_t>((rows[row] & columns[column]).count());
        }
}

void wgmma(Accumulators &d, const std::array<Fragment, 4> &a, const std::vector<uint32_t> &shared,
           uint64_t descriptor) {
    const uint64_t address = (descriptor & 0x3fff) * 16;
    const uint64_t k_offset = (descriptor >> 16 & 0x3fff) * 16; // "leading dimension"
    const uint64_t n_offset = (descriptor >> 32 & 0x3fff) * 16; // "stride dimension"
    const size_t columns = d[0][0].size() * 2;
    std::array<std::bitset<256>, 64> rows;
    for (unsigned row = 0; row < 64; row++)
        for (unsigned k = 0; k < 256; k++) {
            const unsigned lane = row % 8 * 4 + k % 128 / 32;
            rows[row][k] = a[row / 16][lane][2 * (k / 128) + row % 16 / 8] >> (k % 32) & 1;
        }
    for (size_t column = 0; column < columns; column++) {
        std::bitset<256> b;
        for (unsigned k = 0; k < 256; k++) {
            const uint64_t byte = address + column / 8 * n_offset + k / 128 * k_offset +
                                  column % 8 * 16 + k % 128 / 8;
            b[k] = shared.at(byte / 4) >> (byte % 4 * 8 + k % 8) & 1;
        }
        for (unsigned row = 0; row < 64; row++) {
            const unsigned panel = row % 8, half = row % 16 / 8;
            const size_t lane = panel * 4 + column % 8 / 2;
            d[row / 16][lane][column / 8 * 4 + 2 * half + column % 2] +=
                static_cast<uint32_t>((rows[row] & b).count());
        }
    }
}

void check_unit(const Unit &unit, size_t rows, size_t cols, uint64_t polynomial, bool ones) {
    SCOPED_TRACE(testing::Message() << "w " << unit.w << ", lanes " << unit.lanes << ", slots "
                                    << unit.slots << ", " << unit.words << " words, " << cols
                                    << " -> " << rows << (ones ? ", all ones" : ""));
    Random random(rows * 1000 + cols);
    const gfk_field field = make_field(unit.w, polynomial);
    std::vector<uint32_t> matrix(rows * cols);
    for (auto &c : matrix)
        c = random.symbol(unit.w);
    Regions in(cols, std::vector<uint32_t>(unit.words));
    Regions out(rows, std::vector<uint32_t>(unit.words));
    for (auto &region : in)
        for (auto &word : region)
            word = ones ? 0xffffffff : random.symbol(32);
    for (auto &region : out)
        for (auto &word : region)
            word = random.symbol(32);
    std::vector<uint32_t> table(unit.table_words(rows, cols));
    unit.build_table(table.data(), field.polynomial, rows, cols, matrix.data());
    unit.run(table, in, out);
    for (size_t j = 0; j < rows; j++) {
        std::vector<uint32_t> expected(unit.words);
        for (size_t i = 0; i < cols; i++)
            Times(field, matrix[j * cols + i])
                .add(in[i].data(), expected.data(), unit.words * sizeof(uint32_t));
        for (size_t at = 0; at < unit.words; at++) {
            ASSERT_EQ(out[j][at], expected[at]) << "output " << j << " word " << at;
            count_checked();
        }
    }
}
