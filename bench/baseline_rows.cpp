// SPDX-License-Identifier: BSD-3-Clause
// GF-Complete beside us: every method it has, on one thread and on all cores.
#include "baseline_gfcomplete.h"
#include "host_rows.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "host_buffers.h"
#include "plan.h"
#include "reporter.h"
#include "results.h"
#include "team.h"

namespace {

constexpr size_t kPerThread = size_t{64} << 20; // bytes of source: beyond what caches hold
constexpr size_t kUnit = 4096;                  // slices and shortened passes are multiples of it
constexpr size_t kProbe = size_t{1} << 18, kChecked = size_t{1} << 16;
constexpr double kLongestPass = 0.05; // seconds; slow methods get fewer bytes
constexpr int kPasses = 7;

struct Baseline {
    const gfc_method *method;
    unsigned threads;
    size_t bytes; // over all threads; 0: kPerThread each, or less for slow methods
    uint32_t c;   // 0: the seed's first random constant

    std::string id() const {
        return "gf_complete_w" + std::to_string(method->w) + "_" + method->name;
    }
    std::string name() const {
        std::string text = id() + "/" + size_text(bytes ? bytes : kPerThread * threads) +
                           "/threads=" + std::to_string(threads);
        return c ? text + "/c=" + std::to_string(c) : text;
    }
};

void run(benchmark::State &state, const Baseline &b, uint64_t seed) {
    progress(b.name());
    Result result;
    result.name = b.name();
    result.id = b.id();
    result.method = b.method->method;
    result.implementation = "gf-complete";
    result.variant = b.method->name;
    result.w = b.method->w;
    result.cold = true;
    result.threads = (int)b.threads;
    const uint32_t c = b.c ? b.c : random_constants(result.w, 1, seed)[0];
    result.constants = b.c ? "c=" + std::to_string(c) : "1 random";

    const auto start = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<void, void (*)(void *)>> fields;
    for (unsigned t = 0; t < b.threads; t++)
        fields.emplace_back(gfc_create(b.method), gfc_destroy);
    const std::chrono::duration<double, std::micro> created =
        std::chrono::steady_clock::now() - start;
    if (fields[0] == nullptr)
        return publish_skip(state, result, "GF-Complete does not offer it");
    result.setup = "create";
    result.setup_us = created.count() / b.threads;

    // Slices of whole units, so that every thread's start is aligned as GF-Complete wants it.
    const size_t all = b.bytes ? b.bytes : kPerThread * b.threads;
    const HostBuffers buffers = host_buffers(std::max(all, kProbe));
    const size_t checked = std::min(all, kChecked);
    gfc_multiply(fields[0].get(), c, buffers.src, buffers.dst, checked);
    if (std::memcmp(buffers.dst, host_expected(result.w, c, checked), checked) != 0)
        return publish_failure(state, result, "differs from the host reference");
    const auto probe_start = std::chrono::steady_clock::now();
    gfc_multiply(fields[0].get(), c, buffers.src, buffers.dst, kProbe);
    const std::chrono::duration<double> probe = std::chrono::steady_clock::now() - probe_start;

    size_t slice = (all / b.threads + kUnit - 1) / kUnit * kUnit;
    if (b.bytes == 0)
        slice = std::clamp((size_t)(kLongestPass / probe.count() * kProbe) / kUnit * kUnit, kUnit,
                           slice);
    const size_t used = std::min(all, slice * b.threads);
    const Team::Job job = [&](unsigned t) {
        const size_t from = std::min(used, t * slice), to = std::min(used, from + slice);
        gfc_multiply(fields[t].get(), c, buffers.src + from, buffers.dst + from, to - from);
    };
    Team team(b.threads);
    team.run(&job);
    std::vector<double> us;
    for (auto _ : state) {
        const double seconds = team.run(&job);
        us.push_back(1e6 * seconds);
        state.SetIterationTime(seconds);
    }
    result.bytes = used;
    if (used != all)
        result.note = "slow: " + size_text(used) + " a pass";
    set_times(&result, us);
    publish(state, result);
}

} // namespace

void register_baselines(const Options &options) {
    const bool s2 = options.preset == Options::S2;
    if ((options.preset != Options::Default && !s2) || options.shard != 1 || !options.sizes.empty())
        return;
    const uint64_t seed = options.seed;
    const unsigned cores = usable_cores();
    std::vector<unsigned> thread_counts = {1};
    if (cores > 1)
        thread_counts.push_back(cores);
    for (size_t i = 0; i < gfc_count(); i++)
        for (unsigned threads : thread_counts)
            for (uint32_t c :
                 s2 ? std::vector<uint32_t>{kS2Constant, 0} : std::vector<uint32_t>{0}) {
                const Baseline b = {gfc_at(i), threads, s2 ? kS2Bytes : 0, c};
                auto *bench = register_row(
                    b.name(), [b, seed](benchmark::State &state) { run(state, b, seed); });
                bench->UseManualTime()->Iterations(kPasses)->Unit(benchmark::kMicrosecond);
            }
}

const char *baseline_simd() {
    return gfc_simd();
}
