// SPDX-License-Identifier: BSD-3-Clause
// Plain gathers of 4 bytes from a table of 2^32 words: the ceiling of the giant rows.
#include "device_kernels.h"

#include "gpu.h"

namespace {

constexpr unsigned kThreads = 256;

// murmur3's finalizer: a bijection of 32-bit numbers, so the indices are uniform.
__device__ uint32_t hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// LOADS independent lookups per thread. The table indices are the words of src and the results go
// to dst; HASHED takes them from a hash instead and stores one word per thread.
template <int LOADS, bool HASHED>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const uint32_t *table, const uint32_t *src, uint32_t *dst, size_t n) {
    const size_t first = (size_t)blockIdx.x * (kThreads * LOADS) + threadIdx.x;
    uint32_t x[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const size_t i = first + (size_t)k * kThreads;
        if (HASHED)
            x[k] = hash((uint32_t)i);
        else
            x[k] = i < n ? __ldcs(src + i) : 0;
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++)
        x[k] = __ldg(table + x[k]);
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const size_t i = first + (size_t)k * kThreads;
        if (!HASHED && i < n)
            __stcs(dst + i, x[k]);
        sum ^= x[k];
    }
    if (HASHED && first < n)
        dst[first] = sum;
}

template <int LOADS, bool HASHED>
void run(const uint32_t *table, const void *src, void *dst, size_t bytes, cudaStream_t stream) {
    const size_t n = bytes / 4, tile = (size_t)kThreads * LOADS;
    gather_kernel<LOADS, HASHED><<<(unsigned)((n + tile - 1) / tile), kThreads, 0, stream>>>(
        table, (const uint32_t *)src, (uint32_t *)dst, n);
    GPU_CHECK(cudaGetLastError());
}

const GatherVariant kVariants[] = {
    {"gather_1", false, run<1, false>},      {"gather_2", false, run<2, false>},
    {"gather_4", false, run<4, false>},      {"gather_8", false, run<8, false>},
    {"gather_hashed_1", true, run<1, true>}, {"gather_hashed_2", true, run<2, true>},
    {"gather_hashed_4", true, run<4, true>}, {"gather_hashed_8", true, run<8, true>},
};

} // namespace

size_t gather_variant_count() {
    return sizeof kVariants / sizeof kVariants[0];
}

const GatherVariant &gather_variant(size_t index) {
    return kVariants[index];
}
