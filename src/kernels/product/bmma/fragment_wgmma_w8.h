/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wide region product of w = 8 becomes binary matrix products of a warpgroup,
 * wgmma.m64nNk256 (AND, popcount): fragment.h for the larger shape.
 *
 * The fragments are those of mma.m16n8k256, so lanes hold what they hold there: warp w of the four
 * has 16 of the 64 rows, a lane receives columns 2q and 2q + 1 of every eight, and four eights make
 * a panel of four outputs. The differences:
 *
 * - The matrix operand is in shared memory, as core matrices: 8 columns of 16 bytes, one after the
 *   other. Word 4 * column + q of one is what lane 4 * column + q would hold for mma.sync: the
 *   table has the same words, one register after the other, because there are no vector loads.
 * - One instruction takes several panels; some panels of the last one may be without outputs.
 * - Lanes of a warp that share a vector have 4, 8 or 16 bytes of every input, as many inputs leave
 *   room for in registers. */
#ifndef GFK_KERNELS_BMMA_FRAGMENT_WGMMA_W8_H
#define GFK_KERNELS_BMMA_FRAGMENT_WGMMA_W8_H

#include "fragment.h"

namespace gfk {
namespace bmma {

/* Steps: those of 256 bits, which are 32 inputs. Words: those that a lane has of an input. Panels:
 * those of an instruction. Light: no column of the matrix has more than 255 ones, so counts fit
 * bytes. */
template <int Steps, int Words, int Panels = 2, bool Light = false>
struct WgmmaLayoutW8 : Layout<8, 8 * Steps> {
    using Base = Layout<8, 8 * Steps>;
    using LightLayout = WgmmaLayoutW8<Steps, Words, Panels, true>;
    static constexpr bool light = Light;
    static constexpr int lane_words = Words;
    static constexpr int symbols = 4 * Words;
    static constexpr int mmas = Steps; /* of a chain */
    static constexpr int chains =
        symbols / 2; /* of instructions: rows g and g + 8 are two symbols */
    static constexpr int instruction_panels = Panels, instruction_outputs = 4 * Panels,
                         columns = 32 * Panels;
    static constexpr int accumulators = columns / 2; /* of a lane */
    static constexpr unsigned lane_bytes = 4 * Words;
    static constexpr unsigned tile_bytes = 32 * lane_bytes; /* that a warpgroup takes of a region */

    static constexpr int load_registers = 1;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return (size_t)(pair * Base::pair_registers + r) * 32 + (size_t)lane;
    }

    /* Bytes from a core matrix to the next one along K, and to that of the next 8 columns. */
    static constexpr unsigned k_stride = 128;
    static constexpr unsigned column_stride = k_stride * Base::steps;
    static constexpr unsigned step_bytes = 2 * k_stride;
    static constexpr unsigned instruction_bytes = columns / 8 * column_stride;
};

/* The matrix descriptor of operands in shared memory without swizzling; addresses and distances
 * count 16 bytes. */
template <class T>
GFK_BOTH constexpr uint64_t descriptor(uint32_t address) {
    return (uint64_t)(address >> 4) | (uint64_t)(T::k_stride >> 4) << 16 |
           (uint64_t)(T::column_stride >> 4) << 32;
}

/* The counts of the eight bits of a panel's output, of row g in the lower and of row g + 8 in the
 * upper half; where counts fit bytes, both in the lower half. c: the accumulators of an
 * instruction. */
template <class T>
GFK_BOTH void join_rows(const uint32_t (&c)[T::accumulators], int panel, uint32_t (&joined)[8]) {
    GFK_UNROLL
    for (int bit = 0; bit < 8; bit++) {
        const int at = 16 * panel + bit / 2 * 4 + bit % 2;
        joined[bit] = c[at] + c[at + 2] * (T::light ? 1u << 8 : 1u << 16);
    }
}

/* The word of a panel's output, from the counts of its first two symbols and the joined counts of
 * its last two. */
template <class T>
GFK_BOTH uint32_t parities(const uint32_t (&c)[T::accumulators], int panel,
                           const uint32_t (&joined)[8]) {
    uint32_t v[8];
    GFK_UNROLL
    for (int bit = 0; bit < 8; bit++) {
        const int at = 16 * panel + bit / 2 * 4 + bit % 2;
        v[bit] = T::light ? join_bytes(c[at], c[at + 2], joined[bit])
                          : permute((c[at + 2] << 16) + c[at], joined[bit], 0x6420);
    }
    GFK_UNROLL
    for (int bit = 0; bit < 8; bit += 2)
        v[bit] = select_bits(v[bit], v[bit + 1] << 1, 0x01010101);
    return select_bits(select_bits(v[0], v[2] << 2, 0x03030303),
                       select_bits(v[4], v[6] << 2, 0x03030303) << 4, 0x0f0f0f0f);
}

} // namespace bmma
} // namespace gfk
#endif
