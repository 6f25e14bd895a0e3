/* SPDX-License-Identifier: BSD-3-Clause */
/* How a region product of w = 32 becomes binary matrix products of a warpgroup: fragment.h and
 * fragment_wgmma_w8.h for four outputs.
 *
 * - A warp's tile is 8 vectors, as for mma.sync: lane 4g + q takes vector g of the inputs q, 4 + q,
 * ... Two of its words are rows g and g + 8, and the other two again.
 * - Four outputs of 32 bits are 128 columns. A lane receives two columns of each eight, 32 in all,
 *   for either row: lane q's are the bits of output q. So no lane needs another's bits, and each
 *   stores a whole vector.
 * - The columns take two instructions, so that the counts of one instruction take few registers.
 * - The order of a lane's columns is free: it is the one in which counts are packed. */
#ifndef GFK_KERNELS_BMMA_FRAGMENT_WGMMA_W32_H
#define GFK_KERNELS_BMMA_FRAGMENT_WGMMA_W32_H

#include "fragment_wgmma_w8.h"

namespace gfk {
namespace bmma {

/* Slots: inputs of a lane. */
template <int Slots>
struct WgmmaLayoutW32 : Layout<32, 4, Slots> {
    static constexpr int steps = Slots + Slots % 2; /* words of a row and lane; the last may be 0 */
    static constexpr int outputs = 4;
    static constexpr int instructions = 2, instruction_counts = 16;     /* of a lane and row */
    static constexpr int accumulators = 2 * instruction_counts;         /* for two rows */
    static constexpr int pairs = instructions * instruction_counts / 2; /* of a lane's columns */
    static constexpr int pair_registers = steps;
    static constexpr int panel_registers = pairs * pair_registers;
    static constexpr unsigned warp_bytes = 128, tile_bytes = 4 * warp_bytes; /* of a region */

    static constexpr int load_registers = 1;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return (size_t)(pair * pair_registers + r) * 32 + (size_t)lane;
    }
    static constexpr unsigned k_stride = 128;
    static constexpr unsigned column_stride = k_stride * steps;
    static constexpr unsigned step_bytes = 2 * k_stride;
    static constexpr unsigned instruction_bytes = instruction_counts / 2 * column_stride;

    /* Counts are packed into words, so far apart that each has room; the topmost of a word may run
     * over. The first `full` words take `most` counts, the others one less. */
    static constexpr int spacing = Slots < 2 ? 8 : Slots < 4 ? 9 : Slots < 8 ? 10 : 11;
    static_assert(Slots <= 8, "");
    static constexpr int most = (31 + spacing) / spacing, full = 32 - (most - 1) * spacing;
    /* Which word takes count n, as which of its counts, and so which bit of the output that is:
     * words are shifted by their number. */
    GFK_BOTH static constexpr int packed_word(int n) {
        return n < full * most ? n / most : full + (n - full * most) / (most - 1);
    }
    GFK_BOTH static constexpr int place(int n) {
        return n < full * most ? n % most : (n - full * most) % (most - 1);
    }
    GFK_BOTH static constexpr int bit(int n) { return packed_word(n) + spacing * place(n); }
    /* Are packed words shifted as a whole, on another pipe than added up? As measured. */
    static constexpr bool shifts_packed = Slots <= 4;

    GFK_BOTH static constexpr int column_output(int, int, int column) { return column / 2; }
    GFK_BOTH static constexpr int column_bit(int pair, int, int column) {
        return bit(2 * pair + column % 2);
    }
    GFK_BOTH static constexpr bool column_sees(int, int) { return true; }
};

/* A shift to the left on the ALU pipe; left to itself, ptxas multiplies, on the FMA pipe. */
GFK_BOTH uint32_t shifted(uint32_t x, int bits) {
#ifdef __CUDA_ARCH__
    uint32_t y = x;
    if (bits != 0)
        asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(y) : "r"(0), "r"(x), "r"(bits));
    return y;
#else
    return x << bits;
#endif
}

/* The bits that an instruction's counts are in the words of two rows. */
template <class T>
GFK_BOTH void parities(const uint32_t (&c)[T::accumulators], int instruction, uint32_t &first,
                       uint32_t &second) {
    uint32_t mask = 0, x = 0, y = 0;
    int low = 0; /* by which the packed words are shifted in the end */
    GFK_UNROLL
    for (int i = 0; i < T::instruction_counts; i++) {
        const int n = instruction * T::instruction_counts + i, at = i / 2 * 4 + i % 2;
        if (mask == 0)
            low = T::shifts_packed ? T::bit(n) : 0;
        x = (mask ? x : 0) + (c[at] << (T::bit(n) - low));
        y = (mask ? y : 0) + (c[at + 2] << (T::bit(n) - low));
        mask |= 1u << T::bit(n);
        if (i + 1 == T::instruction_counts || T::packed_word(n + 1) != T::packed_word(n)) {
            first ^= shifted(x, low) & mask;
            second ^= shifted(y, low) & mask;
            mask = 0;
        }
    }
}

} // namespace bmma
} // namespace gfk
#endif
