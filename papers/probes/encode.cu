// SPDX-License-Identifier: BSD-3-Clause
// One skeleton for all encoders: a thread takes BYTES bytes of one output, or in turn of several.
#include <algorithm>
#include <cmath>

#include "multiply.cuh"
#include "probes.h"

namespace {

template <int BYTES>
struct Vector {
    static constexpr int kWords = (BYTES + 3) / 4;
    uint32_t word[kWords];
};
__device__ void load(Vector<1> &v, const uint8_t *p) {
    v.word[0] = *p;
}
__device__ void load(Vector<4> &v, const uint8_t *p) {
    v.word[0] = *(const uint32_t *)p;
}
__device__ void load(Vector<16> &v, const uint8_t *p) {
    *(uint4 *)v.word = *(const uint4 *)p;
}
__device__ void store(const Vector<1> &v, uint8_t *p) {
    *p = (uint8_t)v.word[0];
}
__device__ void store(const Vector<4> &v, uint8_t *p) {
    *(uint32_t *)p = v.word[0];
}
__device__ void store(const Vector<16> &v, uint8_t *p) {
    *(uint4 *)p = *(const uint4 *)v.word;
}

// Where coefficients come from: one load each, one load for four, kernel parameters.
enum class Matrix { Bytes, Words, Constant };
// What is left out: the shifts that put the bytes of products into words, and half of the additions
// with them; DRAM, as all threads read one line of the inputs; multiplications.
enum class Without { Nothing, Packing, Dram, Multiplications };

template <class Way, int BYTES, Without WITHOUT>
__device__ void add_product(const Way &way, unsigned c, const Vector<BYTES> &x,
                            Vector<BYTES> &sum) {
#pragma unroll
    for (int i = 0; i < Vector<BYTES>::kWords; i++) {
        uint32_t y = 0;
        if constexpr (WITHOUT == Without::Multiplications) {
            y = x.word[i];
        } else if constexpr (Way::kPacked) {
            y = way.word(c, x.word[i]);
        } else {
#pragma unroll
            for (int byte = 0; byte < (BYTES < 4 ? BYTES : 4); byte++)
                y ^= way.byte(c, x.word[i] >> (8 * byte) & 255)
                     << (WITHOUT == Without::Packing ? 0 : 8 * byte);
        }
        sum.word[i] ^= y;
    }
}

// The block of threads has a row for each output and a column for each vector.
template <class Way, int BYTES, bool TILED, Matrix MATRIX, Without WITHOUT>
__global__ void encode(const __grid_constant__ EncodeArguments a) {
    extern __shared__ uint4 shared_vectors[];
    uint8_t *const shared = (uint8_t *)shared_vectors;
    const Way way(a.tables, a.texture, shared);
    uint8_t *const c_tile = shared + (Way::kSharedBytes + 15) / 16 * 16;
    uint8_t *const x_tile = c_tile + (blockDim.y * a.depth + 15) / 16 * 16;
    if (Way::kSharedBytes != 0)
        __syncthreads();
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned threads = blockDim.x * blockDim.y;
    const size_t vectors = a.bytes / BYTES;
    const uint8_t *const coefficients = a.matrix + (size_t)row * a.k;
    for (size_t first = (size_t)blockIdx.x * blockDim.x; first < vectors;
         first += (size_t)gridDim.x * blockDim.x) {
        const size_t at = (first + threadIdx.x) * BYTES;
        const bool mine = row < a.m && first + threadIdx.x < vectors;
        Vector<BYTES> sum = {}, x;
        if constexpr (TILED) {
            for (unsigned i = 0; i < a.k; i += a.depth) {
                const unsigned depth = min(a.depth, a.k - i), top = blockIdx.y * blockDim.y;
                for (unsigned t = thread; t < blockDim.y * depth; t += threads)
                    if (top + t / depth < a.m)
                        c_tile[t] = a.matrix[(size_t)(top + t / depth) * a.k + i + t % depth];
                for (unsigned t = thread; t < blockDim.x * depth; t += threads)
                    if (first + t % blockDim.x < vectors) {
                        load(x, a.in + (i + t / blockDim.x) * a.in_stride +
                                    (first + t % blockDim.x) * BYTES);
                        store(x, x_tile + (size_t)t * BYTES);
                    }
                __syncthreads();
                for (unsigned d = 0; d < depth && mine; d++) {
                    load(x, x_tile + (size_t)(d * blockDim.x + threadIdx.x) * BYTES);
                    add_product<Way, BYTES, WITHOUT>(way, c_tile[threadIdx.y * depth + d], x, sum);
                }
                __syncthreads();
            }
        } else if (mine) {
            uint32_t four = 0;
            for (unsigned i = 0; i < a.k; i++) {
                unsigned c = 0;
                if constexpr (MATRIX == Matrix::Constant) {
                    c = a.constant_matrix[row * a.k + i];
                } else if constexpr (MATRIX == Matrix::Words) {
                    four = i % 4 ? four >> 8 : __ldg((const uint32_t *)(coefficients + i));
                    c = four & 255;
                } else {
                    c = __ldg(coefficients + i);
                }
                if constexpr (WITHOUT == Without::Dram) {
                    const uint8_t *line = a.in + threadIdx.x * BYTES % 128;
                    static_assert(BYTES == 16);
                    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                                 : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]),
                                   "=r"(x.word[3])
                                 : "l"(line));
                } else {
                    load(x, a.in + i * a.in_stride + at);
                }
                add_product<Way, BYTES, WITHOUT>(way, c, x, sum);
            }
        }
        if (mine)
            store(sum, a.out + row * a.out_stride + at);
    }
}

__global__ void logarithm_kernel(const uint4 *from, uint4 *to, size_t n, const uint8_t *log) {
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    uint4 x = from[i];
    uint32_t *words[] = {&x.x, &x.y, &x.z, &x.w};
#pragma unroll
    for (uint32_t *word : words)
        *word = __ldg(log + (*word & 255)) | __ldg(log + (*word >> 8 & 255)) << 8 |
                __ldg(log + (*word >> 16 & 255)) << 16 | (uint32_t)__ldg(log + (*word >> 24)) << 24;
    to[i] = x;
}

// ---- lists -----------------------------------------------------------------------------------
template <class Way, int BYTES, bool TILED = false, Matrix MATRIX = Matrix::Bytes,
          Without WITHOUT = Without::Nothing>
void add(std::vector<EncodeProbe> *all) {
    static const char *const matrices[] = {"", "_words", "_constant_matrix"};
    static const char *const without[] = {"", "_without_packing", "_without_dram",
                                          "_without_multiplications"};
    std::string id = std::string(Way::kName) + "_b" + std::to_string(BYTES);
    id += (*Way::kPlace ? "_" : "") + std::string(Way::kPlace) + (TILED ? "_tiled" : "");
    id += std::string(matrices[(int)MATRIX]) + without[(int)WITHOUT];
    all->push_back({id, Way::kMethod, Way::kPlace, BYTES, Way::kTableBytes, Way::kSharedBytes,
                    TILED, WITHOUT != Without::Nothing, Way::fill,
                    (const void *)encode<Way, BYTES, TILED, MATRIX, WITHOUT>});
}

template <class Way, bool TILED = false>
void add_widths(std::vector<EncodeProbe> *all) {
    add<Way, 1, TILED>(all);
    add<Way, 4, TILED>(all);
    add<Way, 16, TILED>(all);
}

template <Place PLACE>
void add_place(std::vector<EncodeProbe> *all) {
    add_widths<LogTable<Log::Subtract, PLACE>>(all);
    add_widths<FullTable<PLACE>>(all);
    add_widths<SplitTable<PLACE>>(all);
}

unsigned power_of_two(unsigned x) { // the largest up to x
    unsigned p = 1;
    while (2 * p <= x)
        p *= 2;
    return p;
}

} // namespace

const std::vector<EncodeProbe> &encode_probes() {
    static const std::vector<EncodeProbe> probes = [] {
        std::vector<EncodeProbe> all;
        add_widths<Peasant>(&all);
        add_place<Place::L2>(&all);
        add_place<Place::ReadOnly>(&all);
        add_place<Place::Texture>(&all);
        add_place<Place::Shared>(&all);
        add_place<Place::Constant>(&all);
        using Table = FullTable<Place::ReadOnly>;
        add<Table, 16, true>(&all);
        add<Table, 16, false, Matrix::Bytes, Without::Packing>(&all);
        add<Table, 16, false, Matrix::Bytes, Without::Dram>(&all);
        add<Table, 16, false, Matrix::Bytes, Without::Multiplications>(&all);

        add<LogTable<Log::Modulo, Place::Constant>, 1>(&all);
        add<LogTable<Log::Modulo, Place::Constant>, 1, true>(&all);
        add<LogTable<Log::Modulo, Place::Shared>, 1>(&all);
        add<LogTable<Log::Fold, Place::Shared>, 1>(&all);
        add<LogTable<Log::Doubled, Place::Shared>, 1>(&all);
        using Zero = LogTable<Log::Zero, Place::Shared>;
        add_widths<Zero>(&all);
        add_widths<Zero, true>(&all);
        add<Zero, 1, false, Matrix::Constant>(&all);
        add<LogTable<Log::Zero, Place::Serial>, 1>(&all);
        add<LogTable<Log::Zero, Place::ReadOnly>, 1>(&all);
        add<LogTable<Log::Zero, Place::Constant>, 1>(&all);

        using Sign = Loop<Reduce::Sign>;
        add<Loop<Reduce::Multiply>, 4>(&all);
        add<Loop<Reduce::Multiply>, 4, false, Matrix::Words>(&all);
        add<Sign, 4, false, Matrix::Words>(&all);
        add<Sign, 16, false, Matrix::Words>(&all);
        add<LogTable<Log::Doubled, Place::Shared>, 4, false, Matrix::Words>(&all);
        add<LogTable<Log::Prepared, Place::Shared>, 4, false, Matrix::Words>(&all);
        return all;
    }();
    return probes;
}

Geometry geometry_of(const EncodeProbe &probe, Cut cut, size_t bytes, unsigned k, unsigned m) {
    Geometry g;
    const auto vector = probe.bytes;
    const auto shared_of = [&](unsigned rows, unsigned columns) {
        const size_t tables = (probe.shared_bytes + 15) / 16 * 16;
        return tables + (rows * g.depth + 15) / 16 * 16 + (size_t)g.depth * columns * vector;
    };
    unsigned rows = 1, columns = 256;
    if (cut == Cut::Persistent)
        columns = 512;
    if (cut == Cut::Coarse)
        rows = 32, columns = 1;
    if (cut == Cut::Outputs)
        rows = std::min(m, 8u), columns = 128, g.depth = 10;
    if (cut == Cut::Square)
        rows = columns = g.depth = 16;
    if (cut >= Cut::Min) { // the block with the highest occupancy, of equal ones the largest
        g.depth = k;
        const unsigned outputs = 2 * power_of_two(m) - (power_of_two(m) == m ? m : 0);
        int best = 0;
        for (unsigned threads = 1024; threads >= 32; threads /= 2) {
            const unsigned high = cut == Cut::Min   ? 1
                                  : cut == Cut::Max ? std::min(outputs, threads)
                                                    : power_of_two((unsigned)std::sqrt(threads));
            int blocks = 0;
            GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, probe.kernel, (int)threads, shared_of(high, threads / high)));
            if (blocks * (int)threads > best) {
                best = blocks * (int)threads;
                rows = high;
                columns = threads / high;
            }
        }
    }
    const size_t tiles = (bytes / vector + columns - 1) / columns;
    const auto multiprocessors = (unsigned)gpu().properties.multiProcessorCount;
    g.grid.x = cut == Cut::Coarse       ? 1
               : cut == Cut::Persistent ? std::max(3 * multiprocessors / m, 1u)
                                        : (unsigned)tiles;
    g.grid.y = (m + rows - 1) / rows;
    g.block = dim3(columns, rows);
    g.shared = shared_of(rows, columns);
    GPU_CHECK(cudaFuncSetAttribute(probe.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)g.shared));
    return g;
}

void run_encode(const EncodeProbe &probe, const Geometry &geometry, EncodeArguments arguments,
                cudaStream_t stream) {
    arguments.depth = geometry.depth;
    void *parameters[] = {&arguments};
    GPU_CHECK(cudaLaunchKernel(probe.kernel, geometry.grid, geometry.block, parameters,
                               geometry.shared, stream));
}

void put_in_constant_memory(const uint8_t *tables, size_t bytes, cudaStream_t stream) {
    GPU_CHECK(
        cudaMemcpyToSymbolAsync(constant_tables, tables, bytes, 0, cudaMemcpyHostToDevice, stream));
}

void take_logarithms(const void *from, void *to, size_t bytes, const uint8_t *logarithms,
                     cudaStream_t stream) {
    logarithm_kernel<<<(unsigned)((bytes / 16 + 255) / 256), 256, 0, stream>>>(
        (const uint4 *)from, (uint4 *)to, bytes / 16, logarithms);
    GPU_CHECK(cudaGetLastError());
}
