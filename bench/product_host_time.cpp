// SPDX-License-Identifier: BSD-3-Clause
// What gfk_product_run costs the calling thread.
#include "host_time.h"

#include <benchmark/benchmark.h>

#include "device_kernels.h"
#include "product_row.h"
#include "reporter.h"

namespace {

constexpr size_t kRegion = 4096;

void run(benchmark::State &state, const ProductRow &row, const std::string &name, uint64_t seed) {
    progress(name);
    Result result;
    result.name = name;
    result.id = row.engine;
    result.implementation = "product";
    result.w = row.shape.w;
    result.on_device = true;
    DeviceProduct product(row, seed);
    const gfk_status status = product.start();
    if (status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(status));
    const cudaStream_t stream = gpu().stream;
    const auto one = [&] { product.launch(0, stream); };
    const auto empty = [&] { launch_empty(stream); };
    host_batch_us(one);
    host_batch_us(empty);
    std::vector<double> calls, bare;
    for (auto _ : state) { // in turn, so that a drift of the clock hits both alike
        calls.push_back(host_batch_us(one));
        bare.push_back(host_batch_us(empty));
        state.SetIterationTime(calls.back() * 1e-6);
    }
    set_host_time(&result, calls, bare);
    result.extra.push_back({"k", (double)row.shape.k});
    result.extra.push_back({"m", (double)row.shape.m});
    publish(state, result);
}

} // namespace

void register_product_host_time(uint64_t seed) {
    for (unsigned w : {8u, 16u, 32u}) {
        ProductRow row;
        row.shape = {w, 10, 4};
        row.data = kRegion * row.shape.k;
        for (const std::string &engine : contenders(row.shape)) {
            row.engine = engine;
            const std::string name = "product_host_time/" + engine + "/" + shape_text(row.shape);
            auto *b = register_row(
                name, [row, name, seed](benchmark::State &state) { run(state, row, name, seed); });
            b->UseManualTime()->Iterations(kHostBatches)->Unit(benchmark::kMicrosecond);
        }
    }
}
