// SPDX-License-Identifier: BSD-3-Clause
// Binary MMAs on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

using Fragment = std::array<std::vector<uint32_t>, 32>; // registers of every lane

// mma.m16n8k128 (two registers of A, one of B) or m16n8k256 (four and two), b1, and.popc, added to
// the accumulators. Operands are first unpacked into matrices, element by element as in the PTX
// ISA's figures.
inline void mma(std::array<std::array<uint32_t, 4>, 32> &c, const Fragment &a, const Fragment &b) {
    const int k = static_cast<int>(b[0].size()) * 128;
    std::vector<std::array<int, 16>> rows(k);
    std::vector<std::array<int, 8>> columns(k);
    for (int lane = 0; lane < 32; lane++) {
        const int group = lane >> 2, thread = lane & 3;
        for (int i = 0; i < k / 2; i++) { // k / 4 bits of each of two rows
            const bool lower = k == 128 ? i < 32 : i < 32 || (i >= 64 && i < 96);
            const int row = lower ? group : group + 8;
            const int column = thread * 32 + (i & 31) + (i < 64 ? 0 : 128);
            rows[column][row] = a[lane][i / 32] >> (i & 31) & 1;
        }
        for (int i = 0; i < k / 4; i++) {
            const int row = thread * 32 + (i & 31) + (i < 32 ? 0 : 128);
            columns[row][group] = b[lane][i / 32] >> (i & 31) & 1;
        }
    }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const int row = (lane >> 2) + (i < 2 ? 0 : 8), column = (lane & 3) * 2 + (i & 1);
            for (int x = 0; x < k; x++)
                c[lane][i] += static_cast<uint32_t>(rows[x][row] & columns[x][column]);
        }
}
