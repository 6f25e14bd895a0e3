// SPDX-License-Identifier: BSD-3-Clause
// Binary MMAs on the CPU, and a check of the layout of their operands.
#pragma once

#include <algorithm>
#include <array>

#include "support/harness.h"

#include "kernels/product/bmma/operand.h"

// Up to four registers of a lane; a vector would ask for memory at every MMA.
class Registers {
  public:
    Registers(std::initializer_list<uint32_t> list = {}) {
        for (const uint32_t x : list)
            push_back(x);
    }
    void push_back(uint32_t x) { x_.at(size_++) = x; }
    uint32_t operator[](size_t i) const { return x_[i]; }
    size_t size() const { return size_; }

  private:
    std::array<uint32_t, 4> x_ = {};
    size_t size_ = 0;
};
using Fragment = std::array<Registers, 32>; // of every lane

// mma.m16n8k128 (two registers of A, one of B) or m16n8k256 (four and two), b1, and.popc, added to
// the accumulators. Operands are first unpacked into matrices, element by element as in the PTX
// ISA's figures.
void mma(std::array<std::array<uint32_t, 4>, 32> &c, const Fragment &a, const Fragment &b);

// Multiplies a warp's symbols, a[lane][symbol][step], by the panel `b` of an operand table, as the
// kernels do: the words of each lane, after w = 32's exchange between lanes.
template <class T, class Symbols>
void run_panel(const Symbols &a, const uint32_t *b, uint32_t (&words)[32][T::words]) {
    using namespace gfk::bmma;
    for (int pair = 0; pair < T::pairs; pair++)
        for (int word = 0; word < T::words; word++) {
            std::array<std::array<uint32_t, 4>, 32> c[2] = {};
            for (int chain = 0; chain < 2; chain++)
                for (int s = 0; s < T::steps; s += 2) { // k256, at an odd end k128
                    Fragment fa, fb;
                    const int symbol = first_symbol<T>(word, chain);
                    for (int lane = 0; lane < 32; lane++)
                        for (int r = s; r < std::min(s + 2, T::steps); r++) {
                            fa[lane].push_back(a[lane][symbol][r]);
                            fa[lane].push_back(a[lane][symbol + 1][r]);
                            fb[lane].push_back(
                                b[T::index(pair, fragment_of<T>(chain) * T::steps + r, lane)]);
                        }
                    mma(c[chain], fa, fb);
                }
            for (int lane = 0; lane < 32; lane++) {
                uint32_t counts[2][4];
                for (int chain = 0; chain < 2; chain++)
                    for (int i = 0; i < 4; i++)
                        counts[chain][i] = c[chain][lane][i];
                words[lane][word] = merge<T>(words[lane][word], counts, pair);
            }
        }
    for (int round = 0; T::w == 32 && round < 2; round++) {
        uint32_t received[32];
        for (int lane = 0; lane < 32; lane++)
            received[lane] = words[lane ^ (1 << round)][0];
        for (int lane = 0; lane < 32; lane++)
            words[lane][0] =
                permute(words[lane][0], received[lane], exchange_selector(round, lane));
    }
}

// What four warps hold of a matrix of 64 rows: [warp].
using Accumulators = std::array<std::array<std::vector<uint32_t>, 32>, 4>;

// wgmma.m64nNk256, b1, and.popc: rows of A from registers, columns of B from shared memory through
// its descriptor (K-major, no swizzling), added to the accumulators. Unpacked element by element as
// in the PTX ISA's figures.
void wgmma(Accumulators &d, const std::array<Fragment, 4> &a, const std::vector<uint32_t> &shared,
           uint64_t descriptor);

// ---- the check ----------------------------------------------------------------------------------

using Regions = std::vector<std::vector<uint32_t>>; // words

// What a check takes of a layout: one function for all layouts, because there are many of them.
struct Unit {
    unsigned w;
    int lanes, slots;
    size_t words; // of a region in a unit
    size_t (*table_words)(size_t rows, size_t cols);
    void (*build_table)(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                        const uint32_t *matrix);
    void (*run)(const std::vector<uint32_t> &table, const Regions &in, Regions &out);
};

template <class T>
Unit make_unit(size_t words, decltype(Unit::run) run) {
    return {T::w, T::lanes, T::slots, words, gfk::bmma::matrix_words<T>, gfk::bmma::build_matrix<T>,
            run};
}

// Runs one unit of random regions, or of all ones, and compares every symbol with the field's own
// product. Outputs hold something before.
void check_unit(const Unit &unit, size_t rows, size_t cols, uint64_t polynomial, bool ones);
