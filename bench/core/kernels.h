// SPDX-License-Identifier: BSD-3-Clause
// CUDA kernels of the bench: random data, comparison, cache flush, clock; and plain kernels that
// move as much as a row does and compute nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

// Word i (8 bytes) of the buffer becomes hash(seed + first_word + i). bytes: a multiple of 32.
void fill_random(void *p, size_t bytes, uint64_t seed, uint64_t first_word, cudaStream_t stream);

struct Mismatches {
    unsigned long long words; // 16-byte words that differ
    unsigned long long first; // byte offset of the first of them, counted from `base`
};
// Adds the differences between a and b to *result (device memory). bytes: a multiple of 16.
void compare(const void *a, const void *b, size_t bytes, uint64_t base, Mismatches *result,
             cudaStream_t stream);

// Adds a value that is not 0 to a symbol of `errors` neighbouring regions at every position. Regions
// 0 to k - 1 are at in + i * stride, the next m at out + j * stride. first: the lowest region;
// k + m: another one at every position.
struct Damage {
    char *in, *out;
    size_t stride, bytes;
    unsigned k, m, symbol_bytes, errors, first;
};
void damage(const Damage &damage, cudaStream_t stream);

// Output j = sum over i of coefficients[j][i] * input i, by shifts: what outputs are compared with.
// Strides are in bytes, `bytes` is a multiple of 16.
struct Combination {
    const void *coefficients; // of w / 8 bytes each
    size_t coefficient_stride;
    const char *in;
    size_t in_stride;
    char *out;
    size_t out_stride, bytes; // of a region
    unsigned k, m, w;
    uint32_t polynomial;     // without its leading term
    bool accumulate = false; // into what `out` holds
    // Several sets of coefficients, inputs and outputs, one behind the other.
    unsigned sets = 1;
    size_t coefficients_set = 0, in_set = 0, out_set = 0;
};
void combine_by_shifts(const Combination &combination, cudaStream_t stream);

// A loop of warpgroup MMAs that adds to *sum what is `rounds` times a number of the operands. Returns its
// multiply-adds of bits; 0: not on this device. The first half of the operands are data, the second one the
// matrix.
double run_bit_mmas(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream);
constexpr size_t kMmaOperands = 128 << 10; // bytes

// Reads the buffer, so that it, and nothing older, is in the cache, and no line is dirty.
void read_through(const void *p, size_t bytes, unsigned *sink, cudaStream_t stream);

void launch_empty(cudaStream_t stream);

// Counts the clock of a multiprocessor for 20 us.
struct ClockCount {
    unsigned long long cycles, nanoseconds;
};
void count_clock(ClockCount *result, cudaStream_t stream);

// Regions at base + i * stride, the stride a multiple of 16.
struct Traffic {
    const char *in;
    char *out;
    size_t stride, bytes;
    unsigned k, m;
    bool accumulate;             // into what `out` holds
    const void *table = nullptr; // of gathers: 2^32 words
};

struct PlainKernel {
    std::string name;
    void (*run)(const Traffic &traffic, cudaStream_t stream);
};

enum class PlainKind {
    Copy,       // 1 region
    Accumulate, // 1 region, read-read-write
    XorOnly,    // k regions to m
    XorOnlyFew, // two of these kernels
    ReadOnly,   // k regions; `out` takes 4 bytes that are never written
    Gather      // 4 bytes from a table for every 4 bytes of a region
};
std::vector<PlainKernel> plain_kernels(PlainKind kind);
