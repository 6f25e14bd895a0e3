/* SPDX-License-Identifier: BSD-3-Clause */
/* How a region product becomes binary matrix products of a warpgroup, wgmma.m64nNk256 (AND,
 * popcount), whose lanes hold what they hold for mma.sync (fragment.h); w = 8 and 16:
 *
 * - A lane holds the rows of its whole vector in registers, and takes the outputs panel by panel. A
 *   panel is computed in four turns of 32 counts a lane. A turn is one word, whose symbols are the
 *   rows, and a symbol's bits are the columns.
 * - An odd number of registers fills half of an instruction's depth. Then the rows of two symbols
 *   share the data operand of one instruction, and the matrix operand is zero for one of the two
 *   symbols. At w = 8 up to 16 inputs, one instruction of 64 columns has both, that is, all of a
 *   turn; otherwise w = 8 takes two chains of 32 columns, for two symbols each.
 * - The matrix operand is in shared memory, as core matrices: fragment_wgmma_w8.h.
 * - The order of a lane's columns is free: it is the order in which counts are packed.
 *
 * The functions here are a lane's work between loads, MMAs and stores. The host test runs them
 * against an emulated MMA. */
#ifndef GFK_KERNELS_BMMA_FRAGMENT_RING_H
#define GFK_KERNELS_BMMA_FRAGMENT_RING_H

#include "fragment_wgmma_w8.h"

namespace gfk {
namespace bmma {

/* Slots: inputs of a lane. Light: counts fit bytes, because no column of the matrix has too many
 * ones. */
template <int W, int Slots, bool Light = false>
struct RingLayout {
    static_assert(W == 8 || W == 16, "");
    static constexpr int w = W, lanes = 4, slots = Slots;
    static constexpr int inputs = lanes * Slots, outputs = lanes; /* of a panel */
    static constexpr int in_register = 32 / W;                    /* slots that a register holds */
    static constexpr int steps = divide_up<in_register>(slots);   /* registers of a row */
    static constexpr int lane_words = 4, turns = 4;
    static constexpr int symbols = 128 / W;             /* rows of a lane */
    static constexpr unsigned warp_bytes = 32 * 16 / 4; /* of a region */

    /* The rows of two symbols take the lower and the upper half of an instruction's depth, if they
     * fit. w = 8: then one instruction computes all symbols of a word. */
    static constexpr bool odd_steps = steps % 2, whole_turn = W == 8 && steps == 1;
    static constexpr int chains = W == 8 && !whole_turn ? 2 : 1;
    static constexpr int counts = 32; /* of a lane and turn */
    static constexpr int columns = 2 * counts / chains, accumulators = counts / chains;

    /* The matrix operand of a panel: [eight columns][register]. The last one of an odd number of
     * registers has zeros on both sides. */
    static constexpr int pairs = W / 2, fragments = whole_turn ? 2 : 1;
    static constexpr int table_registers = whole_turn ? 2 : odd_steps ? steps + 2 : steps;
    static constexpr int panel_registers = pairs * fragments * table_registers;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return (size_t)(whole_turn                    ? (pairs * r + pair) * 2 + r
                        : odd_steps && r == steps - 1 ? pair * table_registers + steps
                                                      : pair * table_registers + r) *
                   32 +
               (size_t)lane;
    }
    static constexpr unsigned k_stride = 128, column_stride = k_stride * table_registers;
    static constexpr unsigned panel_bytes = panel_registers * 128;

    /* The instructions of a chain. Register i of the data operand of instruction n is a[row][step];
     * the columns begin at `offset`. */
    static constexpr int instructions = (steps + 1) / 2;
    GFK_BOTH static constexpr int first_row(int turn, int chain) {
        return W == 8 ? 4 * turn + 2 * chain : 2 * turn;
    }
    GFK_BOTH static constexpr bool shares_depth(int n) {
        return odd_steps && n == instructions - 1;
    }
    GFK_BOTH static constexpr int row(int turn, int chain, int n, int i) {
        const int first = first_row(turn, chain);
        return i % 2 + (!shares_depth(n) ? first : i < 2 ? first & ~2 : first | 2);
    }
    GFK_BOTH static constexpr int step(int n, int i) {
        return 2 * n + (shares_depth(n) ? 0 : i / 2);
    }
    GFK_BOTH static constexpr unsigned offset(int turn, int chain, int n) {
        const int r = whole_turn || !shares_depth(n) ? 2 * n
                      : first_row(turn, chain) & 2   ? steps - 1
                                                     : steps;
        return r * k_stride;
    }

    /* The output of the panel that a column belongs to, and the bit of its symbols. */
    GFK_BOTH static constexpr int column_output(int column) { return column / 2; }
    GFK_BOTH static constexpr int column_bit(int pair, int, int column) {
        return W == 16 ? pair + 8 * (column % 2) : 2 * pair + column % 2;
    }

    /* Counts are packed into words, so far apart that each has room; the topmost of a word may run
     * over. The first `full` words take `most` counts, the others one less. */
    static constexpr int most_bits = inputs * W;
    static constexpr int most_count = Light && most_bits > 255 ? 255 : most_bits;
    static constexpr int spacing = most_count < 256    ? 8
                                   : most_count < 512  ? 9
                                   : most_count < 1024 ? 10
                                                       : 11;
    static_assert(most_count < 2048, "");
    /* Is it faster to pack the counts of a light matrix as bytes? Beyond 512 bits, half are too
     * many. */
    static constexpr bool gains_if_light = !Light && most_count > 255 && most_count <= 512;
    using LightLayout = RingLayout<W, Slots, true>;
    static constexpr bool one_by_one = chains == 2 && spacing == 8; /* chains: pack_second */
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
    /* The number, among a turn's accumulators of row g, chain by chain, of the count of a bit of a
     * word. */
    GFK_BOTH static constexpr int accumulator(int bit) {
        return W == 16 ? 4 * (bit % 8) + bit / 8
                       : counts / 2 * (bit / 16) + bit / 8 % 2 * 2 + bit % 8 / 2 * 4 + bit % 2;
    }
};

/* Four words of packed counts, of the bits 0 to 3 of every byte: their parities in the lower half
 * of each byte; the others do not matter. */
GFK_BOTH uint32_t merge_four(const uint32_t *v) {
    return select_bits(select_bits(v[0], v[1] << 1, 0x01010101),
                       select_bits(v[2], v[3] << 1, 0x01010101) << 2, 0x03030303);
}

/* The factors that join counts: 2 to the power of the spacing, and its square. */
struct Factors {
    float one;
    uint32_t two;
};
template <int Spacing>
GFK_BOTH constexpr Factors factors() {
    return {1 << Spacing, 1u << 2 * Spacing};
}

/* Packs N counts, `Spacing` bits apart. Four counts below 256 take an instruction of each pipe. */
template <int Spacing, int N>
GFK_BOTH uint32_t pack_counts(const uint32_t (&c)[N], Factors by) {
    static_assert(N <= 4, "");
    static_assert(N > 1 || Spacing > 9,
                  "Ring::reuse_accumulators: no count may stay without a factor");
    if constexpr (N == 1)
        return c[0];
    else if constexpr (N == 2)
        return join_counts<Spacing>(c[0], c[1], by.one);
    else if constexpr (N == 3)
        return join_counts<Spacing>(c[0], c[1], by.one) + c[2] * by.two;
    else if constexpr (Spacing == 8)
        return join_bytes(c[0], c[1], join_counts<8>(c[2], c[3], by.one));
    else
        return join_counts<Spacing>(c[0], c[1], by.one) +
               join_counts<Spacing>(c[2], c[3], by.one) * by.two;
}

/* The counts of a turn that are in the packed words [First, Last). */
template <class T, int First, int Last>
struct Packed {
    GFK_BOTH static constexpr bool has(int n) {
        return T::packed_word(n) >= First && T::packed_word(n) < Last;
    }
    GFK_BOTH static constexpr int first() {
        int n = 0;
        while (!has(n))
            n++;
        return n;
    }
    GFK_BOTH static constexpr int count() {
        int count = 0;
        for (int n = 0; n < T::counts; n++)
            count += has(n);
        return count;
    }
    /* The bits of `merge` that are parities of these counts. */
    GFK_BOTH static constexpr uint32_t bits() {
        uint32_t mask = 0;
        for (int n = 0; n < T::counts; n++)
            if (has(n))
                mask |= 1u << (T::bit(n) - First);
        return mask;
    }

    /* Their parities in one word, shifted to the right by First; its other bits do not matter. c: a
     * turn's counts. */
    GFK_BOTH static uint32_t merge(const uint32_t (&c)[T::counts], Factors by) {
        if constexpr (Last - First == 1) {
            uint32_t x[count()];
            GFK_UNROLL
            for (int i = 0; i < count(); i++)
                x[i] = c[T::accumulator(T::bit(first() + i))];
            return pack_counts<T::spacing>(x, by) << T::spacing * T::place(first());
        } else {
            constexpr int middle = First + (Last - First == 3 ? 2 : (Last - First) / 2);
            using Low = Packed<T, First, middle>;
            using High = Packed<T, middle, Last>;
            return select_bits(Low::merge(c, by), High::merge(c, by) << (middle - First),
                               Low::bits());
        }
    }
};

/* Returns the word of an output's vector from the counts of a turn, c[chain][accumulator]. */
template <class T>
GFK_BOTH uint32_t parities_of(const uint32_t (&c)[T::chains][T::accumulators],
                              Factors by = factors<T::spacing>()) {
    uint32_t flat[T::counts];
    GFK_UNROLL
    for (int i = 0; i < T::counts; i++)
        flat[i] = c[i / T::accumulators][i % T::accumulators];
    return Packed<T, 0, T::packed_word(T::counts - 1) + 1>::merge(flat, by);
}

/* Two chains with counts below 256 need not be held at once: those of chain 1, symbols 2 and 3 of a
 * word, are packed before chain 0 is counted. */
GFK_BOTH void pack_second(const uint32_t (&c)[16], uint32_t (&packed)[8],
                          Factors by = factors<8>()) {
    GFK_UNROLL
    for (int bit = 0; bit < 8; bit++)
        packed[bit] =
            join_counts<8>(c[bit / 2 * 4 + bit % 2], c[bit / 2 * 4 + bit % 2 + 2], by.one);
}
/* Returns the word, from the counts of chain 0 and the packed counts of chain 1. */
GFK_BOTH uint32_t join_first(const uint32_t (&c)[16], const uint32_t (&packed)[8]) {
    uint32_t v[8];
    GFK_UNROLL
    for (int bit = 0; bit < 8; bit++)
        v[bit] = join_bytes(c[bit / 2 * 4 + bit % 2], c[bit / 2 * 4 + bit % 2 + 2], packed[bit]);
    return select_bits(merge_four(v), merge_four(v + 4) << 4, 0x0f0f0f0f);
}

} // namespace bmma
} // namespace gfk
#endif
