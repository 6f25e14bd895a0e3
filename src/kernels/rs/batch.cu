/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernels: the one without tensor cores, all launches, and the choice among them. */
#include "batch_direct.cuh"
#include "batch_ring.cuh"
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
gfk_status launch_multiples(const gfk_batch_job *job, int, gfk_stream_t stream) {
    return launch(multiples<K>, bmma::divide_up(job->tasks, K::threads / 32), K::threads, 0, stream,
                  *job);
}

/* A warp for each task, or as many blocks as there is room for. */
template <class K>
gfk_status launch_direct(const gfk_batch_job *job, int processors, gfk_stream_t stream) {
    const uint64_t room =
        K::schedule == bmma::Schedule::one_tile ? UINT64_MAX : (uint64_t)processors * K::blocks;
    const uint64_t wanted = bmma::divide_up(job->tasks, K::threads / 32);
    return launch(bmma::registers<K, gfk_batch_job>, wanted < room ? wanted : room, K::threads, 0,
                  stream, *job);
}

template <class K>
gfk_status launch_ring(const gfk_batch_job *job, int processors, gfk_stream_t stream) {
    const uint64_t blocks = job->tasks < (uint32_t)processors ? job->tasks : (uint32_t)processors;
    return launch(ring<K>, blocks, K::threads, sizeof(SharedStages<K>), stream, *job);
}

/* Does the present device run this kernel? A library without code for compute capability 9.0 has an
 * empty one, which the driver may have compiled. */
template <class K>
bool ring_available() {
    static_assert(sizeof(SharedStages<K>) <= 227 * 1024, "");
    cudaFuncAttributes attributes;
    return status_of(cudaFuncGetAttributes(&attributes, ring<K>)) == GFK_STATUS_SUCCESS &&
           attributes.ptxVersion >= 90 &&
           allow_shared(ring<K>, sizeof(SharedStages<K>)) == GFK_STATUS_SUCCESS;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static size_t coefficient_words(size_t rows, size_t cols) {
    return rows * cols;
}
static void copy_coefficients(uint32_t *to, uint64_t, size_t rows, size_t cols,
                              const uint32_t *coefficients) {
    memcpy(to, coefficients, sizeof *to * rows * cols);
}

/* What the host knows of a compiled kernel. */
struct Compiled {
    gfk_batch_kernel kernel;
    bool (*available)() = NULL; /* on the present device; NULL: yes */
};

template <class K>
constexpr Compiled compiled(const char *id) {
    if constexpr (K::mainloop == Mainloop::multiples) {
        return {{id, 0, 1, K::vectors, coefficient_words, copy_coefficients, launch_multiples<K>}};
    } else {
        using T = typename K::T;
        Compiled c = {{id, (size_t)T::inputs, (size_t)T::outputs, K::vectors, bmma::matrix_words<T>,
                       bmma::build_matrix<T>, NULL}};
        if constexpr (K::mainloop == Mainloop::ring) {
            c.kernel.launch = launch_ring<K>;
            c.available = ring_available<K>;
        } else {
            c.kernel.launch = launch_direct<K>;
        }
        return c;
    }
}

enum Stripes : unsigned { ANY, WHOLE };

static const struct Row {
    unsigned w;
    gfk_engine_kernel_info bounds; /* labels: Stripes */
    Compiled compiled;

    bool takes(unsigned width, size_t inputs, size_t outputs, unsigned cc, bool whole) const {
        return (w == 0 || w == width) && gfk_engine_kernel_takes(&bounds, inputs, outputs) &&
               (bounds.labels == ANY || whole) && cc >= bounds.cc_min &&
               (bounds.cc_max == 0 || cc <= bounds.cc_max) &&
               (compiled.available == NULL || compiled.available());
    }
} rows[] = {
#define GFK_BATCH_KERNEL(widths, kernel, w, min_inputs, max_inputs, min_outputs, max_outputs,      \
                         stripes, cc_min, cc_max, ...)                                             \
    {w,                                                                                            \
     {NULL, min_inputs, max_inputs, min_outputs, max_outputs, stripes, cc_min, cc_max},            \
     compiled<widths##_##kernel>(#widths "/" #kernel)},
#include "batch_shapes.def"
#undef GFK_BATCH_KERNEL
};

} // namespace batch
} // namespace gfk

extern "C" gfk_batch_kernel gfk_batch_choose(unsigned w, size_t inputs, size_t outputs, int cc,
                                             bool whole) {
    const gfk::batch::Row *row = gfk::batch::rows; /* the last one takes everything */
    while (!row->takes(w, inputs, outputs, (unsigned)cc, whole))
        row++;
    gfk_batch_kernel kernel = row->compiled.kernel;
    if (kernel.inputs == 0)
        kernel.inputs = inputs;
    return kernel;
}
