/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions that no guess explains: formulas, a search, or recurrences and a product for roots. */
#pragma once

#include "guess.cuh"

namespace gfk {
namespace locate {

/* A search is a function of its own, so that the other ways of decoding need no registers for
 * it. */
template <int W>
__device__ __noinline__ uint32_t search_errors(const TileJob &job, gfk_locate_state state) {
    const gfk_locate_code c = with_width<W>(job.code);
    return gfk_locate_by_search(&c, state);
}

/* Calls f(position, its mask in `left`, state) once for each position that is left. */
template <int W, class F>
__device__ inline void for_left(Shared &shared, const States &states, const F &f) {
    if (threadIdx.x >= states.count)
        return;
    Symbol<W> *left = (Symbol<W> *)shared.left;
    for (unsigned symbol = threadIdx.x; symbol < tile_bytes / sizeof *left; symbol += states.count)
        if (left[symbol] != 0)
            f(symbol, left[symbol], states.at(threadIdx.x));
}

/* Decodes by formulas, or, for a code without points, by a search. */
template <int W, bool Formulas>
__device__ inline void decode_at_once(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                      uint64_t tile, const States &states) {
    const bool points = Formulas && c.points != nullptr;
    uint32_t unexplained = 0;
    for_left<W>(shared, states, [&](unsigned symbol, auto &, gfk_locate_state state) {
        load_words<W>(shared.slab, c.m, symbol, state, points ? c.m : 0);
        const uint32_t errors =
            points ? gfk_locate_by_formulas(&c, state, job.repair) : search_errors<W>(job, state);
        unexplained += errors == 0;
        for (uint32_t e = 0; e < errors; e++) {
            const uint32_t which = *gfk_error_region(&c, state, e);
            count_named(job, shared, which, 1);
            if (job.repair)
                store_bytes(job.region(which) + tile + symbol * (W / 8), W / 8,
                            *gfk_error_value(&c, state, e), true);
        }
    });
    if (unexplained != 0)
        atomicAdd(&shared.found.unexplained, (Count)unexplained);
}

/* Neighbouring positions that a thread decodes at once. At w = 8 a word holds the symbols of two
 * positions, 16 bits apart: their products, 32 bits apart, do not meet. At other widths a word
 * holds one symbol. */
template <int W>
struct Lanes {
    static constexpr int width = W == 8 ? 16 : 32;
    static constexpr uint32_t ones = replicate<width>(1), top = ones << (width - 1);
    using Symbols = std::conditional_t<W == 32, uint32_t, uint16_t>; /* in a row */

    __device__ static uint32_t unpack(Symbols x) {
        return W == 8 ? (x & 0xff) | (x << 8 & 0xff0000) : x;
    }
    __device__ static Symbols pack(uint32_t x) { return (Symbols)(W == 8 ? x | x >> 8 : x); }
    __device__ static uint32_t reduce(const gfk_locate_code &c, uint64_t sum) {
        if constexpr (W != 8)
            return gfk_locate_reduce(&c, sum);
        const auto upper = [](uint64_t x) { return x >> 8 & 0xff000000ff; };
        const uint64_t quotient = upper(clmad(upper(sum), c.barrett.quotient, 0));
        const uint64_t rest = clmad(quotient, c.barrett.polynomial, sum);
        return prmt((uint32_t)rest, (uint32_t)(rest >> 32), 0x5410) & 0xff00ff;
    }
    /* Returns all ones in the symbols of x that are not 0. */
    __device__ static uint32_t nonzero(uint32_t x) { return nonzero_mask<width>(x); }
    __device__ static uint32_t negative(uint32_t x) { return top_bit_mask<width>(x); }
    __device__ static uint32_t add_one(uint32_t x) { return ((x & ~top) + ones) ^ (x & top); }
    __device__ static int lane(uint32_t x, int i) {
        return W != 8 ? (int)x : i == 0 ? (int)(int16_t)x : (int)x >> 16;
    }
    __device__ static uint32_t join(uint32_t x0, uint32_t x1) {
        return W == 8 ? x0 | x1 << 16 : x0;
    }
};

/* The algorithm of Berlekamp and Massey as in gfk_berlekamp_massey, by steps that are the same for
 * all positions, and without divisions. C and B are multiples of the polynomials of
 * gfk_berlekamp_massey. C becomes b C + d x^shift B: d is the discrepancy of this step, b that of
 * the last change of L. The state has r - 2 L: it grows by 1 with r; a change of L inverts it. */
template <int W>
class Recurrence {
    using L = Lanes<W>;
    const gfk_locate_code &c;
    /* The state has the S_r, C_0 to C_t from word m on, and as many places for x^shift B. */
    uint32_t *const words;
    const uint32_t stride, now, old;  /* now, old: where C and B begin in `words` */
    uint32_t turn = 0;                /* coefficient l of B is in place (l + turn) mod (t + 1) */
    uint32_t longest = 0, excess = 0; /* the largest L; r - 2 L */

    /* Returns C_0 S_r + C_1 S_(r-1) + ... + C_last S_(r-last). */
    __device__ uint32_t convolve(uint32_t r, uint32_t last) const {
        uint32_t coefficient = now, syndrome = r * stride;
        uint64_t sum = 0;
        for (uint32_t l = 0; l <= last; l++, coefficient += stride, syndrome -= stride)
            sum = clmad(words[coefficient], words[syndrome], sum);
        return L::reduce(c, sum);
    }

  public:
    static uint32_t state_words(const gfk_locate_code &c) { return c.m + 2 * (c.t + 1); }
    /* Loads the S_r from the rows' symbols at `first`. */
    __device__ Recurrence(const gfk_locate_code &code, gfk_locate_state state, const uint8_t *first)
        : c(code), words(state.words), stride(state.stride), now(c.m * stride),
          old(now + (c.t + 1) * stride) {
        for (uint32_t r = 0; r < c.m; r++)
            words[r * stride] = L::unpack(*(const typename L::Symbols *)(first + r * tile_bytes));
        for (uint32_t l = 0; l <= c.t; l++) {
            words[now + l * stride] = l == 0 ? L::ones : 0;
            words[old + l * stride] = l == 1 ? L::ones : 0;
        }
    }
    __device__ void find() {
        uint32_t scale = L::ones;
        for (uint32_t r = 0; r < c.m; r++) {
            const uint32_t d = convolve(r, min(longest, r));
            const uint32_t grows = L::nonzero(d) & ~L::negative(excess);
            excess = (~excess & grows) | (L::add_one(excess) & ~grows);
            longest =
                min((uint32_t)((int)r + 1 - min(L::lane(excess, 0), L::lane(excess, 1))) / 2, c.t);
            uint32_t coefficient = now, b = old + turn * stride;
            words[b] = 0;
            for (uint32_t l = 0; l <= longest && d != 0; l++, coefficient += stride) {
                const uint32_t x = words[coefficient], y = words[b];
                words[coefficient] = L::reduce(c, clmad(x, scale, clmad(y, d, 0)));
                words[b] = (x & grows) | (y & ~grows);
                b = b + stride == old + (c.t + 1) * stride ? old : b + stride;
            }
            scale = (d & grows) | (scale & ~grows);
            turn = turn == 0 ? c.t : turn - 1;
        }
    }
    /* Stores C / C_0, then the numerator of that, in the rows. Returns each position's L, with the
     * top bit if 0 is a root; 0: L exceeds t. */
    __device__ typename L::Symbols finish(uint8_t *first, bool valued) {
        const uint32_t c0 = words[now], mask = symbol_mask<W>;
        const uint32_t inverse = L::join(gfk_locate_inverse(&c, c0 & mask),
                                         W == 8 ? gfk_locate_inverse(&c, c0 >> 16) : 0);
        for (uint32_t l = 0; l <= c.t; l++) {
            const uint32_t x = L::reduce(c, clmad(words[now + l * stride], inverse, 0));
            words[now + l * stride] = x;
            if (l != 0)
                *(typename L::Symbols *)(first + (l - 1) * tile_bytes) = L::pack(x);
        }
        for (uint32_t d = 0; d < c.t && valued; d++)
            *(typename L::Symbols *)(first + (c.t + d) * tile_bytes) = L::pack(convolve(d, d));
        uint32_t found[2];
        for (int i = 0; i < 2; i++) {
            const uint32_t length = (uint32_t)((int)c.m - L::lane(excess, i)) / 2;
            const bool fits = length <= c.t;
            const uint32_t last =
                fits ? words[now + length * stride] >> (W == 8 ? 16 * i : 0) & mask : 0;
            found[i] = fits ? length | (last == 0 ? 1u << (W - 1) : 0) : 0;
        }
        return L::pack(L::join(found[0], found[1]));
    }
};

/* Finds the recurrence of each position that is left. `left` gets its length and, in the top bit,
 * whether 0 is a root; the rows get the recurrence, and what the values need. */
template <int W>
__device__ inline void find_recurrences(const TileJob &job, const gfk_locate_code &c,
                                        Shared &shared, const States &states) {
    using Symbols = typename Lanes<W>::Symbols;
    Symbols *left = (Symbols *)shared.left;
    uint32_t unexplained = 0;
    if (threadIdx.x >= states.count)
        return;
    for (unsigned n = threadIdx.x; n < tile_bytes / sizeof(Symbols); n += states.count) {
        const uint32_t asked = left[n];
        if (asked == 0)
            continue;
        uint8_t *first = shared.slab.rows + n * sizeof(Symbols);
        Recurrence<W> recurrence(c, states.at(threadIdx.x), first);
        recurrence.find();
        const uint32_t found = recurrence.finish(first, job.repair) & asked;
        unexplained += (uint32_t)__popc(asked & ~nonzero_mask<W>(found)) / W;
        left[n] = (Symbols)found;
    }
    if (unexplained != 0)
        atomicAdd(&shared.found.unexplained, (Count)unexplained);
}

/* Returns one bit of a mask for each symbol. */
template <int W>
__device__ inline uint32_t bits_of_mask(uint32_t mask) {
    return W == 8    ? (mask & 0x08040201) * 0x01010101 >> 24
           : W == 16 ? (mask & 1) | (mask >> 30 & 2)
                     : mask & 1;
}

/* Finds the roots among all points of the thread's positions, by a product, and counts the regions
 * of the positions that the roots explain. Positions that they do not explain become 0 in `left`.
 * The warp's polynomials have the degree of the longest one: z^(longest - L) C'(z). */
template <int W, int Outputs>
__device__ inline void find_roots(const TileJob &job, const gfk_locate_code &c, Shared &shared) {
    constexpr uint32_t ones = replicate<W>(1), length_mask = replicate<W>((1u << (W - 1)) - 1);
    uint32_t *left = shared.left + 4 * threadIdx.x;
    uint16_t *roots = shared.slab.roots + threadIdx.x;
    uint32_t lengths[4], zeros[4], found[4] = {}, longest = 0;
#pragma unroll
    for (int n = 0; n < 4; n++) {
        lengths[n] = left[n] & length_mask;
        zeros[n] = top_bit_mask<W>(left[n]);
#pragma unroll
        for (int s = 0; s < 32; s += W)
            longest = max(longest, lengths[n] >> s & symbol_mask<W>);
    }
    longest = __reduce_max_sync(0xffffffff, longest);
    if (longest == 0)
        return;
    const uint32_t *powers = c.powers + (uint64_t)longest * c.powers_pitch;
    multiply<W, Outputs>(
        c.barrett, c.k + c.m, longest, powers - c.powers_pitch, -(int64_t)c.powers_pitch,
        [&](uint32_t l, uint32_t(&x)[4]) { load_vector<true>(my_row(shared.slab, l), x); },
        [&](uint32_t i, const uint32_t(&y)[4]) {
            const bool is_zero = c.points[i] == 0;
            const uint32_t power = ones * powers[i];
            uint32_t bits = 0;
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const uint32_t root = is_zero ? zeros[n] : ~nonzero_mask<W>(y[n] ^ power);
                found[n] += root & ones;
                bits |= bits_of_mask<W>(root) << (n * (32 / W));
            }
            roots[i * threads] = (uint16_t)bits;
        });
    uint32_t explained = 0, unexplained = 0;
#pragma unroll
    for (int n = 0; n < 4; n++) {
        const uint32_t asked = nonzero_mask<W>(lengths[n]);
        const uint32_t all = asked & ~nonzero_mask<W>(lengths[n] ^ found[n]);
        left[n] &= all;
        explained |= bits_of_mask<W>(all) << (n * (32 / W));
        unexplained += (uint32_t)__popc(asked & ~all) / W;
    }
    add_from_warp(&shared.found.unexplained, unexplained);
    for (uint32_t i = 0; i < c.k + c.m; i++) {
        const uint32_t named =
            __reduce_add_sync(0xffffffff, (uint32_t)__popc(roots[i * threads] & explained));
        if (threadIdx.x % 32 == 0 && named != 0)
            count_named(job, shared, i, named);
    }
}

/* Repairs the positions whose roots explain them. */
template <int W>
__device__ __noinline__ void repair_roots(const TileJob &job, Shared &shared, uint64_t tile,
                                          const States &states) {
    constexpr unsigned size = W / 8, each = 16 / size; /* symbols of a thread */
    const gfk_locate_code c = with_width<W>(job.code);
    for_left<W>(shared, states, [&](unsigned symbol, auto &left, gfk_locate_state state) {
        const uint16_t *roots = shared.slab.roots + symbol / each;
        load_words<W>(shared.slab, 2 * c.t, symbol, state, 0);
        for (uint32_t i = 0; i < c.k + c.m; i++)
            if (roots[i * threads] >> symbol % each & 1)
                store_bytes(job.region(i) + tile + symbol * size, size,
                            gfk_locate_value(&c, state, left & ((1u << (W - 1)) - 1), i), true);
    });
}

/* Decodes the positions that are left of a tile. All threads call it together. */
template <int W, int Outputs, bool Formulas>
__device__ inline void decode_left(const TileJob &job, const gfk_locate_code &c, Shared &shared,
                                   uint64_t tile, const States &states) {
    if (Formulas || c.points == nullptr) {
        decode_at_once<W, Formulas>(job, c, shared, tile, states);
        return;
    }
    if constexpr (!Formulas) {
        find_recurrences<W>(job, c, shared, states);
        __syncthreads();
        find_roots<W, Outputs>(job, c, shared);
        __syncthreads();
        if (job.repair)
            repair_roots<W>(job, shared, tile, states);
    }
}

} // namespace locate
} // namespace gfk
