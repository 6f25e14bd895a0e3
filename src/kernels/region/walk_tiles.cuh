/* SPDX-License-Identifier: BSD-3-Clause */
/* How an optimized kernel walks a region: a thread takes several vectors of a tile and issues all
 * loads before the first use. Symbols outside whole vectors of dst go one by one.
 *
 * An Op is a struct with
 *   static constexpr int w, threads (per block), vectors (per thread and tile)
 *   static constexpr int blocks       per multiprocessor, which the registers must allow
 *   static constexpr bool persistent  a block fills its tables once and then takes many tiles; else
 *                                     it takes one (OneTileOp)
 *   static constexpr size_t fill_from persistent ops: shorter regions go to another op
 *   struct Params                     by value, in the constant bank; made from a const gfk_call *
 *   struct Shared                     what it keeps in shared memory (NoShared if nothing)
 *   __device__ static void fill(const Params &, Shared &)     by all threads, before the first use;
 *                                     not if there is nothing in shared memory
 *   __device__ Op(const Params &, Shared &)
 *   template <int N> __device__ void apply(uint32_t (&x)[N])  N words become their products. For
 *                                     N = 1 latency counts; an overload may serve it
 */
#pragma once

#include "row.cuh"

namespace gfk {

/* The usual op. */
struct OneTileOp {
    static constexpr bool persistent = false;
    using Shared = NoShared;
};

/* A region, divided. The body is `vectors` vectors of dst, aligned in memory; the edges are the
 * bytes [0, body) and [tail, bytes). A vector of dst is computed from a window of 16 source bytes,
 * which begins at a symbol: dst_shift bytes before the vector, because a misaligned dst may cut a
 * symbol in two. Windows begin src_shift bytes after an aligned address, so a window takes one
 * aligned load, or two where src_shift is not 0. */
struct Division {
    const uint8_t *src, *first_load; /* of the first window */
    uint8_t *dst, *first_vector;
    uint64_t bytes, body, tail, vectors, full_tiles;
    unsigned src_shift, dst_shift;

    bool aligned() const { return src_shift == 0 && dst_shift == 0; }
    /* Vectors that a warp writes, of `per_thread` windows in each thread. Where symbols are cut, a
     * vector needs the first word of the next window, so the warp's last window writes nothing. */
    __host__ __device__ unsigned warp_vectors(unsigned per_thread) const {
        return 32 * per_thread - (dst_shift != 0);
    }
};

inline Division divide_region(const gfk_call *call, unsigned symbol, unsigned threads,
                              unsigned vectors) {
    Division d = {};
    d.src = call->src;
    d.dst = call->dst;
    d.bytes = call->bytes;
    uint64_t body = (16 - (uintptr_t)d.dst % 16) % 16;
    d.dst_shift = (unsigned)(body % symbol);
    d.src_shift = (unsigned)(((uintptr_t)d.src + body - d.dst_shift) % 16);
    if (body < d.dst_shift + d.src_shift) /* the first load would begin before src */
        body += 16;
    const uint64_t skipped = body - d.dst_shift - d.src_shift;
    const uint64_t loads = d.bytes > skipped ? (d.bytes - skipped) / 16 : 0;
    const uint64_t extra = (d.src_shift != 0) + (d.dst_shift != 0);
    /* In place, where symbols are cut, a window may be overwritten before its neighbour has read
     * it: there is no body then. */
    if (loads > extra && !(d.dst_shift != 0 && call->src == call->dst))
        d.vectors = loads - extra;
    d.body = d.vectors ? body : d.bytes;
    d.tail = d.vectors ? body + 16 * d.vectors : d.bytes;
    d.full_tiles = d.vectors / (threads / 32 * d.warp_vectors(vectors));
    d.first_load = d.src + skipped;
    d.first_vector = d.dst + d.body;
    return d;
}

/* Words K to K + 3 of each pair of vectors lo, hi, shifted by `bits` bits. */
template <int K, int V>
__device__ inline void shift_words(const uint4 (&lo)[V], const uint4 (&hi)[V], unsigned bits,
                                   uint32_t *x) {
#pragma unroll
    for (int v = 0; v < V; v++) {
        uint32_t a[8];
        unpack(lo[v], a);
        unpack(hi[v], a + 4);
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[4 * v + i] = funnel(a[i + K], a[i + K + 1], bits);
    }
}

/* The 16 bytes of each pair of vectors from byte `shift`, 0 to 15, on. All threads take the same
 * branch. The loop over vectors is inside the branch, or the compiler would compute all four cases
 * and select. */
template <int V>
__device__ inline void shift_windows(const uint4 (&lo)[V], const uint4 (&hi)[V], unsigned shift,
                                     uint32_t *x) {
    const unsigned bits = 8 * (shift % 4);
    switch (shift / 4) {
    case 0:
        return shift_words<0>(lo, hi, bits, x);
    case 1:
        return shift_words<1>(lo, hi, bits, x);
    case 2:
        return shift_words<2>(lo, hi, bits, x);
    default:
        return shift_words<3>(lo, hi, bits, x);
    }
}

/* The symbols that the edges touch, by blocks 0 to `blocks` - 1. If the body cuts a symbol in two,
 * only the bytes outside the body are written. */
template <class Op, bool Xor>
__device__ void edges(Op &op, const Division &d, unsigned block, unsigned blocks) {
    constexpr int size = Op::w / 8;
    const uint64_t head = divide_up<size>(d.body), tail = d.tail / size;
    const uint64_t count = head + (d.bytes / size - tail);
    const uint64_t step = (uint64_t)blocks * Op::threads;
    for (uint64_t base = (uint64_t)block * Op::threads; base < count; base += step) {
        const uint64_t i = base + threadIdx.x;
        const bool here = i < count; /* all threads go on: ops may shuffle */
        const uint64_t first = (i < head ? i : tail + (i - head)) * size;
        uint32_t x[1] = {0};
        for (int b = 0; b < size && here; b++)
            x[0] |= (uint32_t)d.src[first + b] << (8 * b);
        op.template apply<1>(x);
        for (int b = 0; b < size && here; b++) {
            const uint64_t at = first + b;
            if (at < d.body || at >= d.tail) {
                const uint8_t y = (uint8_t)(x[0] >> (8 * b));
                d.dst[at] = Xor ? d.dst[at] ^ y : y;
            }
        }
    }
}

/* A thread's vectors of one tile: the first one's index, and the distance to the next. Aligned
 * vectors of a thread are a block apart. Otherwise a warp's vectors are contiguous, so that only
 * its last window lacks a neighbour. */
template <class Op, bool Aligned>
struct ThreadVectors {
    static constexpr unsigned step = Aligned ? Op::threads : 32;
    uint64_t first;
    bool lends; /* the last window only lends a word to its neighbour */

    __device__ ThreadVectors(const Division &d, uint64_t tile) {
        if (Aligned) {
            first = tile * (Op::threads * Op::vectors) + threadIdx.x;
            lends = false;
        } else {
            const unsigned lane = threadIdx.x % 32;
            const uint64_t warp = tile * (Op::threads / 32) + threadIdx.x / 32;
            first = warp * d.warp_vectors(Op::vectors) + lane;
            lends = d.dst_shift != 0 && lane == 31;
        }
    }
    /* Does the thread write its vector v? Unless the tile is full, the body may end before it. */
    template <bool Full>
    __device__ bool writes(const Division &d, int v) const {
        return (Full || first + v * step < d.vectors) && !(lends && v == Op::vectors - 1);
    }
};

/* A thread's part of one tile. Only a tile that is not full is compared with the body's end. */
template <class Op, bool Xor, bool Aligned>
struct Tile {
    static constexpr int words = 4 * Op::vectors;
    uint32_t x[words], old[Xor ? words : 1];

    __device__ void load(const Division &d, uint64_t tile) {
        if (tile < d.full_tiles) {
            load<true>(d, tile);
        } else {
#pragma unroll
            for (int i = 0; i < words; i++)
                x[i] = 0;
            load<false>(d, tile);
        }
    }
    __device__ void finish(Op &op, const Division &d, uint64_t tile) {
        op.template apply<words>(x);
        if (tile < d.full_tiles)
            store<true>(d, tile);
        else
            store<false>(d, tile);
    }

  private:
    template <bool Full>
    __device__ void load(const Division &d, uint64_t tile) {
        const ThreadVectors<Op, Aligned> mine(d, tile);
        const uint8_t *p = d.first_load + 16 * mine.first;
        if (Aligned) {
#pragma unroll
            for (int v = 0; v < Op::vectors; v++)
                if (Full || mine.first + v * mine.step < d.vectors)
                    unpack(load_vector(p + 16 * v * mine.step), x + 4 * v);
        } else {
            /* One window more than vectors where symbols are cut; no window without a body. */
            const uint64_t windows = d.vectors ? d.vectors + (d.dst_shift != 0) : 0;
            uint4 lo[Op::vectors], hi[Op::vectors];
#pragma unroll
            for (int v = 0; v < Op::vectors; v++) {
                lo[v] = hi[v] = make_uint4(0, 0, 0, 0);
                if (Full || mine.first + v * mine.step < windows) {
                    const uint8_t *window = p + 16 * v * mine.step;
                    lo[v] = load_vector(window); /* neighbours share a load: leave it in L1 */
                    if (d.src_shift)
                        hi[v] = load_vector(window + 16);
                }
            }
            shift_windows(lo, hi, d.src_shift, x);
        }
        if (Xor)
            load_old<Full>(d, tile);
    }

    template <bool Full>
    __device__ void load_old(const Division &d, uint64_t tile) {
        const ThreadVectors<Op, Aligned> mine(d, tile);
        const uint8_t *p = d.first_vector + 16 * mine.first;
#pragma unroll
        for (int v = 0; v < Op::vectors; v++)
            if (mine.template writes<Full>(d, v))
                unpack(load_vector(p + 16 * v * mine.step), old + 4 * v);
    }

    template <bool Full>
    __device__ void store(const Division &d, uint64_t tile) const {
        const ThreadVectors<Op, Aligned> mine(d, tile);
        uint8_t *p = d.first_vector + 16 * mine.first;
#pragma unroll
        for (int v = 0; v < Op::vectors; v++) {
            uint32_t y[4] = {x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]};
            if (!Aligned && Op::w > 8) {
                /* Word 0 of the next window, which is the next lane's; after the last lane's comes
                 * the first lane's next window. */
                const bool last = v + 1 == Op::vectors;
                const uint32_t lent = threadIdx.x % 32 || last ? y[0] : x[last ? 0 : 4 * (v + 1)];
                const uint32_t next = __shfl_sync(0xffffffff, lent, threadIdx.x + 1);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    y[i] = funnel(y[i], i < 3 ? y[i + 1] : next, 8 * d.dst_shift);
            }
            if (Xor) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    y[i] ^= old[4 * v + i];
            }
            if (mine.template writes<Full>(d, v))
                store_vector<true>(p + 16 * v * mine.step, y);
        }
    }
};

/* Not persistent: blocks below full_tiles take a full tile each; the other blocks share the rest.
 * Persistent: each block takes every gridDim.x-th tile; the next tile loads while the block
 * computes this one. */
template <class Op, bool Xor, bool Aligned>
__global__ void __launch_bounds__(Op::threads, Op::blocks)
    region_opt(const __grid_constant__ typename Op::Params params,
               const __grid_constant__ Division d) {
    extern __shared__ uint4 shared_memory[];
    typename Op::Shared &shared = *reinterpret_cast<typename Op::Shared *>(shared_memory);
    Tile<Op, Xor, Aligned> tile;
    tile.load(d, blockIdx.x);
    if constexpr (shared_bytes<Op> != 0) { /* while the loads are in flight */
        Op::fill(params, shared);
        __syncthreads();
    }
    Op op(params, shared);
    if constexpr (Op::persistent) {
        for (uint64_t i = blockIdx.x; i <= d.full_tiles; i += gridDim.x) {
            Tile<Op, Xor, Aligned> next;
            if (i + gridDim.x <= d.full_tiles)
                next.load(d, i + gridDim.x);
            tile.finish(op, d, i);
            tile = next;
        }
        edges<Op, Xor>(op, d, blockIdx.x, gridDim.x);
    } else {
        tile.finish(op, d, blockIdx.x);
        if (blockIdx.x >= d.full_tiles)
            edges<Op, Xor>(op, d, blockIdx.x - (unsigned)d.full_tiles,
                           gridDim.x - (unsigned)d.full_tiles);
    }
}

/* Small regions: a thread takes one word, and the last thread the symbols that are left over. src
 * and dst are multiples of 4. */
template <class Op, bool Xor, int Threads>
__global__ void __launch_bounds__(Threads)
    region_words(const __grid_constant__ typename Op::Params params, const uint8_t *src,
                 uint8_t *dst, uint64_t bytes) {
    extern __shared__ uint4 shared_memory[];
    typename Op::Shared &shared = *reinterpret_cast<typename Op::Shared *>(shared_memory);
    const uint64_t at = ((uint64_t)blockIdx.x * Threads + threadIdx.x) * 4;
    const unsigned here = at >= bytes ? 0 : bytes - at < 4 ? (unsigned)(bytes - at) : 4;
    uint32_t x[1] = {0}, old = 0;
    if (here == 4) {
        x[0] = *(const uint32_t *)(src + at);
        if (Xor)
            old = *(const uint32_t *)(dst + at);
    } else { /* load_bytes would be unrolled, to twice the kernel's size */
#pragma unroll 1
        for (unsigned b = 0; b < here; b++) {
            x[0] |= (uint32_t)src[at + b] << (8 * b);
            if (Xor)
                old |= (uint32_t)dst[at + b] << (8 * b);
        }
    }
    if constexpr (shared_bytes<Op> != 0) { /* while the loads are in flight */
        Op::fill(params, shared);
        __syncthreads();
    }
    Op op(params, shared);
    op.apply(x);
    const uint32_t y = x[0] ^ old;
    if (here == 4) {
        *(uint32_t *)(dst + at) = y;
    } else {
#pragma unroll 1
        for (unsigned b = 0; b < here; b++)
            dst[at + b] = (uint8_t)(y >> (8 * b));
    }
}

template <class Op>
constexpr size_t tile_bytes() {
    return 16 * Op::vectors * Op::threads;
}

/* region_opt by [accumulate][aligned]. */
template <class Op>
constexpr decltype(&region_opt<Op, false, false>) region_kernels[2][2] = {
    {region_opt<Op, false, false>, region_opt<Op, false, true>},
    {region_opt<Op, true, false>, region_opt<Op, true, true>}};

/* Once per multiplier, for ops with more than 48 KiB of shared memory. */
template <class Op>
gfk_status allow_shared() {
    gfk_status status = GFK_STATUS_SUCCESS;
    for (int i = 0; i < 4 && status == GFK_STATUS_SUCCESS; i++)
        status = allow_shared(region_kernels<Op>[i / 2][i % 2], shared_bytes<Op>);
    return status;
}

template <class Op>
gfk_status launch_region(const gfk_call *call) {
    const Division d = divide_region(call, Op::w / 8, Op::threads, Op::vectors);
    /* A region has full tiles, at most one partial tile, and edges, which are long only if there is
     * no body. */
    const uint64_t edge_blocks = (d.bytes - (d.tail - d.body)) / (Op::w / 8) / Op::threads + 1;
    uint64_t blocks = d.full_tiles + (edge_blocks < 65536 ? edge_blocks : 65536);
    const uint64_t resident = (uint64_t)call->multiplier->processors * Op::blocks;
    if (Op::persistent && blocks > resident)
        blocks = resident;
    return launch(region_kernels<Op>[call->accumulate][d.aligned()], blocks, Op::threads,
                  shared_bytes<Op>, call -> stream, typename Op::Params(call), d);
}

/* The largest region that goes word by word. Up to this length latency decides, and threads with
 * one word have the least. Ops that gather from global memory need their few threads spread over
 * many multiprocessors. */
constexpr size_t words_up_to = 256 * 1024;
constexpr int word_threads = 256, gather_threads = 128;

template <class Op, int Threads>
gfk_status launch_words(const gfk_call *call) {
    static_assert(Threads >= Op::threads || shared_bytes<Op> == 0, "fill counts on Op::threads");
    const auto kernel =
        call->accumulate ? region_words<Op, true, Threads> : region_words<Op, false, Threads>;
    const uint64_t words = gfk_divide_up(call->bytes, 4);
    return launch(kernel, gfk_divide_up(words, Threads), Threads, shared_bytes<Op>, call->stream,
                  typename Op::Params(call), call->src, call->dst, call->bytes);
}

/* The op with one vector per thread, for regions that would not fill the device otherwise. */
template <class Op>
struct Narrow : Op {
    static constexpr int vectors = 1;
    using Op::Op;
};

/* Is the region too short for full tiles? A persistent op fills large tables and has a limit of its
 * own; other ops need eight tiles for each multiprocessor. */
template <class Op>
bool is_short(const gfk_call *call) {
    if constexpr (Op::persistent)
        return call->bytes < Op::fill_from;
    else
        return call->bytes / tile_bytes<Op>() < 8 * (uint64_t)call->multiplier->processors;
}

/* Launches a row. Few is the op for short regions, by default the same op. */
template <class Op, class Few = Op, int WordThreads = word_threads>
gfk_status launch_opt(const gfk_call *call) {
    if (!row_is<Op>(call, tile_bytes<Op>()))
        return GFK_STATUS_INTERNAL;
    const bool at_words = ((uintptr_t)call->src | (uintptr_t)call->dst) % 4 == 0;
    if (call->bytes <= words_up_to && at_words)
        return launch_words<Few, WordThreads>(call);
    return is_short<Op>(call) ? launch_region<Narrow<Few>>(call) : launch_region<Op>(call);
}

} // namespace gfk
