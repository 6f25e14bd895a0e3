/* SPDX-License-Identifier: BSD-3-Clause */
/* The elimination inside a panel, by one block: rows of the panel in order, each with any non-zero
 * element as its pivot. window.cuh searches the first unused columns, as many as the panel has
 * rows. If a row is zero there, the block starts again with wider windows; rows that are zero in
 * one go on with the next windows, until all columns have been searched.
 *
 * Shared memory holds [transform | window] in this case: the transform starts as the unit matrix
 * and takes part in all row operations, so the panel's rows times the transform are the reduced
 * rows. */
#include "matrix.h"
#include "panel.cuh"
#include "window.cuh"

#include "kernels/common/launch.cuh"

namespace gfk {
namespace matrix {
namespace {

constexpr int threads = 512, warps = threads / 32;
constexpr uint32_t none = GFK_MATRIX_DEPENDENT;

template <int W>
struct Shared {
    using P = Panel<W>;
    static constexpr int words = P::row_words + P::column_words, pitch = words + 1;
    uint32_t x[P::rows][pitch];
    uint32_t columns[P::columns], pivots[P::rows];
    uint32_t counts[warps];
    uint32_t count, next, left; /* columns of the window; where the search goes on; rows */
};

/* Lists the next unused columns. All threads; ends with a barrier. */
template <int W>
__device__ void list_columns(const PanelJob &job, Shared<W> &s) {
    constexpr unsigned most = Panel<W>::columns;
    uint32_t count = 0, next = s.next;
    __syncthreads();
    while (count < most && next < job.cols) {
        const uint32_t column = next + threadIdx.x;
        const bool is_free = column < job.cols && !job.used[column];
        const Count free = count_before(is_free, s.counts);
        const uint32_t at = count + free.before;
        if (is_free && at < most)
            s.columns[at] = column;
        if (is_free && at == most - 1)
            s.next = column + 1;
        count += free.all;
        next += threads;
    }
    if (threadIdx.x == 0) {
        s.count = count < most ? count : most;
        if (count < most)
            s.next = job.cols;
    }
    __syncthreads();
}

/* Loads the window's columns of the panel's rows, times the transform. A warp loads a row. */
template <int W>
__device__ void load_window(const PanelJob &job, Shared<W> &s, bool is_first) {
    using P = Panel<W>;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto word_of = [&](unsigned row, unsigned word) {
        const uint8_t *p = job.matrix + (job.first + row) * job.pitch;
        uint32_t x = 0;
        for (unsigned n = 0; n < P::symbols; n++) {
            const unsigned at = word * P::symbols + n;
            if (at < s.count)
                x |= load_symbol<W>(p, s.columns[at]) << n * W % 32;
        }
        return x;
    };
    for (unsigned row = warp; row < job.rows; row += warps)
        for (unsigned word = lane; word < P::column_words; word += 32) {
            uint32_t x = 0;
            if (is_first) {
                x = word_of(row, word);
            } else {
                Sum<W> sum;
                /* Many factors are zero if many windows are needed. */
                for (unsigned k = 0; k < job.rows; k++) {
                    const uint32_t factor =
                        s.x[row][k / P::symbols] >> k % P::symbols * W % 32 & symbol_mask<W>;
                    if (factor != 0)
                        sum.add(factor, word_of(k, word));
                }
                x = sum.reduce(job.polynomial);
            }
            s.x[row][P::row_words + word] = x;
        }
    __syncthreads();
}

/* The first word of a row of the window that is not zero, the same for all threads; -1: none. */
template <int W>
__device__ __forceinline__ int find_word(const Shared<W> &s, unsigned row) {
    using P = Panel<W>;
    const unsigned lane = threadIdx.x % 32;
    int word = -1;
    for (unsigned at = 0; word < 0 && at < P::column_words; at += 32) {
        const bool in = at + lane < P::column_words && s.x[row][P::row_words + at + lane] != 0;
        const uint32_t marks = __ballot_sync(0xffffffff, in);
        if (marks != 0)
            word = at + __ffs(marks) - 1;
    }
    return word;
}

/* Eliminates the window. A thread has one column of words, and some rows. */
template <int W>
__device__ void eliminate(const PanelJob &job, Shared<W> &s) {
    using P = Panel<W>;
    using S = Shared<W>;
    constexpr unsigned each = threads / S::words, most = divide_up<each>(P::rows);
    constexpr uint32_t mask = symbol_mask<W>;
    const unsigned word = threadIdx.x % S::words, start = threadIdx.x / S::words;
    const bool works = threadIdx.x < each * S::words;
    for (unsigned row = 0; row < job.rows; row++) {
        if (s.pivots[row] != none)
            continue;
        const int pivot = find_word(s, row);
        if (pivot < 0)
            continue;
        const uint32_t found = s.x[row][P::row_words + pivot];
        const unsigned symbol = (__ffs(found) - 1) / W;
        const uint32_t factor =
            gfk_invert(&job.inverter, W, job.polynomial, found >> symbol * W % 32 & mask);
        uint32_t powers[W], x = 0, factors[most];
        if (works) {
            Sum<W> sum;
            sum.add(factor, s.x[row][word]);
            x = sum.reduce(job.polynomial);
            powers[0] = x;
#pragma unroll
            for (int k = 1; k < W; k++)
                powers[k] = double_xor<W>(powers[k - 1], job.polynomial, 0);
#pragma unroll
            for (unsigned i = 0; i < most; i++) {
                const unsigned other = start + i * each;
                factors[i] = other < job.rows && other != row
                                 ? s.x[other][P::row_words + pivot] >> symbol * W % 32 & mask
                                 : 0;
            }
        }
        __syncthreads();
        if (works) {
#pragma unroll
            for (unsigned i = 0; i < most; i++) {
                const unsigned other = start + i * each;
                if (other >= job.rows)
                    continue;
                uint32_t y = other == row ? x : s.x[other][word];
#pragma unroll
                for (int k = 0; k < W; k++)
                    y ^= powers[k] & (uint32_t)((int32_t)(factors[i] << (31 - k)) >> 31);
                s.x[other][word] = y;
            }
        }
        if (threadIdx.x == 0) {
            const uint32_t column = s.columns[pivot * P::symbols + symbol];
            s.pivots[row] = column;
            job.used[column] = 1;
            s.left--;
        }
        __syncthreads();
    }
}

template <int W>
__device__ void search_all_columns(const PanelJob &job, Shared<W> &s) {
    using P = Panel<W>;
    for (unsigned i = threadIdx.x; i < P::rows * P::row_words; i += threads) {
        const unsigned row = i / P::row_words, word = i % P::row_words;
        s.x[row][word] = row / P::symbols == word ? 1u << row % P::symbols * W % 32 : 0;
    }
    if (threadIdx.x < P::rows)
        s.pivots[threadIdx.x] = none;
    if (threadIdx.x == 0) {
        s.next = 0;
        s.left = job.rows;
    }
    __syncthreads();
    for (bool is_first = true;; is_first = false) {
        list_columns(job, s);
        if (s.count == 0)
            break;
        load_window(job, s, is_first);
        eliminate(job, s);
        if (s.left == 0)
            break;
        __syncthreads();
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < P::rows * P::row_words; i += threads) {
        const unsigned row = i / P::row_words, word = i % P::row_words;
        ((uint32_t *)job.transform)[i] =
            row < job.rows && s.pivots[row] != none ? s.x[row][word] : 0;
    }
    if (threadIdx.x < job.rows)
        job.pivots[job.first + threadIdx.x] = s.pivots[threadIdx.x];
    if (threadIdx.x == 0)
        *job.rank += job.rows - s.left;
}

template <int W>
constexpr unsigned window_bytes = Window<W>::bytes + Window<W>::T::align - 1;

template <int W>
__global__ __launch_bounds__(threads) void panel_kernel(const __grid_constant__ PanelJob job) {
    static_assert(Window<W>::threads == threads && Window<W>::rows == Panel<W>::rows, "");
    extern __shared__ uint8_t memory[];
    Shared<W> &s = *(Shared<W> *)memory;
    const uint32_t after = (uint32_t)__cvta_generic_to_shared(memory) + sizeof s;
    if (threadIdx.x == 0)
        s.next = 0;
    __syncthreads();
    list_columns(job, s);
    if (!reduce_window<W>(job.matrix + job.first * job.pitch, job.pitch, job.rows, s.columns,
                          s.count < Panel<W>::rows ? s.count : Panel<W>::rows,
                          job.polynomial & symbol_mask<W>, job.inverter, (uint32_t *)job.transform,
                          s.pivots, after)) {
        search_all_columns(job, s);
        return;
    }
    if (threadIdx.x < job.rows) {
        job.pivots[job.first + threadIdx.x] = s.pivots[threadIdx.x];
        job.used[s.pivots[threadIdx.x]] = 1;
    }
    if (threadIdx.x == 0)
        *job.rank += job.rows;
}

template <int W>
gfk_status launch_panel(const PanelJob &job, gfk_stream_t stream) {
    const size_t shared = sizeof(Shared<W>) + window_bytes<W>;
    const gfk_status status = allow_shared(panel_kernel<W>, shared);
    return status == GFK_STATUS_SUCCESS ? launch(panel_kernel<W>, 1, threads, shared, stream, job)
                                        : status;
}

using Find = gfk_status(const PanelJob &job, gfk_stream_t stream);
template <class P>
constexpr Find *function_of = launch_panel<P::w>;

} // namespace

#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    GFK_KERNEL_SYMBOL(owner, kernel, &function_of<__VA_ARGS__>)
#include "panels.def"

gfk_status run_panel(unsigned w, const PanelJob &job, gfk_stream_t stream) {
    return symbol_of<Find *>(gfk_row_first("eliminate", w, 1, 1))(job, stream);
}

} // namespace matrix
} // namespace gfk
