// SPDX-License-Identifier: BSD-3-Clause
// What bounds calls on host memory: the bus and plain copies, with nothing of the library's
// pipeline.
#include <algorithm>

#include "core/device.h"
#include "cpu.h"

namespace {

constexpr size_t kChunk = 64 * kMiB; // all regions together

// How many regions from `first` on lie one behind the other, so that one copy takes all.
size_t spaced(const Regions &regions, size_t first, size_t bytes) {
    size_t end = first + 1;
    while (end < regions.size() && regions[end] == regions[end - 1] + bytes)
        end++;
    return end - first;
}

// One device's streams, one per direction, and a place that the copies go to and come from.
struct Bus {
    int device;
    cudaStream_t in = nullptr, out = nullptr;
    unsigned char *memory = nullptr;

    explicit Bus(int number) : device(number) {
        GPU_CHECK(cudaSetDevice(device));
        GPU_CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
        GPU_CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
        GPU_CHECK(cudaMalloc((void **)&memory, 2 * kChunk));
    }
    void free() {
        GPU_CHECK(cudaSetDevice(device));
        GPU_CHECK(cudaFree(memory));
        GPU_CHECK(cudaStreamDestroy(in));
        GPU_CHECK(cudaStreamDestroy(out));
    }
    void copy(const Mix &mix, size_t at, size_t length) const {
        GPU_CHECK(cudaSetDevice(device));
        unsigned char *there = memory;
        for (size_t i = 0, n; i < mix.in.size(); i += n, there += n * length) {
            n = spaced(mix.in, i, mix.bytes);
            GPU_CHECK(cudaMemcpy2DAsync(there, length, mix.in[i] + at, mix.bytes, length, n,
                                        cudaMemcpyHostToDevice, in));
        }
        for (size_t i = 0, n; i < mix.out.size(); i += n, there += n * length) {
            n = spaced(mix.out, i, mix.bytes);
            GPU_CHECK(cudaMemcpy2DAsync(mix.out[i] + at, mix.bytes, there, length, length, n,
                                        cudaMemcpyDeviceToHost, out));
        }
    }
    void wait() const {
        GPU_CHECK(cudaSetDevice(device));
        GPU_CHECK(cudaStreamSynchronize(in));
        GPU_CHECK(cudaStreamSynchronize(out));
    }
};

} // namespace

int bus_devices() {
    int count = 0;
    return gpu_missing().empty() && cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

double transfer_seconds(const Mix &mix, int devices) {
    const size_t fitting = kChunk / (mix.in.size() + mix.out.size()) / 512 * 512;
    const size_t length = std::min(std::max(fitting, size_t{512}), mix.bytes);
    std::vector<Bus> buses;
    for (int i = 0; i < devices; i++)
        buses.emplace_back(devices == 1 ? gpu().device : i);
    const Stopwatch watch;
    for (size_t at = 0, n = 0; at < mix.bytes; at += length, n++)
        buses[n % buses.size()].copy(mix, at, std::min(length, mix.bytes - at));
    for (const Bus &bus : buses)
        bus.wait();
    const double seconds = watch.seconds();
    for (Bus &bus : buses)
        bus.free();
    GPU_CHECK(cudaSetDevice(gpu().device));
    return seconds;
}

double plain_copy_seconds(const Mix &mix) {
    auto *memory = (unsigned char *)gpu_slot(Slot::Inputs, kChunk);
    const Stopwatch watch;
    for (const unsigned char *region : mix.in)
        for (size_t at = 0; at < mix.bytes; at += kChunk)
            GPU_CHECK(cudaMemcpy(memory, region + at, std::min(kChunk, mix.bytes - at),
                                 cudaMemcpyHostToDevice));
    for (unsigned char *region : mix.out)
        for (size_t at = 0; at < mix.bytes; at += kChunk)
            GPU_CHECK(cudaMemcpy(region + at, memory, std::min(kChunk, mix.bytes - at),
                                 cudaMemcpyDeviceToHost));
    return watch.seconds();
}
