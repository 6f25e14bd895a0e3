// SPDX-License-Identifier: BSD-3-Clause
// Filling, adding up and comparing gigabytes where they are, in device memory. The kernels share nothing with
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

// A thread adds up a word of every gridDim.y-th region. `ones` has the lowest bit of each symbol.
__global__ void combine_kernel(unsigned w, uint32_t polynomial, uint32_t ones,
                               const uint32_t *coefficients, uint64_t count, const uint8_t *regions,
                               uint64_t stride, uint64_t words, uint32_t *sum) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t word = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; word < words;
         word += step) {
        uint32_t total = 0;
        for (uint64_t i = blockIdx.y; i < count; i += gridDim.y) {
            const uint32_t c = coefficients[i];
            uint32_t x = ((const uint32_t *)(regions + i * stride))[word];
            for (unsigned bit = 0; bit < w; bit++) { // x is the region's word times x^bit
                total ^= x & (0u - (c >> bit & 1));
                const uint32_t high = x >> (w - 1) & ones;
                x = (x ^ high << (w - 1)) << 1 ^ high * polynomial;
            }
        }
        atomicXor(sum + word, total);
    }
}

} // namespace

void device::combine(unsigned w, uint64_t polynomial, const uint32_t *coefficients, size_t count,
                     const void *regions, size_t stride, size_t bytes, void *sum) {
    const uint64_t symbols = (uint64_t(1) << w) - 1;
    const auto ones = (uint32_t)(0xffffffffu / symbols), low = (uint32_t)(polynomial & symbols);
    void *there = allocate(count * sizeof *coefficients);
    upload(there, coefficients, count * sizeof *coefficients);
    fill(sum, 0, bytes);
    const unsigned slices = bytes > 16 << 20 ? 1 : count < 1024 ? (unsigned)count : 1024;
    const size_t blocks = (bytes / 4 + THREADS - 1) / THREADS;
    combine_kernel<<<dim3(blocks < BLOCKS ? (unsigned)blocks : BLOCKS, slices), THREADS>>>(
        w, low, ones, (const uint32_t *)there, count, (const uint8_t *)regions, stride, bytes / 4,
        (uint32_t *)sum);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    release(there);
}

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
