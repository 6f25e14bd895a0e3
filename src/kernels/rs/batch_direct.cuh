/* SPDX-License-Identifier: BSD-3-Clause */
/* Batch kernels whose lanes load their data from memory themselves: many small products in one
 * launch, each with its own addresses, length and matrix, which a warp finds in the image
 * (batch.h).
 *
 * The kernel is `registers` of the BMMA engine; a batch is its other problem besides a product.
 *
 * Up to 32 inputs, four lanes to a vector. A warp does one task. The matrix operand comes through L1,
 * panel by panel of outputs.
 *
 * The same warps take the vectors that a region's ends cut short, and stripes that are not aligned:
 * only loads and stores differ. */
#pragma once

#include "batch_layout.h"
#include "batch_shapes.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/product/bmma/mainloop_direct.cuh"

namespace gfk {
namespace batch {

/* The data of a lane's vectors. Beyond the stripe's last vector a lane loads that one. */
template <class K>
__device__ inline void load(const Place &place, bool simple, unsigned lane,
                            const uint8_t *const (&in)[K::T::slots],
                            uint32_t (&x)[K::tiles][K::T::slots][4]) {
    using T = typename K::T;
    uint32_t vector[K::tiles];
#pragma unroll
    for (int u = 0; u < K::tiles; u++)
        vector[u] = min(place.vector + u * T::vectors + lane / T::lanes, place.record.vectors - 1);
    if (simple) {
#pragma unroll
        for (int u = 0; u < K::tiles; u++)
#pragma unroll
            for (int s = 0; s < T::slots; s++)
                load_vector<true, Load::once>(in[s] + 16 * (uint64_t)vector[u], x[u][s]);
        return;
    }
#pragma unroll
    for (int u = 0; u < K::tiles; u++) {
        if (place.whole(vector[u])) {
#pragma unroll
            for (int s = 0; s < T::slots; s++)
                load_vector<false>(in[s] + 16 * (uint64_t)vector[u], x[u][s]);
        } else {
#pragma unroll
            for (int s = 0; s < T::slots; s++)
                load_partial(in[s] + 16 * (uint64_t)vector[u], place.first(vector[u]),
                             place.last(vector[u]), x[u][s]);
        }
    }
}

/* Writes what a lane has of its vector: all, or its word. */
template <class K>
__device__ inline void store(const gfk_batch_job &job, uint32_t task, bool simple, uint32_t vector,
                             unsigned lane, uint8_t *out, const uint32_t (&words)[K::T::words]) {
    const unsigned part = K::T::w == 32 ? 4 * (lane % 4) : 0;
    __builtin_assume(__isGlobal(out));
    uint8_t *p = out + 16 * (uint64_t)vector;
    if (simple) {
        store_vector<true>(p + part, words);
    } else {
        const Place place = find(job, task, K::vectors);
        store_partial(p, place.first(vector), place.last(vector), part, words);
    }
}

/* One task, panel after panel of outputs. */
template <class K>
class TaskWalk : public bmma::WalkDefaults {
    using T = typename K::T;
    const unsigned lane;
    const uint32_t task;
    Place place;
    uint32_t vector; /* of the lane, in its first tile */
    bool simple;
    unsigned output, left; /* the lane's output, and outputs from its panel on */
    const uint32_t *panel;
    uint8_t *out;

    __device__ void load_operand(bmma::Operand<K> &b) {
        bmma::load_panel<T>(panel, lane, b[0]);
        out = load_address(place.in_image, T::inputs + output);
    }

  public:
    __device__ TaskWalk(const gfk_batch_job &, unsigned lane)
        : lane(lane), task(blockIdx.x * (K::threads / 32) + threadIdx.x / 32) {}
    __device__ bool more(const gfk_batch_job &job) const { return task < job.tasks; }
    __device__ void begin(const gfk_batch_job &job, uint32_t (&x)[K::tiles][T::slots][4],
                          bmma::Operand<K> &b) {
        place = find(job, task, K::vectors);
        const uint8_t *in[T::slots];
#pragma unroll
        for (int s = 0; s < T::slots; s++)
            in[s] = load_address(place.in_image, s * T::lanes + lane % T::lanes);
        simple = place.simple(K::vectors);
        load<K>(place, simple, lane, in, x);
        __syncwarp(); /* MMAs want the lanes together */
        vector = place.vector + lane / T::lanes;
        panel = job.matrices + place.record.matrix;
        output = T::w == 32 ? 0 : lane % T::lanes;
        left = place.record.rows;
        load_operand(b);
    }
    __device__ void store(const gfk_batch_job &job, int, int u,
                          const uint32_t (&words)[T::words]) const {
        if (vector + u * T::vectors < place.record.vectors &&
            (T::w == 32 || lane % T::lanes < left))
            batch::store<K>(job, task, simple, vector + u * T::vectors, lane, out, words);
    }
    __device__ bool next_panels(const gfk_batch_job &, bmma::Operand<K> &b) {
        if (left <= T::outputs)
            return false;
        __syncwarp();
        left -= T::outputs;
        output += T::outputs;
        panel += T::panel_registers * 32;
        load_operand(b);
        return true;
    }
};

} // namespace batch

template <class K>
class bmma::Walk<K, gfk_batch_job> : public batch::TaskWalk<K> {
    using batch::TaskWalk<K>::TaskWalk;
};

} // namespace gfk
