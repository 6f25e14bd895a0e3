// SPDX-License-Identifier: BSD-3-Clause
// gfk_bench: context, registration, run, summaries, exit code.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include <benchmark/benchmark.h>
#include <gfk/gfk.h>

#include "build_info.h"
#include "device_rows.h"
#include "host_buffers.h"
#include "host_rows.h"
#include "options.h"
#include "pipeline_rows.h"
#include "plan.h"
#include "product_rows.h"
#include "reporter.h"
#include "results.h"
#include "rs_rows.h"
#include "summary.h"

namespace {

// Release, and nothing that slows down or checks: else the figures are not this library's.
std::string unfit_build() {
    if (std::strcmp(BUILD_TYPE, "Release") != 0)
        return "this is a " BUILD_TYPE " build, not a Release build";
    if (std::strlen(BUILD_SANITIZE) != 0)
        return "this build has sanitizers: " BUILD_SANITIZE;
    return "";
}

std::string cpu_model() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.compare(0, 10, "model name") == 0)
            return line.substr(std::min(line.size(), line.find(':') + 2));
    return "unknown";
}

std::string now_utc() {
    char text[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&now));
    return text;
}

// A file has one entry that says it is void.
void add_void(Context *context, const std::string &reason) {
    for (auto &[key, value] : *context)
        if (key == "void") {
            value += "; " + reason;
            return;
        }
    context->push_back({"void", reason});
}

Context describe(const Options &options) {
    Context context;
    if (options.device)
        describe_device(&context);
    context.push_back({"commit", BUILD_COMMIT});
    context.push_back({"date_utc", now_utc()});
    context.push_back({"command", options.command});
    context.push_back({"gfk_version", std::to_string(gfk_version())});
    context.push_back({"build_type", BUILD_TYPE});
    context.push_back({"compiler", BUILD_COMPILER});
    context.push_back({"compiler_flags", BUILD_FLAGS});
    context.push_back({"cuda_compiler", BUILD_CUDA});
    context.push_back({"cpu", cpu_model()});
    context.push_back({"cpu_threads", std::to_string(usable_cores())});
    context.push_back({"gf_complete", BUILD_GFCOMPLETE});
    context.push_back({"gf_complete_simd", baseline_simd()});
    context.push_back({"google_benchmark", BUILD_BENCHMARK});
    context.push_back({"seed", std::to_string(options.seed)});
    if (!unfit_build().empty())
        context.push_back({"unfit", unfit_build()});
    if (options.preset == Options::Verdicts)
        describe_verdicts(&context);
    if (options.of_products()) {
        describe_coders(&context);
        const std::string reason = options.device && !options.of_pipelines() ? product_void() : "";
        if (!reason.empty())
            add_void(&context, reason);
    }
    return context;
}

// Rows of the list that cannot run here, by reason.
void print_absent() {
    std::vector<std::pair<std::string, int>> reasons;
    for (size_t i = 0; i < gfk_kernel_count(); i++) {
        const char *reason = nullptr;
        if (gfk_kernel_available(gfk_kernel_at(i), -1, &reason) == GFK_STATUS_SUCCESS)
            continue;
        auto it = std::find_if(reasons.begin(), reasons.end(),
                               [&](const auto &entry) { return entry.first == reason; });
        if (it == reasons.end())
            it = reasons.insert(reasons.end(), {reason ? reason : "unknown", 0});
        it->second++;
    }
    for (const auto &[reason, count] : reasons)
        std::fprintf(stderr, "gfk_bench: %d rows are absent: %s\n", count, reason.c_str());
}

void loud(const std::string &what, const std::string &why) {
    if (why.empty())
        return;
    const std::string line(72, '!');
    std::fflush(stdout);
    std::fprintf(stderr, "\n%s\n!!! %s: %s\n%s\n\n", line.c_str(), what.c_str(), why.c_str(),
                 line.c_str());
}

} // namespace

int main(int argc, char **argv) {
    Options options;
    int exit_code = 0;
    if (!parse_options(&argc, argv, &options, &exit_code))
        return exit_code;
    std::vector<char *> arguments(argv, argv + argc);
    std::string out = "--benchmark_out=" + options.out, format = "--benchmark_out_format=json";
    if (!options.out.empty()) {
        arguments.push_back(out.data());
        arguments.push_back(format.data());
    }
    arguments.push_back(nullptr);
    argc = (int)arguments.size() - 1;
    benchmark::Initialize(&argc, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(argc, arguments.data()))
        return 2;
    loud("NOT FIT FOR MEASUREMENT", unfit_build());

    const std::string missing = options.device ? device_missing() : "";
    if (!missing.empty()) {
        std::fprintf(stderr, "gfk_bench: no GPU rows: %s\n", missing.c_str());
        options.device = false;
    } else {
        print_absent();
    }
    std::string void_text;
    for (const auto &[key, value] : describe(options)) {
        benchmark::AddCustomContext(key, value);
        if (key.compare(0, 8, "verdict_") != 0)
            std::printf("%-26s %s\n", key.c_str(), value.c_str());
        if (key == "void")
            void_text = value;
    }
    loud("THIS RUN IS VOID", void_text);
    if (options.of_pipelines()) {
        register_pipeline_rows(options);
    } else if (options.of_codes()) {
        if (options.device)
            register_rs_rows(options);
        if (options.host) {
            register_rs_host_rows(options);
            register_product_host_rows(options);
        }
    } else if (options.of_products()) {
        if (options.device)
            register_product_rows(options);
        if (options.host)
            register_product_host_rows(options);
    } else if (options.device)
        register_device_rows(options);
    if (options.host && !options.giant && !options.of_products()) {
        register_host_rows(options);
        register_baselines(options);
    }
    TableReporter table;
    const size_t rows = benchmark::RunSpecifiedBenchmarks(&table);
    if (options.preset == Options::S2)
        print_s2();
    if (options.preset == Options::Verdicts)
        print_verdicts();
    loud("THIS RUN IS VOID", void_text);
    loud("NOT FIT FOR MEASUREMENT", unfit_build());
    benchmark::Shutdown();
    std::fflush(stdout);
    if (rows == 0)
        std::fprintf(stderr, "gfk_bench: nothing to measure\n");
    for (const Result &r : results())
        if (r.state == Result::Failed)
            std::fprintf(stderr, "gfk_bench: %s: %s\n", r.name.c_str(), r.note.c_str());
    return any_failed() || rows == 0 ? 1 : 0;
}
