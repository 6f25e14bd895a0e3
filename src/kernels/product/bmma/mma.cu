/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on mma.sync: their launches, and the list of what the host knows. */
#include "mainloop_direct.cuh"
#include "mainloop_small.cuh"

namespace gfk {
namespace bmma {

/* A kernel loads the operands of all its panels, however many outputs there are. */
template <class K>
size_t words_of_panels(size_t, size_t cols) {
    return matrix_words<typename K::T>(K::outputs, cols);
}

template <class K>
uint64_t resident_blocks(const Run &run) {
    return K::schedule == Schedule::one_tile ? UINT64_MAX
                                             : (uint64_t)run.call->product->processors * K::blocks;
}

template <class K>
gfk_status run_registers(const Run &run) {
    using T = typename K::T;
    const FewJob job = whole_job<T>(run);
    const uint64_t blocks =
        blocks_of<K>(job, 16 * T::vectors * (K::threads / 32), resident_blocks<K>(run));
    return launch(registers<K, FewJob>, blocks, K::threads, 0, run.call->stream, job);
}

/* NOT_SUPPORTED if distances do not fit 32 bits. */
template <class K>
gfk_status run_small(const Run &run) {
    using T = typename K::T;
    static_assert(T::inputs <= small_inputs && K::outputs <= small_outputs, "");
    const gfk_product_call *call = run.call;
    const gfk_product_info &info = call->product->info;
    uintptr_t lowest = UINTPTR_MAX, highest = 0;
    for (size_t i = 0; i < info.cols + info.rows; i++) {
        const uintptr_t p =
            (uintptr_t)(i < info.cols ? gfk_region_address(call->in, i)
                                      : gfk_region_address(call->out, i - info.cols));
        lowest = p < lowest ? p : lowest;
        highest = p > highest ? p : highest;
    }
    if ((highest - lowest) >> 36 != 0 || run.vectors.count >> 28 != 0)
        return GFK_STATUS_NOT_SUPPORTED;
    const auto distance = [&](const uint8_t *p) {
        return (uint32_t)(((uintptr_t)p - lowest) / 16);
    };
    SmallJob job;
    make_extent(job, call, run.vectors);
    job.coefficients = run.coefficients;
    job.rows = job.outputs = (uint32_t)info.rows;
    job.cols = (uint32_t)info.cols;
    job.base = (uint8_t *)lowest - run.vectors.phase + 16 * job.first;
    job.matrix = run.matrix;
    job.end = (uint32_t)(16 * job.count);
    job.reads = reads_outputs(call);
    job.cut = job.partial_head + job.partial_tail != 0;
    for (size_t j = 0; j < info.rows; j++)
        job.to_out[j] = distance(gfk_region_address(call->out, j));
    for (size_t i = 0; i < (size_t)T::inputs; i++)
        job.to_in[i] = distance(gfk_region_address(call->in, stand_in(i, info.cols, T::lanes)));
    const uint64_t blocks =
        blocks_of<K>(job, K::tile_bytes * (K::threads / 32) / K::split, UINT64_MAX);
    return launch(registers<K, SmallJob>, blocks, K::threads, 0, call->stream, job);
}

/* Several launches, if a job or shared memory has no room for all regions. A check by several
 * passes is one launch of an unaligned kernel, or NOT_SUPPORTED. */
template <class K>
gfk_status run_streamed(const Run &run) {
    using T = typename K::T;
    using J = StreamedJob<K>;
    constexpr size_t most_rows = K::table ? K::table * T::outputs : J::most_outputs;
    constexpr size_t most_cols = J::most_inputs / T::inputs * T::inputs;
    static_assert(most_rows % T::outputs == 0, "");
    const gfk_product_info &info = run.call->product->info;
    if (run.call->mismatch_map && info.cols > (K::aligned ? (size_t)T::inputs : most_cols))
        return GFK_STATUS_NOT_SUPPORTED;
    J job;
    make_extent(job, run.call, run.vectors);
    job.pass_words = divide_up(info.rows, T::outputs) * panel_words<T>();
    for (size_t out = 0; out < info.rows; out += most_rows) {
        const size_t rows = info.rows - out < most_rows ? info.rows - out : most_rows;
        for (size_t in = 0; in < info.cols; in += most_cols) {
            const size_t cols = info.cols - in < most_cols ? info.cols - in : most_cols;
            fill_regions<T>(job, run, in, cols, out, rows);
            job.matrix =
                run.matrix + in / T::inputs * job.pass_words + out / T::outputs * panel_words<T>();
            job.epilogue.accumulate = run.call->accumulate || in != 0;
            const uint64_t blocks = blocks_of<K>(
                job, 16 * T::vectors * K::tiles * (K::threads / 32), resident_blocks<K>(run));
            const gfk_status status =
                launch(streamed<K>, blocks, K::threads,
                       K::table ? 4 * job.panels * panel_words<T>() : 0, run.call->stream, job);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    }
    return GFK_STATUS_SUCCESS;
}

/* Shared memory for as many blocks as the registers allow: left to itself, a device may give more
 * of it to L1. The percentage is rounded up; a device with less takes what it has. */
template <class K>
gfk_status prepare_streamed() {
    constexpr int block_bytes = K::table_bytes + 1024, most = 228 * 1024;
    static_assert(K::blocks * block_bytes <= most, "");
    const gfk_status status = allow_shared(streamed<K>, K::table_bytes);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    return status_of(cudaFuncSetAttribute(streamed<K>,
                                          cudaFuncAttributePreferredSharedMemoryCarveout,
                                          (int)divide_up(100 * K::blocks * block_bytes, most)));
}

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    if constexpr (K::mainloop == Mainloop::registers)
        return {0, words_of_panels<K>, build_matrix<T>, NULL, run_registers<K>, NULL};
    else if constexpr (K::mainloop == Mainloop::small)
        return {0, words_of_panels<K>, build_matrix<T>, NULL, run_small<K>, NULL};
    else
        return {K::table_bytes,  matrix_words<T>,
                build_matrix<T>, K::table ? prepare_streamed<K> : nullptr,
                run_streamed<K>, NULL};
}

} // namespace bmma
} // namespace gfk

const gfk::bmma::Kernel gfk::bmma::mma_kernels[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::mma_sync, engine##_##kernel>(),
#include "shapes.def"
};
