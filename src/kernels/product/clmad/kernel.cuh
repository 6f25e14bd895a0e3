/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of the engine clmad: a thread computes a panel of outputs at one place of the regions.
 * The inputs come by asynchronous copies through a ring in shared memory that is the thread's own,
 * so that several of them are on their way while one is multiplied, whatever the registers hold. A
 * product and its sum take one instruction per coefficient and symbols of 64 bits; each sum is
 * reduced once, at the end. A block may hold several panels for the same place: the inputs of all
 * but the first one come from the L1 cache. */
#pragma once

#include "kernels/common/clmad.cuh"
#include "kernels/common/copy_async.cuh"
#include "kernels/product/extent.cuh"

namespace gfk {
namespace clmad_engine {

/* How many regions and coefficients the parameters of a launch hold. A launch copies its
 * parameters, so short regions need few of them; the caller's stack holds them, too. */
template <unsigned Inputs, unsigned Outputs, unsigned Coefficients>
struct Room {
    static constexpr unsigned inputs = Inputs, outputs = Outputs, coefficients = Coefficients;
};
using Few = Room<64, 8, 512>;
using Many = Room<256, 32, 1024>;

/* One compiled kernel.
 *
 * Outputs  of a panel
 * Words    of a region that a thread takes: 2 or 4
 * Depth    inputs in the ring, a power of two; 0: no ring, the inputs of a turn of the loop come
 *          into registers, which takes the least time where there are few vectors
 * Unroll   inputs in one turn of the loop
 * Blocks   of 128 threads that a multiprocessor holds
 * Aligned  all regions have one phase modulo 16 that does not cut a symbol */
template <int Width, int Outputs, int Words, int Depth, int Unroll, int Blocks, class R,
          bool Aligned = true>
struct Kernel {
    static constexpr int width = Width, outputs = Outputs, words = Words;
    static constexpr int depth = Depth, unroll = Unroll, blocks = Blocks, threads = 128;
    static constexpr bool aligned = Aligned;
    static constexpr unsigned parts = 4 / Words; /* of a vector */
    static constexpr unsigned slot_bytes = Aligned ? 4 * Words : 32;
    using Room = R;
    static_assert((Depth & (Depth - 1)) == 0 && (Depth != 0 || Aligned), "");
    static_assert(Aligned || Words == 4, "unaligned kernels take whole vectors");
};

/* Shared memory of a block: the coefficients as 64-bit operands, then the rings. */
template <class K>
__host__ __device__ constexpr unsigned shared_bytes(unsigned coefficients, unsigned threads) {
    return (coefficients * 8 + 15) / 16 * 16 + K::depth * K::slot_bytes * threads;
}

template <class K>
struct Job : Extent {
    gfk_barrett barrett;
    const uint8_t *in[K::Room::inputs];
    uint8_t *out[K::Room::outputs + K::outputs]; /* NULL beyond the last one */
    /* Panel by panel, in a panel input by input; zero where the last panel has no output. */
    uint32_t coefficients[K::Room::coefficients];
};

/* ---- vectors at any address ----------------------------------------------------------------- */

/* Sixteen of 32 bytes, from byte `skip` on, 0 to 15. */
__device__ inline void cut_vector(const uint32_t (&a)[4], const uint32_t (&b)[4], unsigned skip,
                                  uint32_t (&x)[4]) {
    uint32_t y[7] = {a[0], a[1], a[2], a[3], b[0], b[1], b[2]};
    const uint32_t last = b[3];
    if (skip & 8) {
#pragma unroll
        for (int i = 0; i < 5; i++)
            y[i] = y[i + 2];
        y[5] = last;
    }
    if (skip & 4) {
#pragma unroll
        for (int i = 0; i < 5; i++)
            y[i] = y[i + 1];
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        x[i] = funnel(y[i], y[i + 1], 8 * (skip & 3));
}

/* Stores neighbouring vectors of a warp at any address, in aligned pieces where two lanes hold the
 * bytes of one. All lanes of the warp call this; `mine` says whether the lane has a vector. */
__device__ inline void store_window(uint8_t *p, const uint32_t (&x)[4], bool mine) {
    const unsigned phase = (unsigned)((uintptr_t)p % 16), lane = threadIdx.x % 32;
    const unsigned lanes = __ballot_sync(0xffffffff, mine);
    uint32_t before[4], piece[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        before[i] = __shfl_up_sync(0xffffffff, x[i], 1);
    if (!mine)
        return;
    if (phase == 0) {
        store_vector<true>(p, x);
        return;
    }
    cut_vector(before, x, 16 - phase, piece);
    if (lane != 0 && (lanes >> (lane - 1) & 1))
        store_vector<true>(p - phase, piece);
    else
        store_partial(p - phase, phase, 16, 0, piece);
    if (lane == 31 || !(lanes >> (lane + 1) & 1)) {
        uint32_t tail[4];
        const uint32_t zero[4] = {};
        cut_vector(x, zero, 16 - phase, tail);
        store_partial(p - phase + 16, 0, phase, 0, tail);
    }
}

/* ---- what a thread does --------------------------------------------------------------------- */

/* A symbol of an output, in a vector that a region's end cuts. */
template <class K>
__device__ uint32_t sum_of_symbol(const Job<K> &job, unsigned j, uint64_t at) {
    constexpr unsigned size = K::width / 8;
    const uint32_t *c = job.coefficients + j / K::outputs * K::outputs * job.cols + j % K::outputs;
    uint64_t sum = 0;
#pragma unroll 8
    for (unsigned i = 0; i < job.cols; i++)
        sum = clmad(load_bytes(job.in[i] + at, size), c[i * K::outputs], sum);
    return reduce_sums<K::width>(sum, job.barrett) & (0xffffffff >> (32 - K::width));
}

/* The part of the regions that a thread takes. */
template <class K>
struct Place {
    uint64_t offset; /* in bytes, from where vector 0 of a region would begin */
    bool mine;       /* the thread has a part */

    __device__ explicit Place(const Job<K> &job) {
        const uint64_t part = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
        offset = 16 * job.first + 4 * K::words * part;
        mine = part < K::parts * job.count;
    }
};

/* A thread's own ring of inputs in shared memory. */
template <class K>
class Ring {
    const Job<K> &job;
    const Place<K> &place;
    uint32_t first, half, slot; /* address of the first slot; bytes from one part to the next */

    __device__ const uint8_t *input(unsigned i) const { return job.in[i] + place.offset; }

  public:
    __device__ Ring(const Job<K> &of_job, const Place<K> &of_place, uint32_t rings, unsigned thread,
                    unsigned threads)
        : job(of_job), place(of_place) {
        half = 4 * K::words * threads;
        slot = K::slot_bytes * threads;
        first = rings + 4 * K::words * thread;
    }
    /* Starts to copy input i, if there is one. Unaligned: the two aligned vectors that hold it, which
     * lie within one vector before and one after it. */
    __device__ void fetch(unsigned i) const {
        if (i < job.cols && place.mine) {
            const uint8_t *from = input(i);
            const uint32_t to = first + i % K::depth * slot;
            if constexpr (K::aligned) {
                copy_cached<4 * K::words>(to, from);
            } else {
                from -= (uintptr_t)from % 16;
                copy_cached<16>(to, from);
                copy_cached<16>(to + half, from + 16);
            }
        }
        copies_end_group();
    }
    /* The words of input i, which has arrived. */
    __device__ void take(unsigned i, uint32_t (&x)[K::words]) const {
        const uint32_t at = first + i % K::depth * slot;
        if constexpr (K::aligned) {
            load_shared(at, x);
        } else {
            uint32_t a[4], b[4];
            load_shared(at, a);
            load_shared(at + half, b);
            cut_vector(a, b, (unsigned)((uintptr_t)input(i) % 16), x);
        }
    }
};

/* Adds the products of an input. */
template <class K>
__device__ inline void add_products(const uint32_t (&x)[K::words], const uint64_t *coefficients,
                                    uint64_t (&sums)[K::outputs][K::words]) {
#pragma unroll
    for (int k = 0; k < K::words; k++) {
        const uint64_t symbols = spread_symbols<K::width>(x[k]);
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
            sums[j][k] = clmad(symbols, coefficients[j], sums[j][k]);
    }
}

/* Adds the products of the inputs, the first depth - 1 of which are on their way. */
template <class K>
__device__ inline void add_ring(const Job<K> &job, const Ring<K> &ring,
                                const uint64_t *coefficients,
                                uint64_t (&sums)[K::outputs][K::words]) {
#pragma unroll K::unroll
    for (unsigned i = 0; i < job.cols; i++) {
        ring.fetch(i + K::depth - 1);
        copies_wait_for_group<K::depth - 1>();
        uint32_t x[K::words];
        ring.take(i, x);
        add_products<K>(x, coefficients + i * K::outputs, sums);
    }
}

/* Adds the products of the inputs from registers. */
template <class K>
__device__ inline void add_registers(const Job<K> &job, const Place<K> &place,
                                     const uint64_t *coefficients,
                                     uint64_t (&sums)[K::outputs][K::words]) {
    for (unsigned first = 0; first < job.cols; first += K::unroll) {
        uint32_t x[K::unroll][K::words];
#pragma unroll
        for (int i = 0; i < K::unroll; i++)
            if (first + i < job.cols && place.mine)
                load_vector<true, Load::early>(job.in[first + i] + place.offset, x[i]);
        if (first == 0)
            __syncthreads(); /* for the coefficients */
#pragma unroll
        for (int i = 0; i < K::unroll; i++)
            if (first + i < job.cols)
                add_products<K>(x[i], coefficients + (first + i) * K::outputs, sums);
    }
}

/* Begins the sums with what the outputs hold: then they are added to, or, if they are right, the
 * sums become zero. */
template <class K>
__device__ inline void load_outputs(const Job<K> &job, const Place<K> &place, unsigned first,
                                    uint64_t (&sums)[K::outputs][K::words]) {
    uint32_t x[K::outputs][K::words];
#pragma unroll
    for (int j = 0; j < K::outputs; j++) {
        if (first + j >= job.rows || !place.mine)
            continue;
        const uint8_t *p = job.out[first + j] + place.offset;
        if constexpr (K::aligned) {
            load_vector<true, Load::early>(p, x[j]);
        } else {
            uint32_t a[4], b[4];
            load_vector<true, Load::early>(p - (uintptr_t)p % 16, a);
            load_vector<true, Load::early>(p - (uintptr_t)p % 16 + 16, b);
            cut_vector(a, b, (unsigned)((uintptr_t)p % 16), x[j]);
        }
    }
#pragma unroll
    for (int j = 0; j < K::outputs; j++)
        if (first + j < job.rows && place.mine)
#pragma unroll
            for (int k = 0; k < K::words; k++)
                sums[j][k] = spread_symbols<K::width>(x[j][k]);
}

template <class K>
__device__ inline void finish_outputs(const Job<K> &job, const Place<K> &place, unsigned first,
                                      const uint64_t (&sums)[K::outputs][K::words]) {
#pragma unroll
    for (int j = 0; j < K::outputs; j++) {
        if (K::aligned && first + j >= job.rows)
            break;
        const bool mine = place.mine && first + j < job.rows; /* all lanes call store_window */
        uint32_t y[K::words], any = 0;
#pragma unroll
        for (int k = 0; k < K::words; k++)
            any |= y[k] = reduce_sums<K::width>(sums[j][k], job.barrett);
        uint8_t *p = job.out[first + j] + place.offset;
        if (!job.epilogue.mismatch_map) {
            if constexpr (!K::aligned)
                store_window(p, y, mine);
            else if (mine)
                store_vector<true>(p, y);
        } else if (any && mine) {
            job.epilogue.report(place.offset - job.phase, 4 * K::words);
        }
    }
}

/* blockDim.y panels of outputs, each of blockDim.x threads, a multiple of 32. */
template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void multiply(const __grid_constant__ Job<K> job) {
    extern __shared__ uint4 clmad_shared[];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned threads = blockDim.x * blockDim.y;
    const unsigned panel = threadIdx.y;
    const unsigned count = blockDim.y * K::outputs * job.cols;
    uint64_t *const all = (uint64_t *)clmad_shared;
    for (unsigned i = thread; i < count; i += threads)
        all[i] = job.coefficients[i];
    const uint64_t *const coefficients = all + panel * K::outputs * job.cols;
    const Place<K> place(job);
    uint64_t sums[K::outputs][K::words] = {};
    begin_early();
    if (job.epilogue.unwanted())
        return;
    if constexpr (K::depth == 0) {
        if (job.epilogue.reads())
            load_outputs<K>(job, place, panel * K::outputs, sums);
        add_registers<K>(job, place, coefficients, sums);
    } else {
        const Ring<K> ring(job, place,
                           (uint32_t)__cvta_generic_to_shared(clmad_shared) +
                               shared_bytes<K>(count, 0),
                           thread, threads);
#pragma unroll
        for (int i = 0; i < K::depth - 1; i++)
            ring.fetch(i);
        if (job.epilogue.reads())
            load_outputs<K>(job, place, panel * K::outputs, sums);
        __syncthreads();
        add_ring<K>(job, ring, coefficients, sums);
    }
    finish_outputs<K>(job, place, panel * K::outputs, sums);
    /* The last blocks: there the grid may have threads without a vector. 32 bits divide without a
     * call. */
    const unsigned block = gridDim.x - 1 - blockIdx.x, blocks = min(gridDim.x, 64u);
    if (job.partial_head + job.partial_tail && block < blocks)
        multiply_partial<K::width>(
            job, block * threads + thread, blocks * threads,
            [&](unsigned j, uint64_t at) { return sum_of_symbol<K>(job, j, at); });
}

} // namespace clmad_engine
} // namespace gfk
