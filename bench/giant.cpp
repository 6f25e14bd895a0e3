// SPDX-License-Identifier: BSD-3-Clause
// Giant rows in G lookups per second, and the gather kernels that are their ceiling.
#include "giant.h"

#include <cstdio>

#include <benchmark/benchmark.h>

#include "device_kernels.h"
#include "device_row.h"
#include "reporter.h"
#include "results.h"

namespace {

constexpr int kReplays = 5;
constexpr size_t kTableBytes = size_t{16} << 30, kBytes = size_t{1} << 30;
constexpr size_t kLookups = kBytes / 4;
double g_best_plain = 0; // G gathers/s, of gathers with the row's own traffic

std::string too_little_memory(size_t tables) {
    const size_t needed = tables + Rotation::memory_needed(kBytes, true);
    if (needed <= gpu_memory_budget())
        return "";
    std::fprintf(stderr, "gfk_bench: SKIPPED: a giant row needs %zu GiB on the device\n",
                 needed >> 30);
    return "needs " + std::to_string(needed >> 30) + " GiB on the device";
}

void run_gather(benchmark::State &state, const GatherVariant &variant) {
    progress(variant.name);
    Result result;
    result.name = result.id = variant.name;
    result.implementation = "ceiling";
    result.on_device = result.cold = true;
    result.bytes = kBytes;
    result.w = 32;
    const std::string missing = too_little_memory(kTableBytes);
    if (!missing.empty())
        return publish_skip(state, result, missing);
    const Rotation rotation(kBytes, true);
    const void *table = gpu_slot(Slot::Workspaces, kTableBytes);
    const Launch launch = [&](long j, cudaStream_t stream) {
        variant.run((const uint32_t *)table, rotation.src(j), rotation.dst(j), kBytes, stream);
    };
    launch(0, gpu().stream);
    const Timing timing = time_launches(rotation, launch, kReplays);
    for (auto _ : state)
        state.SetIterationTime(timing.median_us * 1e-6);
    set_timing(&result, timing);
    const double rate = (double)kLookups / timing.median_us / 1e3;
    if (!variant.hashed && rate > g_best_plain)
        g_best_plain = rate;
    result.extra = {{"ggathers_per_s", rate}};
    char note[80];
    std::snprintf(note, sizeof note, "%.2f G gathers/s", rate);
    result.note = note;
    publish(state, result);
}

void run_giant(benchmark::State &state, const Row &row, uint64_t seed) {
    progress(row.name());
    Result result = result_of(row.kernel);
    result.name = row.name();
    result.bytes = row.bytes;
    result.cold = true;
    gpu_release(); // the last table makes room for this one
    const size_t tables = (size_t)(row.kernel->table_bytes + row.kernel->workspace_bytes);
    const std::string missing = too_little_memory(tables);
    if (!missing.empty())
        return publish_skip(state, result, missing);
    DeviceRow device_row(row, seed);
    result.constants = device_row.constants_text();
    const gfk_status status = device_row.start();
    if (status == GFK_STATUS_OUT_OF_MEMORY)
        return publish_skip(state, result, gfk_status_description(status));
    if (status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(status));
    std::string wrong = device_row.verify(device_row.rotation().sets());
    if (!wrong.empty())
        return publish_failure(state, result, wrong);
    result.setup_us = device_row.setup_us(&result.setup);
    const Launch launch = [&](long j, cudaStream_t stream) { device_row.launch(j, 0, stream); };
    const Timing timing = time_launches(device_row.rotation(), launch, kReplays);
    for (auto _ : state)
        state.SetIterationTime(timing.median_us * 1e-6);
    set_timing(&result, timing);
    wrong = device_row.verify_left_behind(timing.launches, 0);
    if (!wrong.empty())
        return publish_failure(state, result, wrong + " (after the timed replays)");
    const double rate = (double)kLookups / timing.median_us / 1e3;
    result.extra = {{"gsymbols_per_s", rate}, {"ceiling_ggathers_per_s", g_best_plain}};
    char note[120];
    std::snprintf(note, sizeof note, "%.2f G symbols/s", rate);
    result.note = note;
    if (g_best_plain > 0) {
        const double percent = 100 * rate / g_best_plain;
        result.extra.push_back({"percent_of_gathers", percent});
        std::snprintf(note, sizeof note, "%.2f G symbols/s, %.1f %% of the best plain gather", rate,
                      percent);
        result.note = note;
    }
    publish(state, result);
    forget_multiplier(row.kernel);
}

} // namespace

void register_giants(uint64_t seed) {
    for (size_t i = 0; i < gather_variant_count(); i++) {
        auto *b = register_row(gather_variant(i).name, [i](benchmark::State &state) {
            run_gather(state, gather_variant(i));
        });
        b->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
    }
    for (const Row &row : plan_giant_rows()) {
        auto *b = register_row(
            row.name(), [row, seed](benchmark::State &state) { run_giant(state, row, seed); });
        b->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
    }
}
