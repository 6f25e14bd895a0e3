/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on a device: one launch over the chunks that the check has marked. Where the binary
 * tensor cores compute syndromes, a block goes from tile to tile (locate_tiles.cuh). Elsewhere a
 * thread takes a position of a piece, computes its syndromes and decodes them. What a thread does
 * with a position is locate.h, with its state in shared memory. */
#include <string.h>

#include "host/product/engine.h"
#include "kernels/common/launch.cuh"
#include "locate_sample.cuh"

namespace {

using namespace gfk::locate;

constexpr uint64_t most_blocks = 2048;
constexpr uint64_t sampled_bytes = 128 << 20; /* of all regions; where a sample takes less time than
                                                 the check */
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

__device__ bool marked(const TileJob &job, uint64_t piece) {
    const uint64_t begin = piece << piece_shift, end = begin + (1u << piece_shift);
    const uint64_t first = begin < job.phase ? 0 : begin - job.phase;
    const uint64_t last = min(end - job.phase, job.bytes) - 1;
    return job.sampled(Sample::damaged) || (job.mismatch_map[first >> GFK_LOCATE_CHUNK_SHIFT] |
                                            job.mismatch_map[last >> GFK_LOCATE_CHUNK_SHIFT]) != 0;
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

/* The code with the field as decoding wants it: w is known to the compiler; w = 8 has its
 * logarithms in shared memory. Those of w = 16 have no room there: they make inverses, and products
 * of integers are products of polynomials, which tables in shared memory reduce. */
template <int W>
__device__ gfk_locate_code decoding_code(const gfk_locate_code &c) {
    gfk_locate_code code = c;
    code.field.w = W;
    code.carryless = W != 8;
    if constexpr (W == 8) {
        __shared__ uint16_t logs[256 + 2 * 255];
        for (unsigned i = threadIdx.x; i < sizeof logs / sizeof logs[0]; i += threads)
            logs[i] = i < 256 ? c.field.log[i] : c.field.antilog[i - 256];
        code.field.log = logs;
        code.field.antilog = logs + 256;
    } else {
        __shared__ uint32_t reduced[W / 8 * 256];
        for (unsigned i = threadIdx.x; i < W / 8 * 256; i += threads)
            reduced[i] = c.reduced[i];
        code.reduced = reduced;
    }
    __syncthreads();
    return code;
}

template <class K>
__global__ void __launch_bounds__(threads, K::blocks)
    locate_tiles(const __grid_constant__ TileJob job, unsigned deciders) {
    extern __shared__ uint32_t words[];
    __shared__ Shared shared;
    begin_block(job, shared, job.slabs + blockIdx.x * slab_bytes(job.code),
                words + deciders * gfk_locate_words(&job.code));
    const gfk_locate_code code = decoding_code<K::T::w>(job.code);
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
            const uint64_t end = min(tile + tile_bytes, job.end);
            multiply_tile<K>(
                job, job.encode, max(tile, job.begin), end,
                StoreRows<typename K::T>{shared.slab.rows, job.encode.rows, tile, end});
            locate_tile<K>(job, code, shared, tile, state, deciders, turn);
            turn = 1 - turn;
        }
    });
    __syncthreads();
    flush_counts(job, shared);
    for (unsigned i = threadIdx.x; i < code.k + code.m; i += threads)
        if (shared.named[i] != 0)
            atomicAdd((Count *)&job.counts[i], (Count)shared.named[i]);
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

/* The policy of the product of a guess, which has all regions as inputs, in one pass. */
template <int W, int Slots, int Blocks>
using Explainer = gfk::bmma::Streamed<gfk::bmma::Layout<W, 4, Slots>, W == 8 ? 1 : 2, (int)threads,
                                      Blocks, gfk::bmma::Schedule::persistent, true>;

/* f(the policy for so many regions); `none` if there is no policy. */
template <class F, class R>
R with_explainer(unsigned w, size_t regions, R none, const F &f) {
    return regions > (w == 8 ? 128 : 32) ? none
           : w == 8                      ? regions <= 16   ? f(Explainer<8, 4, 7>())
                                           : regions <= 32 ? f(Explainer<8, 8, 6>())
                                                           : f(Explainer<8, 32, 2>())
           : w == 16       ? regions <= 16 ? f(Explainer<16, 4, 5>()) : f(Explainer<16, 8, 3>())
                 : regions <= 16 ? f(Explainer<32, 4, 5>())
                           : f(Explainer<32, 8, 4>());
}

/* What the workspace has behind the map: a slab for every block and for the sample, then the
 * sample's verdict, then the matrix operand of its guess. */
struct Room {
    uint64_t blocks, slab, sample, explain, bytes;
};
Room room_of(const gfk_rs_locator *locator, uint64_t bytes) {
    const gfk_locate_code &c = locator->code;
    const uint64_t pieces = (bytes >> piece_shift) + 2;
    Room r = {};
    if (locator->operand == NULL || bytes == 0)
        return r;
    r.blocks = pieces < locator->blocks ? pieces : locator->blocks;
    r.slab = slab_bytes(c);
    r.sample = r.bytes = r.blocks * r.slab;
    if ((c.k + c.m) * bytes < sampled_bytes)
        return r;
    r.sample += r.slab;
    r.explain = r.sample + 256;
    static_assert(sizeof(Sample) <= 256, "");
    r.bytes = r.explain +
              4 * with_explainer(c.field.w, c.k + c.m, size_t{0}, [&](auto policy) {
                  return gfk::bmma::matrix_words<typename decltype(policy)::T>(c.m, c.k + c.m);
              });
    return r;
}

template <class T>
Matrix matrix_of(const uint32_t *operand, size_t rows, size_t cols) {
    const uint32_t panels = (uint32_t)gfk::bmma::divide_up(rows, T::outputs);
    return {operand, panels * gfk::bmma::panel_words<T>(),
            (uint32_t)gfk::bmma::divide_up(cols, T::inputs), panels, (uint32_t)rows};
}

/* The words of the operand that finds roots, in one pass; 0: there are formulas, or more passes. */
template <class T>
size_t roots_words(size_t k, size_t m) {
    return m / 2 <= 2 || m / 2 > T::inputs ? 0 : gfk::bmma::matrix_words<T>(k + m, m / 2);
}

template <class K>
TileJob tile_job(const gfk_locate_call *call, const gfk::Vectors &vectors) {
    using T = typename K::T;
    const gfk_rs_locator *locator = call->locator;
    const gfk_locate_code &c = locator->code;
    const Room room = room_of(locator, call->bytes);
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
    job.encode = matrix_of<T>(locator->operand, c.m, c.k);
    const uint32_t *sum = locator->operand + gfk::bmma::matrix_words<T>(c.m, c.k);
    job.sum = matrix_of<T>(sum, c.m, c.m);
    if (c.points != NULL && roots_words<T>(c.k, c.m) != 0)
        job.roots = matrix_of<T>(sum + gfk::bmma::matrix_words<T>(c.m, c.m), c.k + c.m, c.t);
    if (room.explain != 0) {
        job.sample = (Sample *)(call->slabs + room.sample);
        job.sample_slab = call->slabs + room.sample - room.slab;
        job.whole_begin = (job.begin + tile_bytes - 1) / tile_bytes * tile_bytes;
        job.whole_end = job.end / tile_bytes * tile_bytes;
        job.explain = room.explain < room.bytes ? (uint32_t *)(call->slabs + room.explain) : NULL;
    }
    const size_t regions = (size_t)c.k + c.m;
    for (size_t n = 0; n < regions + 128 && n < sizeof job.in / sizeof job.in[0]; n++) {
        const size_t i = gfk::bmma::stand_in(n, regions, T::lanes);
        job.in[n] = (i < c.k ? gfk_region_address(call->data, i)
                             : gfk_region_address(call->parity, i - c.k)) -
                    vectors.phase;
    }
    return job;
}

template <class K>
gfk_status run_sample(const gfk_locate_call *call, const gfk::Vectors &vectors) {
    const TileJob job = tile_job<K>(call, vectors);
    const gfk_locate_code &c = job.code;
    const unsigned steps = tile_bytes / (16 * K::T::vectors * K::tiles);
    const gfk_status status =
        gfk::launch(multiply_sample<K>, steps * job.encode.panels, 32, 0, call->stream, job);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    return gfk::launch(take_sample<K::T::w>, 1, threads,
                       (gfk_locate_words(&c) + c.k + c.m) * sizeof(uint32_t), call->stream, job);
}

template <class K>
gfk_status run_explain(const gfk_locate_call *call, const TileJob &job) {
    using T = typename K::T;
    const gfk_locate_code &c = job.code;
    const uint32_t panels = (uint32_t)gfk::bmma::divide_up(c.m, T::outputs);
    const gfk_status status =
        gfk::launch(expand_guess<T>, 64, threads, 0, call->stream, job, panels);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const uint32_t with_errors = gfk_most_guessed(&c) / T::outputs + 2;
    return gfk::launch(explain<K>, call->locator->processors * K::blocks, K::threads,
                       with_errors * K::threads * sizeof(uint32_t), call->stream, job, panels);
}

template <class K>
gfk_status run_tiles(const gfk_locate_call *call, const gfk::Vectors &vectors) {
    const TileJob job = tile_job<K>(call, vectors);
    const gfk_locate_code &c = job.code;
    if (job.explain != NULL) {
        const gfk_status status =
            with_explainer(c.field.w, c.k + c.m, GFK_STATUS_INTERNAL,
                           [&](auto policy) { return run_explain<decltype(policy)>(call, job); });
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    const size_t state = gfk_locate_words(&c) * sizeof(uint32_t);
    unsigned deciders = threads;
    while (deciders > 1 && deciders * state > state_bytes)
        deciders /= 2;
    const uint64_t pieces = (call->bytes + job.phase + (1u << piece_shift) - 1) >> piece_shift;
    const uint64_t blocks = pieces < call->locator->blocks ? pieces : call->locator->blocks;
    return gfk::launch(locate_tiles<K>, blocks, threads,
                       deciders * state + (c.k + c.m) * sizeof(uint32_t), call->stream, job,
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

/* Where one region is damaged all over, all lanes count the same word: one addition for all. */
__device__ inline void count(uint64_t *counts, uint32_t which) {
    const unsigned same = __match_any_sync(__activemask(), which);
    if ((threadIdx.x & 31) == __ffs((int)same) - 1)
        atomicAdd((Count *)&counts[which], (Count)__popc(same));
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
        const uint32_t errors = gfk_locate_errors(&job.code, state);
        if (!use_errors(job, job.code, offset, state, errors,
                        [&](uint32_t which) { count(job.counts, which); }))
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

/* f(the policy of a call that goes from tile to tile, its vectors); `none` for other calls. */
template <class F>
static gfk_status with_tiles(const gfk_locate_call *call, const F &f, gfk_status none) {
    const gfk_locate_code &c = call->locator->code;
    if (call->locator->operand == NULL)
        return none;
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
    return vectors.aligned ? with_policy(c.field.w, c.k, [&](auto p) { return f(p, vectors); })
                           : none;
}
extern "C" gfk_status gfk_locate_device_sample(const gfk_locate_call *call,
                                               const uint32_t **verdict) {
    *verdict = NULL;
    const Room room = room_of(call->locator, call->bytes);
    if (room.explain == 0)
        return GFK_STATUS_SUCCESS;
    return with_tiles(
        call,
        [&](auto policy, const gfk::Vectors &vectors) {
            *verdict = (const uint32_t *)(call->slabs + room.sample);
            return run_sample<decltype(policy)>(call, vectors);
        },
        GFK_STATUS_SUCCESS);
}

extern "C" gfk_status gfk_locate_device_run(const gfk_locate_call *call) {
    const gfk_status status = with_tiles(
        call,
        [&](auto policy, const gfk::Vectors &vectors) {
            return run_tiles<decltype(policy)>(call, vectors);
        },
        GFK_STATUS_NOT_SUPPORTED);
    return status == GFK_STATUS_NOT_SUPPORTED ? run_positions(call) : status;
}

extern "C" size_t gfk_locate_operand_words(const gfk_rs_info *info) {
    int cc = 0;
    if (info->m > most_rows || info->k + info->m > GFK_LOCATE_MOST_DEVICE_POINTERS ||
        gfk_device_capability(info->device, &cc) != GFK_STATUS_SUCCESS || cc < 80 || cc > 90)
        return 0;
    return with_policy(info->field.w, info->k, [&](auto policy) {
        using T = typename decltype(policy)::T;
        return gfk::bmma::matrix_words<T>(info->m, info->k) +
               gfk::bmma::matrix_words<T>(info->m, info->m) + roots_words<T>(info->k, info->m);
    });
}

extern "C" void gfk_locate_build_operand(const gfk_rs_info *info, const uint32_t *matrix,
                                         const uint32_t *sums, const uint32_t *roots,
                                         uint32_t *words) {
    const size_t k = info->k, m = info->m;
    with_policy(info->field.w, k, [&](auto policy) {
        using T = typename decltype(policy)::T;
        uint32_t *at = words;
        gfk::bmma::build_matrix<T>(at, info->field.polynomial, m, k, matrix);
        at += gfk::bmma::matrix_words<T>(m, k);
        gfk::bmma::build_matrix<T>(at, info->field.polynomial, m, m, sums);
        at += gfk::bmma::matrix_words<T>(m, m);
        if (roots_words<T>(k, m) != 0)
            gfk::bmma::build_matrix<T>(at, info->field.polynomial, k + m, m / 2, roots);
        return 0;
    });
}

extern "C" size_t gfk_locate_blocks(const gfk_rs_info *info, int processors) {
    return with_policy(info->field.w, info->k, [&](auto policy) {
        return (size_t) decltype(policy)::blocks * (size_t)processors;
    });
}

extern "C" size_t gfk_locate_slabs(const gfk_rs_locator *locator, size_t bytes) {
    return room_of(locator, bytes).bytes;
}
