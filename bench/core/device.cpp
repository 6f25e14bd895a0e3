// SPDX-License-Identifier: BSD-3-Clause
// The device, its memory, buffers, and the check of outputs.
#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr uint64_t kSlotSeed = 2, kInputSeed = 3, kPoisonSeed = 4;
constexpr size_t kGap = 8192, kAlignment = 512;
constexpr long kMaxSets = 4096; // and so no graph gets much larger

struct Block {
    void *p = nullptr;
    size_t bytes = 0;
};
Block g_slots[(int)Slot::Workspaces + 2]; // a workspace for each library

void *block(int index, size_t bytes) {
    Block &b = g_slots[index];
    bytes = std::max<size_t>(bytes, 256);
    if (bytes > b.bytes) {
        gpu_synchronize();
        GPU_CHECK(cudaFree(b.p));
        GPU_CHECK(cudaMalloc(&b.p, bytes));
        b.bytes = bytes;
        fill_random(b.p, bytes / 32 * 32, kSlotSeed, 0, gpu().stream);
    }
    return b.p;
}

size_t cold_footprint() { // what launches must go through so that the cache holds nothing for later
    return std::max(8 * (size_t)gpu().properties.l2CacheSize, 512 * kMiB);
}

// Which outputs the slot Expected holds; "" for none that is known.
std::string &expected_now() {
    static std::string now;
    return now;
}

} // namespace

void gpu_check(cudaError_t error, const char *call, const char *file, int line) {
    if (error == cudaSuccess)
        return;
    std::fflush(stdout);
    std::fprintf(stderr, "gfk_bench: %s:%d: %s: %s (%s)\n", file, line, call,
                 cudaGetErrorName(error), cudaGetErrorString(error));
    std::_Exit(3); // without destructors: they would call CUDA again
}

std::string gpu_missing() {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return "";
    (void)cudaGetLastError();
    int driver = 0; // 0: there is none, which cudaGetDeviceCount calls an insufficient version
    (void)cudaDriverGetVersion(&driver);
    return error == cudaSuccess || error == cudaErrorNoDevice || driver == 0
               ? "there is no GPU here"
               : cudaGetErrorString(error);
}

const Gpu &gpu() {
    static const Gpu instance = [] {
        Gpu g;
        int khz = 0;
        GPU_CHECK(cudaSetDevice(g.device));
        GPU_CHECK(cudaGetDeviceProperties(&g.properties, g.device));
        GPU_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, g.device));
        GPU_CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
        g.nominal_mhz = khz / 1e3;
        return g;
    }();
    return instance;
}

void gpu_synchronize() {
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
}

Fields describe_gpu() {
    const auto version = [](int number) {
        return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    int driver = 0, runtime = 0;
    const cudaDeviceProp &properties = gpu().properties;
    GPU_CHECK(cudaDriverGetVersion(&driver));
    GPU_CHECK(cudaRuntimeGetVersion(&runtime));
    Fields f = Fields("gpu", properties.name, "gpu_compute_capability",
                      std::to_string(properties.major) + "." + std::to_string(properties.minor),
                      "gpu_multiprocessors", std::to_string(properties.multiProcessorCount),
                      "gpu_memory_bytes", std::to_string(properties.totalGlobalMem), "gpu_l2_bytes",
                      std::to_string(properties.l2CacheSize), "cuda_of_driver", version(driver),
                      "cuda_runtime", version(runtime));
    f.add(nvml_facts());
    return f;
}

// ---- memory ----------------------------------------------------------------------------------
void *gpu_slot(Slot slot, size_t bytes) {
    return block((int)slot, bytes);
}

void *gpu_workspace(const Library &library, size_t bytes) {
    return block((int)Slot::Workspaces + (int)library.number, bytes);
}

size_t gpu_memory_budget() {
    size_t free_bytes = 0, total = 0;
    GPU_CHECK(cudaMemGetInfo(&free_bytes, &total));
    for (const Block &b : g_slots)
        free_bytes += b.bytes; // these will be freed before they grow
    return free_bytes - std::min(free_bytes, std::max(total / 32, cold_footprint()));
}

void gpu_release() {
    gpu_synchronize();
    for (Block &b : g_slots) {
        GPU_CHECK(cudaFree(b.p));
        b = Block();
    }
}

std::string too_little_memory(size_t bytes) {
    return bytes <= gpu_memory_budget()
               ? ""
               : "the device has too little memory: needs " + std::to_string(bytes >> 30) + " GiB";
}

// Reading leaves no dirty lines, whose write-back the next launches would pay for.
void flush_cache() {
    auto *sink = device_object<unsigned>();
    read_through(gpu_slot(Slot::Flush, cold_footprint()), cold_footprint(), sink, gpu().stream);
}

size_t Layout::stride() const {
    return gaps ? bytes + kGap : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

long Layout::sets() const {
    if (!cold)
        return 1;
    const size_t least = gaps ? 1 : 2;
    const size_t wanted = std::max((cold_footprint() + set_bytes() - 1) / set_bytes(), least);
    return (long)std::min<size_t>(wanted, kMaxSets);
}

void Layout::allocate() const {
    const size_t inputs = stride() * k * (size_t)sets();
    fill_random(gpu_slot(Slot::Inputs, inputs), inputs / 32 * 32, kInputSeed, 0, gpu().stream);
    gpu_slot(Slot::Outputs, output_bytes() * (size_t)sets());
    static const void *place = nullptr;
    if (gpu_slot(Slot::Expected, output_bytes()) != place) { // the slot has moved
        place = gpu_slot(Slot::Expected, 0);
        expected_now().clear();
    }
}

char *Layout::in(long j, size_t i) const {
    return (char *)gpu_slot(Slot::Inputs, 0) + stride() * (k * set_of(j) + i);
}

char *Layout::out(long j, size_t i) const {
    return (char *)gpu_slot(Slot::Outputs, 0) + stride() * (m * set_of(j) + i);
}

char *Layout::expected(size_t i) const {
    return (char *)gpu_slot(Slot::Expected, 0) + stride() * i;
}

void Layout::poison_outputs() const {
    fill_random(out(0), output_bytes() * (size_t)sets(), kPoisonSeed, 0, gpu().stream);
}

void Layout::poison_expected(long j) const {
    expected_now().clear();
    const uint64_t first_word = output_bytes() / 8 * set_of(j);
    fill_random(expected(), output_bytes(), kPoisonSeed, first_word, gpu().stream);
}

void Layout::make_cold() const {
    // Too few launches to rotate through the whole footprint: read something else instead.
    if (cold && set_bytes() * (size_t)sets() < cold_footprint())
        flush_cache();
}

// ---- check -----------------------------------------------------------------------------------
Checker::Checker() {
    const Mismatches none = {0, ~0ull};
    GPU_CHECK(cudaMemcpyAsync(device_object<Mismatches>(), &none, sizeof none,
                              cudaMemcpyHostToDevice, gpu().stream));
}

void Checker::check(const void *expected, const void *actual, size_t bytes, long launch) {
    bytes_ = bytes;
    compare(expected, actual, bytes, (uint64_t)launch * bytes, device_object<Mismatches>(),
            gpu().stream);
}

std::string Checker::verdict() const {
    Mismatches m;
    GPU_CHECK(cudaMemcpyAsync(&m, device_object<Mismatches>(), sizeof m, cudaMemcpyDeviceToHost,
                              gpu().stream));
    gpu_synchronize();
    if (m.words == 0)
        return "";
    return "wrong result: " + std::to_string(m.words) +
           " words of 16 bytes differ, the first in launch " + std::to_string(m.first / bytes_) +
           " at byte " + std::to_string(m.first % bytes_);
}

void MatrixWork::expect(long j) const {
    // The engines of a shape are checked one after the other against the same outputs.
    std::string wanted = tag();
    if (!wanted.empty())
        wanted += "/" + std::to_string(w_) + "/" + shape_text({w_, layout_.k, layout_.m}) + "/" +
                  std::to_string(layout_.bytes) + "@" + std::to_string(layout_.stride()) + "/" +
                  mode_name(mode_) + "/" + std::to_string(j % sets());
    if (!wanted.empty() && expected_now() == wanted)
        return;
    layout_.poison_expected(j);
    expected_now() = wanted;
    const Multiplier &m = multiplier_of(linked_library(), reference_of(w_, true));
    gfk_check(m.status, "the reference row");
    void *workspace = gpu_slot(Slot::ReferenceWorkspace, m.workspace_bytes);
    const uint32_t *elements = matrix(j);
    const size_t length = length_ ? length_ : layout_.bytes;
    for (size_t row = 0; row < layout_.m; row++) {
        gfk_accumulate mode = mode_;
        for (size_t i = 0; i < layout_.k; i++) {
            const uint32_t c = elements[row * layout_.k + i];
            if (c == 0 && (mode == GFK_XOR || i + 1 < layout_.k))
                continue;
            gfk_check(gfk_region_multiply(m.handle, c, layout_.in(j, i) + in_offset_,
                                          layout_.expected(row) + out_offset_, length, mode,
                                          workspace, m.workspace_bytes, gpu().stream),
                      "the reference row");
            mode = GFK_XOR;
        }
    }
}

// Before: launches over poisoned outputs, as many rounds of the sets as it takes. Behind: what the
// last launches of the replays left, where that can be known.
std::string MatrixWork::check(bool after) {
    if (after && mode_ != GFK_SET)
        return "";
    Checker checker;
    const long last = after ? launches() : checked();
    for (long first = after ? last - sets() : 0; first < last; first += sets()) {
        const long end = std::min(last, first + sets());
        if (!after) {
            layout_.poison_outputs();
            for (long j = first; j < end; j++)
                launch(j, gpu().stream);
        }
        for (long j = first; j < end; j++) {
            expect(j);
            checker.check(layout_.expected(), layout_.out(j), layout_.output_bytes(), j);
        }
    }
    return checker.verdict();
}
