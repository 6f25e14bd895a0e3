/* SPDX-License-Identifier: BSD-3-Clause */
/* GROUP, optimized: left to right, product = product * 2^g + reduction of the g bits that fall out
 * + multiple of c for the next group. w=8 with groups of 3 bits (the first has 2) and both tables
 * in registers; w=16 with groups of 6 (the first has 4) and both tables conflict-free in shared
 * memory; w=32 with groups of 8 and both tables private to each lane, which pays off in long
 * regions. */
#include "kernels/common/basis.cuh"
#include "kernels/region/private_tables.cuh"
#include "kernels/region/walk_tiles.cuh"

namespace {

/* v * x^w mod the polynomial, from a basis of the reductions of x^w, x^(w+1) and so on. */
gfk::Basis reductions_of(const gfk_call *call) {
    const gfk_field *field = &call->multiplier->info.field;
    gfk::Basis basis = {};
    uint64_t power = field->polynomial ^ UINT64_C(1) << field->w;
    for (int i = 0; i < 8; i++) {
        basis.v[i] = (uint32_t)power;
        power <<= 1;
        if (power >> field->w)
            power ^= field->polynomial;
    }
    return basis;
}

/* c * 2^i and x^w * 2^i. */
struct Bases {
    gfk::Basis multiples, reductions;
};

Bases bases_of(const gfk_call *call) {
    return {gfk::basis_of(call), reductions_of(call)};
}

struct Group8 {
    static constexpr int w = 8, threads = 64, vectors = 3, blocks = 24;
    static constexpr bool persistent = false;
    struct Params {
        uint32_t multiple[2], reduction[2]; /* eight bytes each */
    };
    using Shared = gfk::OpNoShared;
    const Params &t;

    __device__ static void fill(const Params &, Shared &) {}
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
        if constexpr (N == 1) {
            uint32_t unused = 0;
            pair(x[0], unused);
        } else {
#pragma unroll
            for (int i = 0; i < N; i += 2)
                pair(x[i], x[i + 1]);
        }
    }
};

struct Group16 {
    static constexpr int w = 16, threads = 128, vectors = 4, blocks = 8;
    static constexpr bool persistent = false;
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

    /* The product of the symbol in the lower half of x; above bit 15 the result is not cleared. */
    __device__ uint32_t product(uint32_t x) const {
        uint32_t p = t.multiple[x >> 12 & 15];
        p = p << 6 ^ t.reduction[p >> 10] ^ t.multiple[x >> 6 & 63];
        return p << 6 ^ t.reduction[p >> 10 & 63] ^ t.multiple[x & 63];
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = gfk::prmt(product(x[i]), product(x[i] >> 16), 0x5410);
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
struct Group32Few {
    static constexpr int w = 32, threads = 128, blocks = 8;
    static constexpr bool persistent = false;
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

/* Entries 0 to 7 of a basis of bytes, packed. */
void pack(uint32_t (&table)[2], const gfk::Basis &basis) {
    table[0] = table[1] = 0;
    for (int v = 0; v < 8; v++)
        for (int b = 0; b < 3; b++)
            if (v >> b & 1)
                table[v / 4] ^= basis.v[b] << (8 * (v % 4));
}

} // namespace

extern "C" gfk_status gfk_group_w8_opt(const gfk_call *call) {
    const Bases bases = bases_of(call);
    Group8::Params t;
    pack(t.multiple, bases.multiples);
    pack(t.reduction, bases.reductions);
    return gfk::launch_opt<Group8>(call, t);
}
extern "C" gfk_status gfk_group_w16_opt(const gfk_call *call) {
    return gfk::launch_opt<Group16>(call, bases_of(call));
}
extern "C" gfk_status gfk_create_group_w32_opt(gfk_multiplier_t) {
    return gfk::allow_shared<Group32>();
}
extern "C" gfk_status gfk_group_w32_opt(const gfk_call *call) {
    return gfk::launch_opt<Group32, Group32Few>(call, bases_of(call));
}
