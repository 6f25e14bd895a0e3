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

// Which outputs the slot Expected holds; "" for none that is known.
std::string g_expected;

void *block(int index, size_t bytes) {
    Block &b = g_slots[index];
    bytes = std::max<size_t>(bytes, 256);
    if (bytes > b.bytes) {
        gpu_synchronize();
        GPU_CHECK(cudaFree(b.p));
        GPU_CHECK(cudaMalloc(&b.p, bytes));
        b.bytes = bytes;
        if (index == (int)Slot::Expected)
            g_expected.clear();
        fill_random(b.p, bytes / 32 * 32, kSlotSeed, 0, gpu().stream);
    }
    return b.p;
}

size_t cold_footprint() { // what launches must go through so that the cache holds nothing for later
    return std::max(8 * (size_t)gpu().properties.l2CacheSize, 512 * kMiB);
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
    int driver = 0, runtime = 0, ratio = 0;
    const char *no_clmad = nullptr;
    const gfk_status clmad =
        gfk_engine_available(gfk_engine_find("clmad_w8"), gpu().device, &no_clmad);
    const cudaDeviceProp &properties = gpu().properties;
    GPU_CHECK(cudaDriverGetVersion(&driver));
    GPU_CHECK(cudaRuntimeGetVersion(&runtime));
    GPU_CHECK(
        cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, gpu().device));
    Fields f = Fields("gpu", properties.name, "gpu_compute_capability",
                      std::to_string(properties.major) + "." + std::to_string(properties.minor),
                      "gpu_multiprocessors", std::to_string(properties.multiProcessorCount),
                      "gpu_double_ratio", std::to_string(ratio), "gpu_memory_bytes",
                      std::to_string(properties.totalGlobalMem), "gpu_l2_bytes",
                      std::to_string(properties.l2CacheSize), "cuda_of_driver", version(driver),
                      "cuda_runtime", version(runtime), "clmad",
                      clmad == GFK_STATUS_SUCCESS ? "built"
                      : no_clmad                  ? no_clmad
                                                  : gfk_status_description(clmad));
    f.add(nvml_facts());
    return f;
}

// ---- memory ----------------------------------------------------------------------------------
void *gpu_slot(Slot slot, size_t bytes) {
    if (slot == Slot::Expected && bytes != 0) // for other data
        g_expected.clear();
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
    g_expected.clear();
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
    block((int)Slot::Expected, output_bytes() * (size_t)sets());
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

void Layout::poison_expected(long j, long count) const {
    g_expected.clear();
    const uint64_t first_word = output_bytes() / 8 * set_of(j);
    fill_random(expected(), output_bytes() * (size_t)count, kPoisonSeed, first_word, gpu().stream);
}

void Layout::make_cold() const {
    // Too few launches to rotate through the whole footprint: read something else instead.
    if (cold && set_bytes() * (size_t)sets() < cold_footprint())
        flush_cache();
}

// ---- check -----------------------------------------------------------------------------------
Combination combination(unsigned w, const char *coefficients, size_t k, size_t m, const Strided &in,
                        const Strided &out) {
    return {coefficients,
            k * w / 8,
            in.at,
            in.stride,
            out.at,
            out.stride,
            out.bytes,
            (unsigned)k,
            (unsigned)m,
            w,
            (uint32_t)(field_of(w).polynomial ^ UINT64_C(1) << w)};
}

Checker::Checker() {
    const Mismatches none = {0, ~0ull};
    GPU_CHECK(cudaMemcpyAsync(device_object<Mismatches>(), &none, sizeof none,
                              cudaMemcpyHostToDevice, gpu().stream));
}

void Checker::check(const void *expected, const void *actual, size_t bytes, long launch,
                    long count) {
    bytes_ = bytes;
    compare(expected, actual, bytes * (size_t)count, (uint64_t)launch * bytes,
            device_object<Mismatches>(), gpu().stream);
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

// What launches `first` and behind, each of another set from set 0 on, should give.
void MatrixWork::expect(long first, long count) const {
    const size_t k = layout_.k, m = layout_.m, size = w_ / 8, bytes = k * m * size;
    // The engines of a shape are checked one after the other against the same outputs.
    const bool same = !tag().empty();
    const std::string wanted = tag() + "/" + std::to_string(w_) + "/" + shape_text({w_, k, m}) +
                               "/" + std::to_string(layout_.bytes) + "@" +
                               std::to_string(layout_.stride()) + "/" + mode_name(mode_) + "/" +
                               std::to_string(count);
    if (same && g_expected == wanted)
        return;
    layout_.poison_expected(first, count);
    g_expected = same ? wanted : "";
    std::vector<char> elements;
    for (long j = first; j < (same ? first + 1 : first + count); j++)
        for (size_t i = 0; i < k * m; i++) {
            const char *element = (const char *)&matrix(j)[i];
            elements.insert(elements.end(), element, element + size);
        }
    char *coefficients = (char *)gpu_slot(Slot::Coefficients, elements.size());
    GPU_CHECK(cudaMemcpyAsync(coefficients, elements.data(), elements.size(),
                              cudaMemcpyHostToDevice, gpu().stream));
    const size_t stride = layout_.stride();
    Combination c =
        combination(w_, coefficients, k, m, {layout_.in(0) + in_offset_, stride, 0},
                    {layout_.expected() + out_offset_, stride, length_ ? length_ : layout_.bytes});
    c.accumulate = mode_ == GFK_XOR;
    c.sets = (unsigned)count;
    c.coefficients_set = same ? 0 : bytes;
    c.in_set = stride * k;
    c.out_set = layout_.output_bytes();
    combine_by_shifts(c, gpu().stream);
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
        expect(first, end - first);
        checker.check(layout_.expected(), layout_.out(0), layout_.output_bytes(), first,
                      end - first);
    }
    return checker.verdict();
}
