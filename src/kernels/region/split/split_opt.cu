/* SPDX-License-Identifier: BSD-3-Clause */
/* SPLIT, optimized. w=8 in parts of 3, 3 and 2 bits with the tables in registers, looked up by
 * PRMT; w=16 in parts of 6, 5 and 5 bits and w=32 in parts of 5 and 2 bits with the tables in
 * shared memory: tables of at most 32 banks, which have no bank conflicts. */
#include "kernels/common/basis.cuh"
#include "kernels/common/split_332.cuh"
#include "kernels/region/walk_tiles.cuh"

namespace {

struct Split8 : gfk::OneTileOp {
    static constexpr int w = 8, threads = 128, vectors = 2, blocks = 8;
    struct Params {
        uint32_t low[2], middle[2], high[1]; /* an entry a byte */

        explicit Params(const gfk_call *call) {
            gfk::pack_table(low, call->basis, 0);
            gfk::pack_table(middle, call->basis, 3);
            gfk::pack_table(high, call->basis, 6);
        }
    };
    const Params &t;
    __device__ Split8(const Params &params, Shared &) : t(params) {}

    /* Looked up together: the lower halves of the indices first, then the upper halves. */
    __device__ void pair(uint32_t &a, uint32_t &b) const {
        gfk::Indices332 i;
        i.set(a, b);
        const uint32_t y0 = gfk::prmt(t.low[0], t.low[1], i.low) ^
                            gfk::prmt(t.middle[0], t.middle[1], i.middle) ^
                            gfk::prmt(t.high[0], 0, i.high);
        const uint32_t y1 = gfk::prmt(t.low[0], t.low[1], i.low >> 16) ^
                            gfk::prmt(t.middle[0], t.middle[1], i.middle >> 16) ^
                            gfk::prmt(t.high[0], 0, i.high >> 16);
        a = gfk::prmt(y0, y1, 0x6420);
        b = gfk::prmt(y0, y1, 0x7531);
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::for_pairs(x, [&](uint32_t &a, uint32_t &b) { pair(a, b); });
    }
};

/* w=32 for short regions: each lane holds one entry of each table in registers, and a lookup is a
 * shuffle. No thread writes shared memory or waits for it. */
struct Split32Few : gfk::OneTileOp {
    static constexpr int w = 32, threads = 128, blocks = 8;
    using Params = gfk::Basis;
    uint32_t five[6], two;

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

struct Split16 : gfk::OneTileOp {
    static constexpr int w = 16, threads = 128, vectors = 3, blocks = 8;
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
        gfk::map_symbols<16>(x, [&](uint32_t a) {
            return t.low[a & 63] ^ t.middle[a >> 6 & 31] ^ t.high[a >> 11 & 31];
        });
    }
};

struct Split32 : gfk::OneTileOp {
    static constexpr int w = 32, threads = 128, vectors = 3, blocks = 8;
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

GFK_REGION_ROW(split_w8_opt, launch_opt<Split8>)
GFK_REGION_ROW(split_w16_opt, launch_opt<Split16>)
GFK_REGION_ROW(split_w32_opt, launch_opt<Split32, Split32Few>)
