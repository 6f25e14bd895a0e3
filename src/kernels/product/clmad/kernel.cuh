/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of clmad: a thread computes a panel of outputs for one or two vectors of every
 * region. The inputs come by asynchronous copies through a ring in shared memory that is the
 * thread's own, so that several of them are on their way while one is multiplied, whatever the
 * registers hold; for few outputs they come into registers instead. A product and its sum take one
 * instruction per coefficient and symbols of 64 bits; each sum is reduced once, at the end.
 *
 * A view knows the regions: ProductView here, and BatchView of the batches of stripes
 * (kernels/rs/batch/clmad.cu). */
#pragma once

#include <type_traits>

#include "kernels/common/clmad.cuh"
#include "kernels/common/copy_async.cuh"
#include "kernels/product/extent.cuh"

namespace gfk {
namespace clmad_engine {

/* How many regions and coefficients the parameters of a launch hold. A launch copies its
 * parameters, so most shapes have kernels with few of them; the caller's stack holds them, too. */
template <unsigned Inputs, unsigned Outputs, unsigned Coefficients>
struct Room {
    static constexpr unsigned inputs = Inputs, outputs = Outputs, coefficients = Coefficients;
};
using Few = Room<64, 8, 512>;
using Many = Room<256, 32, 1024>;
/* The coefficients are in device memory, in panels of four outputs, and come to shared memory for
 * wide_pass inputs at a time. */
using Wide = Room<2048, 16, 0>;
constexpr unsigned wide_pass = 128, wide_outputs = 4;

/* One compiled kernel.
 *
 * Outputs  of a panel
 * Vectors  of a region that a thread takes, a block's width apart
 * Depth    inputs in the ring, a power of two; 0: no ring, the inputs of a turn of the loop come
 *          into registers
 * Unroll   inputs in one turn of the loop
 * Blocks   of 128 threads that a multiprocessor holds
 * Aligned  all regions have one phase modulo 16 that does not cut a symbol */
template <int Width, int Outputs, int Vectors, int Depth, int Unroll, int Blocks, class R = Few,
          bool Aligned = true>
struct Kernel {
    static constexpr int width = Width, outputs = Outputs, vectors = Vectors;
    static constexpr int depth = Depth, unroll = Unroll, blocks = Blocks, threads = 128;
    static constexpr bool aligned = Aligned;
    static constexpr bool bypasses_l1 = Outputs > 6; /* copies; which is faster was measured */
    /* Vectors of a warp that no other warp stores, and vectors that it copies of an input. */
    static constexpr unsigned stride = Aligned ? 32 : 31, copied = Aligned ? 32 * Vectors : 33;
    using Room = R;
    static constexpr bool wide = Room::coefficients == 0;
    static_assert(!wide || (Outputs == wide_outputs && Depth != 0 && Unroll == 1), "");
    static_assert((Depth & (Depth - 1)) == 0 && (Depth != 0 || Aligned), "");
    static_assert(Aligned || Vectors == 1, "unaligned kernels exchange neighbouring vectors");
};

/* Unaligned: returns the number of a lane's word k in its warp. */
__device__ inline unsigned word_number(int k) {
    return 32 * k + threadIdx.x % 32;
}

/* Returns the coefficients of a panel, with those of the input that a loop of two inputs a turn may
 * add. */
template <class K>
__host__ __device__ constexpr unsigned panel_coefficients(unsigned cols) {
    return (K::unroll == 2 ? round_up<2>(cols) : cols) * K::outputs;
}

/* Shared memory of a block: the coefficients as 64-bit operands, then the rings. */
template <class K>
__host__ __device__ constexpr unsigned shared_bytes(unsigned coefficients, unsigned threads) {
    return round_up<16>(coefficients * 8) + K::depth * K::copied * 16 * (threads / 32);
}

template <class K>
struct Job : Extent {
    gfk_barrett barrett;
    ListedRegions<K::Room::inputs, K::Room::outputs + K::outputs> regions; /* NULL: no output */
    /* Panel by panel, in a panel input by input; zero where the last panel has no output. */
    std::conditional_t<K::wide, const uint32_t *, uint32_t[K::wide ? 1 : K::Room::coefficients]>
        coefficients;
};

/* The sums of a thread: of a vector, of an output, of a word. */
template <class K>
using Sums = uint64_t[K::vectors][K::outputs][4];

/* ---- where a thread's vectors are ------------------------------------------------------------ */

/* A view answers: cols; has(j), is there an output j of the panel; in(i) and out(j), where the
 * thread's first vector is; mine(v), is there a vector v; pitch, from a vector to the next, in
 * bytes. Unaligned, see below: first() and last() say whether the thread's vector is the region's
 * first or last whole one, behind_last() whether it is the next one; exists(k), is there a word k
 * of the lane's.
 *
 * Unaligned, a warp has 32 neighbouring vectors of a region, or 128 words. A lane copies and stores
 * one vector, but multiplies every 32nd word: neighbouring lanes have neighbouring words, and a
 * word at any address comes from two aligned ones, by one funnel shift. Warps overlap by one
 * vector, so that a lane knows the word before each one of what the warp stores. */
template <class K>
class ProductView {
    const Job<K> &job;
    const unsigned panel;
    const uint64_t vector; /* of the whole ones */
    const uint64_t offset; /* in bytes, from where vector 0 of a region would begin */
    bool present[K::vectors];

    __device__ static uint64_t number() {
        if constexpr (K::aligned)
            return (uint64_t)blockIdx.x * (K::vectors * blockDim.x) + threadIdx.x;
        else
            return (blockIdx.x * (uint64_t)(blockDim.x / 32) + threadIdx.x / 32) * K::stride +
                   threadIdx.x % 32;
    }

  public:
    __device__ ProductView(const Job<K> &of_job, unsigned of_panel)
        : job(of_job), panel(of_panel), vector(number()), offset(16 * (of_job.first + vector)) {
#pragma unroll
        for (int v = 0; v < K::vectors; v++)
            present[v] = vector + v * blockDim.x < job.count;
    }
    __device__ unsigned cols() const { return job.cols; }
    __device__ bool has(int j) const { return panel * K::outputs + j < job.rows; }
    __device__ bool mine(int v) const { return present[v]; }
    __device__ bool first() const { return vector == 0; }
    __device__ bool last() const { return vector + 1 == job.count; }
    __device__ bool behind_last() const { return job.count != 0 && vector == job.count; }
    __device__ bool exists(int k) const { return base() + word_number(k) / 4 < job.count; }
    __device__ unsigned pitch() const { return 16 * blockDim.x; }
    __device__ const uint8_t *in(unsigned i) const { return job.regions.in[i] + offset; }
    __device__ uint8_t *out(int j) const {
        return job.regions.out[panel * K::outputs + j] + offset;
    }
    /* Reports that vector v differs; unaligned, that word v differs. */
    __device__ void report(int v) const {
        if constexpr (K::aligned)
            job.epilogue.report(offset + v * pitch() - job.phase, 16);
        else
            job.epilogue.report(16 * (job.first + base()) + 4 * word_number(v) - job.phase, 4);
    }

  private:
    __device__ uint64_t base() const { return vector - threadIdx.x % 32; } /* of the warp */
};

/* ---- what a thread does ---------------------------------------------------------------------- */

/* Adds the products of an input. */
template <class K>
__device__ inline void add_products(const uint32_t (&x)[K::vectors][4],
                                    const uint64_t *coefficients, Sums<K> &sums) {
#pragma unroll
    for (int v = 0; v < K::vectors; v++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint64_t symbols = spread_symbols<K::width>(x[v][k]);
#pragma unroll
            for (int j = 0; j < K::outputs; j++)
                sums[v][j][k] = clmad(symbols, coefficients[j], sums[v][j][k]);
        }
}

/* A ring of inputs in shared memory: a thread's own, or, unaligned, that of a warp, whose lanes
 * copy the aligned vectors that hold the warp's bytes, one more than there are lanes. */
template <class K, class View>
class Ring {
    static constexpr uint32_t half = 16 * 32; /* from a thread's vector to its next one */
    const View &view;
    uint32_t mine, slot; /* the thread's place in the first slot; bytes of a slot */

    __device__ uint32_t at(unsigned i) const { return mine + i % K::depth * slot; }
    /* Unaligned: starts to copy the lane's vector of a region, as far as the warp needs it. */
    __device__ void copy_window(uint32_t to, const uint8_t *from) const {
        const unsigned phase = (unsigned)((uintptr_t)from % 16);
        if (view.mine(0) || (phase != 0 && view.behind_last()))
            copy_cached<16>(to, from - phase);
        if (phase != 0 && view.mine(0) && threadIdx.x % 32 == 31)
            copy_cached<16>(to + 16, from - phase + 16);
    }
    /* Takes the lane's words of a region that begins with this phase in its slot. */
    __device__ void take_words(uint32_t from, unsigned phase, uint32_t (&x)[4]) const {
        const uint32_t first = from - 12 * (threadIdx.x % 32) + phase / 4 * 4;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint32_t low[1], high[1];
            load_shared(first + 128 * k, low);
            load_shared(first + 128 * k + 4, high);
            x[k] = funnel(low[0], high[0], 8 * (phase % 4));
        }
    }

  public:
    __device__ Ring(const View &of_view, uint32_t rings, unsigned thread, unsigned threads)
        : view(of_view), mine(rings + 16 * (thread / 32 * K::copied + thread % 32)),
          slot(16 * K::copied * (threads / 32)) {}
    /* Starts to copy input i, if there is one. */
    __device__ void fetch(unsigned i) const {
        if (i < view.cols()) {
            if constexpr (!K::aligned) {
                copy_window(at(i), view.in(i));
            } else {
#pragma unroll
                for (int v = 0; v < K::vectors; v++)
                    if (view.mine(v)) {
                        if constexpr (K::bypasses_l1)
                            copy_16(at(i) + v * half, view.in(i) + v * view.pitch());
                        else
                            copy_cached<16>(at(i) + v * half, view.in(i) + v * view.pitch());
                    }
            }
        }
        copies_end_group();
    }
    /* Takes the words of input i, and fetches input i + depth - 1. */
    __device__ void take(unsigned i, uint32_t (&x)[K::vectors][4]) const {
        if constexpr (K::aligned) {
            fetch(i + K::depth - 1);
            copies_wait_for_group<K::depth - 1>();
#pragma unroll
            for (int v = 0; v < K::vectors; v++)
                load_shared(at(i) + v * half, x[v]);
        } else {
            copies_wait_for_group<K::depth - 2>();
            __syncwarp(); /* the lanes' copies are there, and the input before is no more needed */
            fetch(i + K::depth - 1);
            take_words(at(i), (unsigned)((uintptr_t)view.in(i) % 16), x[0]);
        }
    }

    /* Unaligned, with the ring empty: takes the words of all outputs. */
    __device__ void take_outputs(uint32_t (&x)[K::outputs][4]) const {
        static_assert(K::aligned || K::outputs <= K::depth, "");
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
            if (view.has(j))
                copy_window(at(j), view.out(j));
        copies_end_group();
        copies_wait_for_group<0>();
        __syncwarp();
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
            if (view.has(j))
                take_words(at(j), (unsigned)((uintptr_t)view.out(j) % 16), x[j]);
        __syncwarp();
    }
    /* Unaligned, after the last input: stores all outputs, as aligned vectors that lanes put
     * together in the ring. The ends of the region are stored as bytes. */
    __device__ void store_outputs(const uint32_t (&x)[K::outputs][4]) const {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < K::outputs; j++) {
            const unsigned phase = view.has(j) ? (unsigned)((uintptr_t)view.out(j) % 16) : 0;
            const unsigned skip = 8 * (phase % 4); /* bits */
            const uint32_t to = at(j) - 12 * (threadIdx.x % 32) + phase / 4 * 4;
            uint32_t before = 0; /* of the first lane: the last lane's word of the row before */
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const uint32_t turned = __shfl_sync(0xffffffff, x[j][k], (threadIdx.x + 31) % 32);
                const uint32_t low = threadIdx.x % 32 == 0 ? before : turned;
                before = turned;
                const uint32_t word[1] = {skip ? funnel(low, x[j][k], 32 - skip) : x[j][k]};
                store_shared(to + 128 * k, word);
            }
            if (skip && threadIdx.x % 32 == 31) {
                const uint32_t word[1] = {x[j][3] >> (32 - skip)};
                store_shared(to + 128 * 3 + 4, word);
            }
        }
        __syncwarp();
        if (!view.mine(0) || (threadIdx.x % 32 == 0 && !view.first()))
            return;
#pragma unroll
        for (int j = 0; j < K::outputs; j++) {
            if (!view.has(j))
                break;
            uint8_t *const p = view.out(j);
            const unsigned phase = (unsigned)((uintptr_t)p % 16);
            uint32_t y[4];
            load_shared(at(j), y);
            if (phase != 0 && view.first())
                store_partial(p - phase, phase, 16, 0, y);
            else
                store_vector<true>(p - phase, y);
            if (phase != 0 && view.last()) {
                load_shared(at(j) + 16, y);
                store_partial(p - phase + 16, 0, phase, 0, y);
            }
        }
    }
};

/* Adds the products of the inputs [begin, end); depth - 1 inputs from begin on are on their way. If
 * a turn of the loop has two inputs, the last turn may multiply what the ring holds by zero: a
 * loop without a remainder needs fewer registers. Turns of four inputs would lose more by such
 * inputs than by a remainder (measured). */
template <class K, class View>
__device__ inline void add_ring(const View &view, const Ring<K, View> &ring,
                                const uint64_t *coefficients, Sums<K> &sums, unsigned begin,
                                unsigned end) {
    constexpr unsigned turn = K::unroll == 2 ? 2 : 1;
#pragma unroll K::unroll / turn
    for (unsigned first = begin; first < end; first += turn)
#pragma unroll
        for (unsigned i = first; i < first + turn; i++) {
            uint32_t x[K::vectors][4];
            ring.take(i, x);
            add_products<K>(x, coefficients + (i - begin) * K::outputs, sums);
        }
}

/* Adds the products of the inputs from registers. */
template <class K, class View>
__device__ inline void add_registers(const View &view, const uint64_t *coefficients,
                                     Sums<K> &sums) {
    for (unsigned first = 0; first < view.cols(); first += K::unroll) {
        uint32_t x[K::unroll][K::vectors][4];
#pragma unroll
        for (int i = 0; i < K::unroll; i++)
#pragma unroll
            for (int v = 0; v < K::vectors; v++)
                if (first + i < view.cols() && view.mine(v))
                    load_vector<true, Load::early>(view.in(first + i) + v * view.pitch(), x[i][v]);
        if (first == 0)
            __syncthreads(); /* for the coefficients */
#pragma unroll
        for (int i = 0; i < K::unroll; i++)
            if (first + i < view.cols())
                add_products<K>(x[i], coefficients + (first + i) * K::outputs, sums);
    }
}

/* Begins the sums with what the outputs hold: then they are added to, or, if they are right, the
 * sums become zero. */
template <class K>
__device__ inline void begin_sums(const uint32_t (&x)[K::outputs][4], int v, Sums<K> &sums) {
#pragma unroll
    for (int j = 0; j < K::outputs; j++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            sums[v][j][k] = spread_symbols<K::width>(x[j][k]);
}

template <class K, class View>
__device__ inline void load_outputs(const View &view, Sums<K> &sums) {
    uint32_t x[K::vectors][K::outputs][4] = {};
#pragma unroll
    for (int v = 0; v < K::vectors; v++)
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
            if (view.has(j) && view.mine(v))
                load_vector<true, Load::early>(view.out(j) + v * view.pitch(), x[v][j]);
#pragma unroll
    for (int v = 0; v < K::vectors; v++)
        begin_sums<K>(x[v], v, sums);
}

/* Reduces the sums of an output. */
template <int W>
__device__ inline void reduce_vector(const uint64_t (&sums)[4], const gfk_barrett &barrett,
                                     uint32_t (&y)[4]) {
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[k] = reduce_sums<W>(sums[k], barrett);
}

template <class K, class View>
__device__ inline void store_outputs(const View &view, const gfk_barrett &barrett,
                                     const Sums<K> &sums) {
#pragma unroll
    for (int j = 0; j < K::outputs; j++) {
        if (!view.has(j))
            break;
#pragma unroll
        for (int v = 0; v < K::vectors; v++) {
            uint32_t y[4];
            reduce_vector<K::width>(sums[v][j], barrett, y);
            if (view.mine(v))
                store_vector<true>(view.out(j) + v * view.pitch(), y);
        }
    }
}
template <class K, class View>
__device__ inline void store_outputs(const View &view, const Ring<K, View> &ring,
                                     const gfk_barrett &barrett, const Sums<K> &sums) {
    if constexpr (K::aligned) {
        store_outputs<K>(view, barrett, sums);
    } else {
        uint32_t y[K::outputs][4];
#pragma unroll
        for (int j = 0; j < K::outputs; j++)
            reduce_vector<K::width>(sums[0][j], barrett, y[j]);
        ring.store_outputs(y);
    }
}

/* Reports the vectors whose sums, which began with the outputs, are not zero. */
template <class K>
__device__ inline void check_outputs(const Job<K> &job, const ProductView<K> &view,
                                     const Sums<K> &sums) {
#pragma unroll
    for (int v = 0; v < K::vectors; v++) {
        uint32_t any[4] = {};
#pragma unroll
        for (int j = 0; j < K::outputs; j++) {
            uint32_t y[4];
            reduce_vector<K::width>(sums[v][j], job.barrett, y);
#pragma unroll
            for (int k = 0; k < 4; k++)
                any[k] |= view.has(j) ? y[k] : 0;
        }
        if constexpr (K::aligned) {
            if ((any[0] | any[1] | any[2] | any[3]) && view.mine(v))
                view.report(v);
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (any[k] && view.exists(k))
                    view.report(k);
        }
    }
}

/* Returns a symbol of an output, in a vector that a region's end cuts. */
template <class K>
__device__ uint32_t sum_of_symbol(const Job<K> &job, unsigned j, uint64_t at) {
    constexpr unsigned size = K::width / 8;
    const uint32_t *c = job.coefficients + j / K::outputs * K::outputs * job.cols + j % K::outputs;
    uint64_t sum = 0;
#pragma unroll 8
    for (unsigned i = 0; i < job.cols; i++)
        sum = clmad(load_bytes(job.regions.in[i] + at, size), c[i * K::outputs], sum);
    return reduce_sums<K::width>(sum, job.barrett) & symbol_mask<K::width>;
}

/* The last blocks, which may have threads without a whole vector, compute the vectors that the
 * regions' ends cut. A division of 64 bits would be a call. */
template <int W, class J, class Sum>
__device__ inline void finish_ends(const J &job, unsigned thread, unsigned threads,
                                   const Sum &sum) {
    const unsigned block = gridDim.x - 1 - blockIdx.x, blocks = min(gridDim.x, 64u);
    if (job.partial_head + job.partial_tail && block < blocks)
        multiply_partial<W>(job, block * threads + thread, blocks * threads, sum);
}

/* Computes blockDim.y panels of outputs by blockDim.x threads each, a multiple of 32. */
template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void multiply(const __grid_constant__ Job<K> job) {
    extern __shared__ uint4 clmad_shared[];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned threads = blockDim.x * blockDim.y;
    const unsigned pass = K::wide ? min(job.cols, wide_pass) : job.cols; /* inputs */
    const unsigned each = panel_coefficients<K>(pass), count = blockDim.y * each;
    uint64_t *const all = (uint64_t *)clmad_shared;
    const auto copy_coefficients = [&](unsigned first, unsigned inputs) {
        for (unsigned i = thread; i < each; i += threads)
            for (unsigned panel = 0; panel < blockDim.y; panel++)
                all[panel * each + i] =
                    i < K::outputs * inputs
                        ? job.coefficients[K::outputs * (panel * job.cols + first) + i]
                        : 0;
    };
    copy_coefficients(0, pass);
    const uint64_t *const coefficients = all + threadIdx.y * each;
    const ProductView<K> view(job, threadIdx.y);
    Sums<K> sums = {};
    begin_early();
    if (job.epilogue.skips())
        return;
    if constexpr (K::depth == 0) {
        if (job.epilogue.reads())
            load_outputs<K>(view, sums);
        add_registers<K>(view, coefficients, sums);
        if (job.epilogue.mismatch_map)
            check_outputs<K>(job, view, sums);
        else
            store_outputs<K>(view, job.barrett, sums);
    } else {
        const uint32_t rings =
            (uint32_t)__cvta_generic_to_shared(clmad_shared) + shared_bytes<K>(count, 0);
        const Ring<K, ProductView<K>> ring(view, rings, thread, threads);
        if (!K::aligned && job.epilogue.reads()) {
            uint32_t x[K::outputs][4] = {};
            ring.take_outputs(x);
            begin_sums<K>(x, 0, sums);
        }
#pragma unroll
        for (int i = 0; i < K::depth - 1; i++)
            ring.fetch(i);
        if (K::aligned && job.epilogue.reads())
            load_outputs<K>(view, sums);
        __syncthreads(); /* for the coefficients */
        add_ring<K>(view, ring, coefficients, sums, 0, pass);
        if constexpr (K::wide)
            for (unsigned first = pass; first < job.cols; first += pass) {
                const unsigned inputs = min(pass, job.cols - first);
                __syncthreads(); /* no thread needs the coefficients of the last pass */
                copy_coefficients(first, inputs);
                __syncthreads();
                add_ring<K>(view, ring, coefficients, sums, first, first + inputs);
            }
        if (job.epilogue.mismatch_map)
            check_outputs<K>(job, view, sums);
        else
            store_outputs<K>(view, ring, job.barrett, sums);
    }
    finish_ends<K::width>(job, thread, threads,
                          [&](unsigned j, uint64_t at) { return sum_of_symbol(job, j, at); });
}

} // namespace clmad_engine
} // namespace gfk
