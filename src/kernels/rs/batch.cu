/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernels that do not need clmad: the one without tensor cores, the launches, and the choice
 * among all. */
#include "batch_direct.cuh"
#include "host/product/engine.h"
#include "kernels/product/bmma/operand.h"

namespace gfk {
namespace batch {

constexpr unsigned multiples_outputs = 4; /* in one pass over the inputs */

template <int W>
__device__ inline void multiply_task(const gfk_batch_job &job, uint32_t task) {
    const Place place = find(job, task, 32);
    const uint32_t vector = place.vector + threadIdx.x % 32;
    if (vector >= place.record.vectors)
        return;
    const bool whole = place.whole(vector);
    const uint32_t *coefficients = job.matrices + place.record.matrix;
    const unsigned rows = place.record.rows;
    for (unsigned first = 0; first < rows; first += multiples_outputs) {
        uint32_t sum[multiples_outputs][4] = {};
#pragma unroll 1
        for (unsigned i = 0; i < job.cols; i++) {
            const uint8_t *p = load_address(place.in_image, i) + 16 * (uint64_t)vector;
            uint32_t x[4];
            if (whole)
                load_vector<false>(p, x);
            else
                load_partial(p, place.first(vector), place.last(vector), x);
#pragma unroll
            for (unsigned j = 0; j < multiples_outputs; j++)
                if (first + j < rows)
                    add_product<W>(sum[j], x,
                                   __ldg(coefficients + (uint64_t)(first + j) * job.cols + i),
                                   job.polynomial);
        }
#pragma unroll
        for (unsigned j = 0; j < multiples_outputs; j++)
            if (first + j < rows)
                store_partial(load_address(place.in_image, job.cols + first + j) +
                                  16 * (uint64_t)vector,
                              place.first(vector), place.last(vector), 0, sum[j]);
    }
}

/* No tensor cores. A warp does one task, a lane a vector of it: the bits of its symbols choose
 * among the multiples c * 2^b. */
template <class K>
__global__ __launch_bounds__(K::threads) void multiples(const __grid_constant__ gfk_batch_job job) {
    const uint32_t task = blockIdx.x * (K::threads / 32) + threadIdx.x / 32;
    if (task >= job.tasks)
        return;
    if (job.w == 8)
        multiply_task<8>(job, task);
    else if (job.w == 16)
        multiply_task<16>(job, task);
    else
        multiply_task<32>(job, task);
}

/* ---- launches ------------------------------------------------------------------------------- */

template <class K>
gfk_status launch_multiples(const gfk_batch_job *job, gfk_stream_t stream) {
    return launch(multiples<K>, bmma::divide_up(job->tasks, K::threads / 32), K::threads, 0, stream,
                  *job);
}

/* A warp for each task. */
template <class K>
gfk_status launch_tasks(const gfk_batch_job *job, gfk_stream_t stream) {
    return launch(bmma::registers<K, gfk_batch_job>, bmma::divide_up(job->tasks, K::threads / 32),
                  K::threads, 0, stream, *job);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static size_t coefficient_words(size_t rows, size_t cols) {
    return rows * cols;
}
static void copy_coefficients(uint32_t *to, uint64_t, size_t rows, size_t cols,
                              const uint32_t *coefficients) {
    memcpy(to, coefficients, sizeof *to * rows * cols);
}

template <class K>
constexpr gfk_batch_kernel compiled(const char *id) {
    if constexpr (K::mainloop == Mainloop::multiples) {
        return {id, 0, 1, K::vectors, coefficient_words, copy_coefficients, launch_multiples<K>};
    } else {
        using T = typename K::T;
        return {id,
                (size_t)T::inputs,
                (size_t)T::outputs,
                K::vectors,
                bmma::matrix_words<T>,
                bmma::build_matrix<T>,
                launch_tasks<K>};
    }
}

static const struct Row {
    unsigned w;
    gfk_engine_kernel_info bounds;
    gfk_batch_kernel kernel;

    bool takes(unsigned width, size_t inputs, size_t outputs, unsigned cc) const {
        return (w == 0 || w == width) && gfk_engine_kernel_takes(&bounds, inputs, outputs) &&
               cc >= bounds.cc_min && (bounds.cc_max == 0 || cc <= bounds.cc_max);
    }
} rows[] = {
#define GFK_BATCH_KERNEL(widths, kernel, w, min_inputs, max_inputs, min_outputs, max_outputs,      \
                         cc_min, cc_max, ...)                                                      \
    {w,                                                                                            \
     {NULL, min_inputs, max_inputs, min_outputs, max_outputs, 0, cc_min, cc_max},                  \
     compiled<widths##_##kernel>(#widths "/" #kernel)},
#include "batch_shapes.def"
#undef GFK_BATCH_KERNEL
};

} // namespace batch
} // namespace gfk

extern "C" gfk_batch_kernel gfk_batch_choose(unsigned w, size_t inputs, size_t outputs, int cc,
                                             bool clmad, bool whole) {
    gfk_batch_kernel kernel;
    if (clmad && gfk_batch_choose_clmad(w, inputs, outputs, whole, &kernel)) {
        kernel.inputs = inputs;
        return kernel;
    }
    const gfk::batch::Row *row = gfk::batch::rows; /* the last one takes everything */
    while (!row->takes(w, inputs, outputs, (unsigned)cc))
        row++;
    kernel = row->kernel;
    if (kernel.inputs == 0)
        kernel.inputs = inputs;
    return kernel;
}
