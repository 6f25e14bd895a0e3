// SPDX-License-Identifier: BSD-3-Clause
// Times asynchronous calls without waiting for them, in batches that the launch queue can hold.
#include "host_time.h"

#include <chrono>
#include <cstdio>

#include <benchmark/benchmark.h>

#include "device_kernels.h"
#include "device_row.h"
#include "reporter.h"
#include "results.h"

namespace {

constexpr size_t kBytes = 4096;

void run(benchmark::State &state, const gfk_kernel_info *kernel, const std::string &name,
         uint64_t seed) {
    progress(name);
    Result result = result_of(kernel);
    result.name = name;
    result.constants = "1 random";
    const Multiplier &m = multiplier_of(kernel);
    const cudaStream_t stream = gpu().stream;
    const Rotation rotation(kBytes, false);
    const uint32_t c = random_constants(kernel->w, 1, seed)[0];
    void *workspace = gpu_slot(Slot::Workspaces, m.workspace_bytes);
    if (m.status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(m.status));
    const auto both = [&] {
        gfk_check(gfk_region_multiply(m.handle, c, rotation.src(0), rotation.dst(0), kBytes,
                                      GFK_SET, workspace, m.workspace_bytes, stream),
                  kernel->id);
    };
    const auto prepared = [&] {
        gfk_check(gfk_region_multiply_prepared(m.handle, c, rotation.src(0), rotation.dst(0),
                                               kBytes, GFK_SET, workspace, m.workspace_bytes,
                                               stream),
                  kernel->id);
    };
    host_batch_us(both);
    host_batch_us([&] { launch_empty(stream); });
    std::vector<double> calls, bare, only;
    for (auto _ : state) { // the three in turn, so that a drift of the clock hits all alike
        calls.push_back(host_batch_us(both));
        bare.push_back(host_batch_us([&] { launch_empty(stream); }));
        only.push_back(host_batch_us(prepared));
        state.SetIterationTime(calls.back() * 1e-6);
    }
    Result of_prepared;
    set_times(&of_prepared, only);
    set_host_time(&result, calls, bare);
    const double bare_us = result.median_us - result.extra.back().second;
    result.extra.push_back({"prepared_call_us", of_prepared.median_us});
    result.extra.push_back({"prepared_above_bare_us", of_prepared.median_us - bare_us});
    publish(state, result);
}

} // namespace

double host_batch_us(const std::function<void()> &call) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kHostBatch; i++)
        call();
    const auto stop = std::chrono::steady_clock::now();
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
    return std::chrono::duration<double, std::micro>(stop - start).count() / kHostBatch;
}

void set_host_time(Result *result, const std::vector<double> &calls,
                   const std::vector<double> &bare) {
    Result of_bare;
    set_times(result, calls);
    set_times(&of_bare, bare);
    const double above = result->median_us - of_bare.median_us;
    result->launches = kHostBatch;
    result->extra = {{"call_us", result->median_us},
                     {"bare_launch_us", of_bare.median_us},
                     {"above_bare_us", above}};
    char note[120];
    std::snprintf(note, sizeof note, "call %.2f us, bare launch %.2f us, above it %.2f us%s",
                  result->median_us, of_bare.median_us, above,
                  above > kHostAllowedUs ? " (MORE THAN 2 us)" : "");
    result->note = note;
}

void register_host_time(uint64_t seed) {
    for (size_t i = 0; i < gfk_kernel_count(); i++) {
        const gfk_kernel_info *kernel = gfk_kernel_at(i);
        if (kernel->implementation == GFK_IMPLEMENTATION_HOST ||
            (kernel->labels & GFK_LABEL_GIANT) ||
            gfk_kernel_available(kernel, -1, nullptr) != GFK_STATUS_SUCCESS)
            continue;
        const std::string name = std::string("host_time/") + kernel->id;
        auto *b = register_row(name, [kernel, name, seed](benchmark::State &state) {
            run(state, kernel, name, seed);
        });
        b->UseManualTime()->Iterations(kHostBatches)->Unit(benchmark::kMicrosecond);
    }
}
