/* SPDX-License-Identifier: BSD-3-Clause */
/* How a region product becomes binary matrix products mma.m16n8k128 and k256 (AND, popcount).
 *
 * A row of the data operand is one symbol position, its K bits are the input symbols there. A
 * column of the matrix operand is one bit of one output; the parity of the count is that bit. A
 * warp takes a tile of eight vectors; vectors and inputs are dealt out so that every lane loads,
 * and stores, 16 contiguous bytes:
 *
 * - lane 4g + q supplies 32 K bits to the rows g and g + 8 and receives columns 2q and 2q + 1 of
 *   both (PTX ISA, "Matrix Fragments for mma.m16n8k128 / k256").
 * - Four neighbouring lanes share a vector. Lane l of them has the inputs l, 4 + l, 8 + l, ...: its
 *   slots.
 * - A register of the data operand holds the same symbol of 4, 2 or 1 slots (w = 8, 16, 32), the
 *   first in its lowest bits: the order of the K bits is free as long as both operands agree, so
 *   nothing else is moved.
 * - Outputs go in panels. w = 8 and 16: a panel is four outputs, and lane l receives all bits of
 *   output l. w = 32: a panel is one output, lane q receives byte q of every symbol, and a 4 x 4
 *   byte transposition among four lanes makes words of it, so no column is spent on padding.
 *
 * The functions here are a lane's work between loads, MMAs and stores. The host test runs them
 * against an emulated MMA. */
#ifndef GFK_KERNELS_BMMA_FRAGMENT_H
#define GFK_KERNELS_BMMA_FRAGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/common/portable.h"

namespace gfk {
namespace bmma {

/* Returns PRMT without its sign mode. */
GFK_BOTH uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, selector);
#else
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (int i = 0; i < 4; i++)
        d |= (uint32_t)(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
    return d;
#endif
}

/* low + (high << Bits), on the FMA pipes: as multiples of the smallest float. Both and the sum are
 * below 2^24. `factor` is 2^Bits: what else may be a parameter of a kernel. */
template <int Bits>
GFK_BOTH uint32_t join_counts(uint32_t low, uint32_t high, float factor = 1 << Bits) {
#ifdef __CUDA_ARCH__
    float sum;
    asm("fma.rn.f32 %0, %1, %2, %3;"
        : "=f"(sum)
        : "f"(__uint_as_float(high)), "f"(factor), "f"(__uint_as_float(low)));
    return __float_as_uint(sum);
#else
    return low + high * (uint32_t)factor;
#endif
}

/* Returns the bytes first, second, and the lower two of `rest`, for counts below 256. */
GFK_BOTH uint32_t join_bytes(uint32_t first, uint32_t second, uint32_t rest) {
#ifdef __CUDA_ARCH__
    uint32_t bytes;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(bytes)
        : "r"(second), "r"(first), "r"(rest));
    return bytes;
#else
    return rest << 16 | second << 8 | first;
#endif
}

/* Returns bits of `low` where the mask has ones, of `high` elsewhere. The compiler would clear bits
 * that do not matter, by another instruction. */
GFK_BOTH uint32_t select_bits(uint32_t low, uint32_t high, uint32_t mask) {
#ifdef __CUDA_ARCH__
    uint32_t bits;
    asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(bits) : "r"(low), "r"(high), "r"(mask));
    return bits;
#else
    return (low & mask) | (high & ~mask);
#endif
}

/* Slots: the inputs that a lane has in one pass. */
template <int W, int Slots>
struct Layout {
    static_assert(W == 8 || W == 16 || W == 32, "");
    static constexpr int w = W, lanes = 4, slots = Slots;
    static constexpr int inputs = lanes * Slots; /* of a pass */
    static constexpr int vectors = 32 / lanes;   /* of a tile */
    static constexpr int lane_words = 4;
    static constexpr int symbols = 128 / W;    /* of a vector */
    static constexpr int in_register = 32 / W; /* slots that a register holds */
    static constexpr int steps = divide_up<in_register>(Slots);
    static constexpr int outputs = W == 32 ? 1 : lanes;    /* of a panel */
    static constexpr int pairs = 4;                        /* rounds, a bit pair each */
    static constexpr int words = W == 32 ? 1 : lane_words; /* of a lane and panel */
    static constexpr int fragments = W == 16 ? 2 : 1;      /* of 8 columns for a bit pair */
    static constexpr int pair_registers =
        fragments * steps; /* of the matrix operand, per bit pair */
    static constexpr int panel_registers = pairs * pair_registers;

    /* The registers of the matrix operand in memory: [pass][panel][bit pair][register /
     * load_registers] [lane][register % load_registers], so that a warp's loads are contiguous. */
    static constexpr int load_registers = pair_registers % 4 == 0   ? 4
                                          : pair_registers % 2 == 0 ? 2
                                                                    : 1;
    GFK_BOTH static constexpr size_t index(int pair, int r, int lane) {
        return ((size_t)(pair * pair_registers + r) / load_registers * 32 + (size_t)lane) *
                   load_registers +
               r % load_registers;
    }

    /* The output of the panel that column `column` of the fragment belongs to, and its bit. */
    GFK_BOTH static constexpr int column_output(int column) { return W == 32 ? 0 : column / 2; }
    GFK_BOTH static constexpr int column_bit(int pair, int fragment, int column) {
        return column % 2 + 2 * pair + (W == 32 ? 8 * (column / 2) : 8 * fragment);
    }
};

/* Arranges the words of a lane's vectors, x[slot][word], as the data operand, a[symbol][step]. The
 * missing slots of a register may hold any bits: the matrix operand is zero there. */
template <class T>
GFK_BOTH void arrange(const uint32_t (&x)[T::slots][T::lane_words],
                      uint32_t (&a)[T::symbols][T::steps]) {
    GFK_UNROLL
    for (int s = 0; s < T::steps; s++) {
        const int first = s * T::in_register;
        const int n = T::slots - first < T::in_register ? T::slots - first : T::in_register;
        GFK_UNROLL
        for (int i = 0; i < T::lane_words; i++) {
            const uint32_t p = x[first][i], q = n > 1 ? x[first + (n > 1)][i] : 0;
            if (T::w == 32) {
                a[i % T::symbols][s] = p;
            } else if (T::w == 16) {
                a[2 * i % T::symbols][s] = n > 1 ? permute(p, q, 0x5410) : p;
                a[(2 * i + 1) % T::symbols][s] = n > 1 ? permute(p, q, 0x7632) : p >> 16;
            } else {
                const uint32_t r = n > 2 ? x[first + 2 * (n > 2)][i] : 0;
                const uint32_t lo = permute(p, q, 0x5140), hi = permute(p, q, 0x7362);
                uint32_t *y[4] = {&a[4 * i % T::symbols][s], &a[(4 * i + 1) % T::symbols][s],
                                  &a[(4 * i + 2) % T::symbols][s], &a[(4 * i + 3) % T::symbols][s]};
                if (n == 4) {
                    const uint32_t t = x[first + 3 * (n > 3)][i];
                    const uint32_t lo2 = permute(r, t, 0x5140), hi2 = permute(r, t, 0x7362);
                    *y[0] = permute(lo, lo2, 0x5410);
                    *y[1] = permute(lo, lo2, 0x7632);
                    *y[2] = permute(hi, hi2, 0x5410);
                    *y[3] = permute(hi, hi2, 0x7632);
                } else if (n == 3) {
                    *y[0] = permute(lo, r, 0x4410);
                    *y[1] = permute(lo, r, 0x5532);
                    *y[2] = permute(hi, r, 0x6610);
                    *y[3] = permute(hi, r, 0x7732);
                } else {
                    *y[0] = n == 2 ? lo : p;
                    *y[1] = n == 2 ? lo >> 16 : p >> 8;
                    *y[2] = n == 2 ? hi : p >> 16;
                    *y[3] = n == 2 ? hi >> 16 : p >> 24;
                }
            }
        }
    }
}

/* Every output word of a lane and every bit pair take two chains of MMAs. Chain c works on the
 * symbols first_symbol and the next (rows g and g + 8) with column fragment fragment_of. */
template <class T>
GFK_BOTH constexpr int first_symbol(int word, int chain) {
    return T::w == 8 ? 4 * word + 2 * chain : T::w == 16 ? 2 * word : 2 * chain;
}
template <class T>
GFK_BOTH constexpr int fragment_of(int chain) {
    return T::fragments == 2 ? chain : 0;
}

/* The counts of one bit of a word's four bytes become bits of the word: bit `bit` of every byte is
 * a parity. */
GFK_BOTH uint32_t pack(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, int bit) {
    return permute((c1 << 16) + c0, (c3 << 16) + c2, 0x6420) << bit;
}

/* Adds a bit pair's counts to the word: their parities become the bits 2 * pair and the next of
 * every byte. c[chain] is an accumulator: columns 2q and 2q + 1 of row g, then of row g + 8. */
template <class T>
GFK_BOTH uint32_t merge(uint32_t word, const uint32_t (&c)[2][4], int pair) {
    GFK_UNROLL
    for (int s = 0; s < 2; s++) {
        const int bit = 2 * pair + s;
        const uint32_t v = T::w == 16 ? pack(c[0][s], c[1][s], c[0][2 + s], c[1][2 + s], bit)
                                      : pack(c[0][s], c[0][2 + s], c[1][s], c[1][2 + s], bit);
        word ^= v & 0x01010101u << bit;
    }
    return word;
}

/* w = 32: byte y of lane q's word is byte q of symbol y; two exchanges, with lane ^ 1 and with
 * lane ^ 2, make it symbol q. These are the selectors of PRMT(own word, received word). */
GFK_BOTH constexpr uint32_t exchange_selector(int round, int lane) {
    return round == 0 ? (lane & 1 ? 0x3715 : 0x6240) : (lane & 2 ? 0x3276 : 0x5410);
}

} // namespace bmma
} // namespace gfk
#endif
