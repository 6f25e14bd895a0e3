/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernel for every device and any number of inputs, without the carry-less multiply-add,
 * and the choice among all batch kernels. */
#include "kernels/common/launch.cuh"
#include "kernels/common/vector_io.cuh"
#include "layout.h"

namespace gfk {
namespace batch {
namespace {

constexpr unsigned threads = 128;
constexpr unsigned vectors = 32;      /* of a task */
constexpr unsigned panel_outputs = 4; /* computed together */

template <int W>
__device__ inline void multiply_task(const gfk_batch_job &job, uint32_t task) {
    const TaskPlace place = find(job, task, vectors);
    const uint32_t vector = place.vector + threadIdx.x % 32;
    if (vector >= place.record.vectors)
        return;
    const bool whole = place.whole(vector);
    const uint32_t *coefficients = job.matrices + place.record.matrix;
    const unsigned rows = place.record.rows;
    for (unsigned first = 0; first < rows; first += panel_outputs) {
        uint32_t sum[panel_outputs][4] = {};
#pragma unroll 1
        for (unsigned i = 0; i < job.cols; i++) {
            const uint8_t *p = load_address(place.in_image, i) + 16 * (uint64_t)vector;
            uint32_t x[4];
            if (whole)
                load_vector<false>(p, x);
            else
                load_partial(p, place.first(vector), place.last(vector), x);
#pragma unroll
            for (unsigned j = 0; j < panel_outputs; j++)
                if (first + j < rows)
                    add_product<W>(sum[j], x,
                                   __ldg(coefficients + (uint64_t)(first + j) * job.cols + i),
                                   job.polynomial);
        }
#pragma unroll
        for (unsigned j = 0; j < panel_outputs; j++)
            if (first + j < rows)
                store_partial(load_address(place.in_image, job.cols + first + j) +
                                  16 * (uint64_t)vector,
                              place.first(vector), place.last(vector), 0, sum[j]);
    }
}

/* A warp does one task, a lane a vector of it: the bits of its symbols choose among the multiples
 * c * 2^b. */
__global__ __launch_bounds__(threads) void multiples(const __grid_constant__ gfk_batch_job job) {
    const uint32_t task = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    if (task >= job.tasks)
        return;
    if (job.w == 8)
        multiply_task<8>(job, task);
    else if (job.w == 16)
        multiply_task<16>(job, task);
    else
        multiply_task<32>(job, task);
}

/* ---- on the host ----------------------------------------------------------------------------- */

size_t matrix_words(size_t rows, size_t cols) {
    return rows * cols;
}
void build(uint32_t *to, size_t rows, size_t cols, const uint32_t *coefficients) {
    memcpy(to, coefficients, sizeof *to * rows * cols);
}
gfk_status launch_tasks(const gfk_batch_job *job, gfk_stream_t stream) {
    return launch(multiples, gfk_divide_up(job->tasks, threads / 32), threads, 0, stream, *job);
}

} // namespace
} // namespace batch
} // namespace gfk

extern "C" gfk_batch_kernel gfk_batch_choose(unsigned w, size_t k, size_t rows, bool clmad,
                                             bool whole) {
    gfk_batch_kernel kernel;
    if (clmad && gfk_batch_choose_clmad(w, k, rows, whole, &kernel))
        return kernel;
    return {1, gfk::batch::vectors, gfk::batch::matrix_words, gfk::batch::build,
            gfk::batch::launch_tasks};
}
