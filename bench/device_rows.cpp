// SPDX-License-Identifier: BSD-3-Clause
// Registers the CUDA rows and times them: graphs of launches over rotating buffers and constants.
#include "device_rows.h"

#include <algorithm>
#include <memory>

#include <benchmark/benchmark.h>

#include "device_kernels.h"
#include "device_row.h"
#include "giant.h"
#include "host_time.h"
#include "reporter.h"
#include "results.h"
#include "roofline.h"

namespace {

constexpr int kReplays = 9;

// Launches that go through the constants in turn, from the constant `first` on.
Launch in_turn(const DeviceRow &row, long first) {
    return [&row, first](long j, cudaStream_t stream) {
        row.launch(j, (size_t)(first + j) % row.constant_count(), stream);
    };
}

// Time of one launch, roughly: from a graph as long as the rotation.
double estimate_us(const DeviceRow &row) {
    const Graph graph(row.rotation().sets(), in_turn(row, 0));
    graph.replay_us();
    return graph.replay_us() / (double)graph.launches();
}

// Short replays keep the card below its power limit, so where a replay has fewer launches than
// there are constants each replay takes the next ones. Returns the first constant of the last
// replay.
long time_in_turn(benchmark::State &state, const DeviceRow &row, long n, Result *result) {
    const long step = n < (long)row.constant_count() ? n : 0;
    std::unique_ptr<Graph> graph;
    std::vector<double> us;
    long first = 0;
    for (auto _ : state) {
        first = step * (long)us.size();
        const bool warm = graph != nullptr;
        if (step != 0 || !warm)
            graph = std::make_unique<Graph>(n, in_turn(row, first));
        row.rotation().make_cold();
        if (!warm) {
            graph->replay_us();
            row.rotation().make_cold();
        }
        us.push_back(graph->replay_us() / (double)n);
        state.SetIterationTime(us.back() * 1e-6);
    }
    set_times(result, us);
    result->launches = n;
    return first;
}

// Every constant on its own: one iteration is one constant and one replay.
void time_each(benchmark::State &state, const DeviceRow &row, long n, Result *result) {
    std::vector<double> us;
    for (auto _ : state) {
        const size_t constant = us.size() % row.constant_count();
        const Graph graph(n, [&](long j, cudaStream_t stream) { row.launch(j, constant, stream); });
        row.rotation().make_cold();
        if (us.empty())
            graph.replay_us(); // warms up
        us.push_back(graph.replay_us() / (double)n);
        state.SetIterationTime(us.back() * 1e-6);
    }
    set_times(result, us);
    result->launches = n;
    double sum = 0;
    for (double t : us)
        sum += t;
    const double bytes = (double)result->bytes / 1e3;
    result->extra.push_back({"best_constant_GBps", bytes / result->min_us});
    result->extra.push_back({"mean_constant_GBps", bytes * (double)us.size() / sum});
    result->extra.push_back({"worst_constant_GBps", bytes / result->max_us});
}

Result result_of(const Row &row) {
    Result r = result_of(row.kernel);
    r.name = row.name();
    r.bytes = row.bytes;
    r.accumulate = row.mode == GFK_XOR;
    r.cold = row.cold;
    return r;
}

void run_row(benchmark::State &state, const Row &row, uint64_t seed) {
    progress(row.name());
    Result result = result_of(row);
    if (Rotation::memory_needed(row.bytes, row.cold) > gpu_memory_budget())
        return publish_skip(state, result, "the device has too little memory");
    result.roofline = roofline(row.bytes, row.mode, row.cold).gbps;

    DeviceRow device_row(row, seed);
    result.constants = device_row.constants_text();
    const gfk_status status = device_row.start();
    if (status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(status));
    const bool each = row.constants == Row::Each;
    const double us = estimate_us(device_row);
    const long n = launches_for(device_row.rotation().sets(), us, 1);
    const long sets = device_row.rotation().sets();
    std::string wrong = device_row.verify(std::max((long)device_row.constant_count(), sets));
    if (!wrong.empty())
        return publish_failure(state, result, wrong);
    result.setup_us = device_row.setup_us(&result.setup);
    lowest_clock_mhz(); // from here on
    if (each)
        time_each(state, device_row, n, &result);
    else
        wrong = device_row.verify_left_behind(n, time_in_turn(state, device_row, n, &result));
    if (!wrong.empty())
        return publish_failure(state, result, wrong + " (after the timed replays)");
    const double mhz = lowest_clock_mhz();
    result.extra.push_back({"sm_MHz", mhz});
    if (mhz < kClockFraction * nominal_clock_mhz())
        result.note = "SLOW CLOCK: " + std::to_string((int)mhz) + " MHz";
    if (result.percent() > 101)
        result.note = "ABOVE 101 % of the roofline";
    publish(state, result);
}

void run_ceiling(benchmark::State &state, const std::string &name, const Row &row) {
    progress(name);
    Result result;
    result.name = name;
    result.id = row.mode == GFK_SET ? "ceiling_copy" : "ceiling_accumulate";
    result.method = row.mode == GFK_SET ? "copy" : "read-read-write";
    result.implementation = "ceiling";
    result.bytes = row.bytes;
    result.accumulate = row.mode == GFK_XOR;
    result.cold = row.cold;
    result.on_device = true;
    if (Rotation::memory_needed(row.bytes, row.cold) > gpu_memory_budget())
        return publish_skip(state, result, "the device has too little memory");
    const Roofline &best = roofline(row.bytes, row.mode, row.cold);
    if (!best.error.empty() || best.gbps == 0)
        return publish_failure(state, result, best.error);
    for (auto _ : state)
        state.SetIterationTime(best.timing.median_us * 1e-6);
    result.variant = best.best;
    result.note = "best of " + std::to_string(best.variants.size()) + ": " + best.best;
    result.roofline = best.gbps;
    set_timing(&result, best.timing);
    result.extra = best.variants;
    publish(state, result);
}

void run_empty(benchmark::State &state) {
    progress("empty_launch");
    launch_empty(gpu().stream); // loads the kernel, which a capture should not do
    const Graph graph(2000, [](long, cudaStream_t stream) { launch_empty(stream); });
    std::vector<double> us;
    graph.replay_us();
    for (auto _ : state) {
        us.push_back(graph.replay_us() / (double)graph.launches());
        state.SetIterationTime(us.back() * 1e-6);
    }
    Result result;
    result.name = result.id = "empty_launch";
    result.implementation = "ceiling";
    result.on_device = true;
    result.note = "one launch of an empty kernel inside a graph";
    result.launches = graph.launches();
    set_times(&result, us);
    publish(state, result);
}

int iterations_of(const Row &row) {
    return row.constants == Row::Each ? (int)row.c : kReplays;
}

} // namespace

void register_device_rows(const Options &options) {
    const uint64_t seed = options.seed;
    if (options.giant)
        return register_giants(seed);
    auto *empty = register_row("empty_launch", run_empty);
    empty->UseManualTime()->Iterations(kReplays)->Unit(benchmark::kMicrosecond);
    std::vector<std::string> seen;
    const std::vector<Row> rows = plan_device_rows(options);
    for (const Row &row : rows) {
        const std::string ceiling = "ceiling" + row.name().substr(row.name().find('/'));
        const std::string name =
            ceiling.substr(0, std::min(ceiling.find("/c="), ceiling.find("/at=")));
        if (std::find(seen.begin(), seen.end(), name) == seen.end()) {
            seen.push_back(name);
            auto *b = register_row(
                name, [name, row](benchmark::State &state) { run_ceiling(state, name, row); });
            b->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
        }
        auto *b = register_row(row.name(),
                               [row, seed](benchmark::State &state) { run_row(state, row, seed); });
        b->UseManualTime()->Iterations(iterations_of(row))->Unit(benchmark::kMicrosecond);
    }
    if (options.preset == Options::Default && options.shard == 1)
        register_host_time(seed);
}
