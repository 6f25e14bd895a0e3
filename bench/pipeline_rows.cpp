// SPDX-License-Identifier: BSD-3-Clause
// The presets host and host-streams: calls on host memory, each pass beside one of what bounds it,
// so that both see the same machine.
#include "pipeline_rows.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include <sys/resource.h>

#include <benchmark/benchmark.h>

#include "host_buffers.h"
#include "multipliers.h"
#include "pipeline_work.h"
#include "reporter.h"
#include "results.h"

namespace {

constexpr size_t kGiB = size_t{1} << 30;
constexpr int kPasses = 5;

double cpu_seconds() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval &t) {
        return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// What a row is measured against: seconds of one pass, or none.
struct Bound {
    const char *name;
    std::function<double()> seconds;
};

// `rival` does what AUTO is measured against.
Bound bound_of(const PipelineRow &row, PipelineWork *work, PipelineWork *rival) {
    if (row.path == GFK_PATH_CPU)
        return work->direct_available()
                   ? Bound{"ISA-L called directly", [work] { return work->direct_seconds(); }}
                   : Bound{"nothing", {}};
    if (row.path == GFK_PATH_AUTO)
        return rival == nullptr ? Bound{"nothing", {}}
                                : Bound{"the best of the other paths", [rival] {
                                            rival->poison();
                                            gfk_check(rival->call(), "another path");
                                            return rival->report().seconds;
                                        }};
    if (row.path != GFK_PATH_GPU)
        return {"nothing", {}};
    if (row.where == GFK_PAGEABLE)
        return {"a plain pageable copy", [work] { return plain_copy_seconds(work->mix()); }};
    const int devices = (int)row.devices;
    return {"transfer only", [work, devices] { return transfer_seconds(work->mix(), devices); }};
}

// GB/s of data, as the row's own.
double rate_of(const Result &result, double seconds) {
    return seconds > 0 ? 1e-9 * (double)result.bytes / seconds : 0;
}

// AUTO goes for the best of the others, as far as their rows were measured.
std::optional<PipelineRow> best_of_others(const PipelineRow &row) {
    std::optional<PipelineRow> best;
    double rate = 0;
    for (gfk_path path : {GFK_PATH_CPU, GFK_PATH_GPU, GFK_PATH_BOTH}) {
        PipelineRow other = row;
        other.path = path;
        PipelineRow measured = other;
        if (path == GFK_PATH_CPU) // to which all memory is the same
            measured.where = GFK_PAGEABLE;
        const Result *found = find_result(measured.name());
        if (found != nullptr && found->source_gbps() > rate) {
            rate = found->source_gbps();
            best = other;
        }
    }
    return best;
}

struct Passes {
    std::vector<double> us, bounds, cpu;
};

void describe(const PipelineRow &row, const PipelineWork &work, const Bound &bound,
              const Passes &passes, Result *result) {
    const gfk_pipeline_report &report = work.report();
    char text[320];
    int n = std::snprintf(text, sizeof text, "CPU %.2f s; took %s", median(passes.cpu),
                          gfk_path_name(report.path));
    result->extra.push_back({"cpu_seconds", median(passes.cpu)});
    double percent = 0;
    if (!passes.bounds.empty()) {
        const double rate = rate_of(*result, median(passes.bounds));
        if (row.path != GFK_PATH_AUTO) // what it goes for is no ceiling
            result->roofline = rate * result->moved_per_byte();
        result->extra.push_back({"bound_GBps", rate});
        percent = 100 * result->source_gbps() / rate;
        n += std::snprintf(text + n, sizeof text - (size_t)n, "; %.1f %% of %s", percent,
                           bound.name);
    }
    if (row.path == GFK_PATH_GPU && row.where == GFK_PINNED) {
        const double kernel = 1e-9 * kernel_rate(row.shape, work.matrix());
        result->extra.push_back({"kernel_GBps", kernel});
        std::snprintf(text + n, sizeof text - (size_t)n, "; transfer only %.1f, kernel only %.1f",
                      rate_of(*result, median(passes.bounds)), kernel);
    }
    result->extra.push_back({"percent_of_bound", percent});
    result->note = text;
}

void run(benchmark::State &state, const PipelineRow &row) {
    progress(row.name());
    Result result;
    result.name = row.name();
    result.id = row.id();
    result.implementation = "pipeline";
    result.w = row.shape.w;
    result.bytes = row.data / row.shape.k / 512 * 512 * row.shape.k;
    result.moved = (double)(row.shape.k + row.shape.m) / (double)row.shape.k;
    result.cold = true;
    result.on_device = row.path != GFK_PATH_CPU;
    result.threads = (int)usable_cores();
    result.extra = {{"k", (double)row.shape.k}, {"m", (double)row.shape.m}};
    if (row.where == GFK_PAGEABLE)
        release_pipeline_memory();
    PipelineWork work(row);
    const std::optional<PipelineRow> best =
        row.path == GFK_PATH_AUTO ? best_of_others(row) : std::nullopt;
    const std::unique_ptr<PipelineWork> rival(best ? new PipelineWork(*best) : nullptr);
    const Bound bound = bound_of(row, &work, rival.get());
    Passes passes;
    bool right = true;
    gfk_status status = GFK_STATUS_SUCCESS;
    for (auto _ : state) {
        if (passes.us.empty()) { // buffers, products, pages
            work.poison();
            status = work.call();
            right = work.right();
        }
        if (bound.seconds)
            passes.bounds.push_back(bound.seconds());
        work.poison();
        const double before = cpu_seconds();
        if (status == GFK_STATUS_SUCCESS)
            status = work.call();
        passes.cpu.push_back(cpu_seconds() - before);
        passes.us.push_back(1e6 * work.report().seconds);
        right = right && work.right() && work.report().device_status == GFK_STATUS_SUCCESS;
        state.SetIterationTime(work.report().seconds);
    }
    if (status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(status));
    if (!right)
        return publish_failure(state, result, "differs from the host engine, or a device failed");
    set_times(&result, passes.us);
    describe(row, work, bound, passes, &result);
    publish(state, result);
}

// ---- which rows ---------------------------------------------------------------------------------

// First all pageable ones, then those that have their memory pinned.
std::vector<PipelineRow> figures(const Options &options, int devices) {
    std::vector<PipelineRow> rows;
    const size_t data = options.sizes.empty() ? 8 * kGiB : options.sizes[0];
    const std::vector<std::pair<Deed, Shape>> calls = {
        {Deed::Encode, {8, 10, 4}}, {Deed::Decode, {8, 10, 4}}, {Deed::Multiply, {8, 1, 1}}};
    for (const auto &[deed, shape] : calls)
        if (options.host)
            rows.push_back({deed, shape, data});
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (const auto &[deed, shape] : calls)
            for (gfk_path path : {GFK_PATH_GPU, GFK_PATH_BOTH, GFK_PATH_AUTO})
                if (devices != 0)
                    rows.push_back({deed, shape, data, where, path});
    for (int n = 2; n <= devices; n *= 2)
        for (const auto &[deed, shape] : calls)
            rows.push_back({deed, shape, data, GFK_PINNED, GFK_PATH_GPU, 0, (size_t)n});
    return rows;
}

// Of 1.6 GB with k = 4, m = 2, and of 836.9 MB with 30 + 3.
std::vector<PipelineRow> sweep(const Options &options, int devices) {
    std::vector<PipelineRow> rows;
    const std::pair<Shape, size_t> cases[] = {{{8, 4, 2}, 1600000000}, {{8, 30, 3}, 836900000}};
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (const auto &[shape, bytes] : cases)
            for (unsigned streams : {1u, 2u, 4u, 8u, 16u})
                if (devices != 0)
                    rows.push_back({Deed::Encode, shape,
                                    options.sizes.empty() ? bytes : options.sizes[0], where,
                                    GFK_PATH_GPU, streams});
    return rows;
}

} // namespace

void register_pipeline_rows(const Options &options) {
    static std::vector<PipelineRow> rows;
    const int devices = options.device ? bus_devices() : 0;
    rows = options.preset == Options::Host ? figures(options, devices) : sweep(options, devices);
    for (const PipelineRow &row : rows) {
        auto *b = register_row(row.name(), [&row](benchmark::State &state) { run(state, row); });
        b->UseManualTime()->Iterations(kPasses)->Unit(benchmark::kMicrosecond);
    }
}
