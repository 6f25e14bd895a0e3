/* SPDX-License-Identifier: BSD-3-Clause */
/* The BMMA kernel for short regions, which take little longer than a load takes to come back from
 * memory. So:
 *
 * - There are more warps, each with less to do: cells of four or eight bytes instead of sixteen,
 *   and warps side by side may share the outputs of a unit.
 * - Everything that a warp loads is under way before it waits for the first of it.
 * - What every thread needs of the parameters is in their first 112 bytes, two lines of the
 *   constant cache, which a launch finds empty: each further line would be waited for. Regions are
 *   their distances from one of them.
 *
 * All inputs in one pass, aligned regions only. */
#pragma once

#include "bmma.cuh"

namespace gfk {
namespace bmma {

/* Groups: of outputs, of a warp. Split: warps that share a unit. Units: of a warp. */
template <class Layout_, int Groups, int Split, int Units, int Threads, int Blocks, Pack P>
struct Brief {
    using T = Layout_;
    static constexpr int groups = Groups, split = Split, units = Units;
    static constexpr int threads = Threads, blocks = Blocks;
    static constexpr Pack pack = P;
    static constexpr unsigned cell_bytes = 4 * T::cell_words;
    static constexpr unsigned unit_bytes = T::cells * cell_bytes;
    /* The most inputs whose counts the packing bears. */
    static constexpr int inputs =
        P == Pack::permute || T::counts_fit_bytes ? T::inputs : 255 / T::w;
};

constexpr size_t brief_inputs = 32, brief_outputs = 4;

struct BriefHead {
    uint8_t *base;          /* the first whole cell of the region that distances are from */
    const uint32_t *matrix; /* the layout's table */
    uint32_t end;           /* of the whole cells, in bytes from the first */
    uint32_t outputs;
    uint8_t reads, cut; /* are outputs read; are there cut cells */
    /* Distances in cells. Missing inputs repeat one. */
    uint32_t to_out[brief_outputs], to_in[brief_inputs];
};

struct BriefJob : BriefHead, Extent {
    const uint32_t *coefficients; /* for the cut cells: rows * cols */
};

/* The cut cells, by the same distances. */
struct BriefEnds : Extent {
    template <class Byte>
    struct Regions {
        Byte *base;
        const uint32_t *distances;
        __device__ Byte *operator[](unsigned i) const { return base + 16 * (uint64_t)distances[i]; }
    };
    Regions<const uint8_t> in;
    Regions<uint8_t> out;
    const uint32_t *coefficients;

    __device__ explicit BriefEnds(const BriefJob &job)
        : Extent(job), in{job.base - 16 * job.first, job.to_in},
          out{job.base - 16 * job.first, job.to_out}, coefficients(job.coefficients) {}
    __device__ uint32_t coefficient(unsigned j, unsigned i) const {
        return coefficients[(uint64_t)j * cols + i];
    }
};

template <class K>
__global__ __launch_bounds__(K::threads,
                             K::blocks) void brief(const __grid_constant__ BriefJob job) {
    using T = typename K::T;
    const unsigned lane = threadIdx.x % 32, share = lane % T::lanes;
    const unsigned thread = blockIdx.x * K::threads + threadIdx.x, warp = thread / 32;
    const unsigned first_group = K::split == 1 ? 0 : warp % K::split * K::groups;
    const unsigned unit = warp / K::split * (K::units * K::unit_bytes);
    if (unit < job.end) {
        const unsigned at = unit + lane / T::lanes * K::cell_bytes;
        uint32_t x[K::units][T::slots][T::cell_words];
#pragma unroll
        for (int s = 0; s < T::slots; s++) {
            const uint8_t *in = job.base + 16 * (uint64_t)job.to_in[s * T::lanes + share];
            /* Beyond the last whole cell a lane loads that one again, and does not store. */
#pragma unroll
            for (int u = 0; u < K::units; u++)
                load_vector<true, Load::early>(
                    in + min(at + u * K::unit_bytes, job.end - K::cell_bytes), x[u][s]);
        }
        uint32_t b[K::groups][T::pairs][T::pair_registers];
#pragma unroll
        for (int j = 0; j < K::groups; j++)
#pragma unroll
            for (int pair = 0; pair < T::pairs; pair++)
                load_pair<T>(job.matrix + (first_group + j) * (T::group_registers * 32), pair, lane,
                             b[j][pair]);
#pragma unroll
        for (int u = 0; u < K::units; u++) {
            uint32_t a[1][T::symbols][T::steps];
            arrange<T>(x[u], a[0]);
#pragma unroll
            for (int j = 0; j < K::groups; j++) {
                uint32_t words[T::words] = {};
#pragma unroll
                for (int word = 0; word < T::words; word++)
#pragma unroll
                    for (int pair = 0; pair < T::pairs; pair++) {
                        uint32_t c[1][1][2][4];
                        count<T>(a, b[j][pair], word, c);
                        words[word] = merge<T, K::pack>(words[word], c[0][0], pair);
                    }
                exchange<T>(words, lane);
                const unsigned output = (first_group + j) * T::outputs + T::lane_output((int)lane);
                const unsigned cell = at + u * K::unit_bytes;
                if (output >= job.outputs || cell >= job.end)
                    continue;
                const unsigned to = cell + 4 * T::lane_word((int)lane);
                uint8_t *out = job.base + 16 * (uint64_t)job.to_out[output] + to;
                if (job.reads)
                    job.epilogue.store<true, true>(out, words, 16 * job.first + to - job.phase);
                else
                    job.epilogue.store<true, false>(out, words, 0);
            }
        }
    }
    if (job.cut)
        multiply_partial<T::w>(BriefEnds(job), thread, gridDim.x * K::threads);
}

} // namespace bmma
} // namespace gfk
