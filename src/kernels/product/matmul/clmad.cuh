/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiled product on the carry-less multiply-add.
 *
 * A block computes a tile of outputs for some bytes of symbols. A warp has 8 outputs, and a lane 16
 * bytes of each, whose sums of 64 bits for each word stay in registers for all inputs; they are
 * reduced once. Inputs come in stages: while one is multiplied, the next one is on its way to
 * registers. A stage lies in shared memory as operands of the instruction: symbols spread over 64
 * bits, and elements of the matrix with zeros above, so that the loop has nothing but loads from
 * shared memory, which cost the pipe nothing, and products.
 *
 * The matrix operand has the elements of a row next to each other, w bits each, in rows of `pitch`
 * bytes, padded with zeros to whole tiles of outputs and to 256 bits of inputs. */
#pragma once

#include "kernels/common/clmad.cuh"
#include "tile.cuh"

namespace gfk {
namespace matmul {

struct ClmadJob {
    const uint8_t *matrix;
    size_t pitch; /* bytes of a row of the matrix */
    Regions b, c;
    size_t next_inputs; /* regions from the inputs of a product to those of the next one */
    Symbols symbols;
    uint32_t first_input, cols; /* of this launch */
    uint32_t rows, output_tiles, symbol_tiles;
    uint32_t accumulate;
    gfk_barrett barrett;
    const uint32_t *skip_if;    /* as of gfk_matmul_call */
    const uint8_t *output_mask; /* likewise, from the first region of c on */
};

/* The next stage of both operands, in registers: a warp has whole inputs, a lane 16 bytes of each;
 * four threads have the elements of an output. */
template <class T>
struct Stage {
    static constexpr int vectors = T::stage / 4, elements = T::stage / 4; /* of a thread */
    static constexpr int matrix_bytes = elements * T::symbol_bytes;
    static_assert(T::threads == 4 * T::outputs && matrix_bytes <= 8, "");
    uint32_t data[vectors][4], matrix[(matrix_bytes + 3) / 4];

    /* first: input of the stage, of this launch. row: the thread's elements of the matrix, for
     * input 0. */
    __device__ void load(const ClmadJob &job, const Symbols::Span &span, const uint8_t *row,
                         unsigned first) {
        const uint64_t begin = span.begin + threadIdx.x % 32 * 16;
#pragma unroll
        for (int n = 0; n < vectors; n++) {
            const unsigned input = first + n * 4 + threadIdx.x / 32;
            data[n][0] = data[n][1] = data[n][2] = data[n][3] = 0;
            if (input >= job.cols || begin >= span.bytes)
                continue;
            const uint8_t *const p = job.b.at(span.product * job.next_inputs + input, span.of_head);
            if (begin + 16 <= span.bytes && (uintptr_t)(p + begin) % 16 == 0)
                load_vector<true, Load::early>(p + begin, data[n]);
            else if (begin != 0 && begin + 32 <= span.bytes)
                load_vector<false, Load::early>(p + begin, data[n]);
            else if (((uintptr_t)(p + begin) | span.bytes) % 4 == 0)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    data[n][i] =
                        begin + 4 * i < span.bytes ? __ldg((const uint32_t *)(p + begin) + i) : 0;
            else
#pragma unroll 1
                for (int i = 0; i < 4; i++) {
                    const uint32_t word = load_word(p, begin + 4 * i, span.bytes);
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        data[n][k] = k == i ? word : data[n][k];
                }
        }
        row += first * T::symbol_bytes;
        if constexpr (matrix_bytes == 2)
            matrix[0] = __ldg((const uint16_t *)row);
        else
#pragma unroll
            for (int i = 0; i < matrix_bytes / 4; i++)
                matrix[i] = __ldg((const uint32_t *)row + i);
    }
    /* Returns the offset in a tile of the thread's elements of the matrix. */
    __device__ static size_t row_offset(size_t pitch) {
        return threadIdx.x / 4 * pitch + threadIdx.x % 4 * matrix_bytes;
    }
    __device__ void store(uint64_t (*symbols)[2][32][2], uint64_t (*operand)[T::outputs]) const {
#pragma unroll
        for (int n = 0; n < vectors; n++) {
            const unsigned input = n * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const uint64_t low = spread_symbols<T::w>(data[n][2 * half]);
                const uint64_t high = spread_symbols<T::w>(data[n][2 * half + 1]);
                *(ulonglong2 *)symbols[input][half][lane] = make_ulonglong2(low, high);
            }
        }
#pragma unroll
        for (int i = 0; i < elements; i++)
            operand[threadIdx.x % 4 * elements + i][threadIdx.x / 4] =
                matrix[i * T::w / 32] >> i * T::w % 32 & symbol_mask<T::w>;
    }
};

template <class T>
__global__
__launch_bounds__(T::threads,
                  T::blocks) void multiply_symbols(const __grid_constant__ ClmadJob job) {
    __shared__ __align__(16) uint64_t symbols[2][T::stage][2][32][2];
    __shared__ __align__(16) uint64_t elements[2][T::stage][T::outputs];
    if (job.skip_if != nullptr && *job.skip_if != 0)
        return;
    const TilePlace tile(blockIdx.x, job.output_tiles, job.symbol_tiles);
    const Symbols::Span span = job.symbols.of_tile(tile.symbols, T::region_bytes);
    const uint8_t *const matrix =
        job.matrix + job.first_input * T::symbol_bytes + Stage<T>::row_offset(job.pitch) +
        ((size_t)span.product * job.output_tiles + tile.outputs) * T::outputs * job.pitch;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    uint64_t sums[T::warp_outputs][4] = {};
    Stage<T> next;
    next.load(job, span, matrix, 0);
    unsigned buffer = 0;
    for (unsigned first = 0; first < job.cols; first += T::stage, buffer ^= 1) {
        next.store(symbols[buffer], elements[buffer]);
        __syncthreads();
        if (first + T::stage < job.cols)
            next.load(job, span, matrix, first + T::stage);
#pragma unroll
        for (int i = 0; i < T::stage; i++) {
            uint64_t x[4];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const ulonglong2 two = *(const ulonglong2 *)symbols[buffer][i][half][lane];
                x[2 * half] = two.x;
                x[2 * half + 1] = two.y;
            }
#pragma unroll
            for (int j = 0; j < T::warp_outputs; j += 2) {
                const ulonglong2 two =
                    *(const ulonglong2 *)&elements[buffer][i][warp * T::warp_outputs + j];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    sums[j][k] = clmad(x[k], two.x, sums[j][k]);
                    sums[j + 1][k] = clmad(x[k], two.y, sums[j + 1][k]);
                }
            }
        }
    }
    const unsigned first_row = tile.outputs * T::outputs + warp * T::warp_outputs;
#pragma unroll
    for (int j = 0; j < T::warp_outputs; j++) {
        if (!is_stored(job, span, first_row + j))
            continue;
        uint32_t y[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            y[k] = reduce_sums<T::w>(sums[j][k], job.barrett);
        store_symbols(job, span, first_row + j, lane * 16, y);
    }
}

} // namespace matmul
} // namespace gfk
