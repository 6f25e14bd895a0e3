// SPDX-License-Identifier: BSD-3-Clause
// pipeline_ceilings.h, with nothing of the library's pipeline.
#include "pipeline_ceilings.h"

#include <algorithm>
#include <chrono>

#include <gfk/gfk.h>

#include "gpu.h"
#include "multipliers.h"

namespace {

constexpr size_t kChunk = size_t{64} << 20; // all regions together
constexpr size_t kKernelData = size_t{1} << 30;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// One device's streams, one per direction, and a place that the copies go to and come from.
struct Lane {
    int device;
    cudaStream_t in = nullptr, out = nullptr;
    unsigned char *memory = nullptr;

    explicit Lane(int number) : device(number) {
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
        for (const unsigned char *region : mix.in) {
            GPU_CHECK(cudaMemcpyAsync(there, region + at, length, cudaMemcpyHostToDevice, in));
            there += length;
        }
        for (unsigned char *region : mix.out) {
            GPU_CHECK(cudaMemcpyAsync(region + at, there, length, cudaMemcpyDeviceToHost, out));
            there += length;
        }
    }
    void wait() const {
        GPU_CHECK(cudaSetDevice(device));
        GPU_CHECK(cudaStreamSynchronize(in));
        GPU_CHECK(cudaStreamSynchronize(out));
    }
};

size_t piece_of(const Mix &mix) {
    const size_t piece = kChunk / (mix.in.size() + mix.out.size()) / 512 * 512;
    return std::min(std::max(piece, size_t{512}), mix.bytes);
}

} // namespace

int bus_devices() {
    std::string reason;
    int count = 0;
    return gpu_present(&reason) && cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

double transfer_seconds(const Mix &mix, int devices) {
    const size_t piece = piece_of(mix);
    std::vector<Lane> lanes;
    for (int i = 0; i < devices; i++)
        lanes.emplace_back(devices == 1 ? gpu().device : i);
    const auto start = Clock::now();
    for (size_t at = 0, n = 0; at < mix.bytes; at += piece, n++)
        lanes[n % lanes.size()].copy(mix, at, std::min(piece, mix.bytes - at));
    for (const Lane &lane : lanes)
        lane.wait();
    const double seconds = seconds_since(start);
    for (Lane &lane : lanes)
        lane.free();
    GPU_CHECK(cudaSetDevice(gpu().device));
    return seconds;
}

double plain_copy_seconds(const Mix &mix) {
    unsigned char *memory = (unsigned char *)gpu_slot(Slot::Inputs, kChunk);
    const auto start = Clock::now();
    for (const unsigned char *region : mix.in)
        for (size_t at = 0; at < mix.bytes; at += kChunk)
            GPU_CHECK(cudaMemcpy(memory, region + at, std::min(kChunk, mix.bytes - at),
                                 cudaMemcpyHostToDevice));
    for (unsigned char *region : mix.out)
        for (size_t at = 0; at < mix.bytes; at += kChunk)
            GPU_CHECK(cudaMemcpy(region + at, memory, std::min(kChunk, mix.bytes - at),
                                 cudaMemcpyDeviceToHost));
    return seconds_since(start);
}

double kernel_rate(const Shape &shape, const std::vector<uint32_t> &matrix) {
    const size_t bytes = kKernelData / shape.k / 512 * 512;
    gfk_field field;
    gfk_product_t product = nullptr;
    gfk_product_info info;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    gfk_check(gfk_product_create(&product, &field, shape.m, shape.k, matrix.data(), nullptr),
              "gfk_product_create");
    gfk_check(gfk_product_get_info(product, &info), "gfk_product_get_info");
    const gfk_regions in = {nullptr, gpu_slot(Slot::Inputs, shape.k * bytes), bytes};
    const gfk_regions out = {nullptr, gpu_slot(Slot::Outputs, shape.m * bytes), bytes};
    void *workspace =
        info.workspace_bytes ? gpu_slot(Slot::Workspaces, (size_t)info.workspace_bytes) : nullptr;
    const Launch launch = [&](long, cudaStream_t stream) {
        gfk_check(gfk_product_run(product, &in, &out, bytes, GFK_SET, workspace,
                                  (size_t)info.workspace_bytes, stream),
                  "gfk_product_run");
    };
    launch(0, gpu().stream);
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
    const Timing timing = time_launches(1, [] {}, launch, 5);
    gfk_product_destroy(product);
    return 1e6 * (double)(shape.k * bytes) / timing.median_us;
}
