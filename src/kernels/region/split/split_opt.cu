/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT, optimized. w=8 in parts of 3, 3 and 2 bits with the tables in registers, looked up by
 * PRMT; w=16 in parts of 6, 5 and 5 bits and w=32 in parts of 5 and 2 bits with the tables in
 * shared memory: tables of at most 32 banks, which have no bank conflicts. */
#include "kernels/common/basis.cuh"
#include "kernels/common/split_332.cuh"
#include "kernels/region/walk_tiles.cuh"

namespace {

struct Split8 {
    static constexpr int w = 8, threads = 128, vectors = 2, blocks = 8;
    static constexpr bool persistent = false;
    /* Byte i of a pair is entry i: low and middle have 8 entries, high has 4. */
    struct Params {
        uint32_t low[2], middle[2], high;
    };
    using Shared = gfk::OpNoShared;
    const Params &t;

    __device__ static void fill(const Params &, Shared &) {}
    __device__ Split8(const Params &params, Shared &) : t(params) {}

    /* Looked up together: the lower halves of the indices first, then the upper halves. */
    __device__ void pair(uint32_t &a, uint32_t &b) const {
        gfk::Indices332 i;
        i.set(a, b);
        const uint32_t y0 = gfk::prmt(t.low[0], t.low[1], i.low) ^
                            gfk::prmt(t.middle[0], t.middle[1], i.middle) ^
                            gfk::prmt(t.high, 0, i.high);
        const uint32_t y1 = gfk::prmt(t.low[0], t.low[1], i.low >> 16) ^
                            gfk::prmt(t.middle[0], t.middle[1], i.middle >> 16) ^
                            gfk::prmt(t.high, 0, i.high >> 16);
        a = gfk::prmt(y0, y1, 0x6420);
        b = gfk::prmt(y0, y1, 0x7531);
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

/* w=32 for short regions: each lane holds one entry of each table in registers, and a lookup is a
 * shuffle. No thread writes shared memory or waits for it. */
struct Split32Few {
    static constexpr int w = 32, threads = 128, blocks = 8;
    static constexpr bool persistent = false;
    using Params = gfk::Basis;
    using Shared = gfk::OpNoShared;
    uint32_t five[6], two;

    __device__ static void fill(const Params &, Shared &) {}
    __device__ Split32Few(const Params &basis, Shared &) {
        const unsigned lane = threadIdx.x % 32;
#pragma unroll
        for (int part = 0; part < 6; part++)
            five[part] = gfk::combine<5>(basis.v, 5 * part, lane);
        two = gfk::combine<2>(basis.v, 30, lane % 4);
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t y = __shfl_sync(0xffffffff, two, x[i] >> 30);
#pragma unroll
            for (int part = 0; part < 6; part++) /* a shuffle takes the lower five bits */
                y ^= __shfl_sync(0xffffffff, five[part], x[i] >> (5 * part));
            x[i] = y;
        }
    }
};

uint32_t entry(const gfk_call *call, int first, int v) {
    uint32_t e = 0;
    for (int b = 0; v >> b; b++)
        if (v >> b & 1)
            e ^= call->basis[first + b];
    return e;
}

struct Split16 {
    static constexpr int w = 16, threads = 128, vectors = 3, blocks = 8;
    static constexpr bool persistent = false;
    using Params = gfk::Basis;
    struct Shared {
        uint16_t low[64], middle[32], high[32];
    };
    const Shared &t;

    __device__ static void fill(const Params &basis, Shared &t) {
        const unsigned i = threadIdx.x;
        if (i < 64)
            t.low[i] = (uint16_t)gfk::combine<6>(basis.v, 0, i);
        else if (i < 96)
            t.middle[i - 64] = (uint16_t)gfk::combine<5>(basis.v, 6, i - 64);
        else if (i < 128)
            t.high[i - 96] = (uint16_t)gfk::combine<5>(basis.v, 11, i - 96);
    }
    __device__ Split16(const Params &, Shared &shared) : t(shared) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const uint32_t a = x[i];
            const uint32_t even = t.low[a & 63] ^ t.middle[a >> 6 & 31] ^ t.high[a >> 11 & 31];
            const uint32_t odd = t.low[a >> 16 & 63] ^ t.middle[a >> 22 & 31] ^ t.high[a >> 27];
            x[i] = gfk::prmt(even, odd, 0x5410);
        }
    }
};

struct Split32 {
    static constexpr int w = 32, threads = 128, vectors = 3, blocks = 8;
    static constexpr bool persistent = false;
    using Params = gfk::Basis;
    struct Shared {
        uint32_t five[6][32], two[4];
    };
    const Shared &t;

    __device__ static void fill(const Params &basis, Shared &t) {
        const unsigned v = threadIdx.x % 32; /* a warp fills one part at a time */
        for (unsigned part = threadIdx.x / 32; part < 6; part += threads / 32)
            t.five[part][v] = gfk::combine<5>(basis.v, 5 * part, v);
        if (threadIdx.x < 4)
            t.two[threadIdx.x] = gfk::combine<2>(basis.v, 30, threadIdx.x);
    }
    __device__ Split32(const Params &, Shared &shared) : t(shared) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t y = t.two[x[i] >> 30];
#pragma unroll
            for (int part = 0; part < 6; part++)
                y ^= t.five[part][x[i] >> (5 * part) & 31];
            x[i] = y;
        }
    }
};

} // namespace

extern "C" gfk_status gfk_split_w8_opt(const gfk_call *call) {
    Split8::Params t = {};
    for (int v = 0; v < 8; v++) {
        t.low[v / 4] |= entry(call, 0, v) << (8 * (v % 4));
        t.middle[v / 4] |= entry(call, 3, v) << (8 * (v % 4));
    }
    for (int v = 0; v < 4; v++)
        t.high |= entry(call, 6, v) << (8 * v);
    return gfk::launch_opt<Split8>(call, t);
}
extern "C" gfk_status gfk_split_w16_opt(const gfk_call *call) {
    return gfk::launch_opt<Split16>(call, gfk::basis_of(call));
}
extern "C" gfk_status gfk_split_w32_opt(const gfk_call *call) {
    return gfk::launch_opt<Split32, Split32Few>(call, gfk::basis_of(call));
}
