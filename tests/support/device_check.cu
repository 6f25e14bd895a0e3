// SPDX-License-Identifier: BSD-3-Clause
// Filling and comparing gigabytes where they are, in device memory. The kernels share nothing with
// the library's.
#include <cuda_runtime.h>
#include <stdexcept>

#include "device.h"

namespace {

constexpr unsigned BLOCKS = 4096, THREADS = 256;

void check(cudaError_t error) {
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}

// A hash of the position, so that no two places look alike.
__global__ void fill_kernel(uint8_t *memory, uint64_t bytes, uint64_t seed) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t word = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; word * 8 < bytes;
         word += step) {
        uint64_t x = (word + seed) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        x ^= x >> 31;
        for (int i = 0; i < 8 && word * 8 + i < bytes; i++)
            memory[word * 8 + i] = (uint8_t)(x >> (8 * i));
    }
}

__global__ void compare_kernel(const uint8_t *a, const uint8_t *b, uint64_t bytes,
                               unsigned long long *first) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        if (a[i] != b[i])
            atomicMin(first, (unsigned long long)i);
}

// A block makes the products of one constant.
__global__ void expand_kernel(const uint16_t *bits, uint16_t *products) {
    const uint16_t *mine = bits + 16 * blockIdx.x;
    for (unsigned x = threadIdx.x; x < 65536; x += blockDim.x) {
        uint16_t sum = 0;
        for (int bit = 0; bit < 16; bit++)
            sum ^= x >> bit & 1 ? mine[bit] : 0;
        products[(size_t)65536 * blockIdx.x + x] = sum;
    }
}

} // namespace

void device::expand_products(const void *bits, void *products, unsigned constants) {
    expand_kernel<<<constants, THREADS>>>((const uint16_t *)bits, (uint16_t *)products);
    check(cudaGetLastError());
}

void device::fill_random(void *memory, size_t bytes, uint64_t seed) {
    fill_kernel<<<BLOCKS, THREADS>>>((uint8_t *)memory, bytes, seed);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

size_t device::first_difference(const void *a, const void *b, size_t bytes) {
    unsigned long long first = bytes;
    void *there = allocate(sizeof first);
    upload(there, &first, sizeof first);
    compare_kernel<<<BLOCKS, THREADS>>>((const uint8_t *)a, (const uint8_t *)b, bytes,
                                        (unsigned long long *)there);
    check(cudaGetLastError());
    download(&first, there, sizeof first);
    release(there);
    return first;
}
