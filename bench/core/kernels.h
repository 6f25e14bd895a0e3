// SPDX-License-Identifier: BSD-3-Clause
// Small CUDA kernels of the bench: random data, comparison, cache flush, clock.
#pragma once

#include <cstddef>
#include <cstdint>

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

// Reads the buffer, so that it, and nothing older, is in the cache, and no line is dirty.
void read_through(const void *p, size_t bytes, unsigned *sink, cudaStream_t stream);

void launch_empty(cudaStream_t stream);

// Counts the clock of a multiprocessor for 20 us.
struct ClockCount {
    unsigned long long cycles, nanoseconds;
};
void count_clock(ClockCount *result, cudaStream_t stream);
