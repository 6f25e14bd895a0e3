// SPDX-License-Identifier: BSD-3-Clause
// Multiplications of words that never leave the registers: what each way costs without memory.
#include "core/hash.cuh"
#include "kernels/common/split_332.cuh"

#include "multiply.cuh"
#include "probes.h"

namespace {

// Words of a way that multiplies byte by byte, or a word.
template <class Way, int WORDS = 1>
struct Each {
    static constexpr int kWords = WORDS;
    static constexpr bool kSliced = false;
    static constexpr size_t kTableBytes = Way::kTableBytes, kSharedBytes = Way::kSharedBytes;
    static void fill(uint8_t *tables) { Way::fill(tables); }
    Way way;
    __device__ Each(const uint8_t *tables, uint8_t *shared, unsigned) : way(tables, 0, shared) {}
    __device__ void operator()(unsigned c, uint32_t (&x)[WORDS]) const {
        if constexpr (Way::kPacked) {
            way.multiply(c, x);
        } else {
            uint32_t y = 0;
#pragma unroll
            for (int byte = 0; byte < 32; byte += 8)
                y |= way.byte(c, x[0] >> byte & 255) << byte;
            x[0] = y;
        }
    }
};

template <int WORDS>
struct Identity : Each<NoTables, WORDS> {
    using Each<NoTables, WORDS>::Each;
    __device__ void operator()(unsigned, uint32_t (&)[WORDS]) const {}
};

// Eight bytes at a time, as a number of 64 bits.
struct Loop64 : Each<NoTables, 2> {
    using Each::Each;
    __device__ void operator()(unsigned c, uint32_t (&x)[2]) const {
        constexpr uint64_t ones = 0x0101010101010101;
        uint64_t v = (uint64_t)x[1] << 32 | x[0], product = 0;
        for (; c != 0; c >>= 1) {
            if (c & 1)
                product ^= v;
            v = (v & 0x7f * ones) << 1 ^ (v >> 7 & ones) * kPolynomial;
        }
        x[0] = (uint32_t)product;
        x[1] = (uint32_t)(product >> 32);
    }
};

// The 256 products of the coefficient in shared memory, filled by every block.
struct ProductRow : Each<NoTables> {
    static constexpr size_t kTableBytes = 256, kSharedBytes = 256;
    static void fill(uint8_t *table) {
        for (unsigned x = 0; x < 256; x++)
            table[x] = (uint8_t)multiply_byte(kRateConstant, x);
    }
    const uint8_t *row;
    __device__ ProductRow(const uint8_t *tables, uint8_t *shared, unsigned)
        : Each(tables, shared, 0), row(shared) {
        if (threadIdx.x < 64)
            ((uint32_t *)shared)[threadIdx.x] = ((const uint32_t *)tables)[threadIdx.x];
    }
    __device__ void operator()(unsigned, uint32_t (&x)[1]) const {
        gfk::map_symbols<8>(x, [&](uint32_t symbol) { return (uint32_t)row[symbol]; });
    }
};

// Tables of 8, 8 and 4 products in registers, looked up four at a time.
struct Prmt : Each<NoTables, 2> {
    uint32_t table[5];
    __device__ Prmt(const uint8_t *tables, uint8_t *shared, unsigned c) : Each(tables, shared, c) {
#pragma unroll
        for (unsigned i = 0; i < 20; i++) {
            const unsigned x = i < 8 ? i : i < 16 ? (i - 8) << 3 : (i - 16) << 6;
            table[i / 4] = (i % 4 ? table[i / 4] : 0) | multiply_byte(c, x) << (8 * (i % 4));
        }
    }
    __device__ uint32_t products(const gfk::Indices332 &i, int shift) const {
        return gfk::prmt(table[0], table[1], i.low >> shift) ^
               gfk::prmt(table[2], table[3], i.middle >> shift) ^
               gfk::prmt(table[4], 0, i.high >> shift);
    }
    __device__ void operator()(unsigned, uint32_t (&x)[2]) const {
        gfk::Indices332 indices;
        indices.set(x[0], x[1]);
        const uint32_t sum[2] = {products(indices, 0), products(indices, 16)};
        gfk::sort_interleaved(sum, x);
    }
};

// Word b has bit b of 32 bytes; the coefficient is compiled in.
struct Sliced : Each<NoTables, 8> {
    static constexpr bool kSliced = true;
    using Each::Each;
    __device__ void operator()(unsigned, uint32_t (&x)[8]) const {
        uint32_t y[8] = {};
#pragma unroll
        for (unsigned bit = 0; bit < 8; bit++)
#pragma unroll
            for (unsigned r = 0; r < 8; r++)
                if (multiply_byte(kRateConstant, 1u << bit) >> r & 1)
                    y[r] ^= x[bit];
#pragma unroll
        for (unsigned r = 0; r < 8; r++)
            x[r] = y[r];
    }
};

template <class Way>
__global__ void __launch_bounds__(kRateThreads)
    rate(const uint8_t *tables, unsigned c, unsigned rounds, uint32_t *out) {
    __shared__ uint4 shared[(Way::kSharedBytes + 15) / 16 + 1];
    const Way way(tables, (uint8_t *)shared, c);
    __syncthreads();
    const unsigned thread = blockIdx.x * kRateThreads + threadIdx.x;
    uint32_t state = hash(thread), sum[Way::kWords] = {};
    for (unsigned i = 0; i < rounds; i += Way::kWords) {
        uint32_t x[Way::kWords];
#pragma unroll
        for (int word = 0; word < Way::kWords; word++)
            x[word] = state = state * 1664525u + 1013904223u;
        way(c, x);
#pragma unroll
        for (int word = 0; word < Way::kWords; word++)
            sum[word] ^= x[word];
    }
#pragma unroll
    for (int word = 0; word < Way::kWords; word++)
        out[(size_t)thread * Way::kWords + word] = sum[word];
}

template <class Way>
void run_rate(const uint8_t *tables, unsigned c, unsigned rounds, uint32_t *out, unsigned blocks,
              cudaStream_t stream) {
    rate<Way><<<blocks, kRateThreads, 0, stream>>>(tables, c, rounds, out);
    GPU_CHECK(cudaGetLastError());
}

template <class Way>
RateProbe probe(const char *id, bool identity = false) {
    return {id, Way::kWords, Way::kSliced, identity, Way::kTableBytes, Way::fill, run_rate<Way>};
}

} // namespace

const std::vector<RateProbe> &rate_probes() {
    static const std::vector<RateProbe> probes = {
        probe<Identity<1>>("identity_1", true),
        probe<Identity<2>>("identity_2", true),
        probe<Identity<4>>("identity_4", true),
        probe<Identity<8>>("identity_8", true),
        probe<Each<Peasant>>("loop_byte"),
        probe<Each<Loop<Reduce::Branches>>>("loop_branches"),
        probe<Each<Loop<Reduce::Multiply24>>>("loop_multiply24"),
        probe<Each<Loop<Reduce::Multiply>>>("loop_multiply"),
        probe<Loop64>("loop_64_bits"),
        probe<Each<Loop<Reduce::Sign>>>("loop_sign"),
        probe<Each<Loop<Reduce::Sign>, 4>>("loop_16_bytes"),
        probe<Each<LogTable<Log::Zero, Place::Shared>>>("log_shared"),
        probe<ProductRow>("row_shared"),
        probe<Prmt>("prmt"),
        probe<Sliced>("sliced"),
    };
    return probes;
}
