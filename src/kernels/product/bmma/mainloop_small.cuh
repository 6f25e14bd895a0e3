/* SPDX-License-Identifier: BSD-3-Clause */
/* The mainloop `registers` for short regions, which take little longer than a load takes to come
 * back from memory. So:
 *
 * - There are more warps, each with less to do: a lane takes eight bytes instead of sixteen,
 *   and warps side by side may share the outputs of a tile.
 * - Everything that a warp loads is under way before it waits for the first of it.
 * - What every thread needs of the parameters is in their first 112 bytes, two lines of the
 *   constant cache, which a launch finds empty: each further line would be waited for. Regions are
 *   their distances from one of them.
 *
 * All inputs in one pass, aligned regions only. */
#pragma once

#include "mainloop_direct.cuh"

namespace gfk {
namespace bmma {

constexpr size_t small_inputs = 32, small_outputs = 4;

struct SmallHead {
    uint8_t *base;          /* the first whole vector of the region that distances are from */
    const uint32_t *matrix; /* the layout's table */
    uint32_t end;           /* of the whole vectors, in bytes from the first */
    uint32_t outputs;
    uint8_t reads, cut; /* are outputs read; are there cut vectors */
    /* Distances in vectors. Missing inputs repeat one. */
    uint32_t to_out[small_outputs], to_in[small_inputs];
};

struct SmallJob : SmallHead, Extent {
    const uint32_t *coefficients; /* for the cut vectors: rows * cols */
};

/* The cut vectors, by the same distances. */
struct SmallEnds : Extent {
    template <class Byte>
    struct Regions {
        Byte *base;
        const uint32_t *distances;
        __device__ Byte *operator[](unsigned i) const { return base + 16 * (uint64_t)distances[i]; }
    };
    Regions<const uint8_t> in;
    Regions<uint8_t> out;
    const uint32_t *coefficients;

    __device__ explicit SmallEnds(const SmallJob &job)
        : Extent(job), in{job.base - 16 * job.first, job.to_in},
          out{job.base - 16 * job.first, job.to_out}, coefficients(job.coefficients) {}
    __device__ uint32_t coefficient(unsigned j, unsigned i) const {
        return coefficients[(uint64_t)j * cols + i];
    }
};

template <class K>
class Walk<K, SmallJob> : public WalkDefaults {
    using T = typename K::T;
    const unsigned lane, thread;
    unsigned panel, tile, at; /* the lane's vector in the tile */

  public:
    __device__ Walk(const SmallJob &job, unsigned lane)
        : lane(lane), thread(blockIdx.x * K::threads + threadIdx.x) {
        panel = K::split == 1 ? 0 : thread / 32 % K::split;
        tile = thread / 32 / K::split * K::tile_bytes;
    }
    __device__ bool more(const SmallJob &job) const { return tile < job.end; }
    __device__ void begin(const SmallJob &job, uint32_t (&x)[1][T::slots][T::lane_words],
                          Operand<K> &b) {
        at = tile + lane / T::lanes * K::lane_bytes;
#pragma unroll
        for (int s = 0; s < T::slots; s++) {
            const uint8_t *in = job.base + 16 * (uint64_t)job.to_in[s * T::lanes + lane % T::lanes];
            /* Beyond the last whole vector a lane loads that one again, and does not store. */
            load_vector<true, Load::early>(in + min(at, job.end - K::lane_bytes), x[0][s]);
        }
        load_panel<T>(job.matrix + panel * (T::panel_registers * 32), lane, b[0]);
    }
    __device__ void store(const SmallJob &job, int, int, const uint32_t (&words)[T::words]) const {
        const unsigned output = panel * T::outputs + T::lane_output((int)lane);
        if (output >= job.outputs || at >= job.end)
            return;
        const unsigned to = at + 4 * T::lane_word((int)lane);
        uint8_t *out = job.base + 16 * (uint64_t)job.to_out[output] + to;
        if (job.reads)
            job.epilogue.store<true, true>(out, words, 16 * job.first + to - job.phase);
        else
            job.epilogue.store<true, false>(out, words, 0);
    }
    __device__ void finish(const SmallJob &job) const {
        if (job.cut)
            multiply_partial<T::w>(SmallEnds(job), thread, gridDim.x * K::threads);
    }
};

} // namespace bmma
} // namespace gfk
