// SPDX-License-Identifier: BSD-3-Clause
// Results as counters and labels of Google Benchmark, so that its own tools can read them.
#include "results.h"

#include <algorithm>

namespace {

std::vector<Result> g_results;

// Google Benchmark may call a row more than once while it looks for an iteration count.
void keep(const Result &result) {
    if (!g_results.empty() && g_results.back().name == result.name)
        g_results.back() = result;
    else
        g_results.push_back(result);
}

std::string label_of(const Result &r) {
    std::string label = "id=" + r.id + ";method=" + r.method + ";impl=" + r.implementation +
                        ";variant=" + r.variant + ";labels=" + r.labels +
                        ";mode=" + (r.accumulate ? "xor" : "set") +
                        ";cache=" + (r.cold ? "cold" : "hot") + ";constants=" + r.constants +
                        ";where=" + (r.on_device ? "gpu" : "cpu") + ";setup=" + r.setup;
    return r.note.empty() ? label : label + ";note=" + r.note;
}

} // namespace

Result result_of(const gfk_kernel_info *kernel) {
    Result r;
    r.id = kernel->id;
    r.method = gfk_method_name(kernel->method);
    r.implementation = gfk_implementation_name(kernel->implementation);
    r.variant = kernel->variant;
    if (kernel->labels & GFK_LABEL_ABLATION)
        r.labels = "ablation";
    if (kernel->labels & GFK_LABEL_GIANT)
        r.labels += r.labels.empty() ? "giant" : "+giant";
    r.w = kernel->w;
    r.on_device = kernel->implementation != GFK_IMPLEMENTATION_HOST;
    r.shared_bytes = kernel->shared_bytes;
    return r;
}

void set_times(Result *result, std::vector<double> us) {
    if (us.empty())
        return;
    std::sort(us.begin(), us.end());
    result->median_us = (us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2;
    result->min_us = us.front();
    result->max_us = us.back();
    result->replays = (int)us.size();
}

void publish(benchmark::State &state, const Result &r) {
    state.SetLabel(label_of(r));
    state.counters["w"] = r.w;
    state.counters["bytes"] = (double)r.bytes;
    state.counters["shared_bytes"] = (double)r.shared_bytes;
    state.counters["threads_used"] = r.threads;
    state.counters["source_GBps"] = r.source_gbps();
    state.counters["traffic_GBps"] = r.traffic_gbps();
    if (r.roofline > 0) {
        state.counters["roofline_GBps"] = r.roofline;
        state.counters["percent_of_roofline"] = r.percent();
        state.counters["above_101_percent"] = r.percent() > 101;
    }
    state.counters["setup_us"] = r.setup_us;
    state.counters["time_us_median"] = r.median_us;
    state.counters["time_us_min"] = r.min_us;
    state.counters["time_us_max"] = r.max_us;
    state.counters["launches_per_replay"] = (double)r.launches;
    state.counters["replays"] = r.replays;
    for (const auto &[name, value] : r.extra)
        state.counters[name] = value;
    keep(r);
}

static void publish_message(benchmark::State &state, Result &r, const std::string &message) {
    state.SetLabel(label_of(r));
    r.note = message;
    state.SkipWithError(message.c_str());
    keep(r);
}

void publish_skip(benchmark::State &state, Result r, const std::string &reason) {
    r.state = Result::Skipped;
    publish_message(state, r, "skipped: " + reason);
}

void publish_failure(benchmark::State &state, Result r, const std::string &reason) {
    r.state = Result::Failed;
    publish_message(state, r, "FAILED: " + reason);
}

const std::vector<Result> &results() {
    return g_results;
}

const Result *find_result(const std::string &name) {
    for (const Result &r : g_results)
        if (r.name == name && r.state == Result::Measured)
            return &r;
    return nullptr;
}

bool any_failed() {
    return std::any_of(g_results.begin(), g_results.end(),
                       [](const Result &r) { return r.state == Result::Failed; });
}

std::string size_text(size_t bytes) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return std::to_string(bytes) + units[unit];
}
