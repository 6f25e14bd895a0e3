/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on a device: one launch over the chunks that the check has marked. Where the binary
 * tensor cores compute syndromes, a block goes from tile to tile (locate_width.cuh). Elsewhere a
 * thread takes a position of a piece, computes its syndromes and decodes them. What a thread does
 * with a position is host/rs/locate/position.h, with its state in shared memory. */
#include <string.h>

#include "host/product/engine.h"
#include "kernels/common/launch.cuh"
#include "locate_tiles.cuh"

namespace {

using namespace gfk::locate;

constexpr uint64_t most_blocks = 2048;
constexpr unsigned shared_limit = 48 << 10, most_threads = 128;
static_assert(2 * GFK_LOCATE_MOST_ROWS * sizeof(uint32_t) < shared_limit, "");

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

/* f(what is compiled for this width) */
template <class F>
static auto with_width(unsigned w, const F &f) {
    return w == 8 ? f(Width<8>()) : w == 16 ? f(Width<16>()) : f(Width<32>());
}

/* f(what is compiled for the width of a call that goes from tile to tile, its vectors); `none` for
 * other calls. */
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
    return vectors.aligned ? with_width(c.field.w, [&](auto width) { return f(width, vectors); })
                           : none;
}

extern "C" gfk_status gfk_locate_device_sample(const gfk_locate_call *call,
                                               const uint32_t **verdict) {
    *verdict = NULL;
    return with_tiles(
        call,
        [&](auto width, const gfk::Vectors &vectors) {
            return width.sample(call, vectors, verdict);
        },
        GFK_STATUS_SUCCESS);
}

extern "C" gfk_status gfk_locate_device_run(const gfk_locate_call *call) {
    const gfk_status status = with_tiles(
        call, [&](auto width, const gfk::Vectors &vectors) { return width.run(call, vectors); },
        GFK_STATUS_NOT_SUPPORTED);
    return status == GFK_STATUS_NOT_SUPPORTED ? run_positions(call) : status;
}

extern "C" size_t gfk_locate_operand_words(const gfk_rs_info *info) {
    int cc = 0;
    if (info->m > most_rows || info->k + info->m > GFK_LOCATE_MOST_DEVICE_POINTERS ||
        gfk_device_capability(info->device, &cc) != GFK_STATUS_SUCCESS || cc < 80 || cc > 90)
        return 0;
    return with_width(info->field.w,
                      [&](auto width) { return width.operand_words(info->k, info->m); });
}

extern "C" void gfk_locate_build_operand(const gfk_rs_info *info, const uint32_t *matrix,
                                         const uint32_t *sums, const uint32_t *roots,
                                         uint32_t *words) {
    with_width(info->field.w,
               [&](auto width) { width.build_operand(*info, matrix, sums, roots, words); });
}

extern "C" size_t gfk_locate_blocks(const gfk_rs_info *info, int processors) {
    return (size_t)processors *
           with_width(info->field.w, [&](auto width) { return width.blocks(info->k); });
}

extern "C" size_t gfk_locate_slabs(const gfk_rs_locator *locator, size_t bytes) {
    return with_width(locator->code.field.w,
                      [&](auto width) { return width.workspace(locator, bytes); });
}
