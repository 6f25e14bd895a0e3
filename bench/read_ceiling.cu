// SPDX-License-Identifier: BSD-3-Clause
#include "read_ceiling.h"

#include <map>

#include "product_buffers.h"

namespace {

__device__ unsigned all_of(unsigned v) {
    return v;
}
__device__ unsigned all_of(uint2 v) {
    return v.x | v.y;
}
__device__ unsigned all_of(uint4 v) {
    return v.x | v.y | v.z | v.w;
}

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
            seen |= all_of(x[i]);
    }
    if (seen == 0)
        *sink = 1;
}

struct Variant {
    const char *name;
    void (*run)(const char *in, size_t stride, size_t bytes, unsigned regions, unsigned *sink,
                cudaStream_t stream);
};

template <class T, unsigned THREADS, unsigned DEPTH>
void run(const char *in, size_t stride, size_t bytes, unsigned regions, unsigned *sink,
         cudaStream_t stream) {
    const size_t n = bytes / sizeof(T);
    read_kernel<T, THREADS, DEPTH><<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
        in, stride, n, regions, sink);
    GPU_CHECK(cudaGetLastError());
}

#define VARIANTS(threads)                                                                          \
    {"b4_" #threads, run<unsigned, threads, 16>}, {"b8_" #threads, run<uint2, threads, 16>},       \
        {"b16_" #threads, run<uint4, threads, 8>}, {                                               \
        "b16_deep_" #threads, run<uint4, threads, 16>                                              \
    }
const Variant kVariants[] = {VARIANTS(128), VARIANTS(256), VARIANTS(512)};

Roofline measure(size_t regions, size_t bytes) {
    Roofline best;
    const ProductBuffers buffers({8, regions, 1}, bytes);
    auto *sink = (unsigned *)gpu_slot(Slot::Workspaces, 256);
    for (const Variant &variant : kVariants) {
        const Launch launch = [&](long j, cudaStream_t stream) {
            variant.run(buffers.in(j), buffers.stride(), bytes, (unsigned)regions, sink, stream);
        };
        launch(0, gpu().stream);
        const Timing timing =
            time_launches(buffers.sets(), [&] { buffers.make_cold(); }, launch, 5);
        const double gbps = (double)regions * (double)bytes / timing.median_us / 1e3;
        best.variants.push_back({variant.name, gbps});
        if (gbps > best.gbps) {
            best.gbps = gbps;
            best.best = variant.name;
            best.timing = timing;
        }
    }
    return best;
}

} // namespace

const Roofline &read_roofline(size_t regions, size_t bytes) {
    static std::map<std::pair<size_t, size_t>, Roofline> known;
    const auto key = std::make_pair(regions, bytes);
    const auto found = known.find(key);
    return found != known.end() ? found->second
                                : known.emplace(key, measure(regions, bytes)).first->second;
}
