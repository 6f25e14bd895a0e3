// SPDX-License-Identifier: BSD-3-Clause
// The XOR-only kernels. k and m are arguments: memory does not notice what that costs. How many
// loads a thread has under way is compiled in, in several sizes, so that a small code, which needs
// few, does not pay with registers and so with threads for what a large one needs.
#include "product_ceilings.h"

#include "gpu.h"

namespace {

struct Wide { // 32 bytes, in two loads a block width apart
    uint4 low, high;
};

template <class T>
struct Item {
    using Memory = T;
    static constexpr unsigned count = 1;
};
template <>
struct Item<Wide> {
    using Memory = uint4;
    static constexpr unsigned count = 2;
};

__device__ void add(unsigned &a, unsigned b) {
    a ^= b;
}
__device__ void add(uint2 &a, uint2 b) {
    a.x ^= b.x, a.y ^= b.y;
}
__device__ void add(uint4 &a, uint4 b) {
    a.x ^= b.x, a.y ^= b.y, a.z ^= b.z, a.w ^= b.w;
}
__device__ void add(Wide &a, Wide b) {
    add(a.low, b.low);
    add(a.high, b.high);
}

template <bool STREAM, class T>
__device__ T load_one(const T *p) {
    if constexpr (STREAM)
        return __ldcs(p);
    else
        return *p;
}

template <bool STREAM, class T>
__device__ void store_one(T *p, T v) {
    if constexpr (STREAM)
        __stcs(p, v);
    else
        *p = v;
}

// The item at offset `at` of a region of n items; the second half of a wide one is `step` further
// on, and may lie beyond the end.
template <bool STREAM, class T>
__device__ void get(T &v, const char *region, size_t at, size_t n, unsigned step) {
    if constexpr (Item<T>::count == 2) {
        v.low = load_one<STREAM>((const uint4 *)region + at);
        if (at + step < n)
            v.high = load_one<STREAM>((const uint4 *)region + at + step);
    } else {
        v = load_one<STREAM>((const T *)region + at);
    }
}

template <bool STREAM, class T>
__device__ void put(const T &v, char *region, size_t at, size_t n, unsigned step) {
    if constexpr (Item<T>::count == 2) {
        store_one<STREAM>((uint4 *)region + at, v.low);
        if (at + step < n)
            store_one<STREAM>((uint4 *)region + at + step, v.high);
    } else {
        store_one<STREAM>((T *)region + at, v);
    }
}

// OUTPUTS sums at a time, of ROUNDS inputs each at a time.
template <class T, bool STREAM, bool XOR, unsigned THREADS, unsigned OUTPUTS, unsigned ROUNDS>
__global__ void __launch_bounds__(THREADS)
    xor_only_kernel(const char *in, char *out, size_t stride, size_t n, unsigned k, unsigned m) {
    const size_t at = (size_t)blockIdx.x * (THREADS * Item<T>::count) + threadIdx.x;
    if (at >= n)
        return;
    const unsigned lanes = k < m ? k : m;
    for (unsigned first = 0; first < lanes; first += OUTPUTS) {
        T sum[OUTPUTS] = {};
        for (unsigned row = first; row < k; row += ROUNDS * lanes) {
            T x[ROUNDS][OUTPUTS] = {};
#pragma unroll
            for (unsigned r = 0; r < ROUNDS; r++)
#pragma unroll
                for (unsigned q = 0; q < OUTPUTS; q++) {
                    const unsigned i = row + r * lanes + q;
                    if (first + q < lanes && i < k)
                        get<STREAM>(x[r][q], in + i * stride, at, n, THREADS);
                }
#pragma unroll
            for (unsigned r = 0; r < ROUNDS; r++)
#pragma unroll
                for (unsigned q = 0; q < OUTPUTS; q++)
                    add(sum[q], x[r][q]);
        }
        for (unsigned row = first; row < m; row += lanes) {
            T value[OUTPUTS] = {};
            if (XOR) {
#pragma unroll
                for (unsigned q = 0; q < OUTPUTS; q++)
                    if (first + q < lanes && row + q < m)
                        get<STREAM>(value[q], out + (row + q) * stride, at, n, THREADS);
            }
#pragma unroll
            for (unsigned q = 0; q < OUTPUTS; q++)
                if (first + q < lanes && row + q < m) {
                    add(value[q], sum[q]);
                    put<STREAM>(value[q], out + (row + q) * stride, at, n, THREADS);
                }
        }
    }
}

// The same with k and m compiled in and all inputs under way at once: for short regions, where
// there are few threads. Other shapes take the kernel above.
template <class T, unsigned THREADS, unsigned K, unsigned M>
__global__ void __launch_bounds__(THREADS)
    exact_kernel(const char *in, char *out, size_t stride, size_t n) {
    const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= n)
        return;
    T x[K], sum[M] = {};
#pragma unroll
    for (unsigned i = 0; i < K; i++)
        x[i] = ((const T *)(in + i * stride))[at];
#pragma unroll
    for (unsigned i = 0; i < K; i++)
        add(sum[i % M], x[i]);
#pragma unroll
    for (unsigned j = 0; j < M; j++)
        ((T *)(out + j * stride))[at] = sum[j];
}

template <class T, unsigned THREADS>
void run_exact(const XorOnlyCall &c, cudaStream_t stream) {
    const size_t n = c.bytes / sizeof(T);
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    const char *in = (const char *)c.in;
    char *out = (char *)c.out;
    if (c.k == 4 && c.m == 2)
        exact_kernel<T, THREADS, 4, 2><<<blocks, THREADS, 0, stream>>>(in, out, c.stride, n);
    else if (c.k == 10 && c.m == 4)
        exact_kernel<T, THREADS, 10, 4><<<blocks, THREADS, 0, stream>>>(in, out, c.stride, n);
    else
        exact_kernel<T, THREADS, 30, 3><<<blocks, THREADS, 0, stream>>>(in, out, c.stride, n);
    GPU_CHECK(cudaGetLastError());
}

template <class T, bool STREAM, bool XOR, unsigned THREADS>
void launch(const XorOnlyCall &c, cudaStream_t stream) {
    constexpr unsigned count = Item<T>::count, many = 4 / count, few = 2 / count;
    const size_t n = c.bytes / sizeof(typename Item<T>::Memory), tile = (size_t)THREADS * count;
    const unsigned blocks = (unsigned)((n + tile - 1) / tile), lanes = c.k < c.m ? c.k : c.m;
    auto *kernel = xor_only_kernel<T, STREAM, XOR, THREADS, 4, many>;
    if (c.k <= 2 * lanes)
        kernel = lanes <= 2 ? xor_only_kernel<T, STREAM, XOR, THREADS, 2, few>
                            : xor_only_kernel<T, STREAM, XOR, THREADS, 4, few>;
    else if (lanes <= 2)
        kernel = xor_only_kernel<T, STREAM, XOR, THREADS, 2, many>;
    kernel<<<blocks, THREADS, 0, stream>>>((const char *)c.in, (char *)c.out, c.stride, n, c.k,
                                           c.m);
    GPU_CHECK(cudaGetLastError());
}

template <class T, bool STREAM, unsigned THREADS>
void run(const XorOnlyCall &c, cudaStream_t stream) {
    if (c.accumulate)
        launch<T, STREAM, true, THREADS>(c, stream);
    else
        launch<T, STREAM, false, THREADS>(c, stream);
}

template <class T>
void run_any(const XorOnlyCall &c, cudaStream_t stream) {
    const bool known = (c.k == 4 && c.m == 2) || (c.k == 10 && c.m == 4) || (c.k == 30 && c.m == 3);
    known && !c.accumulate ? run_exact<T, 128>(c, stream) : run<T, false, 128>(c, stream);
}

#define SHAPE(bytes, T, threads)                                                                   \
    {"b" #bytes "_" #threads, threads == 128 && (bytes == 8 || bytes == 16),                       \
     run<T, false, threads>},                                                                      \
    {                                                                                              \
        "b" #bytes "_cs_" #threads, false, run<T, true, threads>                                   \
    }
#define SHAPES(threads)                                                                            \
    SHAPE(4, unsigned, threads), SHAPE(8, uint2, threads), SHAPE(16, uint4, threads),              \
        SHAPE(32, Wide, threads)
const XorOnlyVariant kVariants[] = {SHAPES(128),
                                    SHAPES(256),
                                    SHAPES(512),
                                    {"b4_exact_128", false, run_any<unsigned>},
                                    {"b8_exact_128", false, run_any<uint2>},
                                    {"b16_exact_128", false, run_any<uint4>}};

} // namespace

size_t xor_only_count() {
    return sizeof kVariants / sizeof kVariants[0];
}

const XorOnlyVariant &xor_only_variant(size_t index) {
    return kVariants[index];
}
