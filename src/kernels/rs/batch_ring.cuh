/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of batches whose stripes are all aligned and whole vectors, for compute
 * capability 9.0.
 *
 * A task is a part of a stripe that all warps of a block share, so that there are few of
 * them. The block's last warp copies a task's data, with the stripe's record and matrix operand,
 * into shared memory: in bulk, one instruction for a region, several stages ahead. The others take
 * one unit of vectors after another, of whichever task, and find there all that they need but
 * the room for the outputs. So nothing that a warp computes waits for memory, a change of stripe
 * costs no more than a change of task, and without data under way the registers suffice for many
 * warps. */
#pragma once

#include "batch_layout.h"
#include "batch_shapes.cuh"
#include "kernels/common/copy_async.cuh"
#include "kernels/product/bmma/fragment.cuh"

namespace gfk {
namespace batch {

__device__ inline uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* A stage in shared memory. Lanes that share a vector read it in several regions at once, so
 * regions begin in different banks. */
template <class K>
struct alignas(128) Stage {
    using T = typename K::T;
    struct alignas(16) Region {
        uint4 vectors[K::vectors], gap[8 / T::lanes];
    } regions[K::inputs];
    uint32_t matrix[K::panels * T::panel_registers * 32];
    alignas(16) gfk_batch_record record; /* with what is behind it in the image */
    uint64_t in[T::inputs], out[K::panels * T::outputs];
    uint64_t gap[3]; /* a record is rounded up */
};
template <class K>
struct SharedStages {
    Stage<K> stage[K::stages];
    uint64_t full[K::stages], empty[K::stages];
};

/* The last warp: its lane i copies input i. */
template <class K>
__device__ inline void fill_stages(const gfk_batch_job &job, unsigned lane,
                                   SharedStages<K> &shared) {
    using T = typename K::T;
    const auto record_of = [&](uint32_t task) {
        const uint64_t stripe =
            job.index ? load_index(job.index + task) : (uint64_t)task * job.reciprocal >> job.shift;
        return job.records + stripe * job.record_bytes;
    };
    const unsigned char *in_image = record_of(blockIdx.x);
    gfk_batch_record record = load_record(in_image);
    const uint8_t *address = load_address(in_image, lane < job.cols ? lane : 0);
    uint32_t stage = 0, parity = 1;
    for (uint32_t task = blockIdx.x; task < job.tasks; task += gridDim.x) {
        const unsigned char *const present = in_image;
        const uint32_t vector = (task - record.first_task) * K::vectors;
        const uint32_t bytes = 16 * min(K::vectors, record.vectors - vector);
        const uint32_t operand =
            4 * 32 * T::panel_registers * ((record.rows + T::outputs - 1) / T::outputs);
        const uint32_t *matrix = job.matrices + record.matrix;
        const uint8_t *from = address + 16 * (uint64_t)vector;
        if (task + gridDim.x < job.tasks) {
            in_image = record_of(task + gridDim.x);
            record = load_record(in_image);
            address = load_address(in_image, lane < job.cols ? lane : 0);
        }
        Stage<K> &filled = shared.stage[stage];
        const uint32_t full = shared_address(&shared.full[stage]);
        bulk::wait(shared_address(&shared.empty[stage]), parity);
        if (lane == 0)
            bulk::arrive_with(full, job.cols * bytes + operand + job.record_bytes);
        __syncwarp();
        if (lane < job.cols)
            bulk::copy(shared_address(filled.regions[lane].vectors), from, bytes, full);
        else if (lane == 30)
            bulk::copy(shared_address(filled.matrix), matrix, operand, full);
        else if (lane == 31)
            bulk::copy(shared_address(&filled.record), present, job.record_bytes, full);
        if (++stage == K::stages)
            stage = 0, parity ^= 1;
    }
}

template <class K>
__global__ __launch_bounds__(K::threads, 1) void ring(const __grid_constant__ gfk_batch_job job) {
#if __CUDA_ARCH__ >= 900 /* runs_staged asks whether it is */
    using T = typename K::T;
    extern __shared__ __align__(128) unsigned char bytes[];
    SharedStages<K> &shared = *(SharedStages<K> *)bytes;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, share = lane % T::lanes;
    if (threadIdx.x == 0)
        for (int i = 0; i < K::stages; i++) {
            bulk::init_barrier(shared_address(&shared.full[i]), 1);
            bulk::init_barrier(shared_address(&shared.empty[i]), K::units);
        }
    /* Bulk copies see shared memory by a way of their own. */
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (warp == K::warps)
        return fill_stages<K>(job, lane, shared);

    for (uint32_t unit = warp;; unit += K::warps) {
        const uint32_t count = unit / K::units, stage = count % K::stages;
        const uint32_t task = blockIdx.x + count * gridDim.x;
        if (task >= job.tasks)
            return;
        const Stage<K> &filled = shared.stage[stage];
        bulk::wait(shared_address(&shared.full[stage]), count / K::stages % 2);
        const uint32_t local = unit % K::units * T::vectors + lane / T::lanes;
        const uint32_t vector = (task - filled.record.first_task) * K::vectors + local;
        const unsigned rows = filled.record.rows;
        const bool mine = vector < filled.record.vectors;
        uint32_t x[T::slots][4], a[1][T::symbols][T::steps];
#pragma unroll
        for (int s = 0; s < T::slots; s++) {
            const unsigned i = s * T::lanes + share; /* what is not there is multiplied by 0 */
            const uint4 v = filled.regions[i < K::inputs ? i : s * T::lanes].vectors[local];
            x[s][0] = v.x, x[s][1] = v.y, x[s][2] = v.z, x[s][3] = v.w;
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
        __syncwarp();
        if (lane == 0)
            bulk::arrive(shared_address(&shared.empty[stage]));
#pragma unroll
        for (int j = 0; j < K::panels; j++) {
            if (j * T::outputs >= rows)
                break;
            uint32_t words[1][T::words];
            bmma::multiply_panel<T, K::pack>(a, b[j], words);
            if (mine && j * T::outputs + share < rows)
                *(uint4 *)out[j] = make_uint4(words[0][0], words[0][1], words[0][2], words[0][3]);
        }
    }
#endif
}

} // namespace batch
} // namespace gfk
