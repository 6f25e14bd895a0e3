/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernel that takes every width and device, and the choice among all batch kernels. */
#include "batch_kernel.cuh"

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

template <class K>
static gfk_status launch_multiples(const gfk_batch_job *job, int, gfk_stream_t stream) {
    return launch(multiples<K>, bmma::divide_up(job->tasks, K::threads / 32), K::threads, 0, stream,
                  *job);
}
static size_t coefficient_words(size_t rows, size_t cols) {
    return rows * cols;
}
static void copy_coefficients(uint32_t *to, uint64_t, size_t rows, size_t cols,
                              const uint32_t *coefficients) {
    memcpy(to, coefficients, sizeof *to * rows * cols);
}

template <class K>
static constexpr Row row_of_multiples(const char *id) {
    if constexpr (K::mainloop == Mainloop::multiples)
        return {{id, 0, 1, K::vectors, coefficient_words, copy_coefficients, launch_multiples<K>},
                NULL};
    else
        return {};
}

const Row batch_any[] = {
#define GFK_BATCH_KERNEL(widths, kernel, ...)                                                      \
    row_of_multiples<widths##_##kernel>(#widths "/" #kernel),
#include "batch_shapes.def"
#undef GFK_BATCH_KERNEL
};

/* The row's shapes, stripes and devices. */
enum Stripes { ANY, WHOLE };
static const struct Bounds {
    unsigned w;
    size_t min_inputs, max_inputs, min_outputs, max_outputs;
    Stripes stripes;
    int cc_min, cc_max;

    bool take(unsigned width, size_t inputs, size_t outputs, int cc, bool whole) const {
        return (w == 0 || w == width) && inputs >= min_inputs && outputs >= min_outputs &&
               (max_inputs == 0 || inputs <= max_inputs) &&
               (max_outputs == 0 || outputs <= max_outputs) && (stripes == ANY || whole) &&
               (cc_min == 0 || cc >= cc_min) && (cc_max == 0 || cc <= cc_max);
    }
} bounds[] = {
#define GFK_BATCH_KERNEL(widths, kernel, w, min_inputs, max_inputs, min_outputs, max_outputs,      \
                         stripes, cc_min, cc_max, ...)                                             \
    {w, min_inputs, max_inputs, min_outputs, max_outputs, stripes, cc_min, cc_max},
#include "batch_shapes.def"
#undef GFK_BATCH_KERNEL
};

} // namespace batch
} // namespace gfk

extern "C" gfk_batch_kernel gfk_batch_choose(unsigned w, size_t inputs, size_t outputs, int cc,
                                             bool whole) {
    using namespace gfk::batch;
    for (size_t i = 0;; i++) { /* the last row takes everything */
        if (!bounds[i].take(w, inputs, outputs, cc, whole))
            continue;
        for (const Row *list : {batch_w8, batch_w16, batch_w32, batch_any}) {
            gfk_batch_kernel kernel = list[i].kernel;
            if (kernel.launch == NULL || (list[i].available != NULL && !list[i].available()))
                continue;
            if (kernel.inputs == 0)
                kernel.inputs = inputs;
            return kernel;
        }
    }
}
