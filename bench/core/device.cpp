// SPDX-License-Identifier: BSD-3-Clause
// Memory, graphs and their timing.
#include "device.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "host.h"
#include "kernels.h"
#include "nvml.h"

namespace {

constexpr double kReplayUs = 2000.0;    // long enough that starting a graph does not show
constexpr double kClockFraction = 0.97; // of the nominal clock, which a good replay has
constexpr double kSustainedSeconds = 2.0, kSettleSeconds = 0.25, kBatchUs = 20e3;
constexpr uint64_t kPoisonSeed = 2;

struct Block {
    void *p = nullptr;
    size_t bytes = 0;
};
Block g_slots[(int)Slot::Workspaces + 2]; // a workspace for each library
double g_lowest_mhz = 0;                  // behind any replay since it was last set to 0

void *block(int index, size_t bytes) {
    Block &b = g_slots[index];
    bytes = std::max<size_t>(bytes, 256);
    if (bytes > b.bytes) {
        gpu_synchronize();
        GPU_CHECK(cudaFree(b.p));
        GPU_CHECK(cudaMalloc(&b.p, bytes));
        b.bytes = bytes;
        fill_random(b.p, bytes / 32 * 32, kPoisonSeed, 0, gpu().stream);
    }
    return b.p;
}

// Time of one replay, and the clock right behind it.
double time_replay(cudaGraphExec_t exec, double *mhz) {
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

long round_up(long n, long step) {
    return (n + step - 1) / step * step;
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
    return error == cudaSuccess ? "there is no CUDA device" : cudaGetErrorString(error);
}

const Gpu &gpu() {
    static const Gpu instance = [] {
        Gpu g;
        cudaDeviceProp properties;
        int l2 = 0, khz = 0;
        GPU_CHECK(cudaSetDevice(g.device));
        GPU_CHECK(cudaGetDeviceProperties(&properties, g.device));
        GPU_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, g.device));
        GPU_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, g.device));
        GPU_CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
        g.name = properties.name;
        g.memory_bytes = properties.totalGlobalMem;
        g.l2_bytes = (size_t)l2;
        g.nominal_mhz = khz / 1e3;
        return g;
    }();
    return instance;
}

void gpu_synchronize() {
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
}

void describe_gpu(Fields *context) {
    const auto text = [](int version) {
        return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    int driver = 0, runtime = 0;
    cudaDeviceProp properties;
    GPU_CHECK(cudaDriverGetVersion(&driver));
    GPU_CHECK(cudaRuntimeGetVersion(&runtime));
    GPU_CHECK(cudaGetDeviceProperties(&properties, gpu().device));
    context->set("gpu", gpu().name);
    context->set("gpu_compute_capability",
                 std::to_string(properties.major) + "." + std::to_string(properties.minor));
    context->set("gpu_multiprocessors", std::to_string(properties.multiProcessorCount));
    context->set("gpu_memory_bytes", std::to_string(gpu().memory_bytes));
    context->set("gpu_l2_bytes", std::to_string(gpu().l2_bytes));
    context->set("cuda_of_driver", text(driver));
    context->set("cuda_runtime", text(runtime));
    nvml_describe(context);
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

// ---- comparison ------------------------------------------------------------------------------
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
    gpu_synchronize();
    if (m.words == 0)
        return "";
    char text[160];
    std::snprintf(text, sizeof text,
                  "wrong result: %llu words of 16 bytes differ, the first in launch %llu at byte "
                  "%llu",
                  m.words, m.first / bytes_, m.first % bytes_);
    return text;
}

// ---- graphs ----------------------------------------------------------------------------------
Graph::Graph(long n, const std::function<void(long, cudaStream_t)> &launch) {
    const cudaStream_t stream = gpu().stream;
    cudaGraph_t graph = nullptr;
    GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (long j = 0; j < n; j++)
        launch(j, stream);
    GPU_CHECK(cudaStreamEndCapture(stream, &graph));
    GPU_CHECK(cudaGraphInstantiateWithFlags(&exec_, graph, 0));
    GPU_CHECK(cudaGraphDestroy(graph));
    GPU_CHECK(cudaGraphUpload(exec_, stream));
    gpu_synchronize();
}

Graph::~Graph() {
    GPU_CHECK(cudaGraphExecDestroy(exec_));
}

double Graph::replay_us() const {
    static double last_us = 0;
    double mhz = 0;
    pause_us(std::min(4 * last_us, 40e3));
    last_us = time_replay(exec_, &mhz);
    for (int retry = 1; retry <= 5 && mhz < kClockFraction * gpu().nominal_mhz; retry++) {
        pause_us(30e3 * retry);
        last_us = time_replay(exec_, &mhz);
    }
    if (g_lowest_mhz == 0 || mhz < g_lowest_mhz)
        g_lowest_mhz = mhz;
    return last_us;
}

void Graph::start() const {
    GPU_CHECK(cudaGraphLaunch(exec_, gpu().stream));
}

// ---- passes ----------------------------------------------------------------------------------
std::unique_ptr<Graph> DeviceWork::capture(long n) const {
    return std::make_unique<Graph>(n, [this](long j, cudaStream_t s) { launch(j, s); });
}

void DeviceWork::warm_up() {
    if (!followed_) { // how many launches take long enough: whole rounds of the buffers
        begin(0, sets());
        const auto graph = capture(sets());
        make_cold();
        graph->replay_us();
        make_cold();
        const double us = graph->replay_us() / (double)sets();
        launches_ = round_up((long)std::ceil(kReplayUs / std::max(us, 0.1)), sets());
    }
    begin(0, launches_);
    graph_ = capture(launches_);
    make_cold();
    graph_->replay_us();
    lowest_mhz_ = 0;
}

void DeviceWork::follow(const Work &other) {
    launches_ = static_cast<const DeviceWork &>(other).launches_;
    followed_ = true;
}

double DeviceWork::pass(long number) {
    if (begin(number, launches_))
        graph_ = capture(launches_);
    make_cold();
    g_lowest_mhz = 0;
    const double us = graph_->replay_us() / (double)launches_;
    if (lowest_mhz_ == 0 || g_lowest_mhz < lowest_mhz_)
        lowest_mhz_ = g_lowest_mhz;
    return us;
}

void DeviceWork::describe(Fields *fields) const {
    fields->set("launches_per_replay", launches_);
    fields->set("sm_MHz", lowest_mhz_);
    fields->set_true("slow_clock", lowest_mhz_ < kClockFraction * gpu().nominal_mhz);
}

// Two batches of replays are always under way. The rate counts from when the clock has settled. The
// energy counter moves in steps, so its mean is taken between two of them.
Sustained DeviceWork::sustain() {
    const long n = round_up(std::max(launches_, round()), sets());
    begin(-1, n);
    const auto graph = capture(n);
    const double graph_us = std::max(graph->replay_us(), 1.0);
    const int batch = (int)std::ceil(kBatchUs / graph_us);
    cudaEvent_t done[2];
    for (cudaEvent_t &event : done)
        GPU_CHECK(cudaEventCreate(&event));
    const auto start = [&](long number) {
        for (int i = 0; i < batch; i++)
            graph->start();
        GPU_CHECK(cudaEventRecord(done[number % 2], gpu().stream));
    };
    const Stopwatch watch;
    double settled_at = 0, now = 0;
    long settled = -1, number = 0;
    PowerMeter meter;
    start(0);
    while (now < kSustainedSeconds) {
        start(number + 1);
        GPU_CHECK(cudaEventSynchronize(done[number % 2]));
        now = watch.seconds();
        if (settled >= 0) {
            meter.sample(now);
        } else if (now >= kSettleSeconds) {
            settled = number;
            settled_at = now;
        }
        number++;
    }
    gpu_synchronize();
    for (cudaEvent_t event : done)
        GPU_CHECK(cudaEventDestroy(event));
    Sustained s;
    s.launch_us = 1e6 * (now - settled_at) / ((double)(number - 1 - settled) * batch * (double)n);
    s.sm_mhz = meter.sm_mhz();
    s.watts = meter.watts();
    return s;
}

Times time_work(DeviceWork *work, int passes) {
    std::vector<double> us;
    work->warm_up();
    for (int i = 0; i < passes; i++)
        us.push_back(work->pass(i));
    return times_of(us);
}
