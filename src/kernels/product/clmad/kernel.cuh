/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of the engine clmad: a thread computes a panel of outputs at one place of the regions.
 * It loads some inputs, multiplies each by the coefficients of its outputs with one instruction per
 * product, and reduces each sum once, at the end. A block may hold several panels for the same
 * place: the inputs of all but the first one come from the L1 cache. */
#pragma once

#include "kernels/common/clmad.cuh"
#include "kernels/product/extent.cuh"

namespace gfk {
namespace clmad_engine {

/* How many regions and coefficients the parameters of a launch hold. A launch copies its
 * parameters, so short regions need few of them. */
template <unsigned Inputs, unsigned Outputs, unsigned Coefficients>
struct Room {
    static constexpr unsigned inputs = Inputs, outputs = Outputs, coefficients = Coefficients;
};
using Few = Room<32, 8, 256>;
using Many = Room<1024, 32, 2048>;

/* One compiled kernel.
 *
 * Outputs  of a panel
 * Words    of a region that a thread takes: 2 or 4
 * Inputs   that are loaded together, before the first of them is used
 * Blocks   of 128 threads that a multiprocessor holds
 * Shared   the coefficients are copied to shared memory, as 64-bit operands
 * Aligned  all regions have one phase modulo 16 that does not cut a symbol */
template <int Width, int Outputs, int Words, int Inputs, int Blocks, class R, bool Shared,
          bool Aligned = true>
struct Kernel {
    static constexpr int width = Width, outputs = Outputs, words = Words, inputs = Inputs;
    static constexpr int blocks = Blocks, threads = 128;
    static constexpr bool shared = Shared, aligned = Aligned;
    static constexpr unsigned parts = 4 / Words; /* of a vector */
    using Room = R;
    static_assert(Aligned || Words == 4, "unaligned kernels take whole vectors");
};

template <class K>
struct Job : Extent {
    gfk_barrett barrett;
    const uint8_t *in[K::Room::inputs];
    uint8_t *out[K::Room::outputs];
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

/* The two aligned vectors that hold a vector at any address; they lie within one vector before and
 * one after it. */
struct Window {
    uint32_t first[4], second[4];

    __device__ void load(const uint8_t *p) {
        const uint8_t *aligned = p - (uintptr_t)p % 16;
        load_vector<true, Load::early>(aligned, first);
        load_vector<true, Load::early>(aligned + 16, second);
    }
    __device__ void cut(const uint8_t *p, uint32_t (&x)[4]) const {
        cut_vector(first, second, (unsigned)((uintptr_t)p % 16), x);
    }
};

/* Stores neighbouring vectors of a warp at any address, in aligned pieces where two lanes hold the
 * bytes of one. All lanes of the warp call this; `mine` says whether the lane has a vector. */
__device__ inline void store_window(uint8_t *p, const uint32_t (&x)[4], bool mine) {
    const unsigned phase = (unsigned)((uintptr_t)p % 16), lane = threadIdx.x % 32;
    const unsigned lanes = __ballot_sync(0xffffffff, mine);
    if (phase == 0) {
        if (mine)
            store_vector<true>(p, x);
        return;
    }
    uint32_t before[4], piece[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        before[i] = __shfl_up_sync(0xffffffff, x[i], 1);
    cut_vector(before, x, 16 - phase, piece);
    if (!mine)
        return;
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

/* One input or output at a place, on its way from memory. */
template <class K>
struct Loaded {
    uint32_t x[K::words];

    __device__ void load(const uint8_t *region, const Place<K> &place) {
        load_vector<true, Load::early>(region + place.offset, x);
    }
    __device__ void words(const uint8_t *, const Place<K> &, uint32_t (&y)[K::words]) const {
#pragma unroll
        for (int i = 0; i < K::words; i++)
            y[i] = x[i];
    }
};

template <class K>
struct LoadedWindow {
    Window window;

    __device__ void load(const uint8_t *region, const Place<K> &place) {
        window.load(region + place.offset);
    }
    __device__ void words(const uint8_t *region, const Place<K> &place,
                          uint32_t (&y)[K::words]) const {
        window.cut(region + place.offset, y);
    }
};

template <class K>
using LoadedPart = std::conditional_t<K::aligned, Loaded<K>, LoadedWindow<K>>;

/* The coefficients of one panel. */
template <class K>
struct Coefficients {
    const Job<K> &job;
    const uint64_t *shared; /* of all panels */
    unsigned first;

    __device__ uint64_t operator()(unsigned i) const {
        return K::shared ? shared[first + i] : job.coefficients[first + i];
    }
};

/* Adds the products of the inputs. */
template <class K>
__device__ inline void add_inputs(const Job<K> &job, const Place<K> &place,
                                  const Coefficients<K> &c,
                                  uint64_t (&sums)[K::outputs][K::words]) {
    for (unsigned first = 0; first < job.cols; first += K::inputs) {
        LoadedPart<K> loaded[K::inputs];
#pragma unroll
        for (int i = 0; i < K::inputs; i++)
            if (first + i < job.cols && place.mine)
                loaded[i].load(job.in[first + i], place);
#pragma unroll
        for (int i = 0; i < K::inputs; i++) {
            if (first + i >= job.cols)
                break;
            uint32_t x[K::words];
            loaded[i].words(job.in[first + i], place, x);
#pragma unroll
            for (int k = 0; k < K::words; k++) {
                const uint64_t symbols = spread_symbols<K::width>(x[k]);
#pragma unroll
                for (int j = 0; j < K::outputs; j++)
                    sums[j][k] = clmad(symbols, c((first + i) * K::outputs + j), sums[j][k]);
            }
        }
    }
}

/* Begins the sums with what the outputs hold: then they are added to, or, if they are right, the
 * sums become zero. */
template <class K>
__device__ inline void load_outputs(const Job<K> &job, const Place<K> &place, unsigned first,
                                    uint64_t (&sums)[K::outputs][K::words]) {
    LoadedPart<K> loaded[K::outputs];
#pragma unroll
    for (int j = 0; j < K::outputs; j++)
        if (first + j < job.rows && place.mine)
            loaded[j].load(job.out[first + j], place);
#pragma unroll
    for (int j = 0; j < K::outputs; j++) {
        if (first + j >= job.rows)
            break;
        uint32_t x[K::words];
        loaded[j].words(job.out[first + j], place, x);
#pragma unroll
        for (int k = 0; k < K::words; k++)
            sums[j][k] = spread_symbols<K::width>(x[k]);
    }
}

template <class K>
__device__ inline void finish_outputs(const Job<K> &job, const Place<K> &place, unsigned first,
                                      const uint64_t (&sums)[K::outputs][K::words]) {
#pragma unroll
    for (int j = 0; j < K::outputs; j++) {
        if (first + j >= job.rows)
            break;
        uint32_t y[K::words], any = 0;
#pragma unroll
        for (int k = 0; k < K::words; k++)
            any |= y[k] = reduce_sums<K::width>(sums[j][k], job.barrett);
        if (job.epilogue.mismatch_map) {
            if (any && place.mine)
                job.epilogue.report(place.offset - job.phase, 4 * K::words);
            continue;
        }
        uint8_t *p = job.out[first + j] + place.offset;
        if constexpr (!K::aligned)
            store_window(p, y, place.mine);
        else if (place.mine)
            store_vector<true>(p, y);
    }
}

/* blockDim.y panels of outputs, each of blockDim.x threads, a multiple of 32. */
template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void multiply(const __grid_constant__ Job<K> job) {
    __shared__ uint64_t shared[K::shared ? K::Room::coefficients : 1];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned panel = __shfl_sync(0xffffffff, threadIdx.y, 0);
    if constexpr (K::shared) {
        for (unsigned i = thread; i < blockDim.y * K::outputs * job.cols;
             i += blockDim.x * blockDim.y)
            shared[i] = job.coefficients[i];
        __syncthreads();
    }
    begin_early();
    if (job.epilogue.unwanted())
        return;
    if (job.partial_head + job.partial_tail)
        multiply_partial<K::width>(
            job, (uint64_t)blockIdx.x * blockDim.x * blockDim.y + thread,
            (uint64_t)gridDim.x * blockDim.x * blockDim.y,
            [&](unsigned j, uint64_t at) { return sum_of_symbol<K>(job, j, at); });
    const Place<K> place(job);
    if (!__any_sync(0xffffffff, place.mine))
        return;
    uint64_t sums[K::outputs][K::words] = {};
    if (job.epilogue.reads())
        load_outputs<K>(job, place, panel * K::outputs, sums);
    add_inputs<K>(job, place, {job, shared, panel * K::outputs * job.cols}, sums);
    finish_outputs<K>(job, place, panel * K::outputs, sums);
}

} // namespace clmad_engine
} // namespace gfk
