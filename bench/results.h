// SPDX-License-Identifier: BSD-3-Clause
// One measured row, and where all of them are kept for the table and the summaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <gfk/gfk.h>

struct Result {
    std::string name; // of the benchmark, e.g. "split_w8_opt/1GiB/set/cold"
    std::string id, method, implementation, variant, labels;
    unsigned w = 0;
    size_t bytes = 0;        // of one region; of all inputs of a product; over all threads
    size_t shared_bytes = 0; // what a block's tables take
    double moved = 0;        // bytes of traffic per byte; 0: 2 for set and 3 for xor
    bool accumulate = false, cold = false, on_device = false;
    std::string constants;                        // "64 random", "c=128", ...
    double median_us = 0, min_us = 0, max_us = 0; // of one region multiply
    long launches = 1;                            // per replay
    int replays = 0;
    int threads = 1;
    double roofline = 0; // GB/s of traffic; 0: none was measured
    double setup_us =
        0;             // tables of one constant (prepare) or, without those, of the field (create)
    std::string setup; // "prepare", "create" or ""
    std::vector<std::pair<std::string, double>> extra; // more columns of the JSON
    std::string note;                                  // shown at the end of the line
    enum { Measured, Skipped, Failed } state = Measured;

    double source_gbps() const { return median_us > 0 ? (double)bytes / median_us / 1e3 : 0; }
    double traffic_gbps() const { return source_gbps() * moved_per_byte(); }
    double moved_per_byte() const { return moved > 0 ? moved : accumulate ? 3 : 2; }
    double percent() const { return roofline > 0 ? 100 * traffic_gbps() / roofline : 0; }
};

// A row's first fields, from the list of kernels.
Result result_of(const gfk_kernel_info *kernel);

// Median, min and max of these times.
void set_times(Result *result, std::vector<double> us);

// Hands the row to Google Benchmark (counters and label) and keeps it.
void publish(benchmark::State &state, const Result &result);
// A row without a number: not wrong, only impossible here; or wrong.
void publish_skip(benchmark::State &state, Result result, const std::string &reason);
void publish_failure(benchmark::State &state, Result result, const std::string &reason);

const std::vector<Result> &results();               // in the order of measurement
const Result *find_result(const std::string &name); // measured rows only; null if there is none
bool any_failed();

// "64KiB", "1GiB", or plain bytes where no such unit fits.
std::string size_text(size_t bytes);
