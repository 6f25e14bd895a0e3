/* SPDX-License-Identifier: BSD-3-Clause */
/* How an optimized kernel walks a region: 16-byte chunks of dst, several per thread, all loads
 * issued before the first use; whatever does not fill a chunk goes symbol by symbol.
 *
 * An Op is a struct with
 *   static constexpr int w          the width
 *   static constexpr int threads    per block
 *   static constexpr int vectors    16-byte chunks per thread and tile
 *   static constexpr int persistent 0: one tile per block. Otherwise the blocks per multiprocessor,
 *                                   each of which fills its tables once and then takes many tiles
 *   struct Params                   by value, in the constant bank
 *   struct Shared                   what it keeps in shared memory (OpNoShared if nothing)
 *   __device__ static void fill(const Params &, Shared &)     by all threads, before the first use
 *   __device__ Op(const Params &, Shared &)
 *   template <int N> __device__ void apply(uint32_t (&x)[N])  N words become their products
 */
#pragma once

#include "launch.cuh"
#include "word.cuh"

namespace gfk {

struct OpNoShared {};

/* A region, divided. The body is `chunks` 16-byte chunks whose addresses in dst are multiples of
 * 16; the edges are the bytes [0, body) and [tail, bytes). A chunk's bytes come from a window of 16
 * source bytes that begins at a symbol: dst_shift bytes before the chunk, because a misaligned dst
 * may cut a symbol in two. Windows begin src_shift bytes behind a multiple of 16. */
struct Division {
    const uint8_t *src;
    uint8_t *dst;
    uint64_t bytes, body, tail, chunks;
    unsigned src_shift, dst_shift;

    bool aligned() const { return src_shift == 0 && dst_shift == 0; }
};

inline Division divide_region(const gfk_call *call, unsigned symbol) {
    Division d = {};
    d.src = call->src;
    d.dst = call->dst;
    d.bytes = call->bytes;
    uint64_t body = (16 - (uintptr_t)d.dst % 16) % 16;
    d.dst_shift = (unsigned)(body % symbol);
    d.src_shift = (unsigned)(((uintptr_t)d.src + body - d.dst_shift) % 16);
    if (body < d.dst_shift + d.src_shift) /* the first window's loads would begin before src */
        body += 16;
    /* A window takes one aligned load, or two when it is shifted; a chunk that cuts symbols takes
     * the next window too. In place, that next window may be gone already: then no body at all. */
    const uint64_t first_load = body - d.dst_shift - d.src_shift;
    const uint64_t loads = d.bytes > first_load ? (d.bytes - first_load) / 16 : 0;
    const uint64_t extra = (d.src_shift != 0) + (d.dst_shift != 0);
    if (loads > extra && !(d.dst_shift != 0 && call->src == call->dst))
        d.chunks = loads - extra;
    d.body = d.chunks ? body : d.bytes;
    d.tail = d.chunks ? body + 16 * d.chunks : d.bytes;
    return d;
}

__device__ inline uint4 load_streaming(const uint8_t *p) {
    return __ldcs((const uint4 *)p);
}

__device__ inline void store_streaming(uint8_t *p, const uint32_t *x) {
    __stcs((uint4 *)p, make_uint4(x[0], x[1], x[2], x[3]));
}

__device__ inline void unpack(uint4 v, uint32_t *x) {
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
    x[3] = v.w;
}

/* Four words out of eight, from byte `shift` (0 to 15, the same for all threads) on. */
__device__ inline void shift_window(const uint4 &lo, const uint4 &hi, unsigned shift, uint32_t *x) {
    const unsigned bits = 8 * (shift % 4);
    const uint32_t a[8] = {lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (shift / 4 == k) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] = funnel(a[i + k], i + k + 1 < 8 ? a[i + k + 1] : 0, bits);
        }
    }
}

/* The symbols that the edges touch; of a symbol that is cut in two only the bytes outside the body
 * are written. */
template <class Op, bool Xor>
__device__ void edges(Op &op, const Division &d) {
    constexpr int size = Op::w / 8;
    const uint64_t head = (d.body + size - 1) / size, tail = d.tail / size;
    const uint64_t count = head + (d.bytes / size - tail);
    const uint64_t step = (uint64_t)gridDim.x * Op::threads;
    for (uint64_t i = (uint64_t)blockIdx.x * Op::threads + threadIdx.x; i < count; i += step) {
        const uint64_t first = (i < head ? i : tail + (i - head)) * size;
        uint32_t x[1] = {0};
        for (int b = 0; b < size; b++)
            x[0] |= (uint32_t)d.src[first + b] << (8 * b);
        op.template apply<1>(x);
        for (int b = 0; b < size; b++) {
            const uint64_t at = first + b;
            if (at < d.body || at >= d.tail) {
                const uint8_t y = (uint8_t)(x[0] >> (8 * b));
                d.dst[at] = Xor ? d.dst[at] ^ y : y;
            }
        }
    }
}

/* Where a thread's chunks of a tile are. Unaligned and with symbols cut in two, the last lane of a
 * warp only lends its first word to its neighbour, and its window is the next warp's first. */
template <class Op, bool Aligned>
struct Place {
    uint64_t first; /* chunk of vector 0 */
    unsigned step;  /* from one vector's chunk to the next's */
    bool writes;

    __device__ Place(const Division &d, uint64_t tile) {
        if (Aligned) {
            first = tile * (Op::threads * Op::vectors) + threadIdx.x;
            step = Op::threads;
            writes = true;
        } else {
            const unsigned lanes = d.dst_shift ? 31 : 32, lane = threadIdx.x % 32;
            const uint64_t warp = tile * (Op::threads / 32) + threadIdx.x / 32;
            first = warp * (lanes * Op::vectors) + lane;
            step = lanes;
            writes = lane < lanes;
        }
    }
};

inline uint64_t tiles_of(const Division &d, unsigned threads, unsigned vectors) {
    const uint64_t lanes = d.dst_shift ? 31 : 32;
    const uint64_t tile = threads / 32 * lanes * vectors;
    return (d.chunks + tile - 1) / tile;
}

template <class Op, bool Aligned>
__device__ inline void load_tile(const Division &d, uint64_t tile, uint32_t (&x)[4 * Op::vectors]) {
    const Place<Op, Aligned> place(d, tile);
    if (Aligned) {
#pragma unroll
        for (int v = 0; v < Op::vectors; v++) {
            const uint64_t chunk = place.first + v * place.step;
            if (chunk < d.chunks)
                unpack(load_streaming(d.src + d.body + 16 * chunk), x + 4 * v);
        }
    } else {
        /* One window more than chunks when symbols are cut. */
        const uint64_t windows = d.chunks + (d.dst_shift != 0);
        const uint8_t *base = d.src + d.body - d.dst_shift - d.src_shift;
        uint4 lo[Op::vectors], hi[Op::vectors];
#pragma unroll
        for (int v = 0; v < Op::vectors; v++) {
            const uint64_t window = place.first + v * place.step;
            lo[v] = hi[v] = make_uint4(0, 0, 0, 0);
            if (window < windows) { /* neighbours share a load: leave it in L1 */
                lo[v] = *(const uint4 *)(base + 16 * window);
                if (d.src_shift)
                    hi[v] = *(const uint4 *)(base + 16 * window + 16);
            }
        }
#pragma unroll
        for (int v = 0; v < Op::vectors; v++)
            shift_window(lo[v], hi[v], d.src_shift, x + 4 * v);
    }
}

template <class Op, bool Xor, bool Aligned>
__device__ inline void store_tile(const Division &d, uint64_t tile, uint32_t (&x)[4 * Op::vectors],
                                  const uint32_t *old) {
    const Place<Op, Aligned> place(d, tile);
#pragma unroll
    for (int v = 0; v < Op::vectors; v++) {
        const uint64_t chunk = place.first + v * place.step;
        uint32_t y[4] = {x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]};
        if (!Aligned && Op::w > 8) {
            const uint32_t next = __shfl_down_sync(0xffffffff, y[0], 1);
#pragma unroll
            for (int i = 0; i < 4; i++)
                y[i] = funnel(y[i], i < 3 ? y[i + 1] : next, 8 * d.dst_shift);
        }
        if (Xor) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                y[i] ^= old[4 * v + i];
        }
        if (place.writes && chunk < d.chunks)
            store_streaming(d.dst + d.body + 16 * chunk, y);
    }
}

template <class Op, bool Aligned>
__device__ inline void load_old(const Division &d, uint64_t tile, uint32_t *old) {
    const Place<Op, Aligned> place(d, tile);
#pragma unroll
    for (int v = 0; v < Op::vectors; v++) {
        const uint64_t chunk = place.first + v * place.step;
        if (place.writes && chunk < d.chunks)
            unpack(load_streaming(d.dst + d.body + 16 * chunk), old + 4 * v);
    }
}

template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(Op::threads, Op::persistent ? Op::persistent : 1)
    region_opt(const __grid_constant__ typename Op::Params params,
               const __grid_constant__ Division d, const uint64_t tiles) {
    extern __shared__ uint4 shared_memory[];
    typename Op::Shared &shared = *reinterpret_cast<typename Op::Shared *>(shared_memory);
    constexpr bool uses_shared = !std::is_empty<typename Op::Shared>::value;
    constexpr int words = 4 * Op::vectors;
    uint32_t x[words] = {}, old[words] = {};
    uint64_t tile = blockIdx.x;
    /* The tables fill while the first loads are under way. */
    if (tile < tiles) {
        load_tile<Op, Aligned>(d, tile, x);
        if (Xor)
            load_old<Op, Aligned>(d, tile, old);
    }
    if (uses_shared) {
        Op::fill(params, shared);
        __syncthreads();
    }
    Op op(params, shared);
    if (!Op::persistent) {
        if (tile < tiles) {
            op.template apply<words>(x);
            store_tile<Op, Xor, Aligned>(d, tile, x, old);
        }
    } else {
        while (tile < tiles) {
            const uint64_t next_tile = tile + gridDim.x;
            uint32_t next[words] = {}, next_old[words] = {};
            if (next_tile < tiles) { /* the next tile travels while this one is computed */
                load_tile<Op, Aligned>(d, next_tile, next);
                if (Xor)
                    load_old<Op, Aligned>(d, next_tile, next_old);
            }
            op.template apply<words>(x);
            store_tile<Op, Xor, Aligned>(d, tile, x, old);
#pragma unroll
            for (int i = 0; i < words; i++) {
                x[i] = next[i];
                old[i] = next_old[i];
            }
            tile = next_tile;
        }
    }
    edges<Op, Xor>(op, d);
}

template <class Op>
constexpr size_t shared_bytes() {
    return std::is_empty<typename Op::Shared>::value ? 0 : sizeof(typename Op::Shared);
}

template <class Op>
constexpr size_t tile_bytes() {
    return 16 * Op::vectors * Op::threads;
}

/* Once per multiplier, for ops with more than 48 KiB of shared memory. */
template <class Op>
gfk_status allow_shared() {
    auto allow = [](auto kernel) {
        return status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)shared_bytes<Op>()));
    };
    gfk_status status = allow(region_opt<Op, false, false>);
    if (status == GFK_STATUS_SUCCESS)
        status = allow(region_opt<Op, false, true>);
    if (status == GFK_STATUS_SUCCESS)
        status = allow(region_opt<Op, true, false>);
    return status == GFK_STATUS_SUCCESS ? allow(region_opt<Op, true, true>) : status;
}

template <class Op>
gfk_status launch_region(const gfk_call *call, const typename Op::Params &params) {
    const Division d = divide_region(call, Op::w / 8);
    const uint64_t tiles = tiles_of(d, Op::threads, Op::vectors);
    const uint64_t edge_blocks = (d.bytes / (Op::w / 8) + Op::threads - 1) / Op::threads;
    uint64_t blocks = tiles ? tiles : edge_blocks;
    const uint64_t most = Op::persistent ? (uint64_t)call->multiplier->processors * Op::persistent
                          : tiles        ? 0x7fffffff
                                         : 65536;
    if (blocks > most) {
        if (tiles && !Op::persistent)
            return GFK_STATUS_INTERNAL; /* beyond 16 TiB */
        blocks = most;
    }
    void (*kernel)(typename Op::Params, Division, uint64_t);
    if (d.aligned())
        kernel = call->accumulate ? region_opt<Op, true, true> : region_opt<Op, false, true>;
    else
        kernel = call->accumulate ? region_opt<Op, true, false> : region_opt<Op, false, false>;
    return launch(kernel, blocks, Op::threads, shared_bytes<Op>(), call->stream, params, d, tiles);
}

/* The same, for a row. */
template <class Op>
gfk_status launch_opt(const gfk_call *call, const typename Op::Params &params) {
    const gfk_kernel_info *info = call->multiplier->info.kernel;
    if (info->tile_bytes != tile_bytes<Op>() || info->shared_bytes != shared_bytes<Op>())
        return GFK_STATUS_INTERNAL; /* kernels.def and this Op disagree */
    return launch_region<Op>(call, params);
}

} // namespace gfk
