/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernels on the carry-less multiply-add: the kernels of the engine clmad with another
 * view of the regions, BatchView, which reads a stripe's record. A block does one task, so that all
 * its threads have one matrix and the same addresses. A block waits for memory twice: for the
 * record and all its addresses at once, and then for the matrix and the first inputs at once. Other
 * blocks of the multiprocessor compute in the meantime. */
#include "kernels/common/launch.cuh"
#include "kernels/product/clmad/kernel.cuh"
#include "layout.h"

namespace gfk {
namespace batch {
namespace {

using namespace clmad_engine;

/* One compiled kernel, for panels of `Outputs` outputs. Whole: all stripes are aligned, whole
 * vectors. OnePanel: no stripe has more outputs than a panel, so that there is no loop, which takes
 * registers. */
template <int Width, int Outputs, int Blocks, bool Whole, bool OnePanel>
struct Clmad : Kernel<Width, Outputs, 1, 8, 2, Blocks, Few, Whole> {
    static constexpr bool one_panel = OnePanel;
};

/* Vectors of a task. */
template <class K>
constexpr unsigned task_vectors = K::threads / 32 * K::stride;

/* The outputs of a stripe from number `first_output` on. `addresses` has those of the inputs, then
 * those of a panel of outputs, in shared memory. */
template <class K>
class BatchView {
    const uint64_t *const addresses;
    const unsigned inputs, left; /* left: outputs from the first one on */

    __device__ static unsigned number() { return threadIdx.x / 32 * K::stride + threadIdx.x % 32; }

  public:
    const uint32_t vector;

  private:
    const bool whole;
    const uint32_t begin, end; /* whole vectors */

  public:
    __device__ BatchView(const uint64_t *of_addresses, unsigned cols, const TaskPlace &place,
                         unsigned first_output)
        : addresses(of_addresses), inputs(cols), left(place.record.rows - first_output),
          vector(place.vector + number()),
          whole(K::aligned ? vector < place.record.vectors : place.whole(vector)),
          begin(place.record.whole_begin), end(place.record.whole_end) {}
    __device__ unsigned cols() const { return inputs; }
    __device__ bool has(int j) const { return j < left; }
    __device__ bool mine(int) const { return whole; }
    __device__ bool first() const { return vector == begin; }
    __device__ bool last() const { return vector + 1 == end; }
    __device__ bool behind_last() const { return end > begin && vector == end; }
    __device__ unsigned pitch() const { return 0; }
    __device__ uint8_t *region(unsigned i) const {
        uint8_t *const p = (uint8_t *)addresses[i];
        __builtin_assume(__isGlobal(p));
        return p + 16 * (uint64_t)vector;
    }
    __device__ const uint8_t *in(unsigned i) const { return region(i); }
    __device__ uint8_t *out(int j) const { return region(inputs + j); }
};

/* Computes a vector that the ends of the regions cut, or that cannot be loaded by words. */
template <class K>
__device__ inline void multiply_cut(const TaskPlace &place, const BatchView<K> &view,
                                    const uint64_t *coefficients, const gfk_barrett &barrett) {
    const unsigned first = place.first(view.vector), last = place.last(view.vector);
    Sums<K> sums = {};
    for (unsigned i = 0; i < view.cols(); i++) {
        uint32_t x[1][4];
        load_partial(view.in(i), first, last, x[0]);
        add_products<K>(x, coefficients + i * K::outputs, sums);
    }
#pragma unroll
    for (int j = 0; j < K::outputs; j++)
        if (view.has(j)) {
            uint32_t y[4];
            reduce_vector<K::width>(sums[0][j], barrett, y);
            store_partial(view.out(j), first, last, 0, y);
        }
}

/* Copies addresses that follow a record to the elements [begin, end) of an array in shared memory,
 * the first one from address `from` + `begin`. */
__device__ inline void copy_addresses(uint64_t *to, const unsigned char *record, unsigned begin,
                                      unsigned end, unsigned from) {
    for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x)
        to[i] = (uint64_t)load_address(record, from + i);
}

template <class K>
__global__ __launch_bounds__(K::threads, K::blocks) void multiply_task(
    const __grid_constant__ gfk_batch_job job, const __grid_constant__ gfk_barrett barrett) {
    extern __shared__ uint4 batch_shared[];
    const unsigned count = panel_coefficients<K>(job.cols);
    uint64_t *const coefficients = (uint64_t *)batch_shared, *const addresses =
                                                                 coefficients + count;
    const uint32_t rings = (uint32_t)__cvta_generic_to_shared(batch_shared) +
                           shared_bytes<K>(count + job.cols + K::outputs, 0);
    const unsigned char *const record = record_of(job, blockIdx.x);
    const TaskPlace place = place_at(record, blockIdx.x, task_vectors<K>);
    copy_addresses(addresses, record, 0, job.cols + K::outputs, 0);
    const uint32_t *matrix = job.matrices + place.record.matrix;
    for (unsigned first = 0; first < (K::one_panel ? 1 : place.record.rows);
         first += K::outputs, matrix += count) {
        if (first != 0) {
            __syncthreads(); /* no thread needs the last panel's coefficients and addresses */
            copy_addresses(addresses, record, job.cols, job.cols + K::outputs, first);
        }
        const uint32_t coefficient = threadIdx.x < count ? load_index(matrix + threadIdx.x) : 0;
        __syncthreads(); /* for the addresses */
        const BatchView<K> view(addresses, job.cols, place, first);
        const Ring<K, BatchView<K>> ring(view, rings, threadIdx.x, K::threads);
#pragma unroll
        for (int i = 0; i < K::depth - 1; i++)
            ring.fetch(i);
        if (threadIdx.x < count)
            coefficients[threadIdx.x] = coefficient;
        for (unsigned i = threadIdx.x + K::threads; i < count; i += K::threads)
            coefficients[i] = load_index(matrix + i);
        __syncthreads();
        Sums<K> sums = {};
        add_ring<K>(view, ring, coefficients, sums, 0, view.cols());
        store_outputs<K>(view, ring, barrett, sums);
        if (!K::aligned && !view.mine(0) && view.vector < place.record.vectors)
            multiply_cut<K>(place, view, coefficients, barrett);
    }
}

/* ---- on the host ----------------------------------------------------------------------------- */

constexpr size_t most_inputs = 256;

template <class K>
size_t matrix_words(size_t rows, size_t cols) {
    return gfk_divide_up(rows, K::outputs) * panel_coefficients<K>((unsigned)cols);
}
/* Writes panel by panel, in a panel input by input, and zeros after the last input. */
template <class K>
void build(uint32_t *to, size_t rows, size_t cols, const uint32_t *coefficients) {
    const size_t turns = panel_coefficients<K>((unsigned)cols) / K::outputs;
    for (size_t first = 0; first < rows; first += K::outputs)
        for (size_t i = 0; i < turns; i++)
            for (size_t j = first; j < first + K::outputs; j++)
                *to++ = j < rows && i < cols ? coefficients[j * cols + i] : 0;
}
template <class K>
gfk_status launch_tasks(const gfk_batch_job *job, gfk_stream_t stream) {
    static_assert(shared_bytes<K>(most_inputs * (K::outputs + 1) + K::outputs, K::threads) <=
                      default_shared,
                  "");
    return launch(
        multiply_task<K>, job->tasks, K::threads,
        shared_bytes<K>(panel_coefficients<K>(job->cols) + job->cols + K::outputs, K::threads),
        stream, *job, gfk_barrett_of(job->w, job->polynomial));
}

template <class K>
constexpr gfk_batch_kernel kernel() {
    return {K::outputs, task_vectors<K>, matrix_words<K>, build<K>, launch_tasks<K>};
}

template <int W>
gfk_batch_kernel choose(size_t outputs, bool whole) {
    return !whole         ? kernel<Clmad<W, 4, 4, false, false>>()
           : outputs <= 4 ? kernel<Clmad<W, 4, 8, true, true>>()
                          : kernel<Clmad<W, 8, 4, true, false>>();
}

} // namespace
} // namespace batch
} // namespace gfk

extern "C" bool gfk_batch_choose_clmad(unsigned w, size_t inputs, size_t outputs, bool whole,
                                       gfk_batch_kernel *kernel) {
    if (inputs > gfk::batch::most_inputs)
        return false;
    *kernel = w == 8    ? gfk::batch::choose<8>(outputs, whole)
              : w == 16 ? gfk::batch::choose<16>(outputs, whole)
                        : gfk::batch::choose<32>(outputs, whole);
    return true;
}
