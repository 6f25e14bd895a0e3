/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on a device: one launch over the chunks that the check has marked, a thread for each
 * position of a piece. What a thread does with a position is locate.h, with its state in shared
 * memory. */
#include "host/product/engine.h"
#include "host/rs/locate/locate.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/vector_io.cuh"

namespace {

constexpr uint64_t most_blocks = 2048;
constexpr unsigned piece_shift = 13; /* a block takes 8 KiB of every region */
constexpr unsigned shared_limit = 48 << 10, most_threads = 128;
static_assert(2 * GFK_LOCATE_MOST_ROWS * sizeof(uint32_t) < shared_limit, "");

using Count = unsigned long long; /* as atomicAdd wants it */
static_assert(sizeof(Count) == sizeof(uint64_t), "");

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
};

/* What a block found, before it is added to the verdict. */
struct Found {
    Count corrupt, located, unexplained, first;
};

__device__ uint8_t *region(const Job &job, uint32_t i) {
    if (!job.spaced)
        return job.regions[i];
    return i < job.code.k ? job.data + i * job.data_stride
                          : job.parity + (i - job.code.k) * job.parity_stride;
}

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
        *gfk_word(state, j) = load_symbol(region(job, c.k + j) + offset, c.field.w);
    for (uint32_t i = 0; i < c.k; i++) {
        const uint32_t symbol = load_symbol(region(job, i) + offset, c.field.w);
        for (uint32_t j = 0; j < c.m; j++)
            *gfk_word(state, j) ^= gfk_times(&c.field, c.matrix[(size_t)j * c.k + i], symbol);
    }
    for (uint32_t j = 0; j < c.m; j++)
        any |= *gfk_word(state, j);
    return any != 0;
}

/* Where one region is damaged all over, all lanes count the same word: one addition for all. */
__device__ void count(uint64_t *counts, uint32_t which) {
    const unsigned same = __match_any_sync(__activemask(), which);
    if ((threadIdx.x & 31) == __ffs((int)same) - 1)
        atomicAdd((Count *)&counts[which], (Count)__popc(same));
}

__device__ void locate_position(const Job &job, uint64_t offset, gfk_locate_state state,
                                Found &found) {
    atomicAdd(&found.corrupt, 1);
    atomicMin(&found.first, (Count)offset);
    const uint32_t errors = gfk_locate_errors(&job.code, state);
    atomicAdd(errors == 0 ? &found.unexplained : &found.located, 1);
    for (uint32_t e = 0; e < errors; e++) {
        const uint32_t which = *gfk_error_region(&job.code, state, e);
        count(job.counts, which);
        if (job.repair)
            gfk::store_bytes(region(job, which) + offset, job.code.field.w / 8,
                             *gfk_error_value(&job.code, state, e), true);
    }
}

__device__ bool marked(const Job &job, uint64_t piece) {
    return job.mismatch_map[piece << piece_shift >> GFK_LOCATE_CHUNK_SHIFT] != 0;
}

__device__ void locate_piece(const Job &job, uint64_t piece, gfk_locate_state state, Found &found) {
    const unsigned size = job.code.field.w / 8;
    const uint64_t begin = piece << piece_shift;
    const uint64_t end = min(begin + (1u << piece_shift), job.bytes);
    for (uint64_t offset = begin + threadIdx.x * size; offset < end; offset += blockDim.x * size)
        if (differs(job, offset, state))
            locate_position(job, offset, state, found);
}

__global__ void __launch_bounds__(most_threads) locate(const __grid_constant__ Job job) {
    extern __shared__ uint32_t words[];
    __shared__ Found found;
    if (threadIdx.x == 0)
        found = {0, 0, 0, ~Count(0)};
    __syncthreads();
    const gfk_locate_state state = {words + threadIdx.x, blockDim.x};
    const uint64_t pieces = (job.bytes + (1u << piece_shift) - 1) >> piece_shift;
    const uint64_t stride = gridDim.x;
    /* Mostly nothing is wrong, so each thread looks at the mark of one piece first. */
    for (uint64_t first = blockIdx.x; first < pieces; first += stride * blockDim.x) {
        const uint64_t mine = first + threadIdx.x * stride;
        if (!__syncthreads_or(mine < pieces && marked(job, mine)))
            continue;
        for (uint64_t i = 0, piece = first; i < blockDim.x && piece < pieces; i++, piece += stride)
            if (marked(job, piece))
                locate_piece(job, piece, state, found);
    }
    __syncthreads();
    if (threadIdx.x != 0 || found.corrupt == 0)
        return;
    atomicAdd((Count *)&job.verdict->corrupt, found.corrupt);
    atomicAdd((Count *)&job.verdict->located, found.located);
    atomicAdd((Count *)&job.verdict->unexplained, found.unexplained);
    atomicMin((Count *)&job.verdict->first_corrupt, found.first);
}

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
                         (uint64_t)call->code.k + call->code.m, mark_bytes(call) / 4};
    return gfk::launch(clear, 64, 256, 0, call->stream, blank);
}

extern "C" gfk_status gfk_locate_device_mark(const gfk_locate_call *call) {
    return gfk::status_of(
        cudaMemsetAsync(call->mismatch_map, 0xff, mark_bytes(call), call->stream));
}

extern "C" gfk_status gfk_locate_device_run(const gfk_locate_call *call) {
    const gfk_locate_code &c = call->code;
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
