/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on a device: one launch over the chunks that the check has marked. Where the binary
 * tensor cores compute syndromes, a block goes from tile to tile (locate_tiles.cuh). Elsewhere a
 * thread takes a position of a piece, computes its syndromes and decodes them. What a thread does
 * with a position is locate.h, with its state in shared memory. */
#include <string.h>

#include "host/product/engine.h"
#include "kernels/common/launch.cuh"
#include "kernels/product/bmma/mainloop_direct.cuh"
#include "locate_tiles.cuh"

namespace {

using namespace gfk::locate;

constexpr uint64_t most_blocks = 2048;
constexpr unsigned shared_limit = 48 << 10, most_threads = 128;
static_assert(2 * GFK_LOCATE_MOST_ROWS * sizeof(uint32_t) < shared_limit, "");

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Has the L2 cache fetch all regions' whole vectors of a tile, while the block is at another one. */
__device__ void prefetch_tile(const TileJob &job, uint64_t tile) {
    constexpr unsigned line = 128, lines = tile_bytes / line;
    for (unsigned i = threadIdx.x; i < (job.code.k + job.code.m) * lines; i += threads) {
        const uint64_t at = tile + i % lines * line;
        if (at >= job.begin && at < job.end)
            asm volatile("prefetch.global.L2 [%0];" : : "l"(job.in[i / lines] + at));
    }
}

/* The products of a tile's whole vectors: outputs of the matrix, in rows of the slab. */
template <class K>
__device__ void multiply_tile(const TileJob &job, uint64_t tile, uint8_t *rows) {
    using T = typename K::T;
    constexpr unsigned step_bytes = 16 * T::vectors * K::tiles;
    const unsigned lane = threadIdx.x % 32;
    const uint64_t begin = tile < job.begin ? job.begin : tile;
    const uint64_t end = tile + tile_bytes < job.end ? tile + tile_bytes : job.end;
    for (uint64_t at = begin + threadIdx.x / 32 * step_bytes; at < end;
         at += threads / 32 * step_bytes)
        for (unsigned pass = 0; pass < job.passes; pass++) {
            uint32_t a[K::tiles][T::symbols][T::steps], b[2][T::pair_registers];
            gfk::bmma::gather<K>(job, at, end, pass, lane, a);
            const uint32_t *panel = job.operand + pass * job.pass_words;
            gfk::bmma::load_pair<T>(panel, 0, lane, b[0]);
#pragma unroll 1
            for (unsigned j = 0; j < job.panels; j++) {
                const uint32_t *following =
                    j + 1 < job.panels ? panel + T::panel_registers * 32 : panel;
                uint32_t words[K::tiles][T::words] = {};
                gfk::bmma::add_panel<K>(a, panel, following, lane, b, words);
                const unsigned output = T::w == 32 ? j : j * T::outputs + lane % T::lanes;
#pragma unroll
                for (int u = 0; u < K::tiles; u++) {
                    gfk::bmma::exchange<T>(words[u], lane);
                    const uint64_t vector = at + u * (16 * T::vectors) + lane / T::lanes * 16;
                    if (output < job.code.m && vector < end)
                        gfk::store_vector<true>(rows + output * tile_bytes + (vector - tile) +
                                                    (T::w == 32 ? 4 * (lane % 4) : 0),
                                                words[u], pass != 0);
                }
                panel = following;
            }
        }
}

__device__ bool marked(const TileJob &job, uint64_t piece) {
    const uint64_t begin = piece << piece_shift, end = begin + (1u << piece_shift);
    const uint64_t first = begin < job.phase ? 0 : begin - job.phase;
    const uint64_t last = min(end - job.phase, job.bytes) - 1;
    return (job.mismatch_map[first >> GFK_LOCATE_CHUNK_SHIFT] |
            job.mismatch_map[last >> GFK_LOCATE_CHUNK_SHIFT]) != 0;
}

template <class J>
__device__ void report(const J &job, const Found &found) {
    if (found.corrupt == 0)
        return;
    atomicAdd((Count *)&job.verdict->corrupt, found.corrupt);
    atomicAdd((Count *)&job.verdict->located, found.corrupt - found.unexplained);
    atomicAdd((Count *)&job.verdict->unexplained, found.unexplained);
    atomicMin((Count *)&job.verdict->first_corrupt, found.first);
}

/* Calls f(piece) for the marked ones of a block's pieces, by all threads together. Mostly nothing
 * is wrong, so each thread looks at the mark of one piece first. */
template <class J, class F>
__device__ void for_marked(const J &job, uint64_t pieces, const F &f) {
    const uint64_t stride = gridDim.x;
    for (uint64_t first = blockIdx.x; first < pieces; first += stride * blockDim.x) {
        const uint64_t mine = first + threadIdx.x * stride;
        if (!__syncthreads_or(mine < pieces && marked(job, mine)))
            continue;
        for (uint64_t i = 0, piece = first; i < blockDim.x && piece < pieces; i++, piece += stride)
            if (marked(job, piece))
                f(piece);
    }
}

template <class K>
__global__ void __launch_bounds__(threads, K::blocks)
    locate_tiles(const __grid_constant__ TileJob job, unsigned deciders) {
    extern __shared__ uint32_t words[];
    __shared__ Shared shared;
    if (threadIdx.x == 0) {
        shared.found = {0, 0, ~Count(0)};
        shared.slab = slab_at(job.code, job.slabs + blockIdx.x * slab_bytes(job.code));
        shared.guessed = shared.skip = shared.skipped = 0;
        shared.tallies[0] = shared.tallies[1] = no_tally;
    }
    if (threadIdx.x < GFK_LOCATE_MOST_GUESSED)
        shared.counts[threadIdx.x] = 0;
    __syncthreads();
    const gfk_locate_state state = {words + threadIdx.x % deciders, deciders};
    const uint64_t all = job.bytes + job.phase;
    unsigned turn = 0;
    for_marked(job, (all + (1u << piece_shift) - 1) >> piece_shift, [&](uint64_t piece) {
        const uint64_t begin = piece << piece_shift;
        for (uint64_t tile = begin; tile < begin + (1u << piece_shift) && tile < all;
             tile += tile_bytes) {
            prefetch_tile(job, tile + tile_bytes < begin + (1u << piece_shift)
                                   ? tile + tile_bytes
                                   : (piece + gridDim.x) << piece_shift);
            multiply_tile<K>(job, tile, shared.slab.rows);
            locate_tile<K::T::w, K::aligned>(job, shared, tile, state, deciders, turn);
            turn = 1 - turn;
        }
    });
    __syncthreads();
    flush_counts(job, shared);
    if (threadIdx.x == 0)
        report(job, shared.found);
}

/* Slots: for 16 or 32 inputs a pass. Blocks on a multiprocessor: as for the engine's kernels with
 * the same layout. */
template <int W, int Slots, bool Aligned>
using Policy = gfk::bmma::Streamed<gfk::bmma::Layout<W, 4, Slots>, W == 8 ? 1 : 2, (int)threads,
                                   Slots == 4 ? 6 : 4, gfk::bmma::Schedule::persistent, Aligned>;

/* f(the policy of a code, for aligned regions). */
template <class F>
auto with_policy(unsigned w, size_t k, const F &f) {
    const bool narrow = k <= 16;
    return w == 8    ? narrow ? f(Policy<8, 4, true>()) : f(Policy<8, 8, true>())
              : w == 16 ? narrow ? f(Policy<16, 4, true>()) : f(Policy<16, 8, true>())
              : narrow ? f(Policy<32, 4, true>())
                     : f(Policy<32, 8, true>());
}

template <class K>
gfk_status run_tiles(const gfk_locate_call *call, const gfk::Vectors &vectors) {
    using T = typename K::T;
    const gfk_rs_locator *locator = call->locator;
    const gfk_locate_code &c = locator->code;
    TileJob job = {};
    job.code = c;
    job.bytes = call->bytes;
    job.phase = vectors.phase;
    job.begin = 16 * (vectors.whole_begin < vectors.count ? vectors.whole_begin : vectors.count);
    job.end = 16 * vectors.whole_end > job.begin ? 16 * vectors.whole_end : job.begin;
    job.mismatch_map = call->mismatch_map;
    job.verdict = call->verdict;
    job.counts = call->counts;
    job.repair = call->repair;
    job.slabs = call->slabs;
    job.operand = locator->operand;
    job.passes = (uint32_t)gfk::bmma::divide_up(c.k, T::inputs);
    job.panels = (uint32_t)gfk::bmma::divide_up(c.m, T::outputs);
    job.pass_words = job.panels * gfk::bmma::panel_words<T>();
    const size_t regions = (size_t)c.k + c.m, all = (size_t)job.passes * T::inputs;
    for (size_t i = 0; i < (all > regions ? all : regions); i++)
        job.in[i] = (i < c.k       ? gfk_region_address(call->data, i)
                     : i < regions ? gfk_region_address(call->parity, i - c.k)
                                   : gfk_region_address(call->data, 0)) -
                    vectors.phase;
    const size_t state = gfk_locate_words(&c) * sizeof(uint32_t);
    unsigned deciders = threads;
    while (deciders > 1 && deciders * state > state_bytes)
        deciders /= 2;
    const uint64_t pieces = (call->bytes + job.phase + (1u << piece_shift) - 1) >> piece_shift;
    const uint64_t blocks = pieces < locator->blocks ? pieces : locator->blocks;
    return gfk::launch(locate_tiles<K>, blocks, threads, deciders * state, call->stream, job,
                       deciders);
}

/* ---- positions ------------------------------------------------------------------------------ */

/* Addresses by value, or equally spaced data and parity. */
struct Job {
    gfk_locate_code code;
    uint64_t bytes;
    const uint32_t *mismatch_map;
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    bool repair, spaced;
    uint8_t *data, *parity;
    size_t data_stride, parity_stride;
    uint8_t *regions[GFK_LOCATE_MOST_DEVICE_POINTERS];

    __device__ uint8_t *region(uint32_t i) const {
        if (!spaced)
            return regions[i];
        return i < code.k ? data + i * data_stride : parity + (i - code.k) * parity_stride;
    }
};

/* gfk::load_bytes without a loop: w is not known to the compiler. */
__device__ uint32_t load_symbol(const uint8_t *p, unsigned w) {
    uint32_t x = p[0];
    if (w >= 16)
        x |= (uint32_t)p[1] << 8;
    if (w == 32)
        x |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return x;
}

__device__ bool differs(const Job &job, uint64_t offset, gfk_locate_state state) {
    const gfk_locate_code &c = job.code;
    uint32_t any = 0;
    for (uint32_t j = 0; j < c.m; j++)
        *gfk_word(state, j) = load_symbol(job.region(c.k + j) + offset, c.field.w);
    for (uint32_t i = 0; i < c.k; i++) {
        const uint32_t symbol = load_symbol(job.region(i) + offset, c.field.w);
        for (uint32_t j = 0; j < c.m; j++)
            *gfk_word(state, j) ^= gfk_times(&c.field, c.matrix[(size_t)j * c.k + i], symbol);
    }
    for (uint32_t j = 0; j < c.m; j++)
        any |= *gfk_word(state, j);
    return any != 0;
}

__device__ bool marked(const Job &job, uint64_t piece) {
    return job.mismatch_map[piece << piece_shift >> GFK_LOCATE_CHUNK_SHIFT] != 0;
}

__device__ void locate_piece(const Job &job, uint64_t piece, gfk_locate_state state, Found &found) {
    const unsigned size = job.code.field.w / 8;
    const uint64_t begin = piece << piece_shift;
    const uint64_t end = min(begin + (1u << piece_shift), job.bytes);
    for (uint64_t offset = begin + threadIdx.x * size; offset < end; offset += blockDim.x * size) {
        if (!differs(job, offset, state))
            continue;
        atomicAdd(&found.corrupt, 1);
        atomicMin(&found.first, (Count)offset);
        if (!locate_position(job, offset, state))
            atomicAdd(&found.unexplained, 1);
    }
}

__global__ void __launch_bounds__(most_threads) locate(const __grid_constant__ Job job) {
    extern __shared__ uint32_t words[];
    __shared__ Found found;
    if (threadIdx.x == 0)
        found = {0, 0, ~Count(0)};
    __syncthreads();
    const gfk_locate_state state = {words + threadIdx.x, blockDim.x};
    for_marked(job, (job.bytes + (1u << piece_shift) - 1) >> piece_shift,
               [&](uint64_t piece) { locate_piece(job, piece, state, found); });
    __syncthreads();
    if (threadIdx.x == 0)
        report(job, found);
}

gfk_status run_positions(const gfk_locate_call *call) {
    const gfk_locate_code &c = call->locator->code;
    const uint32_t regions = c.k + c.m;
    Job job = {};
    job.code = c;
    job.bytes = call->bytes;
    job.mismatch_map = call->mismatch_map;
    job.verdict = call->verdict;
    job.counts = call->counts;
    job.repair = call->repair;
    job.spaced = regions > GFK_LOCATE_MOST_DEVICE_POINTERS;
    if (job.spaced) {
        job.data = gfk_region_address(call->data, 0);
        job.parity = gfk_region_address(call->parity, 0);
        job.data_stride = call->data->stride;
        job.parity_stride = call->parity->stride;
    } else {
        for (uint32_t i = 0; i < regions; i++)
            job.regions[i] = i < c.k ? gfk_region_address(call->data, i)
                                     : gfk_region_address(call->parity, i - c.k);
    }
    const size_t state = gfk_locate_words(&c) * sizeof(uint32_t);
    unsigned threads = most_threads;
    while (threads > 1 && threads * state > shared_limit - sizeof(Found))
        threads /= 2;
    const uint64_t piece = UINT64_C(1) << piece_shift;
    /* Where nothing is wrong, all that is left is to read the map. */
    const uint64_t pieces = (call->bytes + piece - 1) / piece;
    return gfk::launch(locate, pieces < most_blocks ? pieces : most_blocks, threads,
                       threads * state, call->stream, job);
}

/* ---- the parts ------------------------------------------------------------------------------ */

struct Blank {
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    uint32_t *mismatch_map;
    uint64_t count_words, mark_words;
};

__global__ void clear(const __grid_constant__ Blank blank) {
    const uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    if (first == 0) {
        *blank.verdict = {};
        blank.verdict->first_corrupt = UINT64_MAX;
    }
    for (uint64_t i = first; i < blank.count_words; i += step)
        blank.counts[i] = 0;
    for (uint64_t i = first; i < blank.mark_words; i += step)
        blank.mismatch_map[i] = 0;
}

size_t mark_bytes(const gfk_locate_call *call) {
    const uint64_t chunk = UINT64_C(1) << GFK_LOCATE_CHUNK_SHIFT;
    return (size_t)((call->bytes + chunk - 1) / chunk) * sizeof *call->mismatch_map;
}

} // namespace

extern "C" gfk_status gfk_locate_device_clear(const gfk_locate_call *call) {
    const Blank blank = {call->verdict, call->counts, call->mismatch_map,
                         (uint64_t)call->locator->code.k + call->locator->code.m,
                         mark_bytes(call) / 4};
    return gfk::launch(clear, 64, 256, 0, call->stream, blank);
}

extern "C" gfk_status gfk_locate_device_mark(const gfk_locate_call *call) {
    return gfk::status_of(
        cudaMemsetAsync(call->mismatch_map, 0xff, mark_bytes(call), call->stream));
}

extern "C" gfk_status gfk_locate_device_run(const gfk_locate_call *call) {
    const gfk_locate_code &c = call->locator->code;
    if (call->locator->operand == NULL)
        return run_positions(call);
    struct gfk_product shape = {};
    shape.info.field.w = c.field.w;
    shape.info.rows = c.m;
    shape.info.cols = c.k;
    gfk_product_call regions = {};
    regions.product = &shape;
    regions.in = call->data;
    regions.out = call->parity;
    regions.bytes = call->bytes;
    const gfk::Vectors vectors = gfk::vectors_of(&regions);
    if (!vectors.aligned)
        return run_positions(call);
    return with_policy(c.field.w, c.k,
                       [&](auto policy) { return run_tiles<decltype(policy)>(call, vectors); });
}

extern "C" size_t gfk_locate_operand_words(const gfk_rs_info *info) {
    int cc = 0;
    if (info->m > most_rows || info->k + info->m > GFK_LOCATE_MOST_DEVICE_POINTERS ||
        gfk_device_capability(info->device, &cc) != GFK_STATUS_SUCCESS || cc < 80 || cc > 90)
        return 0;
    return with_policy(info->field.w, info->k, [&](auto policy) {
        return gfk::bmma::matrix_words<typename decltype(policy)::T>(info->m, info->k);
    });
}

extern "C" void gfk_locate_build_operand(const gfk_rs_info *info, const uint32_t *matrix,
                                         uint32_t *words) {
    with_policy(info->field.w, info->k, [&](auto policy) {
        gfk::bmma::build_matrix<typename decltype(policy)::T>(words, info->field.polynomial,
                                                              info->m, info->k, matrix);
        return 0;
    });
}

extern "C" size_t gfk_locate_blocks(const gfk_rs_info *info, int processors) {
    return with_policy(info->field.w, info->k, [&](auto policy) {
        return (size_t) decltype(policy)::blocks * (size_t)processors;
    });
}

extern "C" size_t gfk_locate_slabs(const gfk_rs_locator *locator, size_t bytes) {
    const uint64_t pieces = ((uint64_t)bytes >> piece_shift) + 2;
    return locator->operand == NULL || bytes == 0
               ? 0
               : (pieces < locator->blocks ? pieces : locator->blocks) * slab_bytes(locator->code);
}
