// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.h"

#include "device.h"

namespace {

constexpr unsigned kThreads = 256;

// splitmix64: a counter goes in, so any part of a buffer can be made again on its own.
__device__ uint64_t hash(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

__global__ void fill_kernel(ulonglong2 *p, size_t n, uint64_t counter) {
    const size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x;
    if (i < n)
        p[i] = make_ulonglong2(hash(counter + 2 * i), hash(counter + 2 * i + 1));
}

__global__ void compare_kernel(const uint4 *a, const uint4 *b, size_t n, uint64_t base,
                               Mismatches *result) {
    const size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x;
    if (i >= n)
        return;
    const uint4 x = a[i], y = b[i];
    if ((x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w)) {
        atomicAdd(&result->words, 1ull);
        atomicMin(&result->first, (unsigned long long)(base + 16 * i));
    }
}

__global__ void read_kernel(const uint4 *p, size_t n, unsigned *sink) {
    const size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x;
    if (i >= n)
        return;
    const uint4 x = p[i];
    if (x.x == 0x12345678 && x.y == 0x9abcdef0 && x.z == x.w) // keeps the load; hardly ever true
        *sink = x.z;
}

__global__ void empty_kernel() {}

__device__ unsigned long long nanoseconds() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

__global__ void clock_kernel(ClockCount *result) {
    const unsigned long long start = nanoseconds(), cycles = (unsigned long long)clock64();
    unsigned long long now = start;
    while (now - start < 20000)
        now = nanoseconds();
    *result = {(unsigned long long)clock64() - cycles, now - start};
}

unsigned blocks_of(size_t items) {
    return (unsigned)((items + kThreads - 1) / kThreads);
}

} // namespace

void fill_random(void *p, size_t bytes, uint64_t seed, uint64_t first_word, cudaStream_t stream) {
    // The seed is spread out so that two seeds do not give shifted copies of one sequence.
    fill_kernel<<<blocks_of(bytes / 16), kThreads, 0, stream>>>(
        (ulonglong2 *)p, bytes / 16, seed * 0xd1342543de82ef95u + first_word);
    GPU_CHECK(cudaGetLastError());
}

void compare(const void *a, const void *b, size_t bytes, uint64_t base, Mismatches *result,
             cudaStream_t stream) {
    compare_kernel<<<blocks_of(bytes / 16), kThreads, 0, stream>>>(
        (const uint4 *)a, (const uint4 *)b, bytes / 16, base, result);
    GPU_CHECK(cudaGetLastError());
}

void read_through(const void *p, size_t bytes, unsigned *sink, cudaStream_t stream) {
    read_kernel<<<blocks_of(bytes / 16), kThreads, 0, stream>>>((const uint4 *)p, bytes / 16, sink);
    GPU_CHECK(cudaGetLastError());
}

void count_clock(ClockCount *result, cudaStream_t stream) {
    clock_kernel<<<1, 1, 0, stream>>>(result);
    GPU_CHECK(cudaGetLastError());
}

void launch_empty(cudaStream_t stream) {
    empty_kernel<<<1, 32, 0, stream>>>();
    GPU_CHECK(cudaGetLastError());
}
