// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.h"

#include "device.h"
#include "hash.cuh"

namespace {

constexpr unsigned kThreads = 256;

// ---- data, comparison, clock -----------------------------------------------------------------
// splitmix64: a counter goes in, so any part of a buffer can be made again on its own.
__device__ uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

__global__ void fill_kernel(ulonglong2 *p, size_t n, uint64_t counter) {
    const size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x;
    if (i < n)
        p[i] = make_ulonglong2(mix(counter + 2 * i), mix(counter + 2 * i + 1));
}

__global__ void damage_kernel(Damage d) {
    const uint64_t position = (uint64_t)blockIdx.x * kThreads + threadIdx.x;
    if (position >= d.bytes / d.symbol_bytes)
        return;
    const unsigned all = d.k + d.m;
    const unsigned first = d.first < all ? d.first : (unsigned)(mix(~position) % all);
    for (unsigned e = 0; e < d.errors; e++) {
        const unsigned i = (first + e) % all;
        char *region = i < d.k ? d.in + i * d.stride : d.out + (i - d.k) * d.stride;
        const uint64_t value = mix(position * d.errors + e) | 1;
        for (unsigned b = 0; b < d.symbol_bytes; b++)
            region[position * d.symbol_bytes + b] ^= (char)(value >> (8 * b));
    }
}

__device__ uint4 load16(const char *p) {
    if ((uintptr_t)p % 16 == 0)
        return *(const uint4 *)p;
    unsigned x[4] = {};
#pragma unroll
    for (int i = 0; i < 16; i++)
        x[i / 4] |= (unsigned)(uint8_t)p[i] << 8 * (i % 4);
    return make_uint4(x[0], x[1], x[2], x[3]);
}

__device__ void store16(char *p, const uint4 &x) {
    if ((uintptr_t)p % 16 == 0)
        return (void)(*(uint4 *)p = x);
    const unsigned words[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
    for (int i = 0; i < 16; i++)
        p[i] = (char)(words[i / 4] >> 8 * (i % 4));
}

// For each bit of a coefficient the sum of the inputs that it selects; then these sums by Horner.
template <int W, class T>
__global__ void __launch_bounds__(kThreads) combine_kernel(Combination c) {
    const size_t at = ((size_t)blockIdx.x * kThreads + threadIdx.x) * 16;
    if (at >= c.bytes)
        return;
    const T *coefficients =
        (const T *)((const char *)c.coefficients + blockIdx.z * c.coefficients_set +
                    blockIdx.y * c.coefficient_stride);
    const char *in = c.in + blockIdx.z * c.in_set + at;
    char *out = c.out + blockIdx.z * c.out_set + blockIdx.y * c.out_stride + at;
    uint4 sums[W] = {};
    for (unsigned i = 0; i < c.k; i++) {
        const unsigned coefficient = coefficients[i];
        const uint4 x = load16(in + i * c.in_stride);
#pragma unroll
        for (int bit = 0; bit < W; bit++) {
            const unsigned mask = 0 - (coefficient >> bit & 1);
            sums[bit].x ^= x.x & mask, sums[bit].y ^= x.y & mask;
            sums[bit].z ^= x.z & mask, sums[bit].w ^= x.w & mask;
        }
    }
    constexpr unsigned ones = W == 8 ? 0x01010101 : W == 16 ? 0x00010001 : 1;
    unsigned y[4] = {};
#pragma unroll
    for (int bit = W - 1; bit >= 0; bit--) {
        const unsigned sum[4] = {sums[bit].x, sums[bit].y, sums[bit].z, sums[bit].w};
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const unsigned high = y[q] >> (W - 1) & ones;
            y[q] = ((y[q] ^ high << (W - 1)) << 1) ^ high * c.polynomial ^ sum[q];
        }
    }
    const uint4 before = c.accumulate ? load16(out) : uint4{};
    store16(out, {y[0] ^ before.x, y[1] ^ before.y, y[2] ^ before.z, y[3] ^ before.w});
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

__global__ void flush_kernel(const uint4 *p, size_t n, unsigned *sink) {
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

unsigned blocks_of(size_t items, size_t tile = kThreads) {
    return (unsigned)((items + tile - 1) / tile);
}

// ---- plain kernels ---------------------------------------------------------------------------
// In every shape worth trying: copy, read-read-write, XOR-only, read-only; and gathers. The best of
// a kind is the roofline that rows are measured against.
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
__device__ unsigned any_of(unsigned v) {
    return v;
}
__device__ unsigned any_of(uint2 v) {
    return v.x | v.y;
}
__device__ unsigned any_of(uint4 v) {
    return v.x | v.y | v.z | v.w;
}

// STREAM: with the hint that the item is used once.
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

// ---- copy and read-read-write ----------------------------------------------------------------
// Each thread moves one item, all loads before the stores.
template <class T, bool STREAM, bool XOR, unsigned THREADS>
__global__ void __launch_bounds__(THREADS) move_kernel(const char *src, char *dst, size_t n) {
    const size_t at = (size_t)blockIdx.x * (THREADS * Item<T>::count) + threadIdx.x;
    if (at >= n)
        return;
    T x, y;
    get<STREAM>(x, src, at, n, THREADS);
    if (XOR) {
        get<STREAM>(y, dst, at, n, THREADS);
        add(x, y);
    }
    put<STREAM>(x, dst, at, n, THREADS);
}

template <class T, bool STREAM, unsigned THREADS>
void run_move(const Traffic &t, cudaStream_t stream) {
    const size_t n = t.bytes / sizeof(typename Item<T>::Memory);
    const unsigned blocks = blocks_of(n, THREADS * Item<T>::count);
    auto *kernel = t.accumulate ? move_kernel<T, STREAM, true, THREADS>
                                : move_kernel<T, STREAM, false, THREADS>;
    kernel<<<blocks, THREADS, 0, stream>>>(t.in, t.out, n);
    GPU_CHECK(cudaGetLastError());
}

void run_memcpy(const Traffic &t, cudaStream_t stream) {
    GPU_CHECK(cudaMemcpyAsync(t.out, t.in, t.bytes, cudaMemcpyDeviceToDevice, stream));
}

// ---- XOR-only --------------------------------------------------------------------------------
// out[j] = the sum of in[i] over all i that are j modulo min(k, m): every input is read once, every
// output written once, and no input can be left out. k and m are arguments: memory does not notice
// what that costs. How many loads a thread has under way is compiled in, in several sizes, so that
// a small code, which needs few, does not pay with registers and so with threads for what a large
// one needs: OUTPUTS sums at a time, of ROUNDS inputs each at a time.
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
void run_exact_shape(const Traffic &t, cudaStream_t stream) {
    const size_t n = t.bytes / sizeof(T);
    auto *kernel = t.k == 4    ? exact_kernel<T, THREADS, 4, 2>
                   : t.k == 10 ? exact_kernel<T, THREADS, 10, 4>
                               : exact_kernel<T, THREADS, 30, 3>;
    kernel<<<blocks_of(n, THREADS), THREADS, 0, stream>>>(t.in, t.out, t.stride, n);
    GPU_CHECK(cudaGetLastError());
}

template <class T, bool STREAM, bool XOR, unsigned THREADS>
void launch_xor_only(const Traffic &t, cudaStream_t stream) {
    constexpr unsigned count = Item<T>::count, many = 4 / count, few = 2 / count;
    const size_t n = t.bytes / sizeof(typename Item<T>::Memory);
    const unsigned lanes = t.k < t.m ? t.k : t.m;
    auto *kernel = xor_only_kernel<T, STREAM, XOR, THREADS, 4, many>;
    if (t.k <= 2 * lanes)
        kernel = lanes <= 2 ? xor_only_kernel<T, STREAM, XOR, THREADS, 2, few>
                            : xor_only_kernel<T, STREAM, XOR, THREADS, 4, few>;
    else if (lanes <= 2)
        kernel = xor_only_kernel<T, STREAM, XOR, THREADS, 2, many>;
    kernel<<<blocks_of(n, (size_t)THREADS * count), THREADS, 0, stream>>>(t.in, t.out, t.stride, n,
                                                                          t.k, t.m);
    GPU_CHECK(cudaGetLastError());
}

template <class T, bool STREAM, unsigned THREADS>
void run_xor_only(const Traffic &t, cudaStream_t stream) {
    t.accumulate ? launch_xor_only<T, STREAM, true, THREADS>(t, stream)
                 : launch_xor_only<T, STREAM, false, THREADS>(t, stream);
}

template <class T>
void run_exact(const Traffic &t, cudaStream_t stream) {
    const bool known = (t.k == 4 && t.m == 2) || (t.k == 10 && t.m == 4) || (t.k == 30 && t.m == 3);
    known && !t.accumulate ? run_exact_shape<T, 128>(t, stream)
                           : run_xor_only<T, false, 128>(t, stream);
}

// ---- read-only -------------------------------------------------------------------------------
// What is read is needed, or the loads would be left out: random words are never all zero.
template <class T, unsigned THREADS, unsigned DEPTH>
__global__ void __launch_bounds__(THREADS)
    read_kernel(const char *in, size_t stride, size_t n, unsigned regions, unsigned *sink) {
    const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= n)
        return;
    unsigned seen = 0;
    for (unsigned first = 0; first < regions; first += DEPTH) {
        T x[DEPTH] = {};
#pragma unroll
        for (unsigned i = 0; i < DEPTH; i++)
            if (first + i < regions)
                x[i] = ((const T *)(in + (first + i) * stride))[at];
#pragma unroll
        for (unsigned i = 0; i < DEPTH; i++)
            seen |= any_of(x[i]);
    }
    if (seen == 0)
        *sink = 1;
}

template <class T, unsigned THREADS, unsigned DEPTH>
void run_read(const Traffic &t, cudaStream_t stream) {
    const size_t n = t.bytes / sizeof(T);
    read_kernel<T, THREADS, DEPTH>
        <<<blocks_of(n, THREADS), THREADS, 0, stream>>>(t.in, t.stride, n, t.k, (unsigned *)t.out);
    GPU_CHECK(cudaGetLastError());
}

// ---- gathers ---------------------------------------------------------------------------------
// LOADS independent lookups per thread. The table indices are the words of src and the results go
// to dst; HASHED takes them from a hash instead and stores one word per thread.
template <int LOADS, bool HASHED>
__global__ void __launch_bounds__(256)
    gather_kernel(const uint32_t *table, const uint32_t *src, uint32_t *dst, size_t n) {
    const size_t first = (size_t)blockIdx.x * (256 * LOADS) + threadIdx.x;
    uint32_t x[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const size_t i = first + (size_t)k * 256;
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
        const size_t i = first + (size_t)k * 256;
        if (!HASHED && i < n)
            __stcs(dst + i, x[k]);
        sum ^= x[k];
    }
    if (HASHED && first < n)
        dst[first] = sum;
}

template <int LOADS, bool HASHED>
void run_gather(const Traffic &t, cudaStream_t stream) {
    const size_t n = t.bytes / 4;
    gather_kernel<LOADS, HASHED><<<blocks_of(n, 256 * LOADS), 256, 0, stream>>>(
        (const uint32_t *)t.table, (const uint32_t *)t.in, (uint32_t *)t.out, n);
    GPU_CHECK(cudaGetLastError());
}

// ---- lists -----------------------------------------------------------------------------------
// Names: 16 bytes per thread and region, streaming hints, 256 threads are "b16_cs_256".
template <unsigned THREADS>
void add_threads(PlainKind kind, std::vector<PlainKernel> *all) {
    const std::string threads = "_" + std::to_string(THREADS);
    const auto add = [&](const char *bytes, auto item) {
        using T = decltype(item);
        const bool sums = kind == PlainKind::XorOnly;
        all->push_back({bytes + threads,
                        sums ? run_xor_only<T, false, THREADS> : run_move<T, false, THREADS>});
        all->push_back({bytes + ("_cs" + threads),
                        sums ? run_xor_only<T, true, THREADS> : run_move<T, true, THREADS>});
    };
    if (kind == PlainKind::ReadOnly) {
        all->push_back({"b4" + threads, run_read<unsigned, THREADS, 16>});
        all->push_back({"b8" + threads, run_read<uint2, THREADS, 16>});
        all->push_back({"b16" + threads, run_read<uint4, THREADS, 8>});
        all->push_back({"b16_deep" + threads, run_read<uint4, THREADS, 16>});
    } else {
        add("b4", 0u);
        add("b8", uint2{});
        add("b16", uint4{});
        add("b32", Wide{});
    }
}

} // namespace

std::vector<PlainKernel> plain_kernels(PlainKind kind) {
    if (kind == PlainKind::XorOnlyFew) // that stand for all where time is short
        return {{"b8_128", run_xor_only<uint2, false, 128>},
                {"b16_128", run_xor_only<uint4, false, 128>}};
    if (kind == PlainKind::Gather)
        return {{"gather_1", run_gather<1, false>},       {"gather_2", run_gather<2, false>},
                {"gather_4", run_gather<4, false>},       {"gather_8", run_gather<8, false>},
                {"gather_hashed_1", run_gather<1, true>}, {"gather_hashed_2", run_gather<2, true>},
                {"gather_hashed_4", run_gather<4, true>}, {"gather_hashed_8", run_gather<8, true>}};
    std::vector<PlainKernel> all;
    add_threads<128>(kind, &all);
    add_threads<256>(kind, &all);
    add_threads<512>(kind, &all);
    if (kind == PlainKind::Copy)
        all.push_back({"memcpy", run_memcpy});
    if (kind == PlainKind::XorOnly) {
        all.push_back({"b4_exact_128", run_exact<unsigned>});
        all.push_back({"b8_exact_128", run_exact<uint2>});
        all.push_back({"b16_exact_128", run_exact<uint4>});
    }
    return all;
}

void fill_random(void *p, size_t bytes, uint64_t seed, uint64_t first_word, cudaStream_t stream) {
    // The seed is spread out so that two seeds do not give shifted copies of one sequence.
    fill_kernel<<<blocks_of(bytes / 16), kThreads, 0, stream>>>(
        (ulonglong2 *)p, bytes / 16, seed * 0xd1342543de82ef95u + first_word);
    GPU_CHECK(cudaGetLastError());
}

void damage(const Damage &d, cudaStream_t stream) {
    damage_kernel<<<blocks_of(d.bytes / d.symbol_bytes), kThreads, 0, stream>>>(d);
    GPU_CHECK(cudaGetLastError());
}

void combine_by_shifts(const Combination &c, cudaStream_t stream) {
    auto *kernel = c.w == 8    ? combine_kernel<8, uint8_t>
                   : c.w == 16 ? combine_kernel<16, uint16_t>
                               : combine_kernel<32, uint32_t>;
    kernel<<<dim3(blocks_of(c.bytes / 16), c.m, c.sets), kThreads, 0, stream>>>(c);
    GPU_CHECK(cudaGetLastError());
}

void compare(const void *a, const void *b, size_t bytes, uint64_t base, Mismatches *result,
             cudaStream_t stream) {
    compare_kernel<<<blocks_of(bytes / 16), kThreads, 0, stream>>>(
        (const uint4 *)a, (const uint4 *)b, bytes / 16, base, result);
    GPU_CHECK(cudaGetLastError());
}

void read_through(const void *p, size_t bytes, unsigned *sink, cudaStream_t stream) {
    flush_kernel<<<blocks_of(bytes / 16), kThreads, 0, stream>>>((const uint4 *)p, bytes / 16,
                                                                 sink);
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
