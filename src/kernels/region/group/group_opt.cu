/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP, optimized: left to right, product = product * 2^g + reduction of the g bits that fall out
 * + multiple of c for the next group. w=8 with groups of 3 bits (the first has 2) and both tables
 * in registers; w=16 with groups of 6 (the first has 4) and both tables conflict-free in shared
 * memory; w=32 with groups of 8 and both tables private to each lane, which pays off in long
 * regions. */
#include "kernels/common/basis.cuh"
#include "kernels/common/split_332.cuh"
#include "kernels/region/private_tables.cuh"
#include "kernels/region/walk_tiles.cuh"

namespace {

/* c * 2^i, and x^w * 2^i mod the polynomial. */
struct Bases {
    gfk::Basis multiples, reductions;

    explicit Bases(const gfk_call *call) : multiples(call), reductions() {
        const gfk_field *field = &call->multiplier->info.field;
        uint64_t power = field->polynomial ^ UINT64_C(1) << field->w;
        for (int i = 0; i < 8; i++) {
            reductions.v[i] = (uint32_t)power;
            power <<= 1;
            if (power >> field->w)
                power ^= field->polynomial;
        }
    }
};

struct Group8 : gfk::OneTileOp {
    static constexpr int w = 8, threads = 64, vectors = 3, blocks = 24;
    struct Params {
        uint32_t multiple[2], reduction[2]; /* eight bytes each */

        explicit Params(const gfk_call *call) {
            const Bases bases(call);
            gfk::pack_table(multiple, bases.multiples.v, 0);
            gfk::pack_table(reduction, bases.reductions.v, 0);
        }
    };
    const Params &t;
    __device__ Group8(const Params &params, Shared &) : t(params) {}

    __device__ uint32_t multiples(uint32_t indices) const {
        return gfk::prmt(t.multiple[0], t.multiple[1], indices);
    }

    /* Both products times x^3, then the next multiples. The top bits of p's and q's bytes are put
     * into alternating nibbles, and their reductions come back interleaved. */
    __device__ void step(uint32_t &p, uint32_t &q, uint32_t indices) const {
        const uint32_t top = (p >> 5 & 0x07070707) | (q >> 1 & 0x70707070);
        const uint32_t r = gfk::prmt(t.reduction[0], t.reduction[1], top);
        const uint32_t s = gfk::prmt(t.reduction[0], t.reduction[1], top >> 16);
        p = (p << 3 & 0xf8f8f8f8) ^ gfk::prmt(r, s, 0x6420) ^ multiples(indices);
        q = (q << 3 & 0xf8f8f8f8) ^ gfk::prmt(r, s, 0x7531) ^ multiples(indices >> 16);
    }

    /* The indices of split_332.cuh, but in the order in which the steps need them: p holds the
     * products of a0 b0 a1 b1 and q those of a2 b2 a3 b3. */
    __device__ void pair(uint32_t &a, uint32_t &b) const {
        const uint32_t lower = (a & 0x0f0f0f0f) | (b << 4 & 0xf0f0f0f0);
        const uint32_t upper = (a >> 4 & 0x0f0f0f0f) | (b & 0xf0f0f0f0);
        const uint32_t high = upper >> 2 & 0x33333333;
        uint32_t p = multiples(high), q = multiples(high >> 16);
        step(p, q, (lower >> 3 & 0x11111111) | (upper << 1 & 0x66666666));
        step(p, q, lower & 0x77777777);
        a = gfk::prmt(p, q, 0x6420);
        b = gfk::prmt(p, q, 0x7531);
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::for_pairs(x, [&](uint32_t &a, uint32_t &b) { pair(a, b); });
    }
};

struct Group16 : gfk::OneTileOp {
    static constexpr int w = 16, threads = 128, vectors = 4, blocks = 8;
    using Params = Bases;
    struct Shared {
        uint16_t multiple[64], reduction[64];
    };
    const Shared &t;

    __device__ static void fill(const Params &bases, Shared &t) {
        const unsigned i = threadIdx.x;
        if (i < 64)
            t.multiple[i] = (uint16_t)gfk::combine<6>(bases.multiples.v, 0, i);
        else if (i < 128)
            t.reduction[i - 64] = (uint16_t)gfk::combine<6>(bases.reductions.v, 0, i - 64);
    }
    __device__ Group16(const Params &, Shared &shared) : t(shared) {}

    /* Above bit 15 the result is not cleared. */
    __device__ uint32_t product(uint32_t x) const {
        uint32_t p = t.multiple[x >> 12 & 15];
        p = p << 6 ^ t.reduction[p >> 10] ^ t.multiple[x >> 6 & 63];
        return p << 6 ^ t.reduction[p >> 10 & 63] ^ t.multiple[x & 63];
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::map_symbols<16>(x, [&](uint32_t symbol) { return product(symbol); });
    }
};

struct Group32 {
    static constexpr int w = 32, threads = 512, vectors = 2, blocks = 2;
    static constexpr bool persistent = true;
    static constexpr size_t fill_from = 2 << 20;
    using Params = Bases;
    using Shared = gfk::PrivateTables;
    const gfk::PrivateLookup t;

    __device__ static void fill(const Params &bases, Shared &tables) {
        gfk::fill_private(tables, [&](unsigned table, unsigned v) {
            return gfk::combine<8>(table ? bases.reductions.v : bases.multiples.v, 0, v);
        });
    }
    __device__ Group32(const Params &, Shared &shared) : t(shared) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t p = t.first(t.address<3>(x[i]));
            p = p << 8 ^ t.second(t.address<3>(p)) ^ t.first(t.address<2>(x[i]));
            p = p << 8 ^ t.second(t.address<3>(p)) ^ t.first(t.address<1>(x[i]));
            x[i] = p << 8 ^ t.second(t.address<3>(p)) ^ t.first(t.address<0>(x[i]));
        }
    }
};

/* w=32 for short regions: one copy of the tables per block. */
struct Group32Few : gfk::OneTileOp {
    static constexpr int w = 32, threads = 128, blocks = 8;
    using Params = Bases;
    struct Shared {
        uint32_t multiple[256], reduction[256];
    };
    const Shared &t;

    __device__ static void fill(const Params &bases, Shared &t) {
        for (unsigned v = threadIdx.x; v < 256; v += blockDim.x) {
            t.multiple[v] = gfk::combine<8>(bases.multiples.v, 0, v);
            t.reduction[v] = gfk::combine<8>(bases.reductions.v, 0, v);
        }
    }
    __device__ Group32Few(const Params &, Shared &shared) : t(shared) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t p = t.multiple[x[i] >> 24];
#pragma unroll
            for (int shift = 16; shift >= 0; shift -= 8)
                p = p << 8 ^ t.reduction[p >> 24] ^ t.multiple[x[i] >> shift & 255];
            x[i] = p;
        }
    }
};

} // namespace

extern "C" gfk_status gfk_create_group_w32_opt(gfk_multiplier_t) {
    return gfk::allow_shared<Group32>();
}
GFK_REGION_ROW(group_w8_opt, launch_opt<Group8>)
GFK_REGION_ROW(group_w16_opt, launch_opt<Group16>)
GFK_REGION_ROW(group_w32_opt, launch_opt<Group32, Group32Few>)
