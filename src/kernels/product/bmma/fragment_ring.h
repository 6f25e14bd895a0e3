/* SPDX-License-Identifier: BSD-3-Clause */
/* How a region product becomes binary matrix products of a warpgroup, wgmma.m64nNk256 (AND,
 * popcount), whose lanes hold what they hold for mma.sync (fragment.h):
 *
 * - `lanes` neighbouring lanes (2 or 4) share a vector. Lane l of them has the inputs l,
 *   lanes + l, ...: its slots. Lane l receives all bits of output l of a panel of `lanes` outputs,
 *   so no lane needs another lane's bits, and each lane stores a whole vector. With two lanes a row
 *   holds two vectors, and the matrix operand is block-diagonal.
 * - Two words of every slot are computed in two turns of 32 counts a lane. w = 8 and 16: a turn is
 *   one word, whose symbols are the rows, and a symbol's bits are the columns: two chains of 32
 *   columns or one of 64. w = 32: the two words are the two rows of a chain in both turns, and a
 *   turn has half of the 64 or 128 columns.
 * - The matrix operand is in shared memory, as core matrices: fragment_wgmma_w8.h.
 * - The order of a lane's columns is free: it is the order in which counts are packed.
 *
 * The functions here are what a lane does between loads, MMAs and stores. The host test runs them
 * against an emulated MMA. */
#ifndef GFK_KERNELS_BMMA_FRAGMENT_RING_H
#define GFK_KERNELS_BMMA_FRAGMENT_RING_H

#include "fragment_wgmma_w8.h"

namespace gfk {
namespace bmma {

/* Slots: inputs of a lane. */
template <int W, int Lanes, int Slots>
struct RingLayout {
    static_assert(Lanes == 2 || Lanes == 4, "");
    static constexpr int w = W, lanes = Lanes, slots = Slots;
    static constexpr int inputs = Lanes * Slots, outputs = Lanes; /* of a panel */
    static constexpr int in_register = 32 / W;                    /* slots that a register holds */
    /* Registers of a lane and row, an even number: the last one may be multiplied by zero. */
    static constexpr int steps = ((Slots + in_register - 1) / in_register + 1) / 2 * 2;
    static constexpr int chains = W == 8 ? 2 : 1;
    static constexpr int columns = 64 / chains, accumulators = 32 / chains; /* of a chain */
    static constexpr unsigned warp_bytes = 512 / Lanes;                     /* of a region */

    /* The matrix operand of a panel: [pair of columns][register], for w = 32 turn by turn. */
    static constexpr int pairs = (W == 32 ? 2 : 1) * columns / 8, fragments = 1;
    static constexpr int panel_registers = pairs * steps;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return (size_t)(pair * steps + r) * 32 + (size_t)lane;
    }
    static constexpr unsigned k_stride = 128, column_stride = k_stride * steps;
    static constexpr unsigned step_bytes = 2 * k_stride;
    static constexpr unsigned panel_bytes = pairs * column_stride;
    static constexpr unsigned turn_bytes = W == 32 ? panel_bytes / 2 : 0;

    GFK_BOTH static constexpr int column_output(int, int, int column) { return column / 2 % Lanes; }
    GFK_BOTH static constexpr int column_bit(int pair, int, int column) {
        return W == 32   ? bit(2 * pair + column % 2)
               : W == 16 ? pair + 8 * (column % 2)
                         : 2 * pair + column % 2;
    }
    GFK_BOTH static constexpr bool column_sees(int column, int q) {
        return column / 2 / Lanes == q / Lanes;
    }

    static constexpr int most_count = inputs * W;
    /* w = 8 and 16 pack four counts, the same bit of four bytes. */
    static constexpr Pack packing = most_count < 256 ? Pack::fma : Pack::permute;
    /* w = 32 packs counts into words, so far apart that each has room; the topmost of a word may
     * run over. The first `full` words take `most` counts, the others one less. */
    static constexpr int spacing = most_count < 256    ? 8
                                   : most_count < 512  ? 9
                                   : most_count < 1024 ? 10
                                                       : 11;
    static_assert(most_count <= 1024, "");
    static constexpr int most = (31 + spacing) / spacing, full = 32 - (most - 1) * spacing;
    /* The packed word of count n, the place of count n in that word, and so the bit of the output:
     * packed word i is shifted by i. */
    GFK_BOTH static constexpr int packed_word(int n) {
        return n < full * most ? n / most : full + (n - full * most) / (most - 1);
    }
    GFK_BOTH static constexpr int place(int n) {
        return n < full * most ? n % most : (n - full * most) % (most - 1);
    }
    GFK_BOTH static constexpr int bit(int n) { return packed_word(n) + spacing * place(n); }
    /* Are packed words shifted as a whole, on another pipe than added up? As measured. */
    static constexpr bool shifts_packed = Slots <= 4;
};

/* The rows of a turn, a[chain][register][row], from two words of every slot. */
template <class T>
GFK_BOTH void rows_of(const uint32_t (&x)[T::slots][2], int turn,
                      uint32_t (&a)[T::chains][T::steps][2]) {
    GFK_UNROLL
    for (int s = 0; s < T::steps; s++) {
        const int first = s * T::in_register, left = T::slots - first;
        /* Registers beyond the last slot may hold anything: their columns are zero. */
        const int p = left > 0 ? first : 0, q = left > 1 ? first + 1 : p;
        if (T::w == 32) {
            a[0][s][0] = x[p][0];
            a[0][s][1] = x[p][1];
        } else if (T::w == 16) {
            a[0][s][0] = permute(x[p][turn], x[q][turn], 0x5410);
            a[0][s][1] = permute(x[p][turn], x[q][turn], 0x7632);
        } else {
            const uint32_t low = permute(x[p][turn], x[q][turn], 0x5140);
            const uint32_t high = permute(x[p][turn], x[q][turn], 0x7362);
            const int t = left > 2 ? first + 2 : p, u = left > 3 ? first + 3 : t;
            const uint32_t low2 = left > 2 ? permute(x[t][turn], x[u][turn], 0x5140) : 0;
            const uint32_t high2 = left > 2 ? permute(x[t][turn], x[u][turn], 0x7362) : 0;
            constexpr int last = T::chains - 1;
            a[0][s][0] = left > 2 ? permute(low, low2, 0x5410) : low;
            a[0][s][1] = left > 2 ? permute(low, low2, 0x7632) : low >> 16;
            a[last][s][0] = left > 2 ? permute(high, high2, 0x5410) : high;
            a[last][s][1] = left > 2 ? permute(high, high2, 0x7632) : high >> 16;
        }
    }
}

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

/* Adds to the two words of an output what the counts of a turn tell, c[chain][accumulator]. */
template <class T>
GFK_BOTH void add_parities(const uint32_t (&c)[T::chains][T::accumulators], int turn,
                           uint32_t (&words)[2]) {
    if (T::w != 32) {
        GFK_UNROLL
        for (int bit = 0; bit < 8; bit++) {
            const int at = T::w == 16 ? 4 * bit : bit / 2 * 4 + bit % 2;
            const uint32_t(&d)[T::accumulators] = c[T::chains - 1];
            const uint32_t v =
                T::w == 16 ? pack<T::packing>(d[at], d[at + 1], d[at + 2], d[at + 3], bit)
                           : pack<T::packing>(c[0][at], c[0][at + 2], d[at], d[at + 2], bit);
            words[turn] ^= v & 0x01010101u << bit;
        }
        return;
    }
    uint32_t mask = 0, x = 0, y = 0;
    int low = 0; /* by which the packed words are shifted in the end */
    GFK_UNROLL
    for (int i = 0; i < 16; i++) {
        const int n = 16 * turn + i, at = i / 2 * 4 + i % 2;
        if (mask == 0)
            low = T::shifts_packed ? T::bit(n) : 0;
        x = (mask ? x : 0) + (c[0][at] << (T::bit(n) - low));
        y = (mask ? y : 0) + (c[0][at + 2] << (T::bit(n) - low));
        mask |= 1u << T::bit(n);
        if (i == 15 || T::packed_word(n + 1) != T::packed_word(n)) {
            words[0] ^= shifted(x, low) & mask;
            words[1] ^= shifted(y, low) & mask;
            mask = 0;
        }
    }
}

} // namespace bmma
} // namespace gfk
#endif
