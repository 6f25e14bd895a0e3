// SPDX-License-Identifier: BSD-3-Clause
// Registers the products on the device and times them.
#include "product_rows.h"

#include <cstdio>
#include <memory>

#include <benchmark/benchmark.h>

#include "device_row.h"
#include "host_time.h"
#include "product_roofline.h"
#include "product_row.h"
#include "reporter.h"
#include "results.h"

namespace {

Result result_of(const ProductRow &row) {
    Result r;
    r.name = row.name();
    r.id = row.id();
    r.implementation = "product";
    r.w = row.shape.w;
    r.bytes = row.region_bytes() * row.shape.k;
    r.moved = moved_per_byte(row);
    r.accumulate = row.mode == GFK_XOR;
    r.cold = true;
    r.on_device = true;
    r.constants = row.matrix == MatrixKind::Random ? "random matrix" : "Cauchy matrix";
    r.extra = {{"k", (double)row.shape.k}, {"m", (double)row.shape.m}};
    if (const gfk_engine_info *engine = gfk_engine_find(row.engine.c_str())) {
        r.method = gfk_engine_family_name(engine->family);
        r.labels = engine->labels & GFK_ENGINE_ABLATION ? "ablation" : "";
    }
    return r;
}

bool fits(const ProductRow &row) {
    return ProductBuffers::memory_needed(row.shape, row.region_bytes()) <= gpu_memory_budget();
}

void time_product(benchmark::State &state, const DeviceProduct &product, Result *result) {
    const ProductBuffers &buffers = product.buffers();
    const Launch launch = [&](long j, cudaStream_t stream) { product.launch(j, stream); };
    auto graph = std::make_unique<Graph>(buffers.sets(), launch);
    graph->replay_us();
    const double us = graph->replay_us() / (double)buffers.sets();
    const long n = launches_for(buffers.sets(), us, 1);
    if (n != buffers.sets())
        graph = std::make_unique<Graph>(n, launch);
    graph->replay_us(); // warms up
    lowest_clock_mhz(); // from here on
    std::vector<double> times;
    for (auto _ : state) {
        buffers.make_cold();
        times.push_back(graph->replay_us() / (double)n);
        state.SetIterationTime(times.back() * 1e-6);
    }
    set_times(result, times);
    result->launches = n;
    const double mhz = lowest_clock_mhz();
    result->extra.push_back({"sm_MHz", mhz});
    if (mhz < kClockFraction * nominal_clock_mhz())
        result->note = "SLOW CLOCK: " + std::to_string((int)mhz) + " MHz";
}

void run_row(benchmark::State &state, const ProductRow &row, uint64_t seed) {
    progress(row.name());
    Result result = result_of(row);
    if (!fits(row))
        return publish_skip(state, result, "the device has too little memory");
    result.roofline = product_roofline(row).gbps;
    DeviceProduct product(row, seed);
    const gfk_status status = product.start();
    if (status == GFK_STATUS_OUT_OF_MEMORY || status == GFK_STATUS_TABLE_LIMIT)
        return publish_skip(state, result, gfk_status_description(status));
    if (status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(status));
    result.variant = product.chosen();
    std::string wrong = product.verify();
    if (!wrong.empty())
        return publish_failure(state, result, wrong);
    time_product(state, product, &result);
    wrong = product.verify_left_behind();
    if (!wrong.empty())
        return publish_failure(state, result, wrong + " (after the timed replays)");
    if (row.way != Way::Plain) {
        result.setup = "create";
        result.setup_us = product.create_us();
    }
    if (result.percent() > 101)
        result.note = "ABOVE 101 % of the roofline";
    else if (row.way != Way::Engine && result.note.empty())
        result.note = result.variant;
    publish(state, result);
}

void run_ceiling(benchmark::State &state, const ProductRow &row) {
    progress(row.name());
    Result result = result_of(row);
    result.method = "xor-only";
    result.implementation = "ceiling";
    result.constants = "";
    if (!fits(row))
        return publish_skip(state, result, "the device has too little memory");
    const Roofline &best = product_roofline(row);
    if (!best.error.empty() || best.gbps == 0)
        return publish_failure(state, result, best.error);
    for (auto _ : state)
        state.SetIterationTime(best.timing.median_us * 1e-6);
    result.variant = best.best;
    result.note = "best of " + std::to_string(best.variants.size()) + ": " + best.best;
    result.roofline = best.gbps;
    set_timing(&result, best.timing);
    result.extra.insert(result.extra.end(), best.variants.begin(), best.variants.end());
    publish(state, result);
}

// Engines of the list that cannot run here, in a line each.
void print_absent() {
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const char *reason = nullptr;
        if (gfk_engine_available(gfk_engine_at(i), -1, &reason) != GFK_STATUS_SUCCESS)
            std::fprintf(stderr, "gfk_bench: %s is absent: %s\n", gfk_engine_at(i)->id, reason);
    }
}

} // namespace

std::string product_void() {
    return product_void_reason();
}

void register_product_rows(const Options &options) {
    const uint64_t seed = options.seed;
    print_absent();
    if (options.preset == Options::ProductSmall) // first: nothing has been compiled or loaded yet
        register_product_first_calls(seed);
    for (const ProductRow &row : plan_products(options)) {
        const bool ceiling = row.way == Way::XorOnly;
        auto *b = register_row(row.name(), [row, seed, ceiling](benchmark::State &state) {
            ceiling ? run_ceiling(state, row) : run_row(state, row, seed);
        });
        b->UseManualTime()->Iterations(ceiling ? 1 : row.replays)->Unit(benchmark::kMicrosecond);
    }
    if (options.preset == Options::ProductSmall)
        register_product_host_time(seed);
}
