// SPDX-License-Identifier: BSD-3-Clause
// Ways to multiply bytes by a coefficient over 0x11d, as the papers describe them. A way has
//
//   kName, kMethod, kPlace      what its rows are called
//   kTableBytes, kSharedBytes   of its tables, and what of them a block keeps in shared memory
//   fill                        makes the tables on the host
//   Way(memory, texture, shared)  the tables lie at `memory`, or have been copied to `shared`
//   byte(c, x) or, where kPacked, word(c, x)   the products of one byte, or of four
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/common/word.cuh"

#include "multiply.h"

struct NoTables {
    static constexpr const char *kPlace = "";
    static constexpr size_t kTableBytes = 0, kSharedBytes = 0;
    static void fill(uint8_t *) {}
    __device__ NoTables(const uint8_t *, cudaTextureObject_t, uint8_t *) {}
};

// ---- loops -----------------------------------------------------------------------------------
// Byte by byte, a branch or a predicate for every bit.
struct Peasant : NoTables {
    static constexpr const char *kName = "peasant", *kMethod = "SHIFT";
    static constexpr bool kPacked = false;
    using NoTables::NoTables;
    __device__ unsigned byte(unsigned c, unsigned x) const { return multiply_byte(c, x); }
};

// Four bytes in a word, until no bit of the coefficient is left. They differ in how the reduction
// reaches the bytes that overflow.
enum class Reduce { Branches, Multiply, Multiply24, Sign };
template <Reduce HOW>
struct Loop : NoTables {
    static constexpr const char *kNames[] = {"loop_branches", "loop_multiply", "loop_multiply24",
                                             "loop_sign"};
    static constexpr const char *kName = kNames[(int)HOW], *kMethod = "BYTWO_b";
    static constexpr bool kPacked = true;
    using NoTables::NoTables;

    __device__ static unsigned reduction(unsigned x) {
        const unsigned top = x >> 7 & 0x01010101;
        if constexpr (HOW == Reduce::Branches) {
            unsigned r = 0;
            for (unsigned byte = 0; byte < 32; byte += 8)
                if (x & 0x80u << byte)
                    r |= kPolynomial << byte;
            return r;
        }
        if constexpr (HOW == Reduce::Multiply)
            return top * kPolynomial;
        if constexpr (HOW == Reduce::Multiply24) // of three bytes, and the fourth by a condition
            return __umul24(top & 0xffffff, kPolynomial) + (x >> 31 ? kPolynomial << 24 : 0);
        return gfk::top_bit_mask<8>(x) & 0x01010101 * kPolynomial;
    }
    template <int WORDS> // one loop for all
    __device__ void multiply(unsigned c, unsigned (&x)[WORDS]) const {
        unsigned product[WORDS] = {};
        for (; c != 0; c >>= 1)
#pragma unroll
            for (int i = 0; i < WORDS; i++) {
                if (c & 1)
                    product[i] ^= x[i];
                x[i] = (x[i] & 0x7f7f7f7f) << 1 ^ reduction(x[i]);
            }
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            x[i] = product[i];
    }
    __device__ unsigned word(unsigned c, unsigned x) const {
        unsigned words[] = {x};
        multiply(c, words);
        return words[0];
    }
};

// ---- tables ----------------------------------------------------------------------------------
enum class Place {
    L2,       // global memory, past the L1 cache, as GPUs of 2012 to 2014 read it
    ReadOnly, // ld.global.nc
    Texture,
    Shared, // copied from global memory by all threads of a block
    Serial, // made by one thread of each block
    Constant
};
constexpr const char *kPlaces[] = {"l2", "nc", "texture", "shared", "serial", "constant"};

static __constant__ uint8_t constant_tables[65536];

template <Place PLACE, size_t BYTES>
struct Tables {
    static constexpr const char *kPlace = kPlaces[(int)PLACE];
    static constexpr bool kPacked = false;
    static constexpr size_t kTableBytes = BYTES;
    static constexpr size_t kSharedBytes =
        PLACE == Place::Shared || PLACE == Place::Serial ? BYTES : 0;
    const uint8_t *memory;
    cudaTextureObject_t texture;

    __device__ Tables(const uint8_t *global, cudaTextureObject_t object, uint8_t *shared)
        : memory(global), texture(object) {
        if constexpr (PLACE == Place::Shared) {
            const unsigned threads = blockDim.x * blockDim.y;
            for (unsigned i = threadIdx.y * blockDim.x + threadIdx.x; i < BYTES / 4; i += threads)
                ((uint32_t *)shared)[i] = ((const uint32_t *)global)[i];
        }
        if constexpr (kSharedBytes != 0)
            memory = shared;
    }
    template <class T = uint8_t>
    __device__ unsigned at(unsigned offset) const {
        if constexpr (PLACE == Place::Constant)
            return *(const T *)(constant_tables + offset);
        else if constexpr (PLACE == Place::Texture)
            return tex1Dfetch<T>(texture, (int)offset);
        else if constexpr (PLACE == Place::L2)
            return __ldcg((const T *)(memory + offset));
        else if constexpr (PLACE == Place::ReadOnly)
            return __ldg((const T *)(memory + offset));
        else
            return *(const T *)(memory + offset);
    }
};

template <Place PLACE>
struct FullTable : Tables<PLACE, 65536> {
    static constexpr const char *kName = "table", *kMethod = "TABLE";
    using Tables<PLACE, 65536>::Tables;
    static void fill(uint8_t *table) {
        for (unsigned i = 0; i < 65536; i++)
            table[i] = (uint8_t)multiply_byte(i >> 8, i & 255);
    }
    __device__ unsigned byte(unsigned c, unsigned x) const { return this->at(256 * c + x); }
};

// For each coefficient the products with both halves of a byte.
template <Place PLACE>
struct SplitTable : Tables<PLACE, 8192> {
    static constexpr const char *kName = "split", *kMethod = "SPLIT";
    using Tables<PLACE, 8192>::Tables;
    static void fill(uint8_t *table) {
        for (unsigned i = 0; i < 8192; i++)
            table[i] = (uint8_t)multiply_byte(i >> 5, i & 16 ? (i & 15) << 4 : i & 15);
    }
    __device__ unsigned byte(unsigned c, unsigned x) const {
        return this->at(32 * c + (x & 15)) ^ this->at(32 * c + 16 + (x >> 4));
    }
};

// Logarithms and powers of 2. Modulo to Subtract have 256 bytes of each, and a branch for zeros;
// Doubled has the powers twice; Zero has log 0 = 510 and zeros from power 510 on. Prepared ones
// are logarithms already, 255 for zero, and have the powers twice.
enum class Log { Modulo, Fold, Subtract, Doubled, Zero, Prepared };
__host__ __device__ constexpr size_t log_bytes(Log log) {
    return log == Log::Zero ? 512 + 1024 : log >= Log::Doubled ? 256 + 512 : 512;
}
template <Log LOG, Place PLACE>
struct LogTable : Tables<PLACE, log_bytes(LOG)> {
    using Base = Tables<PLACE, log_bytes(LOG)>;
    static constexpr const char *kNames[] = {"log_mod",    "log_fold", "log_subtract",
                                             "log_double", "log_zero", "log_prepared"};
    static constexpr const char *kName = kNames[(int)LOG], *kMethod = "LOG";
    using Entry = std::conditional_t<LOG == Log::Zero, uint16_t, uint8_t>;
    static constexpr unsigned kPowers = 256 * sizeof(Entry);

    __host__ __device__ static void fill(uint8_t *table) {
        unsigned x = 1;
        for (unsigned i = 0; i < log_bytes(LOG) - kPowers; i++) {
            table[kPowers + i] = (uint8_t)(LOG == Log::Zero && i >= 510 ? 0 : x);
            if (i < 255)
                ((Entry *)table)[x] = (Entry)i;
            x = multiply_byte(2, x);
        }
        ((Entry *)table)[0] = (Entry)(LOG == Log::Zero ? 510 : 255);
    }
    __device__ LogTable(const uint8_t *global, cudaTextureObject_t object, uint8_t *shared)
        : Base(global, object, shared) {
        if (PLACE == Place::Serial && threadIdx.x == 0 && threadIdx.y == 0)
            fill(shared);
    }
    __device__ unsigned byte(unsigned c, unsigned x) const {
        if constexpr (LOG == Log::Prepared)
            return x == 255 ? 0 : this->at(kPowers + c + x);
        if (LOG != Log::Zero && (c == 0 || x == 0))
            return 0;
        unsigned sum = log(c) + log(x);
        if constexpr (LOG == Log::Modulo)
            sum %= 255;
        if constexpr (LOG == Log::Fold)
            sum = (sum & 255) + (sum >> 8);
        if constexpr (LOG == Log::Subtract)
            sum = sum > 254 ? sum - 255 : sum;
        return this->at(kPowers + sum);
    }
    __device__ unsigned log(unsigned x) const {
        return this->template at<Entry>(x * (unsigned)sizeof(Entry));
    }
};
