/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host knows of a compiled batch kernel: the other half of a row of batch_shapes.def. */
#pragma once

#include "batch_direct.cuh"
#include "batch_ring.cuh"
#include "kernels/product/bmma/operand.h"

namespace gfk {
namespace batch {

/* A row, from the file that compiled its kernel; other files leave it empty. */
struct Row {
    gfk_batch_kernel kernel;
    bool (*available)(); /* on the present device; NULL: yes */
};
extern const Row batch_w8[], batch_w16[], batch_w32[], batch_any[];

template <class K>
gfk_status launch_tasks(const gfk_batch_job *job, int, gfk_stream_t stream) {
    return launch(bmma::registers<K, gfk_batch_job>, bmma::divide_up(job->tasks, K::threads / 32),
                  K::threads, 0, stream, *job);
}

/* As many blocks as there is room for, or fewer. */
template <class K>
gfk_status launch_runs(const gfk_batch_job *job, int processors, gfk_stream_t stream) {
    const uint64_t room = (uint64_t)processors * K::blocks;
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
    cudaError_t error = cudaFuncGetAttributes(&attributes, ring<K>);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(ring<K>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)sizeof(SharedStages<K>));
    return status_of(error) == GFK_STATUS_SUCCESS && attributes.ptxVersion >= 90;
}

template <class K>
constexpr Row mma_row(const char *id) {
    using T = typename K::T;
    Row row = {{id, (size_t)T::inputs, (size_t)T::outputs, K::vectors, bmma::matrix_words<T>,
                bmma::build_matrix<T>, NULL},
               NULL};
    if constexpr (K::mainloop == Mainloop::tasks) {
        row.kernel.launch = launch_tasks<K>;
    } else if constexpr (K::mainloop == Mainloop::runs) {
        row.kernel.launch = launch_runs<K>;
    } else {
        row.kernel.launch = launch_ring<K>;
        row.available = ring_available<K>;
    }
    return row;
}

/* The row of policy K in the list of the file of width W. */
template <int W, class K>
constexpr Row row_of(const char *id) {
    if constexpr (K::mainloop != Mainloop::multiples)
        if constexpr (K::T::w == W)
            return mma_row<K>(id);
    return {};
}

} // namespace batch
} // namespace gfk
