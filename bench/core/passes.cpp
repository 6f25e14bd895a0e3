// SPDX-License-Identifier: BSD-3-Clause
// Graphs of launches and their timing.
#include <algorithm>
#include <cmath>

#include "device.h"

namespace {

constexpr double kReplayUs = 2000.0;     // long enough that starting a graph does not show
constexpr double kClockFraction = 0.97;  // of the nominal clock, which a good replay has
constexpr double kFullClock = 0.995;     // the next lower clock is less than this
constexpr double kLongestBurstUs = 20e3; // then the power limit lowers the clock of most kernels
constexpr double kShortPause = 1, kLongPause = 4; // in lengths of the replay before
constexpr double kSettleSeconds = 0.25, kBatchUs = 20e3;

int g_most_retries = 5;
double g_pause = kShortPause; // long once a replay of the row was too slow
double g_lowest_mhz = 0;      // behind any replay since it was last set to 0

// Time of one replay, and the clock right behind it.
double time_replay(cudaGraphExec_t exec, double *mhz) {
    static cudaEvent_t start = nullptr, stop = nullptr;
    if (start == nullptr) {
        GPU_CHECK(cudaEventCreate(&start));
        GPU_CHECK(cudaEventCreate(&stop));
    }
    auto *count = device_object<ClockCount>();
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

void take_any_clock() {
    g_most_retries = 0;
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
    pause_us(last_us > kLongestBurstUs ? 40e3 : std::min(g_pause * last_us, 40e3));
    last_us = time_replay(exec_, &mhz);
    if (mhz < kFullClock * gpu().nominal_mhz)
        g_pause = kLongPause;
    const int retries = last_us > kLongestBurstUs ? 0 : g_most_retries;
    for (int retry = 1; retry <= retries && mhz < kClockFraction * gpu().nominal_mhz; retry++) {
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

gfk_status DeviceWork::start() {
    launch(0, gpu().stream);
    gpu_synchronize();
    return GFK_STATUS_SUCCESS;
}

void DeviceWork::warm_up() {
    g_pause = kShortPause;
    if (!followed_) { // how many launches take long enough: whole rounds of the buffers
        begin(0, sets());
        graph_ = capture(sets());
        make_cold();
        const double us = graph_->replay_us() / (double)sets();
        launches_ = round_up((long)std::ceil(kReplayUs / std::max(us, 0.1)), sets());
    }
    if (followed_ || launches_ != sets()) {
        begin(0, launches_);
        graph_ = capture(launches_);
    }
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
    facts.add("sm_MHz", lowest_mhz_, "slow_clock",
              when(lowest_mhz_ < kClockFraction * gpu().nominal_mhz, true));
    return us;
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
    while (now < sustained_seconds_) {
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
    const double launches = (double)(number - 1 - settled) * batch * (double)n;
    return {1e6 * (now - settled_at) / launches, meter.sm_mhz(), meter.watts()};
}

Times time_work(DeviceWork *work, int passes) {
    std::vector<double> us;
    work->warm_up();
    for (int i = 0; i < passes; i++)
        us.push_back(work->pass(i));
    return times_of(us);
}
