/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernel with a ring of stages, for compute capability 9.0 and for stripes of whole,
 * aligned vectors.
 *
 * A task is so many vectors that all warps of a block share it; a block does every gridDim.x-th
 * task. The block's last warp fills the stages: for each task it copies the data, the stripe's
 * record and the stripe's matrix operand to shared memory, several tasks ahead, by one bulk copy
 * for each region. The other warps compute. A warp takes one tile of a stage after another and
 * reads everything that it needs from the stage. So no warp that computes waits for memory, another
 * stripe costs no more than another task, and the registers hold no data that are under way, which
 * leaves room for many warps. */
#pragma once

#include "batch_layout.h"
#include "batch_shapes.cuh"
#include "kernels/common/copy_async.cuh"
#include "kernels/common/vector_io.cuh"
#include "kernels/product/bmma/fragment.cuh"

namespace gfk {
namespace batch {

__device__ inline uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* A task in shared memory. The lanes that share a vector read several regions at once; the gaps
 * make regions begin in different banks. */
template <class K>
struct alignas(128) Stage {
    using T = typename K::T;
    struct alignas(16) Region {
        uint4 vectors[K::vectors], gap[8 / T::lanes];
    } regions[K::inputs];
    uint32_t matrix[K::panels * T::panel_registers * 32];
    alignas(16) gfk_batch_record record; /* then the addresses, as in the image */
    uint64_t in[T::inputs], out[K::panels * T::outputs];
    uint64_t gap[3]; /* the image rounds the length of a record up */
};
template <class K>
struct SharedStages {
    Stage<K> stage[K::stages];
    uint64_t barriers[K::stages * bulk::RingBarriers::stage_bytes / 8];
};

/* The last warp. Lane i copies input i, lane 30 the matrix operand, lane 31 the record. The next
 * task's record is loaded before the warp waits for a free stage. */
template <class K>
__device__ inline void fill_stages(const gfk_batch_job &job, unsigned lane, SharedStages<K> &shared,
                                   bulk::RingBarriers barriers) {
    using T = typename K::T;
    const unsigned char *next_in_image = record_of(job, blockIdx.x);
    gfk_batch_record record = load_record(next_in_image);
    const uint8_t *address = load_address(next_in_image, lane < job.cols ? lane : 0);
    bulk::RingPosition position;
    for (uint32_t task = blockIdx.x; task < job.tasks; task += gridDim.x) {
        const unsigned char *const in_image = next_in_image;
        const uint32_t vector = (task - record.first_task) * K::vectors;
        const uint32_t bytes = 16 * min(K::vectors, record.vectors - vector);
        const uint32_t operand =
            4 * 32 * T::panel_registers * ((record.rows + T::outputs - 1) / T::outputs);
        const uint32_t *matrix = job.matrices + record.matrix;
        const uint8_t *from = address + 16 * (uint64_t)vector;
        if (task + gridDim.x < job.tasks) {
            next_in_image = record_of(job, task + gridDim.x);
            record = load_record(next_in_image);
            address = load_address(next_in_image, lane < job.cols ? lane : 0);
        }
        Stage<K> &stage = shared.stage[position.stage];
        const uint32_t filled = barriers.filled(position.stage);
        bulk::wait(barriers.released(position.stage), position.parity ^ 1);
        if (lane == 0)
            bulk::arrive_with(filled, job.cols * bytes + operand + job.record_bytes);
        __syncwarp();
        if (lane < job.cols)
            bulk::copy(shared_address(stage.regions[lane].vectors), from, bytes, filled);
        else if (lane == 30)
            bulk::copy(shared_address(stage.matrix), matrix, operand, filled);
        else if (lane == 31)
            bulk::copy(shared_address(&stage.record), in_image, job.record_bytes, filled);
        position.next(K::stages);
    }
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void ring(const __grid_constant__ gfk_batch_job job) {
#if __CUDA_ARCH__ >= 900 /* ring_available asks whether the kernel is empty */
    using T = typename K::T;
    extern __shared__ __align__(128) unsigned char bytes[];
    SharedStages<K> &shared = *(SharedStages<K> *)bytes;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, share = lane % T::lanes;
    const bulk::RingBarriers barriers = {shared_address(shared.barriers)};
    if (threadIdx.x == 0)
        barriers.init(K::stages, K::tiles);
    /* Bulk copies access shared memory through the asynchronous proxy. */
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (warp == K::warps)
        return fill_stages<K>(job, lane, shared, barriers);

    for (uint32_t tile = warp;; tile += K::warps) {
        const uint32_t count = tile / K::tiles, stage = count % K::stages;
        const uint32_t task = blockIdx.x + count * gridDim.x;
        if (task >= job.tasks)
            return;
        const Stage<K> &filled = shared.stage[stage];
        bulk::wait(barriers.filled(stage), count / K::stages % 2);
        const uint32_t local = tile % K::tiles * T::vectors + lane / T::lanes;
        const uint32_t vector = (task - filled.record.first_task) * K::vectors + local;
        const unsigned rows = filled.record.rows;
        const bool mine = vector < filled.record.vectors;
        uint32_t x[T::slots][4], a[1][T::symbols][T::steps];
#pragma unroll
        for (int s = 0; s < T::slots; s++) {
            const unsigned i = s * T::lanes + share; /* what is not there is multiplied by 0 */
            unpack(filled.regions[i < K::inputs ? i : s * T::lanes].vectors[local], x[s]);
        }
        uint32_t b[K::panels][T::pairs][T::pair_registers];
        uint8_t *out[K::panels];
#pragma unroll
        for (int j = 0; j < K::panels; j++) {
            out[j] = (uint8_t *)filled.out[j * T::outputs + share] + 16 * (uint64_t)vector;
            __builtin_assume(__isGlobal(out[j]));
            bmma::load_panel<T, true>(filled.matrix + j * (T::panel_registers * 32), lane, b[j]);
        }
        bmma::arrange<T>(x, a[0]);
        bulk::finish_loads();
        __syncwarp();
        if (lane == 0)
            bulk::arrive(barriers.released(stage));
#pragma unroll
        for (int j = 0; j < K::panels; j++) {
            if (j * T::outputs >= rows)
                break;
            uint32_t words[1][T::words];
            bmma::multiply_panel<T, K::pack>(a, b[j], words);
            if (mine && j * T::outputs + share < rows)
                store_vector<true>(out[j], words[0]);
        }
    }
#endif
}

} // namespace batch
} // namespace gfk
