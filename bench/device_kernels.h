// SPDX-License-Identifier: BSD-3-Clause
// The bench's own CUDA kernels: random data, comparison, cache flush, ceilings, gathers.
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

// One way to write the plain kernel of a region's traffic.
struct CeilingVariant {
    const char *name; // "b16_cs_256": 16 bytes per thread, streaming hints, 256 threads
    void (*copy)(const void *src, void *dst, size_t bytes, cudaStream_t stream);
    void (*accumulate)(const void *src, void *dst, size_t bytes,
                       cudaStream_t stream); // may be null
};
size_t ceiling_variant_count();
const CeilingVariant &ceiling_variant(size_t index);

// Random reads of 4 bytes from a table of 2^32 words.
struct GatherVariant {
    const char *name;
    bool hashed; // indices from a hash, nothing else read; else dst[i] = table[src[i]]
    void (*run)(const uint32_t *table, const void *src, void *dst, size_t bytes,
                cudaStream_t stream);
};
size_t gather_variant_count();
const GatherVariant &gather_variant(size_t index);
