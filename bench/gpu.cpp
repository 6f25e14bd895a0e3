// SPDX-License-Identifier: BSD-3-Clause
// Memory, rotating buffers, graphs and their timing.
#include "gpu.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "device_kernels.h"

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kStride = 512;      // regions start at multiples of this
constexpr long kMaxSets = 4096;      // and so no graph gets much larger
constexpr double kReplayUs = 2000.0; // long enough that starting a graph does not show
constexpr uint64_t kSourceSeed = 1, kPoisonSeed = 2;

struct Block {
    void *p = nullptr;
    size_t bytes = 0;

    bool grow(size_t wanted) {
        if (wanted <= bytes)
            return false;
        GPU_CHECK(cudaStreamSynchronize(gpu().stream));
        GPU_CHECK(cudaFree(p));
        GPU_CHECK(cudaMalloc(&p, wanted));
        bytes = wanted;
        return true;
    }
};
Block g_src, g_dst, g_scratch, g_slots[6];
Block *const g_blocks[] = {&g_src,      &g_dst,      &g_scratch,  &g_slots[0], &g_slots[1],
                           &g_slots[2], &g_slots[3], &g_slots[4], &g_slots[5]};

size_t round_up(size_t x, size_t step) {
    return (x + step - 1) / step * step;
}

long sets_for(size_t stride, bool cold) {
    if (!cold)
        return 1;
    const size_t wanted = (cold_footprint() + 2 * stride - 1) / (2 * stride);
    return (long)std::min<size_t>(std::max<size_t>(wanted, 2), kMaxSets);
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

bool gpu_present(std::string *reason) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return true;
    (void)cudaGetLastError();
    *reason = error == cudaSuccess ? "there is no CUDA device" : cudaGetErrorString(error);
    return false;
}

const Gpu &gpu() {
    static const Gpu instance = [] {
        Gpu g;
        cudaDeviceProp properties;
        int l2 = 0;
        GPU_CHECK(cudaSetDevice(g.device));
        GPU_CHECK(cudaGetDeviceProperties(&properties, g.device));
        GPU_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, g.device));
        GPU_CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
        g.name = properties.name;
        g.memory_bytes = properties.totalGlobalMem;
        g.l2_bytes = (size_t)l2;
        return g;
    }();
    return instance;
}

// ---- graphs ------------------------------------------------------------------------------------
Graph::Graph(long n, const Launch &launch) : n_(n) {
    const cudaStream_t stream = gpu().stream;
    cudaGraph_t graph = nullptr;
    GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (long j = 0; j < n; j++)
        launch(j, stream);
    GPU_CHECK(cudaStreamEndCapture(stream, &graph));
    GPU_CHECK(cudaGraphInstantiateWithFlags(&exec_, graph, 0));
    GPU_CHECK(cudaGraphDestroy(graph));
    GPU_CHECK(cudaGraphUpload(exec_, stream));
    GPU_CHECK(cudaStreamSynchronize(stream));
}

Graph::~Graph() {
    GPU_CHECK(cudaGraphExecDestroy(exec_));
}

namespace {

double g_lowest_clock = 0;

// Time of one replay, and the clock right behind it.
double replay_once(cudaGraphExec_t exec, double *mhz) {
    static cudaEvent_t start = nullptr, stop = nullptr;
    static ClockCount *count = nullptr;
    if (start == nullptr) {
        GPU_CHECK(cudaEventCreate(&start));
        GPU_CHECK(cudaEventCreate(&stop));
        GPU_CHECK(cudaMalloc((void **)&count, sizeof *count));
    }
    const cudaStream_t stream = gpu().stream;
    float ms = 0;
    ClockCount counted;
    GPU_CHECK(cudaEventRecord(start, stream));
    GPU_CHECK(cudaGraphLaunch(exec, stream));
    GPU_CHECK(cudaEventRecord(stop, stream));
    count_clock(count, stream);
    GPU_CHECK(cudaMemcpyAsync(&counted, count, sizeof counted, cudaMemcpyDeviceToHost, stream));
    GPU_CHECK(cudaStreamSynchronize(stream));
    GPU_CHECK(cudaEventElapsedTime(&ms, start, stop));
    *mhz = 1e3 * (double)counted.cycles / (double)counted.nanoseconds;
    return 1000.0 * ms;
}

void pause_us(double us) {
    std::this_thread::sleep_for(std::chrono::microseconds((long)us));
}

} // namespace

double Graph::replay_us() const {
    static double last_us = 0;
    double mhz = 0;
    pause_us(std::min(4 * last_us, 40e3));
    last_us = replay_once(exec_, &mhz);
    for (int retry = 1; retry <= 5 && mhz < kClockFraction * nominal_clock_mhz(); retry++) {
        pause_us(30e3 * retry);
        last_us = replay_once(exec_, &mhz);
    }
    if (g_lowest_clock == 0 || mhz < g_lowest_clock)
        g_lowest_clock = mhz;
    return last_us;
}

double lowest_clock_mhz() {
    return std::exchange(g_lowest_clock, 0.0);
}

double nominal_clock_mhz() {
    static const double mhz = [] {
        int khz = 0;
        GPU_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, gpu().device));
        return khz / 1e3;
    }();
    return mhz;
}

// ---- buffers -----------------------------------------------------------------------------------
Rotation::Rotation(size_t bytes, bool cold)
    : bytes_(bytes), stride_(round_up(bytes, kStride)), sets_(sets_for(stride_, cold)),
      cold_(cold) {
    const size_t all = stride_ * (size_t)sets_;
    if (g_src.grow(all))
        fill_random(g_src.p, all, kSourceSeed, 0, gpu().stream);
    g_dst.grow(all);
    g_scratch.grow(stride_);
}

const void *Rotation::src(long j) const {
    return (const char *)g_src.p + stride_ * (size_t)(j % sets_);
}

void *Rotation::dst(long j) const {
    return (char *)g_dst.p + stride_ * (size_t)(j % sets_);
}

void *Rotation::scratch() const {
    return g_scratch.p;
}

void Rotation::poison() const {
    fill_random(g_dst.p, stride_ * (size_t)sets_, kPoisonSeed, 0, gpu().stream);
}

void Rotation::poison_scratch(long j) const {
    const uint64_t first_word = stride_ / 8 * (size_t)(j % sets_);
    fill_random(g_scratch.p, stride_, kPoisonSeed, first_word, gpu().stream);
}

void Rotation::make_cold() const {
    // Too few launches to rotate through the whole footprint: read something else instead.
    if (cold_ && 2 * stride_ * (size_t)sets_ < cold_footprint())
        flush_cache();
}

size_t cold_footprint() {
    return std::max(8 * gpu().l2_bytes, 512 * kMiB);
}

// Reading leaves no dirty lines, whose write-back the next launches would pay for.
void flush_cache() {
    static unsigned *sink = nullptr;
    if (sink == nullptr)
        GPU_CHECK(cudaMalloc((void **)&sink, sizeof *sink));
    read_through(gpu_slot(Slot::Flush, cold_footprint()), cold_footprint(), sink, gpu().stream);
}

size_t Rotation::memory_needed(size_t bytes, bool cold) {
    const size_t stride = round_up(bytes, kStride);
    return stride * (2 * (size_t)sets_for(stride, cold) + 1);
}

size_t gpu_memory_budget() {
    size_t free_bytes = 0, total = 0;
    GPU_CHECK(cudaMemGetInfo(&free_bytes, &total));
    for (const Block *block : g_blocks)
        free_bytes += block->bytes; // these will be freed before they grow
    return free_bytes - std::min(free_bytes, std::max(total / 32, cold_footprint()));
}

void gpu_release() {
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
    for (Block *block : g_blocks) {
        GPU_CHECK(cudaFree(block->p));
        *block = Block();
    }
}

void *gpu_slot(Slot slot, size_t bytes) {
    Block &block = g_slots[(int)slot];
    if (block.grow(std::max<size_t>(bytes, 256)))
        fill_random(block.p, block.bytes / 32 * 32, kPoisonSeed, 0, gpu().stream);
    return block.p;
}

// ---- comparison --------------------------------------------------------------------------------
Checker::Checker() {
    static Mismatches *result = nullptr;
    if (result == nullptr)
        GPU_CHECK(cudaMalloc((void **)&result, sizeof *result));
    result_ = result;
    const Mismatches none = {0, ~0ull};
    GPU_CHECK(cudaMemcpyAsync(result_, &none, sizeof none, cudaMemcpyHostToDevice, gpu().stream));
}

void Checker::check(const void *expected, const void *actual, size_t bytes, long launch) {
    bytes_ = bytes;
    compare(expected, actual, bytes, (uint64_t)launch * bytes, result_, gpu().stream);
}

std::string Checker::verdict() const {
    Mismatches m;
    GPU_CHECK(cudaMemcpyAsync(&m, result_, sizeof m, cudaMemcpyDeviceToHost, gpu().stream));
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
    if (m.words == 0)
        return "";
    char text[160];
    std::snprintf(text, sizeof text,
                  "wrong result: %llu words of 16 bytes differ, the first in launch %llu at byte "
                  "%llu",
                  m.words, m.first / bytes_, m.first % bytes_);
    return text;
}

// ---- timing ------------------------------------------------------------------------------------
Timing timing_of(std::vector<double> replay_us, long launches) {
    std::sort(replay_us.begin(), replay_us.end());
    const size_t n = replay_us.size();
    Timing t;
    t.launches = launches;
    t.replays = (int)n;
    t.median_us = (replay_us[(n - 1) / 2] + replay_us[n / 2]) / 2 / (double)launches;
    t.min_us = replay_us.front() / (double)launches;
    t.max_us = replay_us.back() / (double)launches;
    return t;
}

long launches_for(long sets, double launch_us, long at_least) {
    const double needed = std::ceil(kReplayUs / std::max(launch_us, 0.1));
    const long n = std::max(at_least, (long)needed);
    return (n + sets - 1) / sets * sets;
}

Timing time_launches(long sets, const std::function<void()> &make_cold, const Launch &launch,
                     int replays) {
    auto graph = std::make_unique<Graph>(sets, launch);
    make_cold();
    graph->replay_us();
    make_cold();
    const double launch_us = graph->replay_us() / (double)sets;
    const long n = launches_for(sets, launch_us, 1);
    if (n != sets)
        graph = std::make_unique<Graph>(n, launch);
    std::vector<double> us;
    for (int i = 0; i <= replays; i++) {
        make_cold();
        const double t = graph->replay_us();
        if (i > 0) // the first one warms up
            us.push_back(t);
    }
    return timing_of(us, n);
}

Timing time_launches(const Rotation &rotation, const Launch &launch, int replays) {
    return time_launches(rotation.sets(), [&] { rotation.make_cold(); }, launch, replays);
}
