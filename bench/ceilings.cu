// SPDX-License-Identifier: BSD-3-Clause
// The plain kernels of a region's traffic, copy and read-read-write, in every shape worth trying.
// The best of them is the roofline that a row is measured against.
#include "device_kernels.h"

#include "gpu.h"

namespace {

// One load or store of 4, 8 or 16 bytes, with or without the hint that it is used once.
template <bool STREAM, class T>
__device__ T load(const T *p) {
    if constexpr (STREAM)
        return __ldcs(p);
    else
        return *p;
}

template <bool STREAM, class T>
__device__ void store(T *p, T v) {
    if constexpr (STREAM)
        __stcs(p, v);
    else
        *p = v;
}

__device__ uint2 add(uint2 a, uint2 b) {
    return make_uint2(a.x ^ b.x, a.y ^ b.y);
}
__device__ uint4 add(uint4 a, uint4 b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}
__device__ unsigned add(unsigned a, unsigned b) {
    return a ^ b;
}

// Each thread moves COUNT items of type T, one block width apart, all loads before the stores.
template <class T, int COUNT, bool STREAM, bool XOR, int THREADS>
__global__ void __launch_bounds__(THREADS) move_kernel(const T *src, T *dst, size_t n) {
    const size_t first = (size_t)blockIdx.x * (THREADS * COUNT) + threadIdx.x;
    T x[COUNT], y[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const size_t i = first + (size_t)k * THREADS;
        if (i < n) {
            x[k] = load<STREAM>(src + i);
            if (XOR)
                y[k] = load<STREAM>(dst + i);
        }
    }
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const size_t i = first + (size_t)k * THREADS;
        if (i < n)
            store<STREAM>(dst + i, XOR ? add(x[k], y[k]) : x[k]);
    }
}

template <class T, int COUNT, bool STREAM, bool XOR, int THREADS>
void run(const void *src, void *dst, size_t bytes, cudaStream_t stream) {
    const size_t n = bytes / sizeof(T), tile = (size_t)THREADS * COUNT;
    move_kernel<T, COUNT, STREAM, XOR, THREADS>
        <<<(unsigned)((n + tile - 1) / tile), THREADS, 0, stream>>>((const T *)src, (T *)dst, n);
    GPU_CHECK(cudaGetLastError());
}

void memcpy_async(const void *src, void *dst, size_t bytes, cudaStream_t stream) {
    GPU_CHECK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream));
}

#define SHAPE(bytes, T, count, threads)                                                            \
    {"b" #bytes "_" #threads, run<T, count, false, false, threads>,                                \
     run<T, count, false, true, threads>},                                                         \
    {                                                                                              \
        "b" #bytes "_cs_" #threads, run<T, count, true, false, threads>,                           \
            run<T, count, true, true, threads>                                                     \
    }
#define SHAPES(threads)                                                                            \
    SHAPE(4, unsigned, 1, threads), SHAPE(8, uint2, 1, threads), SHAPE(16, uint4, 1, threads),     \
        SHAPE(32, uint4, 2, threads)
const CeilingVariant kVariants[] = {
    SHAPES(128), SHAPES(256), SHAPES(512), {"memcpy", memcpy_async, nullptr}};

} // namespace

size_t ceiling_variant_count() {
    return sizeof kVariants / sizeof kVariants[0];
}

const CeilingVariant &ceiling_variant(size_t index) {
    return kVariants[index];
}
