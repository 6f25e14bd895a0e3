/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of batches: many small products, each with its own addresses, length and matrix, in
 * one launch. What a warp must know comes from the image (batch.h).
 *
 * runs: few inputs and outputs, on binary tensor cores (bmma_layout.h). A warp goes through a run
 * of neighbouring tasks and loads the next one's data while it computes; addresses and matrix
 * operand stay in registers from one task of a stripe to the next. bits: up to 32 inputs, on binary
 * tensor cores, four lanes to a cell. A warp does one task. The matrix operand comes through L1,
 * group by group of outputs. words: any number of inputs, any device. A warp does one task. A lane
 * takes a cell, and the bits of its symbols choose among the multiples c * 2^b.
 *
 * Cells that a region's ends cut short, and stripes that are not aligned, are taken by the same
 * warps: only loads and stores differ. */
#pragma once

#include "batch_layout.h"
#include "kernels/common/launch.cuh"
#include "kernels/product/bmma/bmma.cuh"
#include "kernels/product/bmma/bmma_tables.h"

namespace gfk {
namespace batch {

constexpr unsigned threads = 128;

/* A kernel's choices. Units: of eight cells, that a warp takes. Blocks: per multiprocessor, which
 * the registers must allow. */
template <class Layout_, int Units, int Blocks, bmma::Pack P>
struct Bits {
    using T = Layout_;
    static_assert(T::lanes == 4 && !T::three, "");
    static constexpr int units = Units, blocks = Blocks;
    static constexpr unsigned cells = Units * T::cells;
    static constexpr bmma::Pack pack = P;
};

/* A kernel's choices. Groups: of outputs, all there are. Blocks: as above. */
template <class Layout_, int Groups, int Threads, int Blocks, bmma::Pack P>
struct Runs {
    using T = Layout_;
    static_assert(T::w != 32 && !T::three, "");
    static constexpr int units = 1, groups = Groups, threads = Threads, blocks = Blocks;
    static constexpr unsigned cells = T::cells;
    static constexpr bmma::Pack pack = P;
};

/* The data of a lane's cells. Beyond the stripe's last cell a lane loads that one. */
template <class K>
__device__ inline void load(const Place &place, bool simple, unsigned lane,
                            const uint8_t *const (&in)[K::T::slots],
                            uint32_t (&x)[K::units][K::T::slots][4]) {
    using T = typename K::T;
    uint32_t cell[K::units];
#pragma unroll
    for (int u = 0; u < K::units; u++)
        cell[u] = min(place.cell + u * T::cells + lane / T::lanes, place.record.cells - 1);
    if (simple) {
#pragma unroll
        for (int u = 0; u < K::units; u++)
#pragma unroll
            for (int s = 0; s < T::slots; s++)
                load_vector<true, Load::once>(in[s] + 16 * (uint64_t)cell[u], x[u][s]);
        return;
    }
#pragma unroll
    for (int u = 0; u < K::units; u++) {
        if (place.whole(cell[u])) {
#pragma unroll
            for (int s = 0; s < T::slots; s++)
                load_vector<false>(in[s] + 16 * (uint64_t)cell[u], x[u][s]);
        } else {
#pragma unroll
            for (int s = 0; s < T::slots; s++)
                load_partial(in[s] + 16 * (uint64_t)cell[u], place.first(cell[u]),
                             place.last(cell[u]), x[u][s]);
        }
    }
}

/* Writes what a lane has of its cell: all, or its word. */
template <class K>
__device__ inline void store(const gfk_batch_job &job, uint32_t task, bool simple, uint32_t cell,
                             unsigned lane, uint8_t *out, const uint32_t (&words)[K::T::words]) {
    const unsigned part = K::T::w == 32 ? 4 * (lane % 4) : 0;
    __builtin_assume(__isGlobal(out));
    uint8_t *p = out + 16 * (uint64_t)cell;
    if (simple) {
        if constexpr (K::T::w == 32)
            *(uint32_t *)(p + part) = words[0];
        else
            *(uint4 *)p = make_uint4(words[0], words[1], words[2], words[3]);
    } else {
        const Place place = find(job, task, K::cells);
        store_partial(p, place.first(cell), place.last(cell), part, words);
    }
}

template <class K>
__global__ __launch_bounds__(threads,
                             K::blocks) void bits(const __grid_constant__ gfk_batch_job job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32;
    const uint32_t task = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    if (task >= job.tasks)
        return;
    const Place place = find(job, task, K::cells);
    const uint8_t *in[T::slots];
#pragma unroll
    for (int s = 0; s < T::slots; s++)
        in[s] = load_address(place.in_image, s * T::lanes + lane % T::lanes);
    const bool simple = place.simple(K::cells);
    uint32_t x[K::units][T::slots][4];
    load<K>(place, simple, lane, in, x);
    __syncwarp(); /* MMAs want the lanes together */
    const uint32_t cell = place.cell + lane / T::lanes;
    bool mine[K::units];
#pragma unroll
    for (int u = 0; u < K::units; u++)
        mine[u] = cell + u * T::cells < place.record.cells;

    const uint32_t *group = job.matrices + place.record.matrix;
    unsigned output = T::w == 32 ? 0 : lane % T::lanes;
    uint32_t b[T::pairs][T::pair_registers];
#pragma unroll
    for (int pair = 0; pair < T::pairs; pair++)
        bmma::load_pair<T>(group, pair, lane, b[pair]);
    uint8_t *out = load_address(place.in_image, T::inputs + output);
    uint32_t a[K::units][T::symbols][T::steps];
#pragma unroll
    for (int u = 0; u < K::units; u++)
        bmma::arrange<T>(x[u], a[u]);
#pragma unroll 1
    for (unsigned left = place.record.rows;;) {
        uint32_t words[K::units][T::words] = {};
#pragma unroll
        for (int word = 0; word < T::words; word++)
#pragma unroll
            for (int pair = 0; pair < T::pairs; pair++) {
                uint32_t c[K::units][1][2][4];
                bmma::count<T>(a, b[pair], word, c);
#pragma unroll
                for (int u = 0; u < K::units; u++)
                    words[u][word] = bmma::merge<T, K::pack>(words[u][word], c[u][0], pair);
            }
#pragma unroll
        for (int u = 0; u < K::units; u++) {
            bmma::exchange<T>(words[u], lane);
            if (mine[u] && (T::w == 32 || lane % T::lanes < left))
                store<K>(job, task, simple, cell + u * T::cells, lane, out, words[u]);
        }
        if (left <= T::outputs)
            return;
        __syncwarp();
        left -= T::outputs;
        output += T::outputs;
        group += T::group_registers * 32;
#pragma unroll
        for (int pair = 0; pair < T::pairs; pair++)
            bmma::load_pair<T>(group, pair, lane, b[pair]);
        out = load_address(place.in_image, T::inputs + output);
    }
}

/* What a lane has to know of a task to load and to store. */
template <class K>
struct Step {
    uint32_t cell, last; /* of the lane, and of the stripe */
    bool simple;
};
template <class K>
__device__ inline Step<K> step_of(const Place &place, unsigned lane) {
    return {place.cell + lane / K::T::lanes, place.record.cells - 1, place.simple(K::cells)};
}

template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void runs(const __grid_constant__ gfk_batch_job job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32;
    const uint64_t warp = (blockIdx.x * (uint64_t)K::threads + threadIdx.x) / 32;
    const uint64_t warps = gridDim.x * (uint64_t)K::threads / 32;
    uint32_t task = (uint32_t)(warp * job.tasks / warps);
    const uint32_t end = (uint32_t)((warp + 1) * job.tasks / warps);
    if (task >= end)
        return;

    Place place = find(job, task, K::cells);
    const uint8_t *in[T::slots];
    uint32_t x[1][T::slots][4];
    uint32_t b[K::groups][T::pairs][T::pair_registers];
    uint8_t *out[K::groups];
    unsigned rows = 0;
    auto turn_in = [&] {
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            in[s] = load_address(place.in_image, s * T::lanes + lane % T::lanes);
    };
    auto turn_out = [&] { /* loads the record again, rather than keep it */
                          const gfk_batch_record record = load_record(place.in_image);
                          rows = record.rows;
                          const uint32_t *group = job.matrices + record.matrix;
#pragma unroll
                          for (int j = 0; j < K::groups; j++, group += T::group_registers * 32)
                              if (j * T::outputs < rows) {
                                  out[j] = load_address(place.in_image, T::inputs + j * T::outputs +
                                                                            lane % T::lanes);
#pragma unroll
                                  for (int pair = 0; pair < T::pairs; pair++)
                                      bmma::load_pair<T>(group, pair, lane, b[j][pair]);
                              }
    };
    turn_in();
    load<K>(place, place.simple(K::cells), lane, in, x);
    turn_out();
    for (;;) {
        const Step<K> step = step_of<K>(place, lane);
        const uint32_t present = task;
        uint32_t a[1][T::symbols][T::steps];
        __syncwarp();
        bmma::arrange<T>(x[0], a[0]);
        bool turned = false;
        if (++task < end) {
            turned = advance(job, task, K::cells, place);
            if (turned)
                turn_in();
            load<K>(place, place.simple(K::cells), lane, in, x);
            __syncwarp();
        }
#pragma unroll
        for (int j = 0; j < K::groups; j++) {
            if (j * T::outputs >= rows)
                break;
            uint32_t words[T::words] = {};
#pragma unroll
            for (int word = 0; word < T::words; word++)
#pragma unroll
                for (int pair = 0; pair < T::pairs; pair++) {
                    uint32_t c[1][1][2][4];
                    bmma::count<T>(a, b[j][pair], word, c);
                    words[word] = bmma::merge<T, K::pack>(words[word], c[0][0], pair);
                }
            if (step.cell <= step.last && j * T::outputs + lane % T::lanes < rows)
                store<K>(job, present, step.simple, step.cell, lane, out[j], words);
        }
        if (task >= end)
            return;
        if (turned)
            turn_out();
    }
}

constexpr unsigned words_outputs = 4; /* in one go through the inputs */

template <int W>
__global__ __launch_bounds__(threads) void words(const __grid_constant__ gfk_batch_job job) {
    const uint32_t task = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    if (task >= job.tasks)
        return;
    const Place place = find(job, task, 32);
    const uint32_t cell = place.cell + threadIdx.x % 32;
    if (cell >= place.record.cells)
        return;
    const bool whole = place.whole(cell);
    const uint32_t *coefficients = job.matrices + place.record.matrix;
    const unsigned rows = place.record.rows;
    for (unsigned first = 0; first < rows; first += words_outputs) {
        uint32_t sum[words_outputs][4] = {};
#pragma unroll 1
        for (unsigned i = 0; i < job.cols; i++) {
            const uint8_t *p = load_address(place.in_image, i) + 16 * (uint64_t)cell;
            uint32_t x[4];
            if (whole)
                load_vector<false>(p, x);
            else
                load_partial(p, place.first(cell), place.last(cell), x);
#pragma unroll
            for (unsigned j = 0; j < words_outputs; j++)
                if (first + j < rows)
                    add_product<W>(sum[j], x,
                                   __ldg(coefficients + (uint64_t)(first + j) * job.cols + i),
                                   job.polynomial);
        }
#pragma unroll
        for (unsigned j = 0; j < words_outputs; j++)
            if (first + j < rows)
                store_partial(load_address(place.in_image, job.cols + first + j) +
                                  16 * (uint64_t)cell,
                              place.first(cell), place.last(cell), 0, sum[j]);
    }
}

/* ---- the host's side ---------------------------------------------------------------------------
 */

inline uint64_t blocks_of(const gfk_batch_job *job) {
    return bmma::divide_up(job->tasks, threads / 32);
}

template <class K>
gfk_status launch_bits(const gfk_batch_job *job, gfk_stream_t stream) {
    return launch(bits<K>, blocks_of(job), threads, 0, stream, *job);
}
/* As many blocks as there is room for, or fewer. */
template <class K>
gfk_status launch_runs(const gfk_batch_job *job, gfk_stream_t stream) {
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return status_of(error);
    const uint64_t room = (uint64_t)processors * K::blocks;
    const uint64_t wanted = bmma::divide_up(job->tasks, K::threads / 32);
    return launch(runs<K>, wanted < room ? wanted : room, K::threads, 0, stream, *job);
}
template <int W>
gfk_status launch_words(const gfk_batch_job *job, gfk_stream_t stream) {
    return launch(words<W>, blocks_of(job), threads, 0, stream, *job);
}

inline size_t coefficient_words(size_t rows, size_t cols) {
    return rows * cols;
}
inline void copy_coefficients(uint32_t *to, uint64_t, size_t rows, size_t cols,
                              const uint32_t *coefficients) {
    memcpy(to, coefficients, sizeof *to * rows * cols);
}

/* The first of the kernels, in order of inputs, that takes k of them. */
template <int W>
gfk_batch_kernel choose(size_t k, int) {
    return {k, 1, 32, coefficient_words, copy_coefficients, launch_words<W>};
}
template <int W, class K, class... More>
gfk_batch_kernel choose(size_t k, int cc) {
    using T = typename K::T;
    static_assert(T::w == W && (T::counts_fit_bytes || K::pack == bmma::Pack::permute), "");
    if (cc < 80 || cc > 90 || k > (size_t)T::inputs)
        return choose<W, More...>(k, cc);
    return {(size_t)T::inputs,     (size_t)T::outputs,    K::cells,
            bmma::matrix_words<T>, bmma::build_matrix<T>, launch_bits<K>};
}

/* Runs, if they take k inputs and `rows` outputs; else what is chosen without. */
template <class K>
bool takes(size_t k, size_t rows, int cc) {
    using T = typename K::T;
    static_assert(T::counts_fit_bytes || K::pack == bmma::Pack::permute, "");
    return cc >= 80 && cc <= 90 && k <= (size_t)T::inputs &&
           rows <= (size_t)(K::groups * T::outputs);
}
template <class K>
gfk_batch_kernel kernel_of_runs() {
    using T = typename K::T;
    return {(size_t)T::inputs,     (size_t)T::outputs,    K::cells,
            bmma::matrix_words<T>, bmma::build_matrix<T>, launch_runs<K>};
}

} // namespace batch
} // namespace gfk
