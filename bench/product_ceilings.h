// SPDX-License-Identifier: BSD-3-Clause
// The plain kernels of a product's traffic: k regions read, XORed and written to m regions.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

// Regions at base + i * stride, both multiples of 512, as is `bytes`, the length of each.
struct XorOnlyCall {
    const void *in;
    void *out;
    size_t stride, bytes;
    unsigned k, m;
    bool accumulate; // into what out holds
};

// out[j] = the sum of in[i] over all i that are j modulo min(k, m): every input is read once, every
// output written once, and no input can be left out.
struct XorOnlyVariant {
    const char *name; // "b16_cs_256": 16 bytes per thread and region, streaming hints, 256 threads
    bool few;         // one of those that stand for all where time is short
    void (*run)(const XorOnlyCall &call, cudaStream_t stream);
};
size_t xor_only_count();
const XorOnlyVariant &xor_only_variant(size_t index);
