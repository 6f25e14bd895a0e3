// SPDX-License-Identifier: BSD-3-Clause
// This library's own CPU rows, one thread, on Google Benchmark's clock.
#include "host_rows.h"

#include <chrono>
#include <cstring>
#include <map>
#include <vector>

#include <benchmark/benchmark.h>

#include "host_buffers.h"
#include "multipliers.h"
#include "plan.h"
#include "reporter.h"
#include "results.h"

namespace {

constexpr double kLongestPass = 0.2; // seconds; sizes stop growing there
constexpr size_t kConstants = 8;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A host row with a prepared workspace per constant.
class HostRow {
  public:
    HostRow(const Row &row, uint64_t seed)
        : row_(row), multiplier_(multiplier_of(row.kernel)),
          constants_(random_constants(row.kernel->w, kConstants, seed)),
          stride_((multiplier_.workspace_bytes + 15) / 16 * 16), buffers_(host_buffers(row.bytes)) {
        gfk_check(multiplier_.status, row.kernel->id);
        memory_.resize(stride_ * kConstants + 16);
        const auto start = std::chrono::steady_clock::now();
        for (size_t k = 0; k < kConstants; k++)
            gfk_check(gfk_region_prepare(multiplier_.handle, constants_[k], workspace(k), stride_,
                                         nullptr),
                      row.kernel->id);
        prepare_us_ = 1e6 * seconds_since(start) / kConstants;
    }
    double pass(size_t k) { // seconds
        const auto start = std::chrono::steady_clock::now();
        gfk_check(gfk_region_multiply_prepared(multiplier_.handle, constants_[k], buffers_.src,
                                               buffers_.dst, row_.bytes, GFK_SET, workspace(k),
                                               stride_, nullptr),
                  row_.kernel->id);
        return seconds_since(start);
    }
    bool right(size_t k) {
        std::memset(buffers_.dst, 0xa5, row_.bytes);
        pass(k);
        const unsigned char *expected = host_expected(row_.kernel->w, constants_[k], row_.bytes);
        return std::memcmp(buffers_.dst, expected, row_.bytes) == 0;
    }
    double setup_us(std::string *kind) const {
        *kind = multiplier_.workspace_bytes ? "prepare" : row_.kernel->table_bytes ? "create" : "";
        return multiplier_.workspace_bytes ? prepare_us_ : multiplier_.create_us;
    }

  private:
    Row row_;
    const Multiplier &multiplier_;
    std::vector<uint32_t> constants_;
    size_t stride_;
    HostBuffers buffers_;
    std::vector<unsigned char> memory_;
    double prepare_us_ = 0;

    unsigned char *workspace(size_t k) {
        unsigned char *p = memory_.data();
        return p + (16 - (uintptr_t)p % 16) % 16 + k * stride_;
    }
};

void run(benchmark::State &state, const Row &row, uint64_t seed) {
    progress(row.name());
    Result result = result_of(row.kernel);
    result.name = row.name();
    result.bytes = row.bytes;
    result.constants = std::to_string(kConstants) + " random in turn";
    HostRow host_row(row, seed);
    if (!host_row.right(0))
        return publish_failure(state, result, "differs from the host reference");
    std::vector<double> us;
    size_t k = 0;
    for (auto _ : state)
        us.push_back(1e6 * host_row.pass(k++ % kConstants));
    set_times(&result, us);
    result.setup_us = host_row.setup_us(&result.setup);
    publish(state, result);
}

} // namespace

void register_host_rows(const Options &options) {
    const uint64_t seed = options.seed;
    std::map<std::string, double> seconds_per_byte;
    for (const Row &row : plan_host_rows(options)) {
        double &rate = seconds_per_byte[row.kernel->id];
        if (rate == 0) {
            Row probe = row;
            probe.bytes = 64 << 10;
            HostRow host_row(probe, seed);
            host_row.pass(0);
            rate = host_row.pass(0) / (double)probe.bytes;
        }
        if (rate * (double)row.bytes > kLongestPass)
            continue;
        auto *b = register_row(row.name(),
                               [row, seed](benchmark::State &state) { run(state, row, seed); });
        b->UseRealTime()->MinTime(0.1)->Unit(benchmark::kMicrosecond);
    }
}
