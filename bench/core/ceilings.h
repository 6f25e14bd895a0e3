// SPDX-License-Identifier: BSD-3-Clause
// Plain kernels that move as much as a row does and compute nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

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
