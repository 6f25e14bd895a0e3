/* SPDX-License-Identifier: BSD-3-Clause */
/* How a region product becomes binary matrix products of a warpgroup, wgmma.m64nNk256 (AND,
 * popcount), whose lanes hold what they hold for mma.sync (fragment.h):
 *
 * - `lanes` neighbouring lanes (2 or 4) share a vector. Lane l of them has the inputs l,
 *   lanes + l, ...: its slots. Lane l receives all bits of output l of a panel of `lanes` outputs,
 *   so no lane needs another lane's bits, and each lane stores a whole vector. With two lanes a row
 *   holds two vectors, and the matrix operand is block-diagonal.
 * - A lane holds the rows of its whole vector in registers, and takes the outputs panel by panel. A
 *   panel is computed in four turns of 32 counts a lane. w = 8 and 16: a turn is one word, whose
 *   symbols are the rows, and a symbol's bits are the columns. w = 32: the two words of a row pair
 *   take two turns, each with half of the bits.
 * - An odd number of registers fills half of an instruction's depth. Then the rows of two symbols
 *   share the data operand of one instruction, and the matrix operand is zero beside one of them.
 *   At w = 8 up to 16 inputs, one instruction of 64 columns has both, that is, all of a turn;
 *   otherwise w = 8 takes two chains of 32 columns, for two symbols each.
 * - Three outputs would leave the fourth lane's columns empty: a quarter of the products and of the
 *   packing. Instead the fourth lane receives two bits of each byte of each output and passes them on.
 * - The matrix operand is in shared memory, as core matrices: fragment_wgmma_w8.h.
 * - The order of a lane's columns is free: it is the order in which counts are packed.
 * - Two words at a time: then words are the rows at w = 16, too, and nothing is arranged. Their symbols
 *   take a turn each, with a matrix operand that is zero for the other symbol.
 * - Copies: two slots at w = 8 fill half of a register, one slot of words fills half of the depth. The
 *   other half has the same bits again, and the columns of odd bits count both: twice the count, whose
 *   parity is at bit 1. So two packed words are merged without a shift.
 * - One or two outputs behind whole panels (w = 8, up to 16 inputs) take half of a panel's columns:
 *   HalfPanel.
 *
 * The functions here are what a lane does between loads, MMAs and stores. The host test runs them
 * against an emulated MMA. */
#ifndef GFK_KERNELS_BMMA_FRAGMENT_RING_H
#define GFK_KERNELS_BMMA_FRAGMENT_RING_H

#include "fragment_wgmma_w8.h"

namespace gfk {
namespace bmma {

/* Slots: inputs of a lane. Light: counts fit bytes, because no column of the matrix has too many
 * ones. Three: panels of three outputs. Copies: of a row's bits. Words: of a vector that a lane takes
 * at a time; if two, they are the rows. */
template <int W, int Lanes, int Slots, bool Light = false, bool Three = false, int Copies = 1,
          int Words = 4>
struct RingLayout {
    static_assert(Lanes == 2 || Lanes == 4, "");
    static_assert(!Three || (Lanes == 4 && W != 8 && Slots == 1), "counts are packed as bytes");
    static constexpr int w = W, lanes = Lanes, slots = Copies * Slots, copies = Copies;
    static constexpr bool word_rows = W == 32 || Words == 2;
    static_assert(Copies == 1 || (Copies == 2 && (word_rows ? Slots == 1 : W * Slots == 16)), "");
    static constexpr bool three = Three;
    static constexpr int inputs = Lanes * Slots, outputs = Three ? 3 : Lanes; /* of a panel */
    static constexpr int in_register = word_rows ? 1 : 32 / W; /* slots that a register holds */
    static constexpr int steps = (slots + in_register - 1) / in_register; /* registers of a row */
    static constexpr int lane_words = Words, turns = Words;
    static constexpr int symbols = word_rows ? Words : 128 / W;    /* rows of a lane */
    static constexpr unsigned warp_bytes = 32 * 4 * Words / Lanes; /* of a region */

    /* The rows of two symbols take the lower and the upper half of an instruction's depth, if they
     * fit. w = 8: then one instruction computes all symbols of a word. */
    static constexpr bool odd = steps % 2, joined = W == 8 && steps == 1;
    static constexpr int chains = W == 8 && !joined ? 2 : 1;
    static constexpr int counts = Three ? 24 : 32; /* of a lane and turn */
    static constexpr int columns = 2 * counts / chains, accumulators = counts / chains;

    /* The matrix operand of a panel: [eight columns][register], for rows of words turn by turn. The
     * last one of an odd number of registers has zeros on both sides. */
    static constexpr int pairs = (word_rows ? 16 : W / 2) * counts / 32, fragments = joined ? 2 : 1;
    static constexpr int table_registers = joined ? 2 : odd ? steps + 2 : steps;
    static constexpr int panel_registers = pairs * fragments * table_registers;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return (size_t)(joined                  ? (pairs * r + pair) * 2 + r
                        : odd && r == steps - 1 ? pair * table_registers + steps
                                                : pair * table_registers + r) *
                   32 +
               (size_t)lane;
    }
    static constexpr unsigned k_stride = 128, column_stride = k_stride * table_registers;
    static constexpr unsigned panel_bytes = panel_registers * 128;

    /* The instructions of a chain. Register i of the data operand of instruction n is a[row][step], or
     * anything if there is no such row; the columns begin at `offset`. */
    static constexpr int instructions = (steps + 1) / 2;
    GFK_BOTH static constexpr int first_row(int turn, int chain) {
        return W == 8 ? 4 * turn + 2 * chain : word_rows ? turn / 2 * 2 : 2 * turn;
    }
    /* The first word of a vector that turn `turn` makes; with word_rows it makes that one and the next. */
    GFK_BOTH static constexpr int first_word(int turn) { return word_rows ? turn / 2 * 2 : turn; }
    GFK_BOTH static constexpr bool halves(int n) { return odd && n == instructions - 1; }
    GFK_BOTH static constexpr int row(int turn, int chain, int n, int i) {
        const int first = first_row(turn, chain);
        return i % 2 + (!halves(n) ? first : i < 2 ? first & ~2 : first | 2);
    }
    GFK_BOTH static constexpr int step(int n, int i) { return 2 * n + (halves(n) ? 0 : i / 2); }
    GFK_BOTH static constexpr unsigned offset(int turn, int chain, int n) {
        const int r = joined || !halves(n) ? 2 * n : first_row(turn, chain) & 2 ? steps - 1 : steps;
        return r * k_stride + (word_rows ? turn % 2 * (panel_bytes / 2) : 0);
    }

    /* The bit of its word that a column is for the lane that receives it. Three: no lane has the bits
     * 6 and 7 of bytes; the fourth lane's are those of output 0, 1 and 2. */
    GFK_BOTH static constexpr int received_bit(int pair, int column) {
        return word_rows ? bit(2 * pair + column % 2)
               : W == 16 ? pair + 8 * (column % 2)
                         : 2 * pair + column % 2;
    }
    GFK_BOTH static constexpr bool passed_on(int column) { return Three && column / 2 == 3; }
    GFK_BOTH static constexpr int column_output(int pair, int, int column) {
        return passed_on(column) ? received_bit(pair, column) % 8 / 2 : column / 2 % Lanes;
    }
    GFK_BOTH static constexpr int column_bit(int pair, int, int column) {
        const int b = received_bit(pair, column);
        return passed_on(column) ? b / 8 * 8 + 6 + b % 2 : b;
    }
    GFK_BOTH static constexpr bool column_sees(int column, int q) {
        return column / 2 / Lanes == q / Lanes;
    }

    /* Counts are packed into words, so far apart that each has room; the topmost of a word may run
     * over. The first `full` words take `most` counts, the others one less. */
    static constexpr int most_bits = inputs * W;
    static constexpr int most_ones = Light && most_bits > 255 / Copies ? 255 / Copies : most_bits;
    static constexpr int most_count = Copies * most_ones;
    static constexpr int spacing = most_count < 256    ? 8
                                   : most_count < 512  ? 9
                                   : most_count < 1024 ? 10
                                                       : 11;
    static_assert(most_count < (Copies == 1 ? 2048 : 256), "");
    /* What is faster for a light matrix: counts packed as bytes, or copies in the depth's free half. */
    static constexpr bool spare = Words == 2 && slots == 1;
    static constexpr bool gains_if_light =
        !Light &&
        (spare || (most_count > 255 && most_count <= 512)); /* beyond, half are too many */
    using LightLayout = RingLayout<W, Lanes, Slots, true, Three, spare ? 2 : 1, Words>;
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
    GFK_BOTH static constexpr int bit(int n) {
        return position(packed_word(n)) + spacing * place(n);
    }
    /* The lowest bit of a packed word. Three words in each of two turns: two of a turn are neighbours. */
    GFK_BOTH static constexpr int position(int word) {
        return Three && Copies == 2 ? 0x541320 >> 4 * word & 15 : word;
    }
    /* How often a column counts its bits: in packed words of odd number, all copies. Then parities of
     * words 2i and 2i + 1 are shifted by the same. */
    GFK_BOTH static constexpr int weight(int pair, int column) {
        return 1 + received_bit(pair, column) % spacing % Copies;
    }
    GFK_BOTH static constexpr int shift_of(int word) { return position(word) / Copies * Copies; }
    /* Where the count of a bit of a word is among a turn's accumulators, chain by chain, in row g. */
    GFK_BOTH static constexpr int accumulator(int bit) {
        return W == 16 ? 4 * (bit % 8) + bit / 8
                       : counts / 2 * (bit / 16) + bit / 8 % 2 * 2 + bit % 8 / 2 * 4 + bit % 2;
    }
};

/* Four words of packed counts, of the bits 0 to 3 of every byte: their parities in the lower half of
 * each byte; the others do not matter. Where odd bits count twice, their parities are one place
 * higher already. */
template <int Copies>
GFK_BOTH uint32_t merge_four(const uint32_t *v) {
    constexpr int shift = Copies == 2 ? 0 : 1;
    return select_bits(select_bits(v[0], v[1] << shift, 0x01010101),
                       select_bits(v[2], v[3] << shift, 0x01010101) << 2, 0x03030303);
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

/* N counts, `Spacing` bits apart. Four counts below 256 take an instruction of each pipe. */
template <int Spacing, int N>
GFK_BOTH uint32_t pack_counts(const uint32_t (&c)[N], Factors by) {
    static_assert(N <= 4, "");
    static_assert(N > 1 || Spacing > 9, "Ring::over: no count may stay without a factor");
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

/* The counts [Begin, End) of a turn that are in the packed words [First, Last). */
template <class T, int Begin, int End, int First, int Last>
struct Packed {
    GFK_BOTH static constexpr bool has(int n) {
        return T::packed_word(n) >= First && T::packed_word(n) < Last;
    }
    GFK_BOTH static constexpr int first() {
        int n = Begin;
        while (!has(n))
            n++;
        return n;
    }
    GFK_BOTH static constexpr int count() {
        int count = 0;
        for (int n = Begin; n < End; n++)
            count += has(n);
        return count;
    }
    /* Where their parities are in the word of `merge`. */
    GFK_BOTH static constexpr uint32_t bits() {
        uint32_t mask = 0;
        for (int n = Begin; n < End; n++)
            if (has(n))
                mask |= 1u << (T::bit(n) - T::shift_of(First));
        return mask;
    }

    /* Their parities in one word, shifted to the right by shift_of(First); its other bits do not matter.
     * c: a turn's counts; row: rows of words, of a pair. */
    GFK_BOTH static uint32_t merge(const uint32_t (&c)[T::counts], int row, Factors by) {
        if constexpr (Last - First == 1) {
            uint32_t x[count()];
            GFK_UNROLL
            for (int i = 0; i < count(); i++) {
                const int n = first() + i, column = n - Begin;
                x[i] = c[T::word_rows ? column / 2 * 4 + column % 2 + 2 * row
                                      : T::accumulator(T::bit(n))];
            }
            return pack_counts<T::spacing>(x, by) << T::spacing * T::place(first());
        } else {
            constexpr int half = First + (Last - First == 3 ? 2 : (Last - First) / 2);
            constexpr bool split = T::shift_of(half) == T::shift_of(half - 1);
            constexpr int middle = half - (split && half - First > 1);
            using Low = Packed<T, Begin, End, First, middle>;
            using High = Packed<T, Begin, End, middle, Last>;
            constexpr int shift = T::shift_of(middle) - T::shift_of(First);
            return select_bits(Low::merge(c, row, by), High::merge(c, row, by) << shift,
                               Low::bits());
        }
    }
};

/* What the counts of turn Turn tell of the words of an output's vector, c[chain][accumulator]. */
template <class T, int Turn>
GFK_BOTH void add_parities(const uint32_t (&c)[T::chains][T::accumulators],
                           uint32_t (&y)[T::lane_words], Factors by = factors<T::spacing>()) {
    uint32_t flat[T::counts];
    GFK_UNROLL
    for (int i = 0; i < T::counts; i++)
        flat[i] = c[i / T::accumulators][i % T::accumulators];
    if constexpr (!T::word_rows) {
        y[Turn] = Packed<T, 0, T::counts, 0, T::packed_word(T::counts - 1) + 1>::merge(flat, 0, by);
    } else {
        constexpr int count = T::counts / 2, begin = Turn % 2 * count,
                      first = T::packed_word(begin), last = T::packed_word(begin + count - 1) + 1;
        using Half = Packed<T, begin, begin + count, first, last>;
        GFK_UNROLL
        for (int row = 0; row < 2; row++) {
            uint32_t &word = y[T::first_word(Turn) + row];
            constexpr int shift = T::shift_of(first);
            const uint32_t v = Half::merge(flat, row, by) << shift;
            word = Turn % 2 ? select_bits(v, word, Half::bits() << shift) : v;
        }
    }
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
/* The word, from the counts of chain 0 and what chain 1 left. */
GFK_BOTH uint32_t join_first(const uint32_t (&c)[16], const uint32_t (&packed)[8]) {
    uint32_t v[8];
    GFK_UNROLL
    for (int bit = 0; bit < 8; bit++)
        v[bit] = join_bytes(c[bit / 2 * 4 + bit % 2], c[bit / 2 * 4 + bit % 2 + 2], packed[bit]);
    return select_bits(merge_four<1>(v), merge_four<1>(v + 4) << 4, 0x0f0f0f0f);
}

/* Three: the fourth lane's word has the bits 6 and 7 of each byte of output q at 2 * q. */
GFK_BOTH unsigned last_bits_shift(unsigned lane) {
    return (6 - 2 * (lane & 3)) & 7;
}
GFK_BOTH uint32_t join_last_bits(uint32_t own, uint32_t fourth, unsigned shift) {
    return select_bits(own, fourth << shift, 0x3f3f3f3f);
}

/* One or two outputs behind the whole panels of T. Lanes l and l + 2 share output l: lane l receives
 * the lower and lane l + 2 the upper four bits of every symbol. Two turns later they exchange words;
 * then lane l has the first half of the vector and lane l + 2 the second. */
template <class T>
struct HalfPanel : T {
    static_assert(T::joined && T::lanes == 4, "");
    static constexpr int outputs = 2, columns = 32, accumulators = 16;
    static constexpr int pairs = 2, panel_registers = pairs * T::fragments * T::table_registers;
    static constexpr unsigned panel_bytes = panel_registers * 128;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return (size_t)(pairs * r + pair) * 64 + (size_t)(32 * r + lane);
    }
    GFK_BOTH static constexpr int column_output(int, int, int column) { return column / 2 % 2; }
    GFK_BOTH static constexpr int column_bit(int pair, int, int column) {
        return column / 4 * 4 + 2 * pair + column % 2;
    }
};

/* The four bits of a turn's symbols: merge_four. */
template <class T>
GFK_BOTH uint32_t half_parities(const uint32_t (&c)[16], Factors by = factors<8>()) {
    uint32_t v[4];
    GFK_UNROLL
    for (int bit = 0; bit < 4; bit++) {
        const int at = bit / 2 * 4 + bit % 2;
        v[bit] = join_bytes(c[at], c[at + 2], join_counts<8>(c[at + 8], c[at + 10], by.one));
    }
    return merge_four<T::copies>(v);
}

/* What lanes l and l + 2 send each other: their halves of the symbols of two turns, of which lane l
 * keeps the first turn's and lane l + 2 the second's. */
GFK_BOTH uint32_t half_words(uint32_t first, uint32_t second) {
    return select_bits(first, second << 4, 0x0f0f0f0f);
}
/* The word of the turn that the lane keeps, from its own word and the one it received. */
GFK_BOTH uint32_t join_half_words(uint32_t own, uint32_t received, unsigned lane) {
    const bool second = lane & 2;
    return select_bits(own, second ? received >> 4 : received << 4,
                       second ? 0xf0f0f0f0 : 0x0f0f0f0f);
}

} // namespace bmma
} // namespace gfk
#endif
